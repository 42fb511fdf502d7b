#!/bin/sh
# Installs a wheel into an empty environment and runs there, with no variable of the caller's and a home of its
# own, every command that README and the pages show: quick start first, as a new user would.
set -eu
wheel=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
python=$(command -v "${PYTHON:-python3}")
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
"$python" -m venv "$here/env"
"$here/env/bin/python" -m pip install --quiet "$wheel[lancedb]"
cd "$here"
env -i HOME="$here" PATH=/usr/bin:/bin LANG=C.UTF-8 TMPDIR="$here" \
    "$python" "$root/docs/scripts/try_pages.py" --bin "$here/env/bin"
