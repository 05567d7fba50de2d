#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# boot_vnodes.sh - the node map and the bootstrap exchange on virtual nodes of oshrun; and
# shmem_init refuses several nodes if no network transport is usable.
# shellcheck disable=SC2016 # $PMIX_RANK is for the PEs
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
. "$top_srcdir/tests/api/multi/boot_lib.sh"

run 0 --vnodes 1 -n 3 "$boot_map"
same_map 'one node' 3 'vn0 0,1,2 0/1/3'
run 0 --vnodes 3 -n 3 "$boot_map"
same_map 'one PE each' 3 'vn0 0 0/1/1' 'vn1 1 1/1/1' 'vn2 2 2/1/1'
run 0 --vnodes 3 -n 7 --map-by slot "$boot_map"
same_map 'blocks' 7 'vn0 0,1,2 0/1/3' 'vn1 3,4 3/1/2' 'vn2 5,6 5/1/2'
run 0 --vnodes 3 -n 7 --map-by node "$boot_map" again
same_map 'round-robin' 7 'vn0 0,3,6 0/3/3' 'vn1 1,4 1/3/2' 'vn2 2,5 2/3/2'

# Nodes are numbered by their lowest PE, not in the launcher's order; one node has no PE.
cat >"$work/ranks" <<END
rank 0=vn3
rank 1=vn1
rank 2=vn0
rank 3=vn1
rank 4=vn1
rank 5=vn0
rank 6=vn1
END
run 0 --vnodes 4 --rank-file "$work/ranks" "$boot_map"
same_map 'rank file' 7 'vn3 0 0/1/1' 'vn1 1,3,4,6 1+3+4+6/4' 'vn0 2,5 2/3/2'

# A PE that is late for the barrier and for its own node.
run 0 --vnodes 2 -n 4 sh -c '[ "$PMIX_RANK" -ne 2 ] || sleep 3; exec "$0"' "$boot_map"
same_map 'late' 4 'vn0 0,1 0/1/2' 'vn1 2,3 2/1/2'

for how in 'exit 7 3' 'signal 9 0' 'signal 11 2' 'abort 42 1'; do
    # shellcheck disable=SC2086 # words
    set -- $how
    status=$2
    [ "$1" != signal ] || status=$((128 + $2))
    run $status --vnodes 2 -n 4 "$boot_map" "$@"
done

# PEs that call shmem_init late: one on every node, or a single PE.
for late in 1,3 0 2; do
    run 0 --timeout 30 --vnodes 2 -n 4 sh -c \
        'case ,$1, in *,"$PMIX_RANK",*) sleep 3 ;; esac; exec "$0"' "$hello" $late
    together "late $late" 4
done

# Only PE 0 prints the error, even if it is late.
for late in 0 1; do
    steady_begin
    run 1 --vnodes 3 -n 5 -x SHMEM_TRANSPORT=^ofi,^ucx,^tcp \
        sh -c '[ "$PMIX_RANK" -ne 0 ] || sleep "$1"; exec "$0"' "$hello" $late
    steady_within $((8000 + late * 1000)) "the end of a job that cannot run"
    refused "late $late" 5 'vn0: 2, vn1: 2, vn2: 1'
    # Besides these two, a late PE may report the end of the PE that made the node segment.
    [ "$(grep -vc 'if the PE that made it' "$work/err")" -eq 2 ] || {
        fail "a job that cannot run prints other messages"
        cat "$work/err"
    }
done
finish
