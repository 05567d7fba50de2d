#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oshrun-misuse.sh - the library's messages about errors of the program name the call site;
# equal ones of several PEs are one line.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
: "${OSHCC:?}"
source=$top_srcdir/tests/launcher/cli/oshrun-misuse.c
bad=$work/bad symbols=$work/symbols wrapped=$work/wrapped
"$OSHCC" -g -O2 -pthread "$source" -o "$bad"
"$OSHCC" -O2 -pthread "$source" -o "$symbols"
"$OSHCC" -g -O2 -DWRAPPER -fPIC -shared "$source" -o "$work/libwrapper.so"
"$OSHCC" -g -O2 -pthread "$source" -Wl,--no-as-needed "-Wl,-rpath,$work" "$work/libwrapper.so" -o "$wrapped"
wrong="shmem_long_put: argument 4 'pe' = 64, but team WORLD has PEs 0..7"
unchecked="shmem_long_put: argument 'pe' = 64, but team WORLD has PEs 0..7"
unnamed='called from bad+0x[0-9a-f]* (addr2line -f -e /.*/bad 0x[0-9a-f]*)$'

# at LINE: "(oshrun-misuse.c:NUMBER)".
at() {
    echo "(oshrun-misuse.c:$(sed -n "/line: $1 /=" "$source"))"
}

# exactly N PATTERN: N lines of standard error match, and there are no other errors.
exactly() {
    [ "$(grep -c "$2" "$work/err")" = "$1" ] &&
        [ "$(grep -c '^pgas: .*: shmem_.*: ' "$work/err")" -le "$1" ]
}

# merged N PATTERN ARGS...: oshrun prints N lines that match, after a few attempts if the
# machine is so busy that lines come late.
merged() {
    n=$1 pattern=$2 attempts=15
    shift 2
    while :; do
        run 1 "$@"
        attempts=$((attempts - 1))
        exactly "$n" "$pattern" && return 0
        [ $attempts -gt 0 ] || break
    done
    fail "oshrun $*: not $n lines '$pattern':"
    sed 's/^/    /' "$work/err"
}

if command -v addr2line >/dev/null || command -v eu-addr2line >/dev/null; then
    export SHMEM_DEBUG=1
    for vnodes in 1 2; do
        put="called by put $(at put)\$"
        merged 1 "^pgas: PE 0-7: $wrong; $put" --vnodes $vnodes -n 8 "$bad" put
        merged 1 "^pgas: PE 0-7: $wrong; $put" --vnodes $vnodes -n 8 "$bad" thread
        merged 1 "^pgas: PE 0-7: $wrong; $put" --vnodes $vnodes -n 8 "$wrapped" put
        merged 1 "^pgas: PE 0-7: $wrong; called by put\$" --vnodes $vnodes -n 8 "$symbols" put
        merged 2 "^pgas: PE \(0,2,4,6: .*shmem_long_put.*put $(at put)\|1,3,5,7: .*shmem_long_get.*get $(at get)\)\$" \
            --vnodes $vnodes -n 8 "$bad" two
        says '^pgas: PE 0,2,4,6: .*shmem_long_put'
        says '^pgas: PE 1,3,5,7: .*shmem_long_get'
    done
    merged 1 "^pgas: PE 0-7: $unchecked; $put" -x SHMEM_DEBUG=0 -n 8 "$bad" put
    merged 1 "^pgas: PE 1-7: shmem_long_broadcast.* on PE 0; .*; called by main $(at root)\$" \
        -x SHMEM_DEBUG=2 -n 8 "$bad" root
    merged 1 "^pgas: PE 0-7: .* not symmetric.*; called by main $(at local) (addresses of PE [0-7])\$" \
        -n 8 "$bad" local
    run 1 -n 8 "$bad" early
    says "^pgas: \(PE [0-7,-]*: \)\?shmem_barrier_all: called before .*; called by main $(at early)\$"
    merged 8 "^\[\([0-7]\)\] pgas: PE \1: $wrong; $put" --tag-output -n 8 "$bad" put
    run 1 -n 1 "$bad" put
    says "^pgas: PE 0: .*0\.\.0; $put"
    tail -n 1 "$work/err" | grep -q '^oshrun: PE 0 ' || fail 'the message of oshrun is not the last'
else
    echo 'not tested: call sites; apt-get install binutils'
