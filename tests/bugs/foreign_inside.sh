#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# foreign_inside.sh - if oshrun starts mpirun, the processes of mpirun form a separate job.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"
have_mpirun || skip 'no Open MPI mpirun; apt-get install openmpi-bin'
limit_s=30

run 0 -n 1 sh -c '"$0" --oversubscribe -n 2 "$1"' "$mpirun" "$bugs/hello"
prints '^PE 0 of 2$'
prints '^PE 1 of 2$'
rm -rf "$work"/tmp/* # mpirun may leave its directories behind
finish
