"""Check and prove a pattern folder: python tools/check_patterns.py [AREA ...]  (temporary helper until the command exists)."""
import sys
from pathlib import Path
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from postmortem.knowledge import check
from postmortem.knowledge.compile import compile_folders
from postmortem.signatures import proof
root = Path(__file__).resolve().parent.parent / "patterns"
words = sys.argv[1:]
found = [str(f) for f in check.faults([root])]
try:
    kb = compile_folders([root])
    found += [str(f) for kind in ("signatures", "formats") for rule in kb[kind] if "examples" in rule and "match" in rule for f in proof.faults([rule])]
except Exception as e:
    found.append(repr(e))
found = [f for f in found if not words or any(w in f for w in words)]
print("\n".join(found) or "all rules are well formed and proved")
sys.exit(bool(found))
