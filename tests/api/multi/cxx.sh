#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# cxx.sh - compiles cxx.cc with oshc++ and every warning, and runs it.
set -eu
oshcxx=$(dirname "$OSHCC")/oshc++
cxx=$("$oshcxx" --showme:command 2>/dev/null || echo c++)
if ! command -v "${cxx%% *}" >/dev/null; then
    echo "skipped: no C++ compiler ($cxx)"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for standard in c++11 c++17; do
    "$oshcxx" -std=$standard -Wall -Wextra -Wpedantic -Wshadow -Werror \
        "$top_srcdir/tests/api/multi/cxx.cc" -o "$work/cxx"
    timeout -k 5 60 "$OSHRUN" -n 3 "$work/cxx"
done
