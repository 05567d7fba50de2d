# SPDX-License-Identifier: BSD-3-Clause
# tests/transport/lib.sh - run the conformance suite of the transports; read by the scripts.
failures=0
# Of what the build has tried, slow builds and the archive try the plain form.
brief=${SANITIZED:-}${DISTCHECK:-}
[ -z "${PGAS_TEST_LONG:-}" ] || brief=
# Those of their cases whose data goes through buffers of different kinds.
some=data,put_signal,done,amo,ctx,error

# Was the library NAME found by configure?
has() {
    grep -q "^#define HAVE_$1 1" "$top_builddir/config.h"
}

needs() {
    has "$1" && return
    echo "configured without $1"
    exit 77
}

# suite TRANSPORT OPTIONS...: each case has its own time limit; this one is the last.
# LeakSanitizer's own tracer crashes now and then, in all processes of a run alike (it goes
# by where libraries happen to lie): then once more.
suite() {
    echo "== suite $*"
    log=$(mktemp)
    if ! run_suite "$@" >"$log" 2>&1; then
        if grep -q 'LeakSanitizer has encountered a fatal error' "$log"; then
            echo "LeakSanitizer could not look for leaks; once more"
            run_suite "$@" >"$log" 2>&1 || failures=$((failures + 1))
        else
            failures=$((failures + 1))
        fi
    fi
    cat "$log"
    rm -f "$log"
}

run_suite() {
    timeout -k 5 "${SUITE_SECONDS:-300}" "$top_builddir/tests/transport/suite" "$@"
}

finish() {
    [ "$failures" -eq 0 ]
}
