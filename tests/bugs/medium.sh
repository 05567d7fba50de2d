#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# medium.sh - builds medium.c for the small and the medium code model, and with more than
# ten writable segments, and runs it.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"
: >"$work/config.h"

# try FLAG...: compile with FLAGs and run with 1 and with 3 PEs.
try() {
    if ! "$OSHCC" -D_GNU_SOURCE -I"$work" -I"$top_srcdir" -I"$top_srcdir/include" "$@" \
        "$top_srcdir/tests/bugs/medium.c" -o "$work/medium" 2>"$work/err"; then
        tail -n 3 "$work/err"
        skip "the compiler does not make a program with $*"
    fi
    for n in 1 3; do
        run 0 -n $n "$work/medium"
    done
}

try -O2 -fno-pie -no-pie
try -O2 -fno-pie -mcmodel=medium -no-pie
distant=
for i in 0 1 2 3 4 5 6 7 8 9; do
    distant="$distant -Wl,--section-start=.distant$i=0x1${i}000000"
done
# shellcheck disable=SC2086 # one flag for each section
try -O2 -fno-pie -no-pie $distant
finish
