#!/bin/sh
# Installs a wheel into an empty environment and runs the main job there: add, index, search.
set -eu
wheel=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
"${PYTHON:-python3}" -m venv "$here/env"
"$here/env/bin/python" -m pip install --quiet "$wheel"
export HOME="$here/home" XDG_CONFIG_HOME="$here/home/config" XDG_DATA_HOME="$here/home/data"
mkdir -p "$here/home" "$here/notes"
printf '# Backups\n\nThe database is copied every night at three.\n' > "$here/notes/backups.md"
printf '# Garden\n\nTomatoes want sun and little water.\n' > "$here/notes/garden.md"
run="$here/env/bin/semantic-search"
"$run" --version
test -s "$here/env/share/man/man1/semantic-search.1"
"$run" add "$here/notes"
"$run" index
"$run" search "коли роблять резервну копію бази" -k 1 | tee "$here/found"
grep -q 'backups.md' "$here/found"
"$run" doctor
