#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# examples.sh - the programs in the manual pages compile without warnings, run without an
# error under SHMEM_DEBUG=2, and print the lines that the page shows, in any order; also when
# the operations on other PEs are delayed and reordered as far as the specification permits.
# usage: examples.sh [page.3.md ...]     without arguments: all pages
# PGAS_UNDER_TEST=PREFIX: with an installed library.
set -eu
: "${OSHCC:?}" "${OSHRUN:?}"
[ -z "${PGAS_UNDER_TEST:-}" ] || OSHCC=$PGAS_UNDER_TEST/bin/oshcc OSHRUN=$PGAS_UNDER_TEST/bin/oshrun
seeds=${PGAS_TEST_LONG:+2 3 4 5 6 7 8}
dir=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
[ $# -gt 0 ] || set -- "${top_srcdir:-$dir/../../..}"/docs/man/*.[37].md
# The examples do not free all their memory at exit.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-test.XXXXXX")
trap 'rm -rf "$work"' EXIT

for page in "$@"; do
    name=$(basename "$page" .md)
    sh "$dir/../../../tools/man-parts" "$page" >"$work/$name.md"
    awk -v prefix="$work/$name" -f "$dir/examples.awk" "$work/$name.md"
done >"$work/list"
: >"$work/outcomes"

# run LEVEL NAME NPES STATUS [ENVIRONMENT]: run NAME with SHMEM_DEBUG=LEVEL; print failures
run() {
    level=$1 example=$2 npes=$3 expected=$4
    shift 4
    what="$(basename "$example"), with $npes PEs and SHMEM_DEBUG=$level${*:+ $*}"
    status=0
    env SHMEM_DEBUG="$level" "$@" timeout -k 5 60 "$OSHRUN" -n "$npes" "$example" \
        >"$example.out" 2>"$example.err" </dev/null || status=$?
    [ "$status" -eq "$expected" ] || {
        echo "FAIL: $what: status $status, not $expected"
        head -n 5 "$example.err"
        return 0
    }
    sort "$example.out" | diff "$example.want" - >"$example.diff" || {
        echo "FAIL: $what: prints other lines (< the page, > the program)"
        head -n 20 "$example.diff"
    }
}

# try NAME NPES STATUS [ENVIRONMENT]: compile and run NAME with SHMEM_DEBUG=2; with
# PGAS_TEST_LONG also without
try() {
    "$OSHCC" -std=c11 -Wall -Wextra -Werror "$1.c" -o "$1" 2>"$1.err" || {
        echo "FAIL: $(basename "$1") does not compile"
        head -n 5 "$1.err"
        return 0
    }
    [ -f "$1.expected" ] || : >"$1.expected"
    sort "$1.expected" >"$1.want"
    [ -z "${PGAS_TEST_LONG:-}" ] || run 0 "$@"
    run 2 "$@"
    reordered "$@"
}

# reordered NAME NPES STATUS [ENVIRONMENT]: run NAME with SHMEM_FAULTS, unless its outcome is
# that there is nothing to reorder.
reordered() {
    if ! grep -qE 'shmemx?_[a-z0-9_]*(put|get_nbi|_p\(|atomic|signal|lock)' "$1.c"; then
        echo "$1: it begins no operation that may be incomplete when the routine returns"
    elif grep -q 'TEAM_SHARED' "$1.c"; then
        echo "$1: it prints which PEs share memory; with SHMEM_FAULTS none do"
    else
        for seed in 1 $seeds; do
            run 0 "$@" SHMEM_FAULTS=reorder,delay=200us,seed="$seed" >&2
        done
        echo "$1: run"
    fi >>"$work/outcomes"
}

# Two concurrent loops run half of the examples each: most of the time is start-up.
half() {
    awk -v rest="$1" 'NR % 2 == rest' "$work/list" | while read -r example npes expected vars; do
        # shellcheck disable=SC2086 # assignments for env
        try "$example" "$npes" "$expected" $vars
    done >"$work/report.$1" 2>&1
}
half 0 &
half 1
wait
cat "$work/report.0" "$work/report.1"
echo "rows $(wc -l <"$work/list"), outcomes $(wc -l <"$work/outcomes"), on $# pages;" \
    "reordered $(grep -c ': run$' "$work/outcomes")"
[ ! -s "$work/report.0" ] && [ ! -s "$work/report.1" ]
[ "$(wc -l <"$work/list")" -eq "$(wc -l <"$work/outcomes")" ]
