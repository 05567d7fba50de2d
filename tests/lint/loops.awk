# SPDX-License-Identifier: BSD-3-Clause
# loops.awk - lists the loops whose number of turns grows with the number of PEs of the job
# or of a team: "file | function | line", once for each function.
#
# A loop is one if the condition of its for or while contains
# - npes or boot.size, or a name that was initialised with one of them in the function;
# - `< pe`, `< rank` or `< me`: a scan up to a PE;
# - node_of[..]: a scan for a PE of a node.
# Relies on the layout of the project, as c.awk.

FNR == 1 { file = FILENAME; sub(/^\.\//, "", file); inside = comment = 0; signature = "" }

function bare(s,    i) {
    gsub(/\\./, "", s)
    gsub(/"[^"]*"/, "\"\"", s)
    gsub(/'[^']*'/, "''", s)
    if (comment) {
        i = index(s, "*/")
        if (i == 0)
            return ""
        s = substr(s, i + 2)
        comment = 0
    }
    while ((i = index(s, "/*")) > 0) {
        if (index(substr(s, i), "*/") == 0) {
            comment = 1
            return substr(s, 1, i - 1)
        }
        s = substr(s, 1, i - 1) " " substr(s, i + index(substr(s, i), "*/") + 1)
    }
    return s
}

function function_name(    s) {
    s = signature
    gsub(/__attribute__ *\(\([^)]*(\([^)]*\))?\)\)/, "", s)
    sub(/\(.*/, "", s)
    sub(/[ \t]*$/, "", s)
    sub(/.*[ *]/, "", s)
    return s
}

# The first parenthesis of s and what it contains; "" if it does not end in s.
function parenthesis(s,    i, depth, c) {
    for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        depth += (c == "(") - (c == ")")
        if (c == ")" && depth == 0)
            return substr(s, 1, i)
    }
    return ""
}

# Names in this function that hold a number of PEs.
function note_names(s,    part) {
    while (match(s, /[A-Za-z_][A-Za-z_0-9]* = (\([a-z0-9_]+\))?[A-Za-z_0-9>.-]*(npes|boot\.size|b->size|nranks)[,;]/)) {
        part = substr(s, RSTART, RLENGTH)
        s = substr(s, RSTART + RLENGTH)
        sub(/ = .*/, "", part)
        bound[part] = 1
    }
}

function counts_pes(loop,    word) {
    if (loop ~ /(^|[^A-Za-z_0-9])(npes|nranks)([^A-Za-z_0-9(]|$)|(^|[^A-Za-z_0-9])(b|boot)(->|\.)size/)
        return 1
    if (loop ~ /< (b->|g->|world->)?(pe|rank|me)[;) ]/ || loop ~ /node_of\[/)
        return 1
    for (word in bound)
        if (loop ~ ("(^|[^A-Za-z_0-9.>])" word "([^A-Za-z_0-9]|$)"))
            return 1
    return 0
}

{
    code = bare($0)
    if (!inside && $0 ~ /^{/) {
        inside = 1
        name = function_name()
        split("", bound)
        found = 0
        loop = ""
        if (signature ~ /[ (](size_t|int|uint32_t) npes[,)]/)
            bound["npes"] = 1
        next
    }
    if (!inside) {
        if (code ~ /^[A-Za-z_]/)
            signature = code
        else
            signature = signature " " code
        next
    }
    if ($0 ~ /^}/) {
        if (found)
            printf "%s | %s | %d\n", file, name, found
        inside = 0
        signature = ""
        next
    }
    note_names(code)
    if (loop == "" && match(code, /(^|[^A-Za-z_0-9])(for|while) \(/)) {
        loop = substr(code, RSTART)
        sub(/^[^(]*/, "", loop)
        line = FNR
    } else if (loop != "")
        loop = loop " " code
    if (loop != "" && parenthesis(loop) != "") {
        if (!found && counts_pes(parenthesis(loop)))
            found = line
        loop = ""
    }
}
