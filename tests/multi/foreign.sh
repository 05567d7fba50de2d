#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# foreign.sh - the same binary under Open MPI's mpirun, and alone.
set -eu
dir=$top_builddir/tests/multi
tests='query.pes types.pes amo_contended.pes globals.pes barrier.pes signal.pes again.pes'

for test in $tests life.pes lock.pes; do
    timeout -k 5 120 "$dir/$test" >/dev/null || {
        echo "alone, $test ended with status $?"
        exit 1
    }
done

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
# mpirun may ignore SIGTERM: -k.  Its own files go where they can be removed.
for test in $tests; do
    TMPDIR=$work timeout -k 5 120 "$mpirun" --oversubscribe -n 4 "$dir/$test" \
        >/dev/null || {
        echo "under mpirun -n 4, $test ended with status $?"
        exit 1
    }
done
# The exit status of a global_exit goes through mpirun too.
status=0
TMPDIR=$work timeout -k 5 60 "$mpirun" --oversubscribe -n 3 "$dir/exits" global \
    >/dev/null 2>&1 || status=$?
if [ $status -ne 42 ]; then
    echo "under mpirun, shmem_global_exit(42) gave status $status"
    exit 1
fi
