#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# net-smoke.sh - tests that bench/net and bench/net-memory run their programs, parse and
# evaluate the output, and report a contestant that fails.  Times are not checked.
set -eu
. "$top_srcdir/bench/smoke-lib.sh"
net=$top_srcdir/bench/net

# -- synthetic data: medians, ratios, verdicts ------------------------------------------
# The time of ours is 1.2 x that of the raw library in round 1 and 1.05 x in rounds 2 and 3;
# its rate is 0.5 x and 0.95 x.
awk 'BEGIN {
    for (r = 1; r <= 3; r++) {
        print "ofi", r, "put_lat", 8, (r == 1 ? 12 : 10.5), "us"
        print "fi_raw", r, "put_lat", 8, 10, "us"
        print "oshmem", r, "put_lat", 8, 12, "us"
        print "ucx", r, "put_rate", 8, (r == 1 ? 0.5 : 0.95) * 4, "M/s"
        print "ucx_perftest", r, "put_rate", 8, 4, "M/s"
        print "oshmem", r, "put_rate", 8, 4.4, "M/s"
        print "before-ucx", r, "put_rate", 8, 3.8, "M/s"
    }
}' >"$work/data"
awk -f "$here/median.awk" -f "$here/net.awk" "$work/data" >"$work/table"
rows 1 '^put_lat  *8 us *| *10.5  *10.0  *1.05 ok *|\( *-\)* *| *- *10.0 *-$'
rows 1 '^put_lat  *8 us *| *10.5  *12.0  *0.88 ok *| *-  *12.0  *- *| *-  *12.0  *-$'
rows 1 '^put_rate  *8 M/s *|\( *-\)* | *3.800  *-  *-  *4.000  *0.95 ok *|\( *-\)*$'
rows 1 '^put_rate  *8 M/s *| *-  *4.400  *-  *| *3.800  *4.400  *0.86 MISS *| *-  *4.400  *-$'
rows 1 '^put_rate  *8 M/s *| *-  *-  *- *| *3.800  *3.800  *1.00 ok *| *-  *-  *-$'
rows 1 '^5 figures have a goal, 1 miss it'

# 1000 KiB, half a KiB per PE, 10 KiB and a file per peer that was used.
awk 'BEGIN {
    for (n = 8; n <= 64; n *= 2) {
        print "ofi", 1, n, "start", 0, 50 + 2 * n
        print "ofi", 1, n, "init", 0, 5000, 2000, 1000 + n / 2, 12
        print "ofi", 1, n, "one", 1, 5000, 2000, 1010 + n / 2, 13
        if (n < 64)
            print "ofi", 1, n, "all", n * 3 / 4, 5000, 2000, 1000 + n * 8, 12 + n * 3 / 4
    }
}' | awk -v nodes=4 -f "$here/median.awk" -f "$here/net-memory.awk" >"$work/table"
rows 1 'is 50 ms and 2.00 ms for each PE'
rows 1 ' 1.0 MiB, 512 bytes for each PE of the job, 10240 bytes and 1.00 open files'
rows 1 ' 0 peers has 49.8 MiB, 16 peers has 50.0 MiB, .* 99999 peers has 1026.4 MiB$'

# With sanitizers and in distcheck this suffices: the rest does not depend on the build.
[ -z "${SANITIZED:-}${DISTCHECK:-}" ] || exit 0

# -- memory: no hosts are needed -------------------------------------------------------
sh "$here/net-memory" -r 1 -k 2 -n '2 4 8' -o "$work/data" ofi >"$work/table" \
    2>"$work/err" || wrong "net-memory ended with status $?"
rows 3 '^ *[248]  *[0-9.]* |\( *[0-9]\{3,\}\)\{3\} |.* |  *[124]\( *[0-9]\{3,\}\)\{3\}$'
rows 1 'bytes and .* open files for each peer used'
[ "$(grep -c '^ofi 1 [248] \(init 0\|one 1\|all [124]\) [0-9]' "$work/data")" = 9 ] ||
    wrong "the file of all figures is incomplete"

