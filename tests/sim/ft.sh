#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ft.sh - simulated jobs whose PEs and nodes die (ft_program.h): 1500 seeds
# (PGAS_TEST_LONG: 500 000); equal seeds give equal runs; and mutants of
# the failure handling (PGAS_TEST_LONG: all of them), each of which a seed must reveal.
set -eu
cd "$top_builddir"
work=$(mktemp -d "${TMPDIR:-/tmp}/simft.XXXXXX")
trap 'rm -rf "$work"' EXIT
seeds=1500 mutant_seeds=3000 mutant_every=5
[ -z "${PGAS_TEST_LONG:-}" ] || seeds=500000 mutant_seeds=50000 mutant_every=1
processors=$(nproc)
failures=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# Two tests use these objects; the optimizer would take longer than the jobs.
MAKEFLAGS= flock config.status make -s -j"$processors" CFLAGS=-O1 tests/sim/run

# ---- random programs
each=$(((seeds + processors - 1) / processors))
for i in $(seq "$processors"); do
    tests/sim/run --ft --seed=$(((i - 1) * each + 1)) --count="$each" \
        >"$work/run.$i" 2>&1 &
done
wait
cat "$work"/run.*
[ "$(cat "$work"/run.* | grep -c ': right$')" = "$processors" ] || fail 'random programs'

tests/sim/run --ft --seed=1 --count=20 --verbose >"$work/first"
tests/sim/run --ft --seed=1 --count=20 --verbose >"$work/second"
cmp "$work/first" "$work/second" || fail 'equal seeds gave different runs'

# ---- mutants
# mutant FILE SED: with the defect in FILE, one of the first seeds must fail.
mutant() {
    name=$(basename "$1" .c)
    sed "$2" "$top_srcdir/$1" >"$work/$name.c"
    ! cmp -s "$top_srcdir/$1" "$work/$name.c" || fail "$1: $2 changes nothing"
    # shellcheck disable=SC2046,SC2086 # words
    $CC -std=gnu11 -O1 -w -DPGAS_INSTANCES -DPGAS_SIM -DPGAS_COUNTERS -fvisibility=hidden -I. \
        -I"$top_srcdir" -I"$top_srcdir/include" $(pkg-config --cflags pmix) -c \
        "$work/$name.c" -o "$work/$name.o"
    $CC -o "$work/run.$name" "$work/$name.o" tests/sim/run-*.o \
        tests/sim/.libs/libpgas_sim.a -lpthread -lm -ldl
    if "$work/run.$name" --ft --count=$mutant_seeds >"$work/out" 2>&1; then
        fail "$1: $2: $mutant_seeds seeds did not reveal it"
    else
        seed=$(grep -o 'seed [0-9]*' "$work/out" | head -n 1)
        echo "mutant $1, $2: ${seed:-a crash}"
    fi
}
grep -v '^#' "$top_srcdir/tests/sim/ft_mutants.txt" | awk -v every="$mutant_every" \
    'NR % every == 0' >"$work/mutants"
while read -r file command; do
    mutant "$file" "$command"
done <"$work/mutants"
[ $failures -eq 0 ]
