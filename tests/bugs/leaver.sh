#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# leaver.sh - if a PE exits or finalizes while others wait in a barrier, the job ends with
# a message that names that PE and a waiting one.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"

for n in 2 3 5; do
    for way in exit finalize; do
        run_fails -n $n "$bugs/leaver" $way
        says 'PE 1 has exited or called shmem_finalize while other PEs wait in shmem_barrier_all'
    done
    run_fails -n $n "$bugs/leaver" alarm
    [ "$failures" = 0 ] || break # each hang takes the full time limit
done
finish
