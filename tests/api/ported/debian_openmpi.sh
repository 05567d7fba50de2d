#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# debian_openmpi.sh - the OpenSHMEM examples in the source of Debian's package openmpi
# (downloaded by tests/api/ported/fetch-debian), compiled unchanged and run.
# hello_oshmem_cxx.cc needs oshc++; programs that use the macro OSHMEM_SPEC_VERSION, which
# only Open MPI's header defines, get it from the command line.
set -eu
. "$top_srcdir/tests/api/ported/lib.sh"
unpack openmpi examples
examples=$work/openmpi/examples
[ -f "$examples/hello_oshmem_c.c" ] || skip 'this openmpi has no OpenSHMEM examples'
version=-DOSHMEM_SPEC_VERSION=10400

hello_lines() {
    each_pe "Hello, world, I am @ of $npes: pgas (version: 1.6)"
}

compile_c() {
    build "$1" "$OSHCC" -Wall $version "$examples/$1.c"
}

compile_c hello_oshmem_c && for n in 1 2 4; do
    run $n hello_oshmem_c
    hello_lines | expect
done
if have_cxx; then
    build hello_oshmem_cxx "$oshcxx" -Wall $version "$examples/hello_oshmem_cxx.cc" &&
        for n in 1 2 4; do
            run $n hello_oshmem_cxx
            hello_lines | expect
        done
fi
compile_c ring_oshmem_c && for n in 1 2 4; do
    run $n ring_oshmem_c
    {
        echo "Process 0 puts message 10 to $((1 % n)) ($n processes in ring)"
        for value in 0 1 2 3 4 5 6 7 8 9; do
            echo "Process 0 decremented value: $value"
        done
        each_pe 'Process @ exiting'
    } | expect
done
compile_c oshmem_circular_shift && for n in 1 2 4; do
    run $n oshmem_circular_shift
    {
        each_pe 'Process @ exiting'
        pe=0
        while [ $pe -lt $n ]; do
            echo "Process $pe gets message from $(((pe + 1) % n)) ($n processes in ring)"
            pe=$((pe + 1))
        done
    } | expect
done
compile_c oshmem_max_reduction && for n in 1 2 4; do
    run $n oshmem_max_reduction
    each_pe "@/$n dst = $((n - 1)) $n $((n + 1))" | expect
done
compile_c oshmem_shmalloc && for n in 1 2 4; do
    run $n oshmem_shmalloc
    expect </dev/null
done
compile_c oshmem_strided_puts && for n in 2 4; do
    run $n oshmem_strided_puts
    echo 'target on PE 1 is 1 3 5 7 9' | expect
done
compile_c oshmem_symmetric_data && for n in 2 4; do
    run $n oshmem_symmetric_data
    tr -d '\t' <"$work/out" >"$work/no_tabs"
    mv "$work/no_tabs" "$work/out"
    each_pe 'Target on PE @ is 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 ' | sed 1d | expect
done
finish
