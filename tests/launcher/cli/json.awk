# SPDX-License-Identifier: BSD-3-Clause
# json.awk - is the input one JSON value?  Exit status 0 or 1.
function bad(what) {
    if (!wrong)
        print "JSON: " what " before: " substr(rest, 1, 40) >"/dev/stderr"
    wrong = 1
    return 0
}
function blank() { sub(/^[ \t\r\n]+/, "", rest) }
function take(c) {
    blank()
    if (substr(rest, 1, length(c)) != c)
        return 0
    rest = substr(rest, length(c) + 1)
    return 1
}
function string(    c) {
    if (!take("\""))
        return bad("no string")
    while (rest != "") {
        if (match(rest, /^[^"\\\001-\037]+/))
            rest = substr(rest, RLENGTH + 1)
        else if (match(rest, /^\\(["\\\/bfnrt]|u[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F])/))
            rest = substr(rest, RLENGTH + 1)
        else
            return take("\"") ? 1 : bad("a character that may not be in a string")
    }
    return bad("a string without end")
}
function object() {
    if (take("}"))
        return 1
    do {
        if (!string() || !take(":") || !value())
            return bad("no key and value")
    } while (take(","))
    return take("}") ? 1 : bad("no }")
}
function array() {
    if (take("]"))
        return 1
    do {
        if (!value())
            return 0
    } while (take(","))
    return take("]") ? 1 : bad("no ]")
}
function value() {
    blank()
    if (take("{"))
        return object()
    if (take("["))
        return array()
    if (substr(rest, 1, 1) == "\"")
        return string()
    if (take("true") || take("false") || take("null"))
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
