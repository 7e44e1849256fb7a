#!/usr/bin/env bash
# Fails the step if the verdict asks for it.
# In: INPUT_FAIL_ON, FAILED. Out: the exit status.
set -euo pipefail

if [[ "$INPUT_FAIL_ON" != failure ]]; then
  echo "::error::postmortem: fail-on is never or failure"
  exit 2
fi
if [[ "$FAILED" == true ]]; then
  echo "The run failed; the verdict stands in the job summary."
  exit 1
fi
