#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stdin_lock.sh - the exit status of shmem_global_exit while a thread holds the stdin lock.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"

for n in 1 3; do
    run 3 -n $n "$bugs/stdin_lock"
done
finish
