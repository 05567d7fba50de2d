#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# 256 PEs on however few processors there are.
set -eu
. "$top_srcdir/tests/cli/oshrun-lib.sh"

for n in 64 256; do
    begin=$(now_ms)
    run 0 -n $n -v "$client" good
    echo "$n PEs: $(($(now_ms) - begin)) ms"
    got=$(sort -u "$work/out" | wc -l)
    [ "$got" = $n ] || fail "$got of $n PEs were there"
    says 'all PEs connected'
done
run 3 -n 256 "$client" exit 200 3
says 'PE 200 .* exited with status 3; ending 255 other PEs'
finish
