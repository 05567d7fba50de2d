#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# reordered.sh - every program of examples and every block of C in the guides is a correct
# OpenSHMEM program: it has the right result when the operations on other PEs are delayed and
# reordered as far as the specification permits (SHMEM_FAULTS), on one node and on two virtual
# nodes.  The programs are found in the folders; reordered.txt has their outcomes.
#   PGAS_UNDER_TEST=PREFIX   compile and run them with an installed library
#   REORDERED_SEEDS          random seeds
set -eu
: "${top_srcdir:?}" "${OSHCC:?}" "${OSHRUN:?}"
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
prefix=${PGAS_UNDER_TEST:-}
[ -z "$prefix" ] || OSHCC=$prefix/bin/oshcc OSHRUN=$prefix/bin/oshrun
seeds=${REORDERED_SEEDS:-${PGAS_TEST_LONG:+1 2 3 4 5 6 7 8}} # default: one, another in each run
limit_s=60 # of a job; on a busy machine the delays add up
# The examples do not free all their memory at exit.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$top_srcdir"

fail() {
    echo "FAIL: $*"
    echo "$row" >>"$work/failed"
}

# blocks GUIDE: writes the N-th block of C to $work/GUIDE.N.block, without the commands in it,
# and prints N.  A block is indented by 4 columns, or lies between lines ```c and ```.
blocks() {
    awk -v prefix="$work/$(basename "$1" .md)" '
    function finish() {
        if (text ~ /#include|shmemx?_[a-z0-9_]+ *\(/) {
            printf "%s", text >(prefix "." ++n ".block")
            print n
        }
        text = ""
    }
    /^```/ { finish(); fence = fence == "" ? $0 : ""; next }
    fence == "```c" { text = text $0 "\n"; next }
    fence != "" { next }
    /^    / {
        if ($0 !~ /^    (osh[a-z]+ |[A-Z_]+=|cd |\.\/)/)
            text = text substr($0, 5) "\n"
        next
    }
    /^$/ { text = text "\n"; next }
    { finish() }
    END { finish() }' "$1"
}

rows() {
    grep -l '\<main(' examples/*.c | sed 's|^examples/||; s|\.c$||'
    for guide in README.md docs/*.md; do
        blocks "$guide" | sed "s|^|$guide:|"
    done
}

# compile ROW: makes $work/program; the output of a compiler that fails is in $work/err.
compile() {
    case $1 in
    *:*)
        part=$(basename "${1%:*}" .md).${1##*:}
        cp "$work/$part.block" "$work/block.h"
        source=$here/guides/$part.c
        [ -f "$source" ] || cp "$work/block.h" "$work/whole.c"
        [ -f "$source" ] || source=$work/whole.c
        ;;
    wordcount) source='examples/wordcount.c examples/wordtable.c' ;;
    *) source=examples/$1.c ;;
    esac
    # shellcheck disable=SC2086 # two files
    "$OSHCC" -std=gnu11 -O1 -Wall -Wextra -I"$work" $source -o "$work/program" 2>"$work/err"
}

# run_job SEED PES[/NODES] [NAME=value..] ARGUMENT..: its output in $work/out and $work/err
run_job() {
    faults=reorder,delay=200us,seed=$1 pes=${2%/*}
    launch="$OSHRUN --timeout $limit_s"
    [ "$2" = "$pes" ] || launch="$launch --vnodes ${2#*/}"
    shift 2
    variables=
    while [ $# -gt 0 ] && [ "${1#[A-Z]*=}" != "$1" ]; do
        variables="$variables $1"
        shift
    done
    if [ "$row" = wordcount ]; then
        set -- sh examples/wordcount-check "$launch" "$work/program" "$pes" "$work/text"
    else
        # shellcheck disable=SC2086 # words
        set -- $launch -n "$pes" "$work/program" "$@"
    fi
    # shellcheck disable=SC2086 # words
    env $variables SHMEM_FAULTS="$faults" timeout -k 5 $((limit_s + 10)) "$@" \
        >"$work/out" 2>"$work/err" </dev/null
}

# try PES[/NODES] LINES EXPRESSION ARGUMENT..: each seed
try() {
    where=$1 lines=$2 expression=$3
    shift 3
    turn=$((turn + 1))
    for seed in ${seeds:-$turn}; do
        status=0
        run_job "$seed" "$where" "$@" || status=$?
        matches=$(grep -c -e "$expression" "$work/out" || :)
        [ $status != 0 ] || [ "$matches" != "$lines" ] || continue
        fail "$row${*:+ $*} with $where PEs, seed $seed: status $status," \
            "$matches lines like '$expression', expected $lines"
        head -n 4 "$work/out" "$work/err"
        return 0
    done
}

# outcome PES ARGUMENTS LINES EXPRESSION: one line of the table
outcome() {
    turn=0
    for where in $1; do
        # shellcheck disable=SC2086 # words
        try "$where" "$3" "$4" $2
    done
}

# Runs $row as its lines in the table say.
check_row() {
    sed -n "s#^$(echo "$row" | sed 's/\./\\./g') *| *##p" "$here/reordered.txt" >"$work/lines"
    if ! [ -s "$work/lines" ]; then
        fail "$row has no outcome in reordered.txt"
        return 0
    fi
    echo "$row" >>"$work/outcomes"
    ! grep -q '^no ' "$work/lines" || return 0
    if ! compile "$row"; then
        fail "$row does not compile"
        head -n 5 "$work/err"
        return 0
    fi
    while IFS='|' read -r where arguments lines expression; do
        outcome "$where" "$arguments" "$((lines))" "${expression# }"
    done <"$work/lines"
}

sed 15q examples/wordtable.c >"$work/text"
: >"$work/failed"
: >"$work/outcomes"
rows >"$work/rows"
while read -r row; do
    check_row
done <"$work/rows"
sed -n 's/ *|.*//; /^[^#]/p' "$here/reordered.txt" | sort -u >"$work/known"
for row in $(sort "$work/rows" | comm -13 - "$work/known"); do
    fail "reordered.txt has a line for $row, which does not exist"
done
echo "rows $(wc -l <"$work/rows"), outcomes $(wc -l <"$work/outcomes")," \
    "failed $(sort -u "$work/failed" | wc -l)"
! [ -s "$work/failed" ]
