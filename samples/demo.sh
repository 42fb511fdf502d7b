#!/bin/sh
# The main job on real files: index this repository and the samples, then search them. Everything it writes
# lies in .demo/ beside this checkout's other files; your own configuration and index are not touched.
set -eu
cd "$(dirname "$0")/.."
here=$(pwd)
bin=${BIN:-.venv/bin}
export SS_CONFIG_PATH="$here/.demo/config.json" SS_INDEX_DIR="$here/.demo/index"
run() {
    printf '\n$ semantic-search'
    for word in "$@"; do
        case $word in *[!A-Za-z0-9._/=-]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
    "$bin/semantic-search" "$@"
}
mkdir -p .demo
run add samples/corpus .
run index
printf '\n--- A Ukrainian question, answered by an English note: no word in common\n'
run search 'чому ми не видаляємо старі події?' --in samples/corpus -k 3
printf '\n--- An English question, answered by a Russian note\n'
run search 'how do we restore everything after losing the disk' --in samples/corpus -k 3
printf '\n--- A sentence inside a PDF, with its page\n'
run search 'що означає жовтий вогник на коробці' --in samples/corpus -k 2
printf '\n--- A table inside a Word document\n'
run search 'скільки живе телефон садівника в базі' --in samples/corpus -k 2
printf '\n--- Code by what it does, and by its name\n'
run search 'exponential backoff with jitter' --in samples/corpus --lang python --lang go -k 2
run search 'reciprocal rank fusion of the two arms' --in . --glob 'src/**' -k 3
printf '\n--- What an agent reads: passages as one Markdown block\n'
run gather 'token bucket' --in samples/corpus -k 1
printf '\n--- The same files by a regular expression, PDF and Word too\n'
run grep 'вогник|бекап' --in samples/corpus --max 4
run status
