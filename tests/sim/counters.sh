#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# counters.sh - simulated jobs whose counters begin 5 below 2^31 or 2^32, and whose large
# collectives over nodes advance epochs by 2^28 (tests/coll/counters_start.h): 400 seeds,
# and 200 with failures (PGAS_TEST_LONG: 100 000 of each); and mutants with the 32-bit
# comparisons that these once were (PGAS_TEST_LONG: all of them), each of which a seed must
# reveal.
set -eu
cd "$top_builddir"
work=$(mktemp -d "${TMPDIR:-/tmp}/simcounters.XXXXXX")
trap 'rm -rf "$work"' EXIT
seeds=400 ft_seeds=200 mutants_most=3 mutant_seeds=2000
[ -z "${PGAS_TEST_LONG:-}" ] || seeds=100000 ft_seeds=100000 mutants_most=99 mutant_seeds=20000
processors=$(nproc)
rows=0 outcomes=0

# Tests of this folder use the same objects; the optimizer would take longer than the jobs.
MAKEFLAGS= flock config.status make -s -j"$processors" CFLAGS=-O1 tests/sim/run

# outcome STATUS TEXT: a row has succeeded (0) or not.
outcome() {
    rows=$((rows + 1))
    if [ "$1" -eq 0 ]; then
        outcomes=$((outcomes + 1))
        echo "$2"
    else
        echo "FAIL: $2"
    fi
}

timeout 900 tests/sim/run --counters --count=$seeds >"$work/run" 2>&1 &
got=0
timeout 900 tests/sim/run --ft --counters --count=$ft_seeds >"$work/ft" 2>&1 || got=$?
cat "$work/ft"
outcome $got "counters near their old limits, with failures: $ft_seeds seeds"
got=0
wait $! || got=$?
cat "$work/run"
outcome $got "counters near their old limits: $seeds seeds"

# mutant OPTIONS FILE SED: with the defect in FILE, one of the first seeds must fail.
mutant() {
    name=$(basename "$2" .c)
    sed "$3" "$top_srcdir/$2" >"$work/$name.c"
    if cmp -s "$top_srcdir/$2" "$work/$name.c"; then
        outcome 1 "$2: $3 changes nothing"
        return
    fi
    # shellcheck disable=SC2046,SC2086 # words
    $CC -std=gnu11 -O1 -w -DPGAS_INSTANCES -DPGAS_SIM -DPGAS_COUNTERS -fvisibility=hidden -I. \
        -I"$top_srcdir" -I"$top_srcdir/include" $(pkg-config --cflags pmix) -c \
        "$work/$name.c" -o "$work/$name.o"
    $CC -o "$work/run.$name" "$work/$name.o" tests/sim/run-*.o \
        tests/sim/.libs/libpgas_sim.a -lpthread -lm -ldl
    got=0
    # shellcheck disable=SC2086 # words
    timeout 900 "$work/run.$name" $1 --count=$mutant_seeds >"$work/out" 2>&1 || got=$?
    grep -m 1 FAIL "$work/out" || :
    outcome $((got == 0)) "mutant $2, $3"
}
grep -v '^#' "$top_srcdir/tests/sim/counters_mutants.txt" | head -n $mutants_most >"$work/mutants"
while IFS='|' read -r options file command; do
    mutant "$options" "$file" "$command"
done <"$work/mutants"
echo "rows $rows, outcomes $outcomes"
[ $rows -eq $outcomes ] && [ $rows -gt 2 ]
