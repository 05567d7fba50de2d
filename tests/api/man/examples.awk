# SPDX-License-Identifier: BSD-3-Clause
# examples.awk - extracts the programs from the EXAMPLE section of a manual page.
# usage: awk -v prefix=DIR/NAME -f examples.awk PAGE
# Writes prefix.N.c, prefix.N.expected (where the page gives output), and prints a line
# "prefix.N npes status environment" for each; npes, status and environment come from the
# comments <!-- run: 4 -->, <!-- status: 3 --> and <!-- env: NAME=value -->.
function defaults() { npes = 2; status = 0; env = "" }
BEGIN { defaults() }
/^## / && !fence { example = ($0 == "## EXAMPLE") }
!example { next }
/^```/ && fence { fence = ""; next }
/^```/ {
    fence = /^```c$/ ? "c" : (/^```text$/ ? "expected" : "other")
    if (fence == "c") {
        file = prefix "." ++n
        print file, npes, status, env
        defaults()
    }
    printf "" > (file "." fence)
    next
}
fence { print > (file "." fence); next }
/^<!-- run: /    { npes = $3 }
/^<!-- status: / { status = $3 }
/^<!-- env: /    { env = $0; gsub(/^<!-- env: | -->$/, "", env) }
