#!/usr/bin/env bash
# Makes an environment of its own and installs postmortem there.
# In: INPUT_PYTHON, INPUT_VERSION, ACTION_FOLDER, RUNNER_TEMP. Out: `python`, `command` in GITHUB_OUTPUT.
set -euo pipefail

home="$RUNNER_TEMP/postmortem-environment"
if [[ -n "$INPUT_VERSION" ]]; then
  if [[ ! "$INPUT_VERSION" =~ ^[0-9][0-9A-Za-z.+!-]{0,60}$ ]]; then
    echo "::error::postmortem: version is no release such as 0.1.0"
    exit 2
  fi
  what="train-postmortem[bots]==$INPUT_VERSION"
else
  what="${ACTION_FOLDER}[bots]"
fi

# Isolated: a module that lies in the workspace under the name of one of these is not run.
"$INPUT_PYTHON" -I -m venv "$home"
bin="$home/bin"
if [[ -d "$home/Scripts" ]]; then bin="$home/Scripts"; fi
"$bin/python" -I -m pip install --quiet --disable-pip-version-check --no-input "$what"
{
  echo "python=$bin/python"
  echo "command=$bin/postmortem"
} >>"$GITHUB_OUTPUT"
