#!/usr/bin/env bash
# Make the virtual environment named by the first argument.
set -euo pipefail
python=$("$(dirname "$0")/find_python.sh")
echo "Setting up $1 with $("$python" --version); the first time, this fetches about 1 GB and takes some minutes."
rm -rf "$1"
"$python" -m venv "$1"
"$1/bin/python" -m pip --disable-pip-version-check install --quiet --upgrade pip
