# SPDX-License-Identifier: BSD-3-Clause
# tests/transport/lib.sh - run the conformance suite of the transports; read by the scripts.
failures=0
# Of what the build has tried, slow builds and the archive try the plain form.
brief=${SANITIZED:-}${DISTCHECK:-}
[ -z "${PGAS_TEST_LONG:-}" ] || brief=

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
suite() {
    echo "== suite $*"
    timeout -k 5 "${SUITE_SECONDS:-300}" "$top_builddir/tests/transport/suite" "$@" ||
        failures=$((failures + 1))
}

finish() {
    [ "$failures" -eq 0 ]
}
