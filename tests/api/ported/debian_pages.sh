#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# debian_pages.sh - the C programs in the manual pages of Debian's package openmpi-doc,
# extracted from the installed pages (only troff escapes are undone), compiled and run.
# They date from SGI's and Cray's SHMEM: main without a type, printf without a header,
# shmem_udcflush, shmem_int_cswap, no shmem_finalize.
# The program of shmem_short_iput(3) is omitted because a line of it is damaged in the page.
set -eu
. "$top_srcdir/tests/api/ported/lib.sh"

dpkg-query -W -f='${db:Status-Status}' openmpi-doc 2>/dev/null | grep -qx installed ||
    skip 'the package openmpi-doc is not installed'

# extract PAGE: write the C program of a page to $work/PAGE.c.
extract() {
    page=$(dpkg-query -L openmpi-doc | grep "/man3/$1\.openmpi\.3\.gz\$") || page=
    if [ -z "$page" ] || [ ! -f "$page" ]; then
        skip "the page $1.openmpi(3) of openmpi-doc is not installed"
    fi
    gzip -dc "$page" | awk '
        /^\.Vb/ { block = ""; inside = 1; next }
        /^\.(Ve|PP)/ { if (block ~ /main *\(/) printf "%s", block; inside = 0; block = "" }
        inside {
            gsub(/\\-/, "-")
            gsub(/\\\\/, "\\")
            block = block $0 "\n"
        }' >"$work/$1.c"
    grep -q shmem_init "$work/$1.c" || fail "there is no program in $page"
}

compile() {
    extract "$1"
    build "$1" "$OSHCC" -std=gnu99 -Wno-implicit-int -Wno-implicit-function-declaration \
        -Wno-format "$work/$1.c"
}

# PEs other than 1 print the initial value 0.
expect_put() {
    {
        echo 'target[0] on PE 1 is 1'
        each_pe 'target[0] on PE @ is 0' | grep -v 'PE 1 '
    } | expect
}

compile intro_shmem && for n in 2 4; do
    run $n intro_shmem
    echo 'target[0] on PE 1 is 1' | expect
done
compile shmem_char_put && for n in 2 4; do
    run $n shmem_char_put
    expect_put
done
compile shmem_putmem_nbi && for n in 2 4; do
    run $n shmem_putmem_nbi
    expect_put
done
compile shmem_ptr && for n in 2 4; do
    run $n shmem_ptr
    awk 'BEGIN { print "bigd on PE 1 is:"; for (i = 1; i <= 100; i++) print " " i; print "" }' |
        expect
done
compile shmem_int_cswap && for n in 1 2 4; do
    run $n shmem_int_cswap
    sed 's/[0-9][0-9]*/N/' "$work/out" >"$work/first"
    mv "$work/first" "$work/out"
    echo 'pe N was first' | expect
done
# Silent unless a value is wrong.
compile shmem_alltoall32 && for n in 1 2 4; do
    run $n shmem_alltoall32
    expect </dev/null
done
finish
