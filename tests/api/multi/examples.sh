#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# examples.sh - runs all examples with 1, 2, 4 and 7 PEs; they verify their results.
set -eu
# The examples do not free all their memory at exit.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
dir=$top_builddir/examples
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

run() {
    npes=$1
    shift
    timeout -k 5 120 "$OSHRUN" -n "$npes" "$@" >"$work/out" 2>"$work/err" || {
        echo "oshrun -n $npes $*: status $?"
        cat "$work/out" "$work/err"
        exit 1
    }
}

for npes in 1 2 4 7; do
    run $npes "$dir/hello"
    if [ "$(grep -c "of $npes" "$work/out")" -ne $npes ]; then
        echo "hello with $npes PEs does not print $npes lines"
        exit 1
    fi
    run $npes "$dir/ring" 100
    run $npes "$dir/heat" 50
    run $npes "$dir/faces" 5
    run $npes "$dir/gups" 5000
    run $npes "$dir/sort" 5000
done

# Special cases: long words, words at the start and end of files, files without words.
text=$work/text
mkdir "$text"
awk 'BEGIN { for (i = 0; i < 30000; i++) printf "x"; print " Yes yes YES" }' >"$text/long"
printf 'ends here' >"$text/end"
printf 'begins-there, it'"'"'s 1two3\n\n' >"$text/begin"
: >"$text/empty"
printf '\n \n\t12345\n' >"$text/none"
cp "$top_srcdir/examples/wordcount.c" "$text/source"
awk 'BEGIN { srand(7); for (i = 0; i < 20000; i++)
    printf "%c%c%s", 97 + int(rand() * 26), 97 + int(rand() * 26),
           rand() < 0.2 ? "\n" : " " }' >"$text/random"
for npes in 1 2 4 7; do
    timeout -k 5 120 sh "$top_srcdir/examples/wordcount-check" "$OSHRUN" \
        "$dir/wordcount" $npes "$text"/* >"$work/out" || {
        cat "$work/out"
        exit 1
    }
done

# A full table is an error with a message.
status=0
timeout -k 5 60 "$OSHRUN" -n 3 "$dir/wordcount" -s 10 "$text/random" >"$work/out" \
    2>"$work/err" || status=$?
if [ $status -ne 1 ] || ! grep -q 'table full' "$work/err"; then
    echo "wordcount with a full table: status $status"
    cat "$work/err"
    exit 1
fi
