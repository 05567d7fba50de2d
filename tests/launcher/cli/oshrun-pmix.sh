#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The PMIx servers of several nodes act as one: each mode of pmix-client over virtual
# nodes, in trees of several shapes.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
client=$top_builddir/tests/launcher/cli/pmix-client
n=7
[ -n "${PGAS_TEST_LONG:-}" ] || n=5

# good OPTIONS... -- MODE [ARGUMENT]: every PE must report success.
good() {
    options=
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # options are words
    run 0 -n $n $options "$client" "$@"
    got=$(grep -c ': good$' "$work/out" || true)
    [ "$got" = $n ] || fail "$options $*: $got of $n PEs were good"
}

everything() {
    map=$1
    shift
    for bytes in 0 1 1000 200000; do
        good "$@" -- fence $bytes
    done
    for mode in barrier subsets group connect late ended unknown fence-timeout; do
        good "$@" -- $mode
    done
    for mode in map event query; do
        good "$@" -- $mode "$map"
    done
    good "$@" -- control
    good "$@" -- spawn
    says "PE $((n - 1)) asked to start more processes (PMIx_Spawn of './other'); oshrun cannot"
    good "$@" -- abort-some
    says 'PE 0 asked to abort some PEs only (PMIx_Abort with a list); oshrun can only end'
}

# The short form has one tree of two levels; only the long form has chains and flat trees.
[ -n "${DISTCHECK:-}" ] || everything "1:$(uname -n):block"
SHMEM_LAUNCH_FANOUT=2 && export SHMEM_LAUNCH_FANOUT
everything '4:vn%u:rr' --vnodes 4 --map-by node
if [ -n "${PGAS_TEST_LONG:-}" ]; then
    SHMEM_LAUNCH_FANOUT=1
    everything '5:vn%u:block' --vnodes 5
    SHMEM_LAUNCH_FANOUT=32
    everything '3:vn%u:rr' --vnodes 3 --map-by node
    everything '2:vn%u:block' --vnodes 2
fi

# The data of one PE, and of all PEs, may be large.
n=3
SHMEM_LAUNCH_FANOUT=1
good --vnodes 3 -- fence 8000000
good -- fence 3000000 # libpmix takes 4 MiB there

# PEs may end the job by job control.
run 137 -n 4 --vnodes 2 "$client" end kill
run 143 -n 4 --vnodes 2 "$client" end terminate
run 137 -n 2 "$client" end kill
finish
