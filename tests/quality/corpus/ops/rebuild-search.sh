#!/bin/sh
# Fills the title search anew beside the old one and switches over when it is complete.
set -eu

fresh="titles_$(date +%s)"
psql polytsia -c "CREATE TABLE $fresh AS SELECT id, to_tsvector('simple', title || ' ' || author) AS words FROM record"
psql polytsia -c "CREATE INDEX ON $fresh USING gin (words)"
psql polytsia -c "CREATE OR REPLACE VIEW titles AS SELECT * FROM $fresh"
