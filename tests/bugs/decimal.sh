#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# decimal.sh - runs decimal.c in a locale with a decimal comma; builds one with localedef
# if possible.
set -eu
. "$top_srcdir/tests/bugs/lib.sh"

mkdir "$work/locale"
set -- "$bugs/decimal"
if localedef -i de_DE -f UTF-8 "$work/locale/de_DE.UTF-8" >"$work/out" 2>&1; then
    set -- env LOCPATH="$work/locale" LC_ALL=de_DE.UTF-8 "$@"
fi
set -- env SHMEM_SYMMETRIC_SIZE=1.5m "$@"
got=0
timeout -k 5 "$limit_s" "$@" 2>"$work/err" || got=$?
[ $got -ne 77 ] || skip 'no locale with a decimal comma; apt-get install locales'
[ $got -eq 0 ] || wrong 'decimal, alone, should end with 0'
run 0 -n 2 "$@"
finish