fi

# Other tools, none, and one that does not end.
mkdir "$work/bin"
cat >"$work/oshrun" <<END
#!/bin/sh
PATH=$work/bin\${MORE:-} exec "$OSHRUN" "\$@"
END
chmod +x "$work/oshrun"
oshrun=$OSHRUN OSHRUN=$work/oshrun MORE=
export SHMEM_DEBUG=1 MORE
merged 1 "^pgas: PE 0-7: $wrong; $unnamed" -n 8 "$bad" put
printf '#!/bin/sh\nexec sleep 60\n' >"$work/bin/addr2line"
cat >"$work/bin/eu-addr2line" <<'END'
#!/bin/sh
printf '%s\n' 'ns::put(int, void (*)()) const [clone .cold]' '/a/long name/bad.c:29:7'
END
chmod +x "$work/bin/addr2line" "$work/bin/eu-addr2line"
begin=$(now_ms)
MORE=:$PATH
run 1 -n 2 "$bad" put
says "^pgas: PE [01].*: .*; $unnamed"
[ $(($(now_ms) - begin)) -lt 20000 ] || fail 'oshrun waits too long for a tool'
MORE=
rm "$work/bin/addr2line"
merged 1 "^pgas: PE 0-7: $wrong; called by ns::put (bad.c:29)\$" -n 8 "$bad" put
rm "$work/bin/eu-addr2line"
if gdb=$(command -v gdb); then
    ln -s "$gdb" "$work/bin/gdb"
    merged 1 "^pgas: PE 0-7: $wrong; called by put $(at put)\$" -n 8 "$bad" put
    merged 1 "^pgas: PE 0-7: $wrong; called by put\$" -n 8 "$symbols" put
fi
OSHRUN=$oshrun

# Lines of one PE keep their order, and only such lines wait.
# shellcheck disable=SC2016 # expanded by the PEs
order='printf "%s\n" "pgas: PE 1: a" "pgas: PE 1: b" "pgas: PE 1: a" c "pgas: PE 1: a" "pgas: PE 2: d" >&2'
# shellcheck disable=SC2016
run 0 -n 4 sh -c "[ \$PMIX_RANK != 1 ] || $order"
printf '%s\n' 'pgas: PE 1: a' 'pgas: PE 1: b' 'pgas: PE 1: a' c 'pgas: PE 1: a' 'pgas: PE 2: d' |
    cmp -s - "$work/err" || {
    fail 'the lines of one PE have another order'
    cat "$work/err"
}
# shellcheck disable=SC2016
merged 2 '^pgas: PE 0-7: \(first\|second\)$' -n 8 sh -c \
    'printf "%s\n" "pgas: PE $PMIX_RANK: first" "pgas: PE $PMIX_RANK: second" >&2; trap "" TERM; sleep 0.3; exit 1'
head -n 1 "$work/err" | grep -q 'first$' || fail 'the second lines precede the first'

# No line is lost if oshrun is ended while it waits.
# shellcheck disable=SC2016
start -n 2 sh -c 'echo "pgas: PE $PMIX_RANK: $PMIX_RANK" >&2; echo is there; sleep 60'
there() { [ "$(grep -c 'is there' "$work/out")" = 2 ]; }
until_true 20 there || fail 'the PEs do not start'
kill -TERM "$pid"
ended_with 143
says '^pgas: PE 0: 0$'
says '^pgas: PE 1: 1$'

# Another launcher: the text names the command that finds the line.
if mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    env "$mark" TMPDIR="$work/tmp" timeout -k 5 30 mpirun --oversubscribe -n 2 "$bad" put \
        >"$work/out" 2>"$work/err" </dev/null && fail 'mpirun: exit status 0'
    says "^pgas: PE [01]: .*PEs 0\.\.1; $unnamed"
    command=$(sed -n 's/.*(\(addr2line .*\))$/\1/p' "$work/err" | head -n 1)
    if command -v addr2line >/dev/null; then
        $command >"$work/out" || fail "'$command' fails"
        prints '^put$'
        prints ":$(sed -n '/line: put /=' "$source")"
    fi
    rm -rf "$work"/tmp/* # mpirun may leave its directories behind
else
    echo 'not tested under mpirun: no Open MPI; apt-get install openmpi-bin'
fi
finish
