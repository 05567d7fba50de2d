#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# examples.sh - wordcount and the heat stencil over three hosts, by each launcher: the words
# are those of sort | uniq -c and of a run on one node, the plate that of a serial run.  The
# short form has one of the two under each launcher.
set -eu
. "$top_srcdir/tests/launcher/hosts/lib.sh"
. "$top_srcdir/tests/launcher/hosts/shmem-lib.sh"
# The examples do not free their memory.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
examples=$top_builddir/examples
limit_s=60
launchers='oshrun mpirun srun' steps=50
[ -z "$brief" ] || launchers=oshrun steps=20
text="$top_srcdir/examples/wordcount.c $top_srcdir/examples/wordtable.c
$top_srcdir/examples/heat.c $top_srcdir/examples/sort.c"
[ -z "$long" ] || text="$text $top_srcdir/docs/ARCHITECTURE.md $top_srcdir/README.md"

hosts_up 3

# example LAUNCHER PES PROGRAM ARGS...
example() {
    got=0
    begin=$(now_ms)
    (guard="timeout -s KILL $limit_s" && launch "$@") \
        </dev/null >"$work/out" 2>"$work/err" || got=$?
    took=$(($(now_ms) - begin))
    [ "$got" = 0 ] || {
        fail "$*: status $got"
        show
    }
    check_hosts "$*" || :
}

heat() {
    example "$launcher" $npes "$examples/heat" $steps
    grep -q "$steps steps on $npes PEs, same as the serial run" "$work/out" ||
        fail "$launcher: heat is wrong: $(cat "$work/out")"
    echo "$launcher, $took ms: $(cat "$work/out")"
}

# shellcheck disable=SC2086 # a list
wordcount() {
    example "$launcher" $npes "$examples/wordcount" -a $text
    awk '{ print $1, $2 }' "$work/out" >"$work/counted"
    cmp "$work/expected" "$work/counted" || {
        fail "$launcher: wordcount differs from one node"
        diff "$work/expected" "$work/counted" | head -n 5
    }
    echo "$launcher, $took ms: $(sed -n 's/^wordcount: //p' "$work/err")"
}

examples_of() {
    case ${long:+long}:$launcher in
    :srun) heat ;;
    :*) wordcount ;;
    *) heat && wordcount ;;
    esac
}

# shellcheck disable=SC2086 # a list
env "$mark" TMPDIR="$work/tmp" sh "$top_srcdir/examples/wordcount-check" "$OSHRUN" \
    "$examples/wordcount" 2 $text
# shellcheck disable=SC2086 # a list
env "$mark" TMPDIR="$work/tmp" "$OSHRUN" -n 2 "$examples/wordcount" -a $text 2>/dev/null |
    awk '{ print $1, $2 }' >"$work/expected"
[ -s "$work/expected" ] || fail 'no words on one node'
for_each "$launchers" examples_of
end