if NET_PEERS=/bin/false sh "$here/net-memory" -q ofi >"$work/table" 2>"$work/err"; then
    wrong "failing jobs are not a failure"
fi
grep -q 'ofi, 2 PEs: ended with status' "$work/err" || wrong "no message about the job"

# -- between hosts ---------------------------------------------------------------------
reason=$("$top_srcdir/tests/launcher/hosts/hosts" possible 2>&1) || {
    echo "skipped: bench/net: ${reason#hosts: }"
    exit 77
}
[ "$(nproc)" -ge 2 ] || {
    echo "skipped: bench/net: two processors are needed"
    exit 77
}
# The short form has two contestants; the long one all.
contestants='ofi:47 fi_raw:41'
[ -z "${PGAS_TEST_LONG:-}" ] ||
    contestants='ofi:47 ucx:47 tcp:47 fi_raw:41 ucp_raw:41 ucx_perftest:32 oshmem:46'
# shellcheck disable=SC2046 # words
timeout -k 5 200 sh "$net" -r 1 -t 0.0005 -o "$work/data" \
    $(echo "$contestants" | sed 's/:[0-9]*//g') >"$work/table" 2>"$work/err" ||
    wrong "net ended with status $?"
# Every installed contestant has its rows; the others are reported.
for who in $contestants; do
    name=${who%:*}
    ! grep -q "^net: $name is left out" "$work/err" || continue
    [ "$(grep -c "^$name 1 [a-z_]* [0-9]* [0-9.e+-]* " "$work/data")" = "${who#*:}" ] ||
        wrong "$name does not have ${who#*:} figures"
done
rows 94 '^[a-z_]*  *[0-9]* \(us\|M/s\|MB/s\)  *|'
rows 1 'figures have a goal'

timeout -k 5 100 sh "$net" -s -r 1 -t 0.0005 -o "$work/data" tcp >"$work/table" 2>"$work/err" ||
    wrong "net -s ended with status $?"
rows 48 '^i\(put\|get\)_\(2\|16\)  *[0-9]* us  *|'
rows 12 '^put_same  *[0-9]* us  *|'
rows 24 '^i\(put\|get\)_\(2\|16\)  *[0-9]* share  *|  *[0-9.]*  *|'

timeout -k 5 100 sh "$net" -s -k 'put_same iput_2' -z 128,32768 -r 1 -t 0.0005 -o "$work/data" tcp \
    >"$work/table" 2>"$work/err" || wrong "net -k -z ended with status $?"
[ "$(sed 's/^tcp 1 \([a-z_2]* [0-9]*\) .*/\1/' "$work/data" | sort | tr '\n' ,)" = \
    'iput_2 128,iput_2 32768,put_same 128,put_same 32768,' ] || wrong "net -k -z measures other rows"

BEFORE=. timeout -k 5 100 sh "$net" -k put_lat -z 8 -r 2 -t 0.0005 -o "$work/data" tcp before-tcp \
    >"$work/table" 2>"$work/err" || wrong "net with another build ended with status $?"
[ "$(sed 's/ .*//' "$work/data" | uniq | tr '\n' ' ')" = 'tcp before-tcp tcp ' ] ||
    wrong "the builds do not alternate"
rows 1 'tcp  *before-tcp ratio'

for options in '-k put_sane' '-z 8K' '-k put_same -z 7'; do
    # shellcheck disable=SC2086 # words
    if timeout -k 5 60 sh "$net" -s $options -q tcp >"$work/table" 2>"$work/err"; then
        wrong "net $options is no error"
    fi
    grep -q 'net: no benchmark is selected by\|not a list of sizes' "$work/err" || wrong "net $options: no message"
done

if SHMEM_BENCH=/bin/false sh "$net" -q ofi >"$work/table" 2>"$work/err"; then
    wrong "a failing contestant is not a failure"
fi
grep -q 'net: ofi ended with status' "$work/err" || wrong "no message about the contestant that failed"
if grep 'is left out' "$work/err"; then
    echo "skipped: not all contestants of bench/net are installed"
    exit 77
fi
