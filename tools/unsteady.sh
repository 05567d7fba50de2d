# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# unsteady.sh - sourced by scripts that read the logs of tests.  A test that judges time exits
# with 75 if it did not get its processor, and says so: "unsteady: .. delayed on run queues ..".
# automake takes that for a failure, and writes the status into the last line of the log:
# "FAIL NAME (exit status: 75)".

# unsteady_in LOG: prints the name of the test if it was unsteady; not if it only has that status.
unsteady_in() {
    grep -qs '^ *unsteady: .*delayed on run queues' "$1" || return 0
    tail -n 1 "$1" 2>/dev/null | sed -n 's/^FAIL \([^ ]*\) (exit status: 75)$/\1/p'
}
