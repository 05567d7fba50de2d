#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# examples.sh - the examples on virtual nodes; they verify themselves.
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
# The examples do not free all their memory at exit.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
examples=$top_builddir/examples
text="$top_srcdir/examples/wordcount.c $top_srcdir/examples/wordtable.c"

# grid VNODES PES: run all examples with PES PEs on VNODES nodes.
grid() {
    job 0 "$1" "$2" "$examples/hello"
    [ "$(grep -c "of $2" "$work/out")" = "$2" ] || fail "hello: expected $2 lines"
    job 0 "$1" "$2" "$examples/ring" 20
    job 0 "$1" "$2" "$examples/heat" 20
    job 0 "$1" "$2" "$examples/gups" 500
    job 0 "$1" "$2" "$examples/sort" 2000
    # shellcheck disable=SC2086 # a list
    env "$mark" TMPDIR="$work/tmp" timeout -k 5 $stacks_s \
        sh "$top_srcdir/examples/wordcount-check" "$OSHRUN --vnodes $1" \
        "$examples/wordcount" "$2" $text >"$work/out" 2>&1 || {
        fail "wordcount on $1 nodes"
        cat "$work/out"
    }
    echo "$SHMEM_TRANSPORT, $1 nodes, $2 PEs: $(tail -n 1 "$work/out")"
}

all_grids() {
    grid 2 3
    [ -z "$long" ] || grid 4 6
}

for_each "ofi ${long:+ucx tcp}" all_grids
end
