# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# unsteady.sh - sourced by scripts that read the logs of tests.  A test that judges time exits
# with 75 if it did not get its processor; automake takes that for a failure, and writes the
# status into the last line of the log: "FAIL NAME (exit status: 75)".

# unsteady_in LOG: prints the name of the test if its status was 75.
unsteady_in() {
    tail -n 1 "$1" 2>/dev/null | sed -n 's/^FAIL \([^ ]*\) (exit status: 75)$/\1/p'
}
