#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lock_foreign.sh - clearing a lock that another PE holds ends the job with a message.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"

for n in 2 5; do
    run_fails -n $n "$bugs/lock_foreign"
    says 'PE 1: shmem_clear_lock: .*lock at 0x'
done
finish
