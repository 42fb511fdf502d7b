#!/bin/sh
# Dumps the database every night and keeps thirty dumps.
set -eu

target="${1:?usage: backup.sh DIRECTORY}"
name="$target/polytsia-$(date +%Y-%m-%d).dump"

if ! pg_dump --format=custom --file="$name.part" polytsia; then
    rm -f "$name.part"
    echo "PL-901: dump failed, the one of yesterday is kept" >&2
    exit 1
fi
mv "$name.part" "$name"

# The oldest go first.
ls -1t "$target"/polytsia-*.dump | tail -n +31 | while read -r old; do
    rm -f "$old"
done
