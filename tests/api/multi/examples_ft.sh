#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# examples_ft.sh - the examples of failure survival end with the right result without
# failures, after the loss of PEs, of the holder of a lock and of a whole node; as many PEs
# survive as were not killed.
set -eu
# The examples do not free all their memory at exit.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dir=$top_builddir/examples
SHMEM_FT=continue
export SHMEM_FT

# run "OPTIONS OF OSHRUN" SURVIVORS PROGRAM...
run() {
    options=$1 survivors=$2
    shift 2
    status=0
    # shellcheck disable=SC2086 # options
    timeout -k 5 60 "$OSHRUN" $options "$@" >"$work/out" 2>"$work/err" || status=$?
    if [ $status -ne 0 ] || ! grep -q ": $survivors of [0-9]* PEs" "$work/out" ||
        ! grep -q 'same as\|exact' "$work/out"; then
        echo "oshrun $options $*: status $status, expected 0 and $survivors surviving PEs"
        cat "$work/out" "$work/err"
        exit 1
    fi
}

# Users build them with oshcc alone.
for name in ft_stencil ft_sum; do
    "$OSHCC" -Wall -Wextra -Werror "$top_srcdir/examples/$name.c" -o "$work/$name"
done

SHMEM_FT=abort run '-n 2' 2 "$dir/ft_stencil"
SHMEM_FT=abort run '-n 2' 2 "$dir/ft_sum"
run '-n 1' 1 "$dir/ft_stencil"
run '-n 4' 4 "$dir/ft_sum"

run '-n 4' 2 "$dir/ft_stencil" --kill 2@50 --kill 0@120
run '-n 2' 1 "$dir/ft_stencil" --kill 0@1
run '-n 4' 1 "$dir/ft_stencil" --kill 1@100 --kill 2@100 --kill 3@100
run '-n 4' 1 "$dir/ft_sum" --kill 0@1 --kill 2@1 --kill-locked 3@1
run '-n 6 --vnodes 3' 3 "$dir/ft_stencil" --kill-node 3@77 --kill 5@120
run '-n 6 --vnodes 3' 3 "$dir/ft_sum" --kill-node 2@1 --kill 5@1

[ -n "${PGAS_TEST_LONG:-}" ] || exit 0
for step in 1 2 9 10 11 15 199 200; do
    run '-n 5' 3 "$dir/ft_stencil" --kill 4@$step --kill 1@$((step / 2 + 1))
    run '-n 6 --vnodes 3' 4 "$dir/ft_stencil" --kill-node 5@$step
    run '-n 6 --vnodes 3' 2 "$dir/ft_stencil" --kill-node 3@$step --kill-node 5@$step
    run '-n 7' 5 "$dir/ft_sum" --kill 3@1 --kill-locked 6@1
    run '-n 6 --vnodes 3' 2 "$dir/ft_sum" --kill-node 3@1 --kill-node 5@1
done
