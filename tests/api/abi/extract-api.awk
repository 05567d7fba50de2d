# SPDX-License-Identifier: BSD-3-Clause
# extract-api.awk - write api-1.6.txt from the list of the API that was extracted from the
# LaTeX of the OpenSHMEM 1.6 specification (lines R routine, D name without a synopsis,
# F generic, T type table, K constant, H handle, Y type).
# usage: awk -f extract-api.awk openshmem-1.6-api.txt >api-1.6.txt
BEGIN {
    FS = "|"
    OFS = "|"
    print "# SPDX-License-Identifier: BSD-3-Clause"
    print "# api-1.6.txt - the API of OpenSHMEM 1.6, which the tests in this folder compare with."
    print "# Made from a list of the specification's synopses, and not from our headers, by"
    print "#     awk -f tests/api/abi/extract-api.awk openshmem-1.6-api.txt >tests/api/abi/api-1.6.txt"
    print "# Fields: name|kind|since|deprecated (no, or yes:VERSION)|prototype|types of TYPE"
    print "# Kinds: C routine; OLD routine of before OpenSHMEM; C11 generic, a line per overload;"
    print "# CONST constant; HANDLE predefined handle; TYPE."
}
$1 == "T" { table[$2] = $3 }
$1 == "R" { since[$2, $3] = $5; if ($3 == "C") print $2, "C", $5, $6, $7 }
$1 == "D" && $3 == "C" { print $2, "OLD", $5, $6, $7 }
$1 == "F" && $3 == "C11" {
    generic[++generics] = $2 OFS $5 OFS $7
    types[generics] = type_list($6)
}
$1 == "K" { print $2, "CONST", $4, $5, "" }
$1 == "H" { print $2, "HANDLE", $5, "no", $3 }
$1 == "Y" { print $2, "TYPE", $5, "no", $3 }
END {
    for (i = 1; i <= generics; i++) {
        split(generic[i], part, OFS)
        print part[1], "C11", since[part[1], "C11"], part[2], part[3], types[i]
    }
}

# "stdamotypes + deprecated {short, ushort} (12)" as "int, long, ..., unsigned short"
function type_list(text,    word, n, out)
{
    sub(/ \([0-9]+\)$/, "", text)
    if (text == "-")
        return ""
    if (text ~ /^{/)
        return braces(text)
    n = split(text, word, " ")
    out = types_of(word[1], word[2] == "where" ? word[3] : "")
    if (word[2] == "+")
        out = out ", " braces(substr(text, index(text, "{")))
    return out
}

function braces(text)
{
    gsub(/[{}]/, "", text)
    sub(/ushort/, "unsigned short", text)
    return text
}

# The C types of a table, of those rows that have the operation
function types_of(name, operation,    row, n, i, out)
{
    n = split(table[name], row, ", ")
    for (i = 1; i <= n; i++)
        if (operation == "" || row[i] ~ "[[ ]" operation "[] ]") {
            sub(/=.*/, "", row[i])
            out = out (out == "" ? "" : ", ") row[i]
        }
    return out
}
