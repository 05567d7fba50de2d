#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# launch-smoke.sh - tests that bench/launch prints its three tables with and without mpirun
# and reports a job that fails.  Times are not checked.
set -eu
. "$top_srcdir/bench/smoke-lib.sh"
launch=$top_srcdir/bench/launch

# Ours only: no ratio, no verdict.
MPIRUN=/nonexistent sh "$launch" -r 2 -n '2 3' -k '1 2' -o "$work/data" \
    >"$work/table" 2>"$work/err" || wrong "launch ended with status $?"
grep -q 'mpirun is missing' "$work/err" || wrong "no message that mpirun is missing"
rows 8 '^ *[12] *[23] *[0-9][0-9.]* *-  *-  *- *$'   # start and fence
rows 5 '^ *[12] *[123] *[0-9]\{4,\}\.[05] .* - *- *- *-$' # memory, of 1 PE too
rows 1 '^0 figures have a goal, 0 miss'
[ "$(grep -c '^ours [12] start [12] [23] [0-9]' "$work/data")" = 8 ] ||
    wrong "the file of all figures is incomplete"

# Medians, of 3 rounds and of 4.
awk 'BEGIN { for (r = 1; r <= 4; r++) print "ours", r, "start", 1, 2, r * 70 % 40 + 10 }' |
    tee "$work/four" | sed '$d' >"$work/three"
for median in three:30.0 four:25.0; do
    awk -v wanted=start -f "$top_srcdir/bench/median.awk" \
        -f "$top_srcdir/bench/launch.awk" "$work/${median%:*}" >"$work/table"
    rows 1 "^ *1 *2 *${median#*:} "
done

# Synthetic data: theirs is twice as fast with 2 PEs, and as fast with 3.
awk '{ print } { $1 = "theirs"; $6 = $6 / ($5 == 2 ? 2 : 1); print }' "$work/data" |
    awk -v wanted=start -f "$top_srcdir/bench/median.awk" \
        -f "$top_srcdir/bench/launch.awk" >"$work/table"
rows 2 ' 2.00 MISS'
rows 2 ' 1.00 ok'
rows 1 '^4 figures have a goal, 2 miss'

# A job that fails is reported, and the exit status is not 0.
if LAUNCH_FENCE=/bin/false MPIRUN=/nonexistent sh "$launch" -q start \
    >"$work/table" 2>"$work/err"; then
    wrong "failing jobs are not a failure"
fi
grep -q '1 nodes, 2 PEs: ended with status' "$work/err" || wrong "no message about the job"
