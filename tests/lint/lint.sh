#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lint.sh - checks the limits and rules of CONTRIBUTING.md that a program can check.
# usage: lint.sh [root of the source tree]
# Prints "file:line: [rule] message" for each offence; exits with 1 if there is one.
set -euf

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=${1:-${top_srcdir:-$here/../..}}
cd "$root"
work=$(mktemp -d "${TMPDIR:-/tmp}/pgas-lint.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# files_with N PATTERN: prints those files of standard input whose first N lines match PATTERN.
files_with() {
    LC_ALL=C xargs -r awk -v n="$1" -v pattern="$2" \
        'FNR <= n && $0 ~ pattern && !seen[FILENAME]++ { print FILENAME }'
}

# -- files: all except generated ones -------------------------------------------------
dirs=
for dir in pgas compat include tools bench tests examples contrib docs .ci; do
    [ ! -d "$dir" ] || dirs="$dirs $dir"
done
# shellcheck disable=SC2086 # a list of our own folder names
[ -z "$dirs" ] || find $dirs -type f \( -name '*.[ch]' -o -name '*.def' -o -name '*.in' \
    -o -name '*.mk' -o -name '*.sh' -o -name '*.awk' -o -name '*.pes' -o -name '*.md' \
    -o -name '*.m4' -o -name CMakeLists.txt -o -perm -u+x \) \
    ! -path '*/.libs/*' ! -path '*/.deps/*' >"$work/found"
for file in configure.ac Makefile.am autogen.sh quickstart check README.md \
    CONTRIBUTING.md CHANGES.md SECURITY.md LICENSE .clang-format .editorconfig; do
    [ ! -f "$file" ] || echo "$file"
done >>"$work/found"

# In a build inside the source tree, compiled programs are among the sources.
files_with 1 '^\177ELF' <"$work/found" >"$work/elf"
grep -vxF -f "$work/elf" "$work/found" | sort >"$work/all"
grep '\.[ch]$\|\.def$' "$work/all" >"$work/c" || :
files_with 1 '^#!/bin/sh' <"$work/all" >"$work/sh"

# -- rules ---------------------------------------------------------------------------------
lint_spdx() {
    files_with 3 'SPDX-License-Identifier: BSD-3-Clause' <"$work/all" >"$work/licensed"
    grep -vxF -f "$work/licensed" "$work/all" |
        sed 's/$/:1: [spdx] the first lines have no SPDX licence line/'
}

lint_shell() {
    while IFS= read -r file; do
        sh -n "$file" 2>"$work/error" ||
            echo "$file:1: [shell] sh -n: $(head -n 1 "$work/error")"
    done <"$work/sh"
}

# A test that counts its failures must end with finish or end, which report them.
lint_test_ends() {
    { grep '^tests/.*\.sh$' "$work/all" | grep -v 'lib\.sh$' || :; } | xargs -r awk '
        function check_file() {
            if (counts && line - ends > 6)
                print file ":" line ": [end] sources a library that counts failures and" \
                    " does not end with finish or end"
        }
        FNR == 1 { check_file(); file = FILENAME; counts = 0; ends = -9; executable = /^#!/ }
        /^\. .*(oshrun-lib|net\/lib|hosts\/lib|bugs\/lib)\.sh"$/ && executable { counts = 1 }
        /^ *(finish|end)( |$)/ { ends = FNR }
        { line = FNR }
        END { check_file() }'
}

lint_c() {
    xargs -r awk -v waits="$here/waits.txt" -v layers="$here/layers.txt" \
        -f "$here/c.awk" <"$work/c"
}

# Other major versions produce a different layout: only version 14 checks it.
lint_format() {
    [ -f .clang-format ] || return 0
    case $(clang-format --version 2>/dev/null) in
    *'version 14.'*) ;;
    *) echo "lint: clang-format 14 is not installed: layout not checked" >&2 && return 0 ;;
    esac
    files_with 12 'Made by tools/' <"$work/c" >"$work/made"
    grep -vxF -f "$work/made" "$work/c" | grep -v '\.def$' | xargs -r clang-format --dry-run 2>&1 |
        sed -n 's/^\(.*:[0-9]*\):[0-9]*: warning: .*/\1: [format] run clang-format -i/p' |
        awk -F: '!seen[$1]++'
}

{
    lint_spdx
    lint_shell
    lint_test_ends
    lint_c
    lint_format
} >"$work/report"

cat "$work/report"
offences=$(wc -l <"$work/report")
echo "lint: $(wc -l <"$work/all") files, $((offences)) offences" >&2
[ "$offences" -eq 0 ]
