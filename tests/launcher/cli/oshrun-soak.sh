#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshrun-soak.sh - jobs beside busy loops: no daemon, PE or node may be reported as lost for
# want of a processor.  Short form: 4 loops, one job of each kind.  With --long: 20 loops for
# 30 minutes.  SOAK_LOOPS, SOAK_S: other numbers.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"

loops=4 seconds=1
[ -z "${PGAS_TEST_LONG:-}" ] || loops=20 seconds=1800
loops=${SOAK_LOOPS:-$loops} seconds=${SOAK_S:-$seconds}
limit_s=300
program=$top_builddir/tests/launcher/cli/oshrun-soak

pids=
end_loops() {
    # shellcheck disable=SC2086 # a list
    [ -z "$pids" ] || kill $pids 2>/dev/null || :
    rm -rf "$work"
}
trap end_loops EXIT
while [ "$loops" -gt 0 ]; do
    (while :; do :; done) &
    pids="$pids $!"
    loops=$((loops - 1))
done

# job ARGS...: must succeed without a message.
job() {
    begin=$(now_ms)
    run 0 "$@"
    took=$(($(now_ms) - begin))
    [ "$took" -le "$longest" ] || longest=$took
    [ ! -s "$work/err" ] || {
        fail "oshrun $*: messages"
        sed 's/^/    /' "$work/err"
    }
    jobs=$((jobs + 1))
}

jobs=0 longest=0
end_s=$(($(date +%s) + seconds))
while :; do
    job -n 4 "$program"
    job --vnodes 2 -n 4 "$program"
    job --vnodes 4 -n 4 "$program"
    SHMEM_LAUNCH_FANOUT=1 job --vnodes 3 -n 6 "$client" good
    [ "$(date +%s)" -lt "$end_s" ] && [ "$failures" = 0 ] || break
done
echo "$jobs jobs, the longest $longest ms; load $(cut -d ' ' -f 1 /proc/loadavg)"
finish
