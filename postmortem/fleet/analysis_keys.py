"""The key of an analysis, from everything it depends on: equal keys mean equal analyses.

In: a digest of content, the rules, the program, the model. Out: a key. Not here: the digest
(`search.job_content`).
"""

import json

import xxhash

from postmortem.diagnosis.classifier.text_model import TextModel
from postmortem.fleet.grouping.fingerprints import FINGERPRINT_VERSION
from postmortem.report.wire import get_tool_version
from postmortem.rules.base import KnowledgeBase


def compute_analysis_key(digest: str, knowledge: KnowledgeBase, model: TextModel | None) -> str:
    """Give the key under which the analysis of a content is kept."""
    parts = [
        digest,
        knowledge.version,
        get_tool_version(),
        model.digest if model is not None else None,
        FINGERPRINT_VERSION,
    ]
    return xxhash.xxh3_128_hexdigest(json.dumps(parts).encode())
