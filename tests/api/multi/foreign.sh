#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# foreign.sh - the same binaries under Open MPI's mpirun on one node, and without a
# launcher; the exit status of PEs under mpirun.
set -eu
dir=$top_builddir/tests/api/multi
tests='../conform/rma.pes amo_contended.pes globals.pes barrier.pes signal.pes again.pes'

for test in $tests ../conform/life.pes lock.pes; do
    timeout -k 5 120 "$dir/$test" >/dev/null || {
        echo "alone, $test ended with status $?"
        exit 1
    }
done

# warns MESSAGE VARIABLE...: hello, without a launcher but with these variables of one,
# prints MESSAGE first ('': nothing).
warns() {
    want=$1
    shift
    got=$(env "$@" timeout -k 5 60 "$top_builddir/examples/hello" 2>&1 >/dev/null) || :
    case $got in
    "$want"*) [ -n "$want" ] || [ -z "$got" ] && return 0 ;;
    esac
    echo "alone with $*: '$got', expected '$want'"
    exit 1
}
warns 'pgas: PMI_SIZE=2 indicates more processes' PMI_RANK=1 PMI_SIZE=2
warns 'pgas: OMPI_COMM_WORLD_SIZE=2 indicates' OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2
warns 'pgas: SLURM_STEP_NUM_TASKS=2 indicates' SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2
warns '' PMI_RANK=0 PMI_SIZE=1
warns '' SLURM_PROCID=0 SLURM_NTASKS=4 # a batch script: not a task of a step
warns '' SLURM_NTASKS=4                # the shell of salloc
warns 'pgas: the PMIx server that PMIX_NAMESPACE=gone names does not answer' \
    PMIX_NAMESPACE=gone PMIX_RANK=0

mpirun=${MPIRUN:-mpirun}
if ! "$mpirun" --version 2>/dev/null | grep -q 'Open MPI'; then
    echo "skipped in part: no Open MPI mpirun; apt-get install openmpi-bin"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
CHECK_NPES=4
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM CHECK_NPES
# -k: mpirun may ignore SIGTERM.  TMPDIR: for mpirun's files.
for test in $tests; do
    TMPDIR=$work timeout -k 5 120 "$mpirun" --oversubscribe -n 4 "$dir/$test" \
        >/dev/null || {
        echo "under mpirun -n 4, $test ended with status $?"
        exit 1
    }
done

# mpirun_ends STATUS N COMMAND...: the job of N PEs ends with STATUS within 60 s.
mpirun_ends() {
    want=$1 n=$2
    shift 2
    status=0
    TMPDIR=$work timeout -s KILL 60 "$mpirun" --oversubscribe -n "$n" "$@" \
        >"$work/out" 2>"$work/err" || status=$?
    [ $status -ne "$want" ] || return 0
    echo "under mpirun -n $n, $* ended with status $status, expected $want"
    tail -n 20 "$work/err"
    exit 1
}

# mpirun passes on the status of the PEs.
mpirun_ends 42 3 "$dir/exits" global
mpirun_ends 3 3 "$dir/exits" status
mpirun_ends 0 3 "$dir/exits" return
# Fails rarely, on a busy machine: docs/LAUNCHERS.md
[ -z "${PGAS_TEST_LONG:-}" ] || mpirun_ends 0 3 "$dir/boot_map.pes" again
mpirun_ends 7 3 "$dir/boot_map.pes" exit 7 2
mpirun_ends 137 3 "$dir/boot_map.pes" signal 9 0
mpirun_ends 139 3 "$dir/boot_map.pes" signal 11 1
mpirun_ends 42 3 "$dir/boot_map.pes" abort 42 1

# By default a PMIx server stops waiting for a PE after 2 s.  PE 0, which creates the node
# segment that the others wait for, is later than that.
# shellcheck disable=SC2016 # for the PEs
mpirun_ends 0 3 sh -c '[ "$PMIX_RANK" -ne 0 ] || sleep 3; exec "$0"' "$dir/exits"
[ "$(grep -c 'returns without finalize' "$work/out")" -eq 3 ] || {
    echo "under mpirun, with a late PE 0:"
    cat "$work/out" "$work/err"
    exit 1
}
left=$(find "$work" -mindepth 1 ! -name out ! -name err)
if [ -n "$left" ]; then
    echo "mpirun left behind: $left"
    exit 1
fi
