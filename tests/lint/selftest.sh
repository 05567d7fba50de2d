#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# selftest.sh - tests that lint.sh reports each kind of offence, and none in a clean tree.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tree=$(mktemp -d "${TMPDIR:-/tmp}/pgas-lint-self.XXXXXX")
trap 'rm -rf "$tree"' EXIT
failed=0

fresh() {
    rm -rf "$tree/t"
    mkdir -p "$tree/t/pgas/core" "$tree/t/pgas/threads" "$tree/t/pgas/rma" "$tree/t/tools"
}

# The first line of a C file with a licence
spdx='/* SPDX-License-Identifier: BSD-3-Clause */'

# expect RULE: lint must fail and name the rule; expect none: it must pass.
expect() {
    out=$(sh "$here/lint.sh" "$tree/t" 2>&1) && status=0 || status=$?
    case $1 in
    none) [ "$status" -eq 0 ] && return 0 ;;
    *) case $out in *"[$1]"*) [ "$status" -ne 0 ] && return 0 ;; esac ;;
    esac
    echo "FAIL: expected $1 for: $2"
    printf '%s\n' "$out"
    failed=1
}

lines() { # lines N TEXT
    awk -v n="$1" -v text="$2" 'BEGIN { for (i = 0; i < n; i++) print text }'
}

fresh
cat >"$tree/t/pgas/core/good.c" <<END
$spdx
#include "config.h"

#include "pgas/threads/atomic.h"

#define X_TABLE(X) \\
$(lines 12 '    X(1) \')
    X(2)

#if 1
static int a;
#endif

/* while (atomic_load(x)) in a comment, shmem_put too */
int good_get(int n)
{
    while (n > 0)
        n--;
    return n + a;
}
END
printf '#!/bin/sh\n# SPDX-License-Identifier: BSD-3-Clause\necho hello\n' >"$tree/t/tools/x.sh"
expect none 'a clean tree'

fresh
echo 'int x;' >"$tree/t/pgas/core/a.c"
expect spdx 'a file without a licence line'

fresh
printf '#!/bin/sh\n# SPDX-License-Identifier: BSD-3-Clause\nif true; then\n' >"$tree/t/tools/a.sh"
expect shell 'a script with a syntax error'

fresh
mkdir -p "$tree/t/tests"
printf '#!/bin/sh\n# SPDX-License-Identifier: BSD-3-Clause\n. "$x/oshrun-lib.sh"\nrun 0 true\n' \
    >"$tree/t/tests/a.sh"
expect end 'a test that does not end with its failures'

fresh
{ echo "$spdx"; echo "/* $(lines 30 'long' | tr '\n' ' ') */"; } >"$tree/t/pgas/core/a.c"
expect columns 'a line over 90 columns'

fresh
{ echo "$spdx"; lines 700 'extern int x;'; } >"$tree/t/pgas/core/a.c"
expect file 'a file over 700 lines'

fresh
{ echo "$spdx"; echo 'void a_do(void)'; echo '{'; lines 70 '    x();'; echo '}'; } >"$tree/t/pgas/core/a.c"
expect function 'a function over 70 lines'

fresh
printf '%s\nvoid a_do(void)\n{\n#ifdef Y\n    x();\n#endif\n}\n' "$spdx" >"$tree/t/pgas/core/a.c"
expect if 'a preprocessor condition inside a function'

fresh
{ echo "$spdx"; echo '#define A(x) \'; lines 8 '    x; \'; echo '    x'; } >"$tree/t/pgas/core/a.c"
expect macro 'a macro over 8 lines'

fresh
printf '%s\nvoid a_do(void)\n{\n    while (atomic_load(&x) == 0)\n        ;\n}\n' "$spdx" >"$tree/t/pgas/rma/a.c"
expect wait 'a loop that looks at a shared word'

fresh
printf '%s\nvoid a_do(void)\n{\n    while (f(1) &&\n           atomic_load(&x) == 0)\n        ;\n}\n' "$spdx" >"$tree/t/pgas/rma/a.c"
expect wait 'the same with a header of two lines'

fresh
printf '%s\nvoid a_do(void)\n{\n    for (;;) {\n        if (atomic_load(&x))\n            return;\n    }\n}\n' "$spdx" >"$tree/t/pgas/rma/a.c"
expect wait 'an endless loop that looks at a shared word'

fresh
printf '%s\nvoid a_do(void)\n{\n    sched_yield();\n}\n' "$spdx" >"$tree/t/pgas/rma/a.c"
expect wait 'a yield'

fresh
printf '%s\nvoid a_do(void)\n{\n    waitpid(pid, NULL, 0);\n}\n' "$spdx" >"$tree/t/pgas/rma/a.c"
expect wait 'a wait for a child'

fresh
printf '%s\n#include "pgas/core/base/pgas.h"\n' "$spdx" >"$tree/t/pgas/threads/a.h"
expect layer 'a leaf that includes the core'

fresh
printf '%s\n#include "pgas/rma/rma.h"\n' "$spdx" >"$tree/t/pgas/core/a.c"
expect layer 'the core including what is above it'

fresh
printf '%s\n#include "pgas.h"\n' "$spdx" >"$tree/t/pgas/core/a.c"
expect layer 'an include that does not start from the top'

fresh
printf '%s\nvoid a_do(void)\n{\n    shmem_quiet();\n}\n' "$spdx" >"$tree/t/pgas/rma/a.c"
expect names 'a call of the public API in the library'

case $(clang-format --version 2>/dev/null) in
*'version 14.'*)
    fresh
    cp "${top_srcdir:-$here/../..}/.clang-format" "$tree/t/"
    printf '%s\nint  a ;\n' "$spdx" >"$tree/t/pgas/core/a.c"
    expect format 'a layout that is not that of clang-format'
    ;;
esac

# The tables of SECURITY.md without a row, with an empty cell, or with a test that is not there
top_srcdir=$here/../..
export top_srcdir
for change in '/^| PE.tcp | one node/d' 's/^\(| daemon | ssh |\) [^|]*|/\1 |/' \
    's#tests/unit/listener_test.c#tests/unit/no_test.c#'; do
    sed "$change" "$top_srcdir/SECURITY.md" >"$tree/SECURITY.md"
    sh "$here/security.sh" "$tree/SECURITY.md" >"$tree/out" || continue
    echo "FAIL: security.sh accepts SECURITY.md after $change"
    failed=1
done

[ "$failed" -eq 0 ] && echo "lint reports all offences"
exit "$failed"
