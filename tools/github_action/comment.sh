#!/usr/bin/env bash
# Puts the report under the pull request or issue. What cannot be posted is a warning: a pull request from a fork
# has a token that may only read, and its run is not to fail for that.
# In: INPUT_COMMENT, INPUT_NUMBER, INPUT_KEY, INPUT_LANG, ANALYSIS, POSTMORTEM, ARTIFACT_URL, GITHUB_*. Out: a comment.
set -euo pipefail

if [[ "$INPUT_COMMENT" != true && "$INPUT_COMMENT" != failed ]]; then
  echo "::error::postmortem: comment is true, failed or false"
  exit 2
fi
if [[ ! "$INPUT_NUMBER" =~ ^[1-9][0-9]{0,17}$ ]]; then
  echo "::warning::postmortem: nothing to comment on: the event has no pull request or issue, and number names none"
  exit 0
fi

arguments=(comment "$ANALYSIS" --github "$GITHUB_REPOSITORY#$INPUT_NUMBER" "--key=$INPUT_KEY" "--lang=$INPUT_LANG")
arguments+=("--link=${ARTIFACT_URL:-$GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID}")
if [[ "$INPUT_COMMENT" == failed ]]; then arguments+=(--only-if failed); fi

# Whatever is printed in between is no command to the runner.
mark="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
echo "::stop-commands::$mark"
status=0
"$POSTMORTEM" "${arguments[@]}" || status=$?
echo "::$mark::"
if [[ "$status" != 0 ]]; then
  echo "::warning::postmortem: the comment was not written; the token needs issues: write and pull-requests: write"
fi
