#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# counters.sh - jobs with a library whose counters begin 5 below 2^31 or 2^32 and whose
# large collectives over nodes advance epochs by 2^28 (counters_start.h): tests/coll/counters
# with each algorithm of the barrier, on one node and on virtual nodes, one start of each
# (PGAS_TEST_LONG: all starts, other tests of this folder, and mutants with the 32-bit
# comparisons that these once were).
set -eu
. "$top_srcdir/tests/transport/net/lib.sh"
[ -z "$brief" ] || {
    echo 'skipped: the plain build has run it'
    exit 77
}
stacks_s=60
[ -z "$long" ] || stacks_s=900 limit_s=1000
cc="$CC -std=gnu11 -O1 -w -DPGAS_COUNTERS -fvisibility=hidden -I$top_builddir -I$top_srcdir \
    -I$top_srcdir/include -I$top_builddir/include $(pkg-config --cflags pmix nettle)"

# Objects with the start of the counters replace those of the archive.
# shellcheck disable=SC2046 # names of our own files
set -- $(cd "$top_srcdir" && grep -l 'base/counter\.h"' $(find pgas -name '*.c'))
for source in "$@" tests/coll/counters_start.c; do
    $cc -c "$top_srcdir/$source" -o "$work/$(basename "$source" .c).o" &
done
for program in counters ${long:+chain internode internode_limits nb shared}; do
    $cc -c "$top_srcdir/tests/coll/$program.c" -o "$work/main.$program" &
done
wait
# link PROGRAM NAME OBJECT..: the program with these objects before the others.
link() {
    main=$1 output=$2
    shift 2
    cp "$work/main.$main" "$work/$output.main.o"
    others=$(for o in "$work"/*.o; do
        case " $* $o " in *".main.o "* | *" $work/x_$(basename "$o") "*) ;; *) echo "$o" ;; esac
    done | grep -v /x_)
    # shellcheck disable=SC2086,SC2046 # words
    $CC -o "$work/$output" "$work/$output.main.o" "$@" $others "$top_builddir/.libs/libpgas.a" \
        $(pkg-config --libs pmix nettle) -lpthread -lm -ldl
}
link counters counters

starts='31+used 31+unused 32+used 32+unused'
seed=0 turn=0
# start_all ARGUMENT..: a job with each start, or with the next one.
start_all() {
    turn=$((turn % 4 + 1)) i=0
    for start in $starts; do
        i=$((i + 1))
        [ -n "$long" ] || [ $i -eq $turn ] || continue
        seed=$((seed + 1))
        run 0 --timeout $stacks_s -x COUNTERS="${start%+*} ${start#*+}" -x SHMEM_STRESS=$seed "$@"
    done
}
start_all -x SHMEM_BARRIER_ALGORITHM=tree -x SHMEM_COLL_GROUPS=2 -n 3 "$work/counters" 1
start_all -x SHMEM_BARRIER_ALGORITHM=dissemination -n 3 "$work/counters" 2
start_all -x SHMEM_BARRIER_ALGORITHM=tree -x SHMEM_COLL_GROUPS=2 --vnodes 2 -n 5 "$work/counters" 3
start_all -x SHMEM_BARRIER_ALGORITHM=counter -n 3 "$work/counters" 4
start_all --vnodes 2 -n 4 "$work/counters" 5
[ -n "$long" ] || {
    end
    exit 0
}

for program in chain internode internode_limits nb shared; do
    link $program $program
done
start_all --vnodes 3 -n 3 "$work/chain" 60
start_all --vnodes 4 -n 8 "$work/internode_limits"
start_all -n 3 "$work/shared" mix 200
start_all --vnodes 2 -n 4 "$work/shared" mix 200
start_all --vnodes 3 -n 5 "$work/internode" 0
start_all -n 3 "$work/nb" mix 200 1
start_all --vnodes 2 -n 4 "$work/nb" mix 60 2

# mutant SOURCE SED START ARGUMENT..: with the defect, the job fails or does not end.
mutant() {
    name=x_$(basename "$1" .c)
    sed "$2" "$top_srcdir/$1" >"$work/$name.c"
    ! cmp -s "$top_srcdir/$1" "$work/$name.c" || fail "$1: $2 changes nothing"
    $cc -c "$work/$name.c" -o "$work/$name.o"
    link counters "${name#x_}_mutant" "$work/$name.o"
    start=$3
    shift 3
    run 1 --timeout $stacks_s -x COUNTERS="$start" "$@" "$work/${name#x_}_mutant" 1
    says 'had entered it'
    rm "$work/$name.o"
}
mutant pgas/coll/sync/internode.c \
    's/return load_acquire_u64(g->word) >= g->value;/return (int32_t)((uint32_t)load_acquire_u64(g->word) - (uint32_t)g->value) >= 0;/' \
    '31 unused' --vnodes 2 -n 4
mutant pgas/coll/sync/barrier.c \
    's/return load_acquire_u64(g->word) >= g->epoch;/return (uint32_t)load_acquire_u64(g->word) - (uint32_t)g->epoch <= 1;/' \
    '32 unused' -x SHMEM_BARRIER_ALGORITHM=counter -n 3
end
