#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nohang.sh - SHMEM_FT=continue: PEs are killed in, before and after each blocking routine;
# the others return from it, and go on as a smaller world (nohang.c).  On one node, on virtual
# nodes with both transports, where whole nodes are killed too; with each algorithm of the
# collectives, SHMEM_STRESS, SHMEM_DEBUG and threads.  PGAS_TEST_LONG: NOHANG_KILLS kills
# (20 000).  NOHANG_SEED: the first seed.  A failed job is repeated by the command that is
# printed.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
nohang=$top_builddir/tests/ft/nohang
seed=${NOHANG_SEED:-1} first=0 stacks_s=60 limit_s=90
: >"$work/samples"

# ---- each routine has a case

list_routines() {
    nm -D --defined-only "$top_builddir/.libs/libshmem.so" | awk '{ print $3 }' |
        sed -E -e 's/@.*//' -e '/^shmemx?_/!d' -e 's/^shmemx_/x_/' -e 's/^shmem_(ctx_)?//' \
            -e 's/^(x_)?(float|double|longdouble|char|schar|short|int|long|longlong|uchar|ushort|uint|ulong|ulonglong|u?int(8|16|32|64)|size|ptrdiff|complexd|complexf)_/\1/' \
            -e 's/^(i|ib)?(put|get)(mem|8|16|32|64|128)(_|$)/\1\2\4/' \
            -e 's/^(broadcast|f?collect|alltoalls?)(mem|32|64)$/\1/' | sort -u
}

check_table() {
    table=$top_srcdir/tests/ft/nohang.txt
    "$nohang" -l | sort >"$work/cases"
    awk '!/^#/ && $1 != "-" { print $1 }' "$table" | sort | diff - "$work/cases" ||
        fail "cases of nohang.txt (<) and of nohang.c (>) differ"
    awk '!/^#/ && NF > 1 { print "^(" $2 ")$" }' "$table" >"$work/patterns"
    list_routines >"$work/routines"
    missing=$(grep -vE -f "$work/patterns" "$work/routines" || :)
    [ -z "$missing" ] || fail "routines without a case in nohang.txt: $missing"
    [ "$(wc -l <"$work/routines")" -gt 100 ] || fail "no list of routines"
}

# ---- jobs

# job PES OPTIONS [NAME=VALUE..]: OPTIONS of nohang, or 'oshrun options -- nohang options'.
job() {
    n=$1 options=$2
    shift 2
    case $options in
    *--*) oshrun_options=${options%%-- *} options=${options#*-- } ;;
    *) oshrun_options='' ;;
    esac
    case $options in
    *-c*) ;;
    *) options="-f $first $options" ;;
    esac
    board=$work/board
    rm -f "$board"
    # shellcheck disable=SC2086 # words
    set -- "$@" SHMEM_FT=continue "$OSHRUN" --timeout $stacks_s $oshrun_options -n "$n" \
        "$nohang" -b "$board" -s "$seed" $options
    got=0
    timeout -s KILL "$limit_s" env "$mark" TMPDIR="$work/tmp" "$@" >"$work/out" 2>&1 || got=$?
    "$top_builddir/tests/ft/nohang_report" "$board" >"$work/report" || got="$got, votes differ"
    if [ "$got" != 0 ]; then
        fail "status $got: env $*"
        cat "$work/out"
        grep 'has status' "$work/report" || :
        "$top_builddir/tests/ft/nohang_report" -w "$board"
    fi
    cat "$work/report" >>"$work/samples"
    seed=$((seed + 1)) first=$((first + n - 1))
}

