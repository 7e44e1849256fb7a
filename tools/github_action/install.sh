#!/usr/bin/env bash
# Makes an environment of its own and installs postmortem there.
# In: INPUT_PYTHON, ACTION_FOLDER, RUNNER_TEMP. Out: `python`, `command` in GITHUB_OUTPUT.
set -euo pipefail

home="$RUNNER_TEMP/postmortem-environment"

# Isolated: a module that lies in the workspace under the name of one of these is not run.
"$INPUT_PYTHON" -I -m venv "$home"
bin="$home/bin"
if [[ -d "$home/Scripts" ]]; then bin="$home/Scripts"; fi
"$bin/python" -I -m pip install --quiet --disable-pip-version-check --no-input "${ACTION_FOLDER}[bots]"
{
  echo "python=$bin/python"
  echo "command=$bin/postmortem"
} >>"$GITHUB_OUTPUT"
