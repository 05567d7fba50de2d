#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# debian_netpipe.sh - NetPIPE with its SHMEM module (Q. Snell, A. Mikler, J. Gustafson,
# "NetPIPE: A Network Protocol Independent Performance Evaluator", 1996), from the source of
# Debian's package netpipe (tests/api/ported/fetch-debian gets it), compiled as its makefile does.
# It uses start_pes, _my_pe, shmalloc, shfree, shmem_put64, and polls memory with loads.
set -eu
. "$top_srcdir/tests/api/ported/lib.sh"
unpack netpipe src
src=$work/netpipe/src

build NPshmem "$OSHCC" -O2 -w -DSHMEM "$src/netpipe.c" "$src/shmem.c" || finish

# Two processes, messages of 5 to 4096 bytes: received data are compared word by word.
# (Only with NetPIPE's default sizes: it polls a last byte that is not part of a word.)
run 2 NPshmem -n 20 -u 4096 -i
passed=$(cat "$work/out" "$work/err" | grep -c 'Integrity check passed') || :
[ "$passed" -ge 15 ] || fail "only $passed integrity checks passed"
! grep -i 'integrity check failed' "$work/out" "$work/err" || fail 'a message was damaged'

# The measurement: the result file has a line for each size.
run 2 NPshmem -n 20 -l 1 -u 4096
lines=$(awk 'NF >= 3 && $2 > 0 && $3 > 0' "$work/np.out" | wc -l)
[ "$lines" -ge 30 ] || fail "only $lines sizes were measured"

# It requires two processes and prints an error otherwise.
status=0
timeout -k 5 60 "$OSHRUN" -n 3 "$work/NPshmem" -i >"$work/out" 2>&1 || status=$?
if [ $status -ne 1 ] || ! grep -q 'Run with npes set to 2' "$work/out"; then
    fail "NPshmem with 3 PEs: exit status $status"
    cat "$work/out"
fi
finish
