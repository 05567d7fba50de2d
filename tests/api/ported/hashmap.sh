#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hashmap.sh - compiles hashmap.cc with oshc++ and all warnings, and runs it with the
# default numbers of PEs of tests/run-pes, then with SHMEM_DEBUG=2.
set -eu
. "$top_srcdir/tests/api/ported/lib.sh"
have_cxx || skip 'there is no C++ compiler'
for standard in c++11 c++17; do
    build hashmap.pes "$oshcxx" -std=$standard -O2 -Wall -Wextra -pedantic -Wshadow \
        -Wconversion -Werror "$top_srcdir/tests/api/ported/hashmap.cc" || finish
    sh "$top_srcdir/tests/run-pes" "$work/hashmap.pes" || fail "hashmap as $standard"
done
PES_SIZES='3 8' SHMEM_DEBUG=2 sh "$top_srcdir/tests/run-pes" "$work/hashmap.pes" ||
    fail 'hashmap with SHMEM_DEBUG=2'
finish
