#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# heap_limits.sh - the symmetric heap when private memory or heap space is exhausted, and
# arguments that it accepts although the specification does not define them.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"

# lines_match N TEXT: exactly N lines of standard error match TEXT.
lines_match() {
    n=$(grep -c -e "$2" "$work/err" || :)
    [ "$n" = "$1" ] && return 0
    fail "$n lines match '$2', expected $1"
    sed 's/^/    /' "$work/err"
}

if [ -z "${SANITIZED:-}" ]; then
    run_fails -n 3 "$bugs/heap_limits" calloc
    lines_match 0 'but offset'
    says 'PE 2: no private memory to record a block of the symmetric heap'
fi
run 0 -n 3 env SHMEM_SYMMETRIC_SIZE=2m "$bugs/heap_limits" space
lines_match 1 'cannot allocate'
says 'PE 0: shmem_malloc: cannot allocate 3145728 bytes in the symmetric heap of 2097152 bytes; .*SHMEM_SYMMETRIC_SIZE'
run 0 -n 2 "$bugs/heap_limits" lenient
lines_match 1 "shmem_malloc_with_hints: argument 'hints' has unknown bits (0x100000)"
finish
