#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sim.sh - simulated jobs (job.h): random programs with faults, 1500 seeds
# (PGAS_TEST_LONG: 1 000 000); equal seeds give equal runs; the costs of the collectives and
# of start-up on many nodes against their formulas, and among many PEs of a node; and mutants, each of which a seed must reveal.
set -eu
cd "$top_builddir"
work=$(mktemp -d "${TMPDIR:-/tmp}/sim.XXXXXX")
trap 'rm -rf "$work"' EXIT
seeds=1500 mutant_seeds=1500 nodes='16 33 64' node_pes=40 # 33: not a power of two
[ -z "${PGAS_TEST_LONG:-}" ] || seeds=1000000 nodes='16 33 64 256 1024 4096' node_pes='17 64 100 128 256'
processors=$(nproc)
failures=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# Two tests use these objects; the optimizer would take longer than the jobs.
MAKEFLAGS= flock config.status make -s -j"$processors" CFLAGS=-O1 tests/sim/run tests/sim/scale tests/sim/startup \
    tests/sim/moved tests/sim/scale_node

# ---- random programs
each=$((seeds / processors))
for i in $(seq "$processors"); do
    tests/sim/run --seed=$(((i - 1) * each + 1)) --count="$each" >"$work/run.$i" 2>&1 &
done
wait
cat "$work"/run.*
[ "$(grep -c ': right$' "$work"/run.* | grep -c ':1$')" = "$processors" ] ||
    fail 'random programs'

tests/sim/run --seed=1 --count=20 --verbose >"$work/first"
tests/sim/run --seed=1 --count=20 --verbose >"$work/second"
cmp "$work/first" "$work/second" || fail 'equal seeds gave different runs'

# ---- costs
# shellcheck disable=SC2086 # words
tests/sim/scale $nodes || fail 'scale'
# shellcheck disable=SC2086 # words
tests/sim/startup $nodes || fail 'startup'
tests/sim/scale_node $node_pes || fail 'scale_node'

# ---- shmem_realloc while a PE dies
tests/sim/moved || fail 'moved'

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
    # A job that exceeds the limit reveals the mutant, too; others take milliseconds.
    if "$work/run.$name" --limit=2 --count=$mutant_seeds >"$work/out" 2>&1; then
        fail "$1: $2: $mutant_seeds seeds did not reveal it"
    else
        seed=$(grep -o 'seed [0-9]*' "$work/out" | head -n 1)
        echo "mutant $1, $2: ${seed:-a crash}"
    fi
}
grep -v '^#' "$top_srcdir/tests/sim/mutants.txt" >"$work/mutants"
while read -r file command; do
    mutant "$file" "$command"
done <"$work/mutants"
[ $failures -eq 0 ]
