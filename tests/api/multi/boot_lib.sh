# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# boot_lib.sh - shared by the tests of boot_map on several nodes.  Sourced, not run, after
# tests/launcher/cli/oshrun-lib.sh or tests/launcher/hosts/lib.sh.

boot_map=$top_builddir/tests/api/multi/boot_map.pes
hello=$top_builddir/examples/hello

# node_lines I K NPES HOST LIST SHARED: the lines that the PEs in LIST (0,3) of node I of K
# print.
node_lines() {
    count=$(($(echo "$5" | tr -cd , | wc -c) + 1))
    local_rank=0
    for pe in $(echo "$5" | tr , ' '); do
        echo "PE $pe of $3, node $1 of $2 ($4), local $local_rank of $count," \
            "shared team $6"
        local_rank=$((local_rank + 1))
    done
}

# same_map WHAT NPES 'HOST LIST SHARED'...: the last job printed this map.
same_map() {
    what=$1
    of=$2
    shift 2
    i=0
    for line in "$@"; do
        # shellcheck disable=SC2086 # three words
        node_lines $i $# "$of" $line
        i=$((i + 1))
    done | sort >"$work/map"
    sort "$work/out" | diff "$work/map" - >"$work/diff" && return 0
    fail "$what: the output differs from the expected map (<: expected)"
    sed 's/^/    /' "$work/diff" "$work/err"
}

# refused WHAT NPES NODES: the last job printed exactly once that it cannot run on NODES.
# (A late PE may also report that the PE that created the node segment has ended.)
refused() {
    printed=$(grep '^pgas: ' "$work/err" | grep -v 'the node segment.*if the PE that made it' || :)
    n=$(echo "$3" | awk '{ print gsub(/:/, "") }')
    left_out='excluded by SHMEM_TRANSPORT'
    [ "$printed" = "pgas: PE 0: shmem_init: the job has $2 PEs on $n nodes ($3), but no\
 network transport is usable (tcp: $left_out; ofi: $left_out;\
 ucx: $left_out); run all PEs on one node,\
 or see oshmem_info --check" ] || fail "$1: printed '$printed'"
    [ ! -s "$work/out" ] || fail "$1: the PEs continued"
}

# together WHAT NPES: all PEs of the last job returned from shmem_init as one job.
together() {
    [ "$(grep -c "^hello from PE [0-9]* of $2: " "$work/out")" = "$2" ] || {
        fail "$1: fewer than $2 PEs print hello"
        sed 's/^/    /' "$work/out" "$work/err"
    }
}
