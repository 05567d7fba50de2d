#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# multi_vnodes.sh - the programs of tests/api/multi, unchanged, on two virtual nodes with
# unequal numbers of PEs.
# MULTI_ONLY="lock heap": only these.  Without PGAS_TEST_LONG: only programs that depend on
# the order of operations or on remote memory, one number of PEs, and only ofi.
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
multi=$top_builddir/tests/api/multi
sizes='3' few='globals lock wait_peers'
some='contexts_threads globals layouts order reduce_bits strided teams_scratch threads wait_peers'
[ -z "$long" ] || sizes='2 4 5 8'

# sizes_of PROGRAM: the numbers of PEs; 2 for programs that are slow with more.
sizes_of() {
    case $1:$long in
    wake:* | wait_set:* | contexts_threads: | threads:) echo 2 ;;
    *) echo "$sizes" ;;
    esac
}

programs() {
    for program in "$multi"/*.pes; do
        basename "$program" .pes
    done | grep -vx 'boot_map\|interpose'
}

all_programs() {
    list=$some
    [ -z "$long" ] || list=$(programs)
    [ -z "$brief" ] || list=$few
    for name in ${MULTI_ONLY:-$list}; do
        begin=$(now_ms)
        status=0
        PES_VNODES=2 PES_SIZES=$(sizes_of "$name") \
            sh "$top_srcdir/tests/run-pes" "$multi/$name.pes" >"$work/out" 2>&1 || status=$?
        steady_ended $status "$SHMEM_TRANSPORT: $name"
        [ $status = 0 ] || cat "$work/out"
        echo "$SHMEM_TRANSPORT: $name: $(($(now_ms) - begin)) ms"
    done
}

for_each "ofi ${long:+ucx tcp}" all_programs
# Teams whose PEs of a node are neither in ascending order nor strided.
sizes=5 MULTI_ONLY=teams
[ -n "$brief$long" ] || for_each tcp all_programs
end
