# SPDX-License-Identifier: BSD-3-Clause
# json.awk - tests whether the input is one JSON value: exit status 0 or 1.
function bad(what) {
    if (!wrong)
        print "JSON: " what " before: " substr(rest, 1, 40) >"/dev/stderr"
    wrong = 1
    return 0
}
function blank() { sub(/^[ \t\r\n]+/, "", rest) }
function accept(c) {
    blank()
    if (substr(rest, 1, length(c)) != c)
        return 0
    rest = substr(rest, length(c) + 1)
    return 1
}
function string(    c) {
    if (!accept("\""))
        return bad("no string")
    while (rest != "") {
        if (match(rest, /^[^"\\\001-\037]+/))
            rest = substr(rest, RLENGTH + 1)
        else if (match(rest, /^\\(["\\\/bfnrt]|u[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F])/))
            rest = substr(rest, RLENGTH + 1)
        else
            return accept("\"") ? 1 : bad("a character that may not be in a string")
    }
    return bad("a string without end")
}
function object() {
    if (accept("}"))
        return 1
    do {
        if (!string() || !accept(":") || !value())
            return bad("no key and value")
    } while (accept(","))
    return accept("}") ? 1 : bad("no }")
}
function array() {
    if (accept("]"))
        return 1
    do {
        if (!value())
            return 0
    } while (accept(","))
    return accept("]") ? 1 : bad("no ]")
}
function value() {
    blank()
    if (accept("{"))
        return object()
    if (accept("["))
        return array()
    if (substr(rest, 1, 1) == "\"")
        return string()
    if (accept("true") || accept("false") || accept("null"))
        return 1
    if (!match(rest, /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/))
        return bad("no value")
    rest = substr(rest, RLENGTH + 1)
    return 1
}
{ rest = rest $0 "\n" }
END {
    value()
    blank()
    if (!wrong && rest != "")
        bad("more than one value")
    exit wrong
}
