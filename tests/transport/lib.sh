# SPDX-License-Identifier: BSD-3-Clause
# tests/transport/lib.sh - runs the transport conformance suite; sourced by the scripts.
failures=0
# Sanitizer builds and distcheck repeat only the basic runs of the plain build.
brief=${SANITIZED:-}${DISTCHECK:-}
[ -z "${PGAS_TEST_LONG:-}" ] || brief=
# The cases that use buffers of different kinds.
some=data,put_signal,done,amo,ctx,error

# has NAME: true if configure has found the library.
has() {
    grep -q "^#define HAVE_$1 1" "$top_builddir/config.h"
}

needs() {
    has "$1" && return
    echo "configured without $1"
    exit 77
}

# suite TRANSPORT OPTIONS...: run the suite, with a time limit in addition to that of each
# case.  LeakSanitizer's tracer crashes sporadically, in all processes of a run (it depends
# on the addresses of the libraries): then run the suite once more.
suite() {
    echo "== suite $*"
    log=$(mktemp)
    if ! run_suite "$@" >"$log" 2>&1; then
        if grep -q 'LeakSanitizer has encountered a fatal error' "$log"; then
            echo "LeakSanitizer failed to check for leaks; running the suite again"
            run_suite "$@" >"$log" 2>&1 || failures=$((failures + 1))
        else
            failures=$((failures + 1))
        fi
    fi
    cat "$log"
    rm -f "$log"
}

run_suite() {
    timeout -k 5 "${SUITE_SECONDS:-900}" "$top_builddir/tests/transport/suite" "$@"
}

finish() {
    [ "$failures" -eq 0 ]
}
