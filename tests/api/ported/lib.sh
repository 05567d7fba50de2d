# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154
# lib.sh - shared by the scripts of tests/api/ported.  Sourced, not run.
: "${OSHRUN:?}" "${OSHCC:?}" "${top_srcdir:?}" "${top_builddir:?}"
oshcxx=$(dirname "$OSHCC")/oshc++
work=$(mktemp -d "${TMPDIR:-/tmp}/ported.XXXXXX")
mkdir "$work/tmp"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
failures=0
limit_s=60

# These programs do not free all their memory at exit.
ASAN_OPTIONS=detect_leaks=0
export ASAN_OPTIONS

skip() {
    echo "skipped: $*"
    exit 77
}

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

have_cxx() {
    cxx=$("$oshcxx" --showme:command 2>/dev/null || echo c++)
    command -v "${cxx%% *}" >/dev/null
}

# build PROGRAM COMPILER ARGUMENT...: compile $work/PROGRAM; print the first errors.
build() {
    program=$1
    shift
    "$@" -o "$work/$program" >"$work/log" 2>&1 || {
        fail "$* did not compile"
        grep -E 'error|undefined' "$work/log" | head -n 5
        return 1
    }
}

# run NPES PROGRAM ARGUMENT...: run PROGRAM; it must end with status 0 and leave no files in
# TMPDIR; output in $work/out.
run() {
    npes=$1
    program=$2
    shift 2
    status=0
    (cd "$work" && TMPDIR=$work/tmp timeout -k 5 "$limit_s" \
        "$OSHRUN" -n "$npes" "$work/$program" "$@") \
        >"$work/out" 2>"$work/err" </dev/null || status=$?
    [ $status -eq 0 ] || {
        fail "$program with $npes PEs: exit status $status"
        cat "$work/err"
    }
    [ -z "$(ls -A "$work/tmp")" ] || fail "$program with $npes PEs left files in TMPDIR"
}

# expect: the last run printed the lines of standard input, in any order.
expect() {
    sort >"$work/wanted"
    sort "$work/out" >"$work/got"
    cmp -s "$work/wanted" "$work/got" || {
        fail "$program with $npes PEs printed other lines than expected (<)"
        diff "$work/wanted" "$work/got" || :
    }
}

# each_pe TEXT: print TEXT once for each PE, with @ replaced by its number.
each_pe() {
    pe=0
    while [ $pe -lt "$npes" ]; do
        printf '%s\n' "$1" | sed "s/@/$pe/g"
        pe=$((pe + 1))
    done
}

# unpack PACKAGE FOLDER...: extract folders of the source that fetch-debian downloaded into
# $work/PACKAGE.
unpack() {
    package=$1
    shift
    [ -n "${PGAS_DEBIAN_SOURCES:-}" ] || skip "PGAS_DEBIAN_SOURCES does not name a folder" \
        "filled by tests/api/ported/fetch-debian"
    set -- "$PGAS_DEBIAN_SOURCES/${package}"_*.orig.tar.* "$@"
    [ -f "$1" ] || skip "there is no source of $package in $PGAS_DEBIAN_SOURCES" \
        "(see tests/api/ported/fetch-debian)"
    archive=$1
    shift
    mkdir "$work/$package"
    for folder in "$@"; do
        tar -xf "$archive" -C "$work/$package" --strip-components=1 --wildcards "*/$folder" ||
            skip "cannot unpack $folder of $archive"
    done
}

finish() {
    [ "$failures" -eq 0 ]
    exit $?
}
