#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# 256 PEs on any number of processors; 128 in the short form, fewer in a slow build.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"

sizes=128 most=128
[ -z "${PGAS_TEST_LONG:-}" ] || sizes='64 256' most=256
[ -z "${SANITIZED:-}" ] || sizes=64 most=64
for n in $sizes; do
    begin=$(now_ms)
    run 0 -n $n -v "$client" good
    echo "$n PEs: $(($(now_ms) - begin)) ms"
    got=$(sort -u "$work/out" | wc -l)
    [ "$got" = $n ] || fail "$got of $n PEs ran"
    says 'all PEs connected'
done
run 3 -n $most "$client" exit 50 3
says "PE 50 .* exited with status 3; ending $((most - 1)) other PEs"
finish
