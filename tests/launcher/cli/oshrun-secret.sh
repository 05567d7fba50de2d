#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshrun-secret.sh - the secrets of a job are in no argument, variable or file, in no core
# dump, and no PE has the key of the failure agents.  An agent in the place of ssh shows
# the nonce to the test.  PGAS_UNDER_TEST=PREFIX: the installed oshrun and library.
# shellcheck disable=SC2016 # agents expand what is in single quotes
set -eu
[ -z "${PGAS_UNDER_TEST:-}" ] || OSHRUN=$PGAS_UNDER_TEST/bin/oshrun
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
secret=$top_builddir/tests/launcher/cli/oshrun-secret
pe=$secret
if [ -n "${PGAS_UNDER_TEST:-}" ]; then
    pe=$top_builddir/tests/launcher/cli/.libs/oshrun-secret
    LD_LIBRARY_PATH=$PGAS_UNDER_TEST/lib
    export LD_LIBRARY_PATH
fi

ready() { [ "$(grep -c '^ready$' "$work/out")" = 4 ]; }

# Reaped, or a zombie: then its core file is complete.
has_ended() { ! grep -q '^State:.*[RSDTt] (' "/proc/$1/status" 2>/dev/null; }

# A core file of process $1 at $2, by its end or, if the kernel does not write it here, by
# gcore.  False: none can be had.
core() {
    case $(cat /proc/sys/kernel/core_pattern) in
    core | core.%p)
        kill -SEGV "$1"
        until_true 20 has_ended "$1" && mv "$work"/core* "$2" 2>/dev/null
        ;;
    *)
        command -v gcore >/dev/null && gcore -o "$2" "$1" >/dev/null 2>&1 && mv "$2.$1" "$2"
        ;;
    esac
}

# check_core WHAT PID
check_core() {
    if ! core "$2" "$work/dump"; then
        echo "$1: no core file can be made here"
        return 0
    fi
    grep -q "$mark" "$work/dump" || fail "$1: the core file lacks its environment"
    found=$("$secret" file "$nonce" "$work/dump")
    echo "$1: core file of $(($(wc -c <"$work/dump") / 1024)) KiB: $found"
    [ "$found" = '0 nonce, 0 key' ] || fail "$1: the core file has secrets"
    rm -f "$work/dump"
}

printf '%s\n' '#!/bin/sh' "umask 077; read -r line; echo \"\$line\" >$work/line" \
    'shift; echo "$line" | exec sh -c "$*"' >"$work/agent"
chmod +x "$work/agent"
: >"$work/hold"
cd "$work"
ulimit -c unlimited 2>/dev/null || :
start --launch-agent "$work/agent" -H far1:2,far2:2 --if lo -x SHMEM_FT=continue -n 4 \
    "$pe" pe "$work/hold"
until_true 30 ready || fail "the PEs do not start: $(cat "$work/err")"
nonce=$(sed 's/.* nonce=\([0-9a-f]*\) .*/\1/' "$work/line")
[ ${#nonce} = 64 ] || fail "no nonce: $nonce"

# -- who has them ----------------------------------------------------------------------
daemons= pes=
for p in $(marked); do
    case $(basename "$(readlink "/proc/$p/exe")") in
    *oshrun-secret) pes="$pes $p" ;;
    oshrun) [ "$p" = "$pid" ] || daemons="$daemons $p" ;; # or a reaper
    esac
    ! grep -qaF "$nonce" "/proc/$p/cmdline" "/proc/$p/environ" ||
        fail "an argument or a variable of process $p has the nonce"
done
[ "$(echo "$pes" | wc -w)" = 4 ] || fail "the PEs are not$pes"
# shellcheck disable=SC2086 # lists of numbers
"$secret" process "$nonce" "$pid" $daemons $pes >found || fail "a process cannot be read"
cat found
! grep -v 'core dump 0 nonce, 0 key;' found || fail "a core dump would have secrets"
for p in $pes; do
    grep -q "^$p:.*; hidden 0 nonce, 0 key$" found || fail "PE $p has secrets"
done
# What the test finds where it must be.
hosts=$(sed -n 's/^\([0-9]*\):.* hidden [1-9][0-9]* nonce, [1-9][0-9]* key$/\1/p' found)
[ "$(echo "$hosts" | wc -l)" = 2 ] || fail "the daemons do not have the secrets"
[ "$(grep -c '^modex: 0 bytes more$' out)" = 8 ] || fail "the modex: $(grep '^modex' out)"
[ "$(grep -c '^map: 0 bytes$' out)" = 4 ] || fail "the alive map: $(grep '^map' out)"
find "$work/tmp" -type f >"$work/files"
[ -s "$work/files" ] || fail "the job has no files"
# shellcheck disable=SC2046 # no blanks
found=$("$secret" file "$nonce" $(cat "$work/files"))
echo "files: $found"
[ "$found" = '0 nonce, 0 key' ] || fail "a file has secrets"

# -- core files ------------------------------------------------------------------------
# shellcheck disable=SC2086
set -- $pes
check_core "PE" "$1"
check_core "daemon" "$(echo "$hosts" | head -n 1)"
kill -KILL "$pid" 2>/dev/null || :
rm -f "$work/hold"
wait "$pid" || :
finish
