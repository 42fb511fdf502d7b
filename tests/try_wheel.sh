#!/bin/sh
# Installs a wheel into an empty environment and runs the main job there: add, index, search.
# With SBOM=FILE, what is in that environment is written to FILE (CycloneDX; needs the extra `release`).
set -eu
wheel=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
python=${PYTHON:-python3}
# Without a pip of its own the environment holds the program and its dependencies alone.
"$python" -m venv --without-pip "$here/env"
"$python" -m pip --python "$here/env/bin/python" install --quiet "$wheel"
if [ -n "${SBOM:-}" ]; then
  # It reads the project's name and version here, and the version stands in the package.
  version=$("$here/env/bin/semantic-search" --version | sed 's/.* //')
  sed "s/^dynamic = .*/version = \"$version\"/" pyproject.toml > "$here/pyproject.toml"
  "$python" -m cyclonedx_py environment "$here/env/bin/python" --pyproject "$here/pyproject.toml" --output-reproducible \
    --of JSON --validate --output-file "$SBOM"
fi
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
