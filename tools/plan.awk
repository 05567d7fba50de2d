# SPDX-License-Identifier: BSD-3-Clause
# plan.awk - chooses and orders tests by tests/plan.txt.
# usage: awk -v without="FLAG.." -v with=FLAG -v long=1 -f plan.awk tests/plan.txt - <NAMES
# Prints the names that have none of the flags `without`, and the flag `with` if it is not
# empty: those with the flag `first` before the others.  With `long` the flag "long", and
# a flag that ends in "-short", are ignored.
function has(name, flag,   i) {
    for (i = 1; i <= rows; i++)
        if (name ~ pattern[i] && index(" " flags[i] " ", " " flag " ") > 0)
            return 1
    return 0
}
function chosen(name,   i) {
    if (!long && with != "long" && has(name, "long"))
        return 0
    for (i = 1; i <= n; i++)
        if (has(name, unwanted[i]) || (!long && has(name, unwanted[i] "-short")))
            return 0
    return with == "" || has(name, with)
}
BEGIN { n = split(without, unwanted, " ") }
FNR == NR {
    sub(/#.*/, "")
    if (NF < 2)
        next
    pattern[++rows] = "^(" $1 ")$"
    $1 = ""
    flags[rows] = $0
    next
}
!chosen($1) { next }
has($1, "first") { print; next }
{ later[++m] = $1 }
END { for (i = 1; i <= m; i++) print later[i] }
