#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# heater.sh - hot caching of the nodes of queues: the choice of a processor on made-up machines; memory
# that is freed while it is read, under the thread sanitizer where the compiler has it; and that the
# test reveals defects (regions_mutants.txt).  PGAS_TEST_LONG: all defects instead of one, and the
# address sanitizer.
set -eu
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-heater.XXXXXX")
trap 'rm -rf "$work"' EXIT
match=$top_srcdir/compat/mpi/match
flags="-std=gnu11 -O1 -g1 -I$top_builddir -I$top_srcdir"
libraries="$top_srcdir/pgas/datatype/isa.c $top_builddir/.libs/libmatch.a $(sed -n 's/^HWLOC_LIBS = //p' "$top_builddir/Makefile") -lpthread"
failed=0

wrong() {
    echo "FAIL: $*"
    failed=1
}

echo 'int main(void) { return 0; }' >"$work/nothing.c"
tsan=-fsanitize=thread
# shellcheck disable=SC2086 # CC may be "ccache gcc"
$CC $tsan "$work/nothing.c" -o "$work/nothing" 2>/dev/null && "$work/nothing" || tsan=

# program NAME FLAG DIRECTORY: with match_heater.c and match_regions.c of the directory.  --wrap: heater.c
# counts the regions that are added.
program() {
    rm -f "$work/$1"
    # shellcheck disable=SC2086
    $CC $flags $2 -c "$3/match_heater.c" -o "$work/heater.o" &&
        $CC $flags $2 -c "$top_srcdir/tests/match/heater.c" -o "$work/test.o" &&
        $CC $flags $2 -include "$top_srcdir/tests/match/heater_point.h" "$3/match_regions.c" "$work/test.o" "$work/heater.o" \
            -Wl,--wrap=match_regions_add $libraries -o "$work/$1"
}

# runs NAME: the test, with its output in case of a failure
runs() {
    timeout -k 5 300 "$work/$1" >"$work/out" 2>&1 && return
    cat "$work/out"
    wrong "$1: status $?"
}

# place MACHINE CPU CPUS EXPECTED
place() {
    got=$(HWLOC_SYNTHETIC=$1 "$work/tsan" place "$2" "$3")
    [ "$got" = "$4" ] || wrong "on $1, cpu $2 of $3: $got instead of $4"
}

program tsan "$tsan" "$match"
runs tsan

place 'pack:2 l3:1 l2:2 core:2 pu:1' 0 0,1,2,3,4,5,6,7 1 # the same L2
place 'pack:2 l3:1 l2:2 core:2 pu:1' 5 0,1,2,3,4,5,6,7 4
place 'pack:2 l3:1 l2:2 core:2 pu:1' 0 0,2,3,4,5,6,7 2 # the same L3
place 'pack:2 l3:1 l2:2 core:2 pu:1' 0 0,4,5,6,7 -1    # no other package
place 'pack:2 l3:1 l2:1 core:1 pu:2' 0 0,1,2,3 -1      # no thread of the same core
place 'l3:1 l2:2 core:1 pu:2' 0 0,1,2,3 2
place 'l3:2 core:1 pu:1' 0 0,1 -1
place 'l3:1 core:2 pu:1' 9 0,1 -1
place 'core:4 pu:1' 0 0,1,2,3 -1
[ "$(HWLOC_SYNTHETIC='core:512 pu:1' "$work/tsan" start)" = ENODEV ] || wrong 'a start without a shared cache'

if [ -n "${PGAS_TEST_LONG:-}" ]; then
    program asan "-fsanitize=address,undefined -fno-sanitize-recover=all" "$match"
    runs asan
fi

mutants=1
[ -z "${PGAS_TEST_LONG:-}" ] || mutants=99
grep -v '^#' "$top_srcdir/tests/match/regions_mutants.txt" | head -n "$mutants" >"$work/mutants"
while [ -n "$tsan" ] && read -r file command; do
    mkdir -p "$work/source"
    cp "$match/match_heater.c" "$match/match_regions.c" "$work/source"
    sed "$command" "$match/$file" >"$work/source/$file"
    ! cmp -s "$match/$file" "$work/source/$file" || wrong "no change: $command"
    rm -f "$work/out"
    program mutant "$tsan" "$work/source" || { wrong "does not compile: $command" && continue; }
    status=0
    timeout -k 5 60 "$work/mutant" >"$work/out" 2>&1 || status=$?
    case $status in
    0 | 124 | 137) wrong "not revealed (status $status): $command" ;;
    *) grep -m 1 -E 'FAIL|WARNING|ERROR|free' "$work/out" || echo "status $status: $command" ;;
    esac
done <"$work/mutants"
exit "$failed"
