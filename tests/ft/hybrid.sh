#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hybrid.sh - a program with Open MPI's MPI and OpenSHMEM under oshrun, on one node and on
# virtual nodes, loses a PE and survives: see hybrid.c.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
limit_s=60
mpicc=${MPICC:-mpicc.openmpi}
command -v "$mpicc" >/dev/null || {
    echo 'skipped: no mpicc of Open MPI; apt-get install libopenmpi-dev'
    exit 77
}
hybrid=$work/hybrid
# shellcheck disable=SC2046 # words
"$mpicc" -I"$top_builddir/include" -I"$top_srcdir/include" "$top_srcdir/tests/ft/hybrid.c" \
    -o "$hybrid" -L"$top_builddir/.libs" -Wl,-rpath,"$top_builddir/.libs" -lshmem \
    $(pkg-config --cflags --libs pmix)

survives() {
    run 0 "$@"
    prints passed
    says 'the job survived 1 failed PE: PE 3'
}

survives -x SHMEM_FT=continue -n 4 "$hybrid" mpi
survives -x SHMEM_FT=continue -n 4 "$hybrid" shmem
survives --vnodes 2 -x SHMEM_FT=continue -n 4 "$hybrid" mpi
survives --vnodes 2 -x SHMEM_FT=continue -x SHMEM_DEBUG=1 -n 4 "$hybrid" last
says 'PMIx events of failed PEs: this is not the last handler'
# Those that no process uses; other tests run MPI at the same time.
left=
for file in $(find /dev/shm -name 'vader_segment*' -newer "$hybrid" 2>/dev/null); do
    grep -qsF -e "$file" /proc/[0-9]*/maps || [ ! -e "$file" ] || left="$left $file"
done
[ -z "$left" ] || fail "files of MPI are left: $left"
finish
