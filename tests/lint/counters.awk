# SPDX-License-Identifier: BSD-3-Clause
# counters.awk - derives the rows of tests/lint/counters.txt from C files (see counters.sh):
#   file | (int32_t)(a - b)    a comparison by distance
#   file | name                a member of at most 32 bits, or a variable, which is declared
#                              atomic, or accessed by a function of threads/atomic.h
#                              anywhere, or incremented: in a file of the same area, or
#                              anywhere if it is declared in pgas/core
#   file | a == (uint8_t)b     a comparison modulo 2^8 or 2^16
# usage: awk -f counters.awk FILE.. FILE..    (all files twice)

function area(file,   part) { split(file, part, "/"); return part[1] "/" part[2] }

# The line without comments and strings.
function code(line) {
    if (comment && line !~ /\*\//) return ""
    if (comment) { sub(/^.*\*\//, "", line); comment = 0 }
    gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
    while (match(line, /\/\*([^*]|\*+[^*\/])*\*+\//))
        line = substr(line, 1, RSTART - 1) substr(line, RSTART + RLENGTH)
    sub(/\/\/.*/, "", line)
    if (line ~ /\/\*/) { sub(/\/\*.*/, "", line); comment = 1 }
    return line
}

# The last name of an access: of `&node(x, i)->called[k].epoch` it is epoch.
function last_name(access,   name) {
    gsub(/\[[^]]*\]/, "", access)
    name = access
    sub(/[^a-zA-Z_0-9]*$/, "", name)
    sub(/^.*[^a-zA-Z_0-9]/, "", name)
    return name
}

# The first argument of a call, from behind its parenthesis.
function argument(text,   i, depth, c) {
    depth = 0
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c == "(") depth++
        if ((c == ")" || c == ",") && depth == 0) return substr(text, 1, i - 1)
        if (c == ")") depth--
    }
    return text
}

function note_accesses(text, file,   rest) {
    rest = text
    while (match(rest, /(load|store|swap|cas|fetch_[a-z]+)_(relaxed|acquire|release|acq_rel)_u32\(/)) {
        rest = substr(rest, RSTART + RLENGTH)
        atomic[last_name(argument(rest))] = 1
    }
    rest = text
    while (match(rest, /(\+\+|--)[a-zA-Z_0-9>.()[\]-]*(->|\.)[a-z_0-9]+|(->|\.)[a-z_0-9]+(\[[^]]*\])?(\+\+|--| \+= )/)) {
        access = substr(rest, RSTART, RLENGTH)
        grows[area(file), last_name(access)] = grows["pgas/core", last_name(access)] = 1
        rest = substr(rest, RSTART + RLENGTH)
    }
}

function row(file, what) {
    if (!((file, what) in seen)) print file " | " what
    seen[file, what] = 1
}

# Comparisons by distance, whose text may continue on the next line.
function find_distances(text, file,   rest, inner) {
    rest = text
    while (match(rest, /\(int(32_t)?\)\(/)) {
        rest = substr(rest, RSTART + RLENGTH)
        inner = argument(rest)
        after = substr(rest, length(inner) + 2)
        if (inner ~ / - / && after ~ /^ *[<>]=? *0/) row(file, "(int32_t)(" inner ")")
    }
    rest = text
    while (match(rest, /[a-zA-Z_0-9>.()-]+ - [a-zA-Z_0-9>.-]+ <= 1[^0-9]/)) {
        row(file, substr(rest, RSTART, RLENGTH - 1))
        rest = substr(rest, RSTART + RLENGTH)
    }
    rest = text
    while (match(rest, /[a-zA-Z_0-9>.-]+ - [a-zA-Z_0-9>.-]+ < \(uint64_t\)1 <</)) {
        row(file, substr(rest, RSTART, RLENGTH - 17))
        rest = substr(rest, RSTART + RLENGTH)
    }
    rest = text
    while (match(rest, /[=!]= \(uint(8|16)_t\)[a-z_>.-]+/)) {
        row(file, substr(rest, RSTART, RLENGTH))
        rest = substr(rest, RSTART + RLENGTH)
    }
}

function find_declarations(line, file,   is_atomic, names, n, i, name) {
    if (line !~ /^ *(static |extern )*(_Thread_local )?(_Alignas\([A-Z_]+\) )?(static )?(const )?(_Atomic )?(u?int(8|16|32)_t) [^()]*[,;=]/)
        return
    if (line ~ /(^|[ (])const /) return
    is_atomic = line ~ /_Atomic/
    sub(/^.*u?int(8|16|32)_t /, "", line)
    sub(/ = .*/, "", line)
    n = split(line, names, ",")
    for (i = 1; i <= n; i++) {
        name = names[i]
        if (name ~ /\*/) continue
        sub(/[;=:[].*/, "", name)
        gsub(/ /, "", name)
        if (name == "") continue
        if (is_atomic || name in atomic || (area(file), name) in grows) row(file, name)
    }
}

FNR == 1 { comment = inside = 0; before = ""; pass[FILENAME]++ }
{
    line = code($0)
    if (pass[FILENAME] == 1) {
        note_accesses(line, FILENAME)
        # An argument that begins on the next line.
        if (before ~ /_u32\($/) { sub(/^ */, "", line); note_accesses(before line, FILENAME) }
        before = line
        next
    }
    if (line ~ /^(typedef |static |extern )*(struct|union)[a-zA-Z_0-9 ]*\{/) inside = 1
    if (line ~ /^\}/) inside = 0
    if (inside || line ~ /^(static |extern )/) find_declarations(line, FILENAME)
    find_distances(line, FILENAME)
}
