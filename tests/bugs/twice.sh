#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# twice.sh - a second program with the identity of the same PE is rejected at once, after
# the first has ended as well as while it runs, which it must survive.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"

for n in 1 2 5; do
    run_fails -n $n sh -c '"$0" && "$0"' "$bugs/hello"
    says 'has joined already'
    run 0 -n $n "$bugs/nested" "$bugs/hello"
    says 'has joined already'
done
finish
