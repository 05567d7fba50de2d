#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# leaver.sh - a PE that leaves while the others wait in a barrier ends the job, with a
# sentence that names both.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"

for n in 2 3 5; do
    for way in exit finalize; do
        run_fails -n $n "$bugs/leaver" $way
        says 'PE 1 has exited or called shmem_finalize while PE [0-9]* waits in shmem_barrier_all'
    done
    run_fails -n $n "$bugs/leaver" alarm
    [ "$failures" = 0 ] || break # each hang takes the whole limit
done
finish