# all_algorithms: each algorithm of each collective on a node.
all_algorithms() {
    for a in flat last first lines slices chain tree static; do
        job "$1" "-r 2 -c reduce" SHMEM_REDUCE_ALGORITHM=$a
    done
    for a in mailbox direct barrier; do
        job "$1" "-r 2 -c broadcast" SHMEM_BROADCAST_ALGORITHM=$a
    done
    for a in mailbox arrival barrier; do
        job "$1" "-r 2 -c fcollect" SHMEM_FCOLLECT_ALGORITHM=$a
        job "$1" "-r 2 -c alltoall" SHMEM_ALLTOALL_ALGORITHM=$a
    done
    for a in mailbox barrier; do
        job "$1" "-r 2 -c collect" SHMEM_COLLECT_ALGORITHM=$a
        job "$1" "-r 2 -c scan" SHMEM_SCAN_ALGORITHM=$a
    done
    for a in dissemination counter; do
        job "$1" "-r 2 -c barrier_all" SHMEM_BARRIER_ALGORITHM=$a
    done
}

# Each algorithm between nodes.
all_internode() {
    for a in gather doubling direct halving ring barrier; do
        job "$1" "--vnodes $2 -- -r 2 -c reduce" SHMEM_INTERNODE_REDUCE_ALGORITHM=$a
    done
    for a in eager gather binomial kary scatter barrier; do
        job "$1" "--vnodes $2 -- -r 2 -c broadcast" SHMEM_INTERNODE_BROADCAST_ALGORITHM=$a
    done
    for a in direct ring barrier; do
        job "$1" "--vnodes $2 -- -r 2 -c fcollect" SHMEM_INTERNODE_COLLECT_ALGORITHM=$a
    done
    for a in gather bruck pairwise barrier; do
        job "$1" "--vnodes $2 -- -r 2 -c alltoall" SHMEM_INTERNODE_ALLTOALL_ALGORITHM=$a
    done
}

kills() {
    awk '$1 == "kills" { n += $2 } END { print n + 0 }' "$work/samples"
}

# Prints and checks the times between the kill and the return; unloaded, detection takes
# microseconds on a node.
check_times() {
    awk '$1 != "kills" && $(NF - 1) != "-" { print $(NF - 1) }' "$work/samples" | sort -n |
        awk '{ v[NR] = $1 }
            END {
                printf "%d returns, microseconds after the kill: median %.0f, 99 %% %.0f, 99.9 %% %.0f, last %.0f\n",
                    NR, v[int(NR / 2)], v[int(NR * .99)], v[int(NR * .999)], v[NR]
                exit !(NR > 0 && v[int(NR / 2)] < 500000 && v[int(NR * .99)] < 2000000)
            }' || fail "the returns take too long"
    echo "$(kills) kills"
}

check_table
if [ -n "${PGAS_TEST_LONG:-}" ]; then
    while [ "$failures" -lt 10 ] && [ "$(kills)" -lt "${NOHANG_KILLS:-20000}" ]; do
        for n in 2 3 5 8 16; do
            job "$n" -F
            job "$n" "-F -t" SHMEM_STRESS="$seed"
            job "$n" '' SHMEM_DEBUG=$((seed % 3))
        done
        for transport in ofi ucx tcp; do
            job 8 "--vnodes 4 -- -F" SHMEM_TRANSPORT=$transport
            job 8 "--vnodes 4 -- -N" SHMEM_TRANSPORT=$transport
            job 7 "--vnodes 3 -- -t" SHMEM_TRANSPORT=$transport SHMEM_STRESS="$seed"
        done
        all_algorithms 5
        all_internode 6 3
        echo "seed $seed: $(kills) kills, $failures failures"
    done
else
    job 16 -F
    job 16 "-F -t"
    job 16 '' SHMEM_STRESS="$seed"
    job 8 -F SHMEM_DEBUG=2
    for n in 2 3 5 8 16; do
        job "$n" -F
    done
    for n in 16 16 16 16 16 16 16 16; do
        job "$n" -t
    done
    all_algorithms 5
    for transport in ofi ucx tcp; do
        job 8 "--vnodes 4 -- -F" SHMEM_TRANSPORT=$transport
        job 8 "--vnodes 4 -- -N" SHMEM_TRANSPORT=$transport
    done
    all_internode 6 3
fi
check_times
finish
