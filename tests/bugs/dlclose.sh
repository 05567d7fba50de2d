#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# dlclose.sh - a program that opens libshmem by dlopen and closes it works until it ends: see
# dlclose.c.  PGAS_UNDER_TEST=PREFIX: with an installed library.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"
limit_s=30
library=$top_builddir/.libs/libshmem.so
[ -z "${PGAS_UNDER_TEST:-}" ] ||
    library=$PGAS_UNDER_TEST/lib/libshmem.so OSHRUN=$PGAS_UNDER_TEST/bin/oshrun

for where in '-n 2' '-n 2 --vnodes 2'; do
    for mode in '' running; do
        # shellcheck disable=SC2086 # words
        run 0 $where "$bugs/dlclose" "$library" $mode
        [ "$(grep -c '^an environment, exit$' "$work/out")" = 2 ] ||
            wrong "$where ${mode:-finalized}: a PE did not reach its end"
    done
done
finish
