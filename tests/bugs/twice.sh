#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# twice.sh - a second program that takes the identity of a PE is refused at once: after the
# first one has ended, and beside it, where the first must not notice.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"

for n in 1 2 5; do
    run_fails -n $n sh -c '"$0" && "$0"' "$bugs/hello"
    says 'has joined already'
    run 0 -n $n "$bugs/nested" "$bugs/hello"
    says 'has joined already'
done
finish
