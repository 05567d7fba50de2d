#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# old.sh - compiles the ported programs with oshcc as C90 (gnu89) and runs them with all
# arguments checked (SHMEM_DEBUG=2).  Programs that distribute rows must fail with an error
# if there are more PEs than rows.
set -eu
. "$top_srcdir/tests/api/ported/lib.sh"

for name in cg collatz fft gups isx psrs scan summa; do
    build "$name.pes" "$OSHCC" -std=gnu89 -O1 -Wall "$top_srcdir/tests/api/ported/$name.c" -lm ||
        continue
    PES_SIZES='3 8' SHMEM_DEBUG=2 sh "$top_srcdir/tests/run-pes" "$work/$name.pes" \
        >"$work/log" 2>&1 || {
        fail "$name with SHMEM_DEBUG=2"
        cat "$work/log"
    }
done

# rejects NPES NAME: NAME fails with an error, because NPES exceeds its number of rows.
rejects() {
    status=0
    timeout -k 5 "$limit_s" "$OSHRUN" -n "$1" "$work/$2.pes" >"$work/out" 2>&1 || status=$?
    if [ $status -ne 1 ] || ! grep -q "$2: for at most" "$work/out"; then
        fail "$2 with $1 PEs: exit status $status"
        cat "$work/out"
    fi
}
rejects 31 cg
rejects 49 summa
finish
