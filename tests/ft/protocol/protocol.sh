#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# protocol.sh - simulated failures (cluster.h): golden traces; 100 000 seeds (PGAS_TEST_LONG:
# 10 000 000); equal seeds give equal runs; costs of detection and broadcast against their
# formulas; and mutants, each of which a seed must reveal.
set -eu
cd "$top_builddir"
work=$(mktemp -d "${TMPDIR:-/tmp}/protocol.XXXXXX")
trap 'rm -rf "$work"' EXIT
seeds=100000 mutant_seeds=100000 nodes='16 64 256 1024'
[ -z "${PGAS_TEST_LONG:-}" ] || seeds=10000000 nodes='16 32 64 128 256 512 1024 2048 4096'
processors=$(nproc)
failures=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

MAKEFLAGS= make -s -j"$processors" tests/ft/protocol/random tests/ft/protocol/scale \
    tests/ft/protocol/golden

# ---- golden traces
for name in one-failure contiguous coordinator; do
    tests/ft/protocol/golden $name >"$work/$name" || fail "golden $name"
    diff "$top_srcdir/tests/ft/protocol/golden-$name.txt" "$work/$name" ||
        fail "golden $name differs"
done

# ---- random failures
each=$(((seeds + processors - 1) / processors))
for i in $(seq "$processors"); do
    tests/ft/protocol/random --seed=$(((i - 1) * each + 1)) --count="$each" >"$work/run.$i" 2>&1 &
done
wait
cat "$work"/run.*
[ "$(cat "$work"/run.* | grep -c ': right$')" = "$processors" ] || fail 'random failures'

tests/ft/protocol/random --seed=1 --count=20 --trace >"$work/first"
tests/ft/protocol/random --seed=1 --count=20 --trace >"$work/second"
cmp "$work/first" "$work/second" || fail 'equal seeds gave different runs'

# ---- costs
# shellcheck disable=SC2086 # words
tests/ft/protocol/scale $nodes || fail 'scale'

# ---- mutants
# mutant FILE SED: with the defect in FILE, one of the first seeds must fail.
mutant() {
    name=$(basename "$1" .c)
    sed "$2" "$top_srcdir/$1" >"$work/$name.c"
    ! cmp -s "$top_srcdir/$1" "$work/$name.c" || fail "$1: $2 changes nothing"
    $CC -std=gnu11 -O1 -w -I. -I"$top_srcdir" -c "$work/$name.c" -o "$work/$name.o"
    # shellcheck disable=SC2046 # words
    $CC -o "$work/mutant" "$work/$name.o" $(find tests/ft -name 'random-*.o') .libs/libft.a
    if "$work/mutant" --count=$mutant_seeds >"$work/out" 2>&1; then
        fail "$1: $2: $mutant_seeds seeds did not reveal it"
    else
        seed=$(grep -o 'seed [0-9]*' "$work/out" | head -n 1)
        echo "mutant $1, $2: ${seed:-a crash}"
    fi
}
grep -v '^#' "$top_srcdir/tests/ft/protocol/mutants.txt" >"$work/mutants"
while read -r file command; do
    mutant "$file" "$command"
done <"$work/mutants"
[ $failures -eq 0 ]
