# SPDX-License-Identifier: BSD-3-Clause
# c.awk - the rules of lint.sh for C files.
# Variables: waits, layers (tables).
# Relies on the layout of the project: "{" alone in column 1 starts a function, "}" in
# column 1 ends it.

function offence(line, rule, text) {
    printf "%s:%d: [%s] %s\n", file, line, rule, text
}

function trim(s) {
    gsub(/^[ \t]+|[ \t]+$/, "", s)
    return s
}

function read_tables(    row, part, i) {
    while ((getline row <waits) > 0)
        if (row !~ /^#/ && split(row, part, /[ \t]*\|[ \t]*/) >= 3)
            wait_ok[part[1] "|" part[2]] = 1
    while ((getline row <layers) > 0)
        if (row !~ /^#/ && (i = index(row, "|")) > 0) {
            layer_from[++nlayers] = trim(substr(row, 1, i - 1))
            layer_to[nlayers] = trim(substr(row, i + 1))
        }
}

BEGIN {
    read_tables()
    max_columns = 90
    max_file = 700
    max_function = 70
    max_macro = 8
    shared_probe = "atomic_load|_load\\(|load_(acquire|relaxed|seq)|volatile"
    sleeping = "(^|[^A-Za-z0-9_])(os_sleep|os_yield|os_futex_wait|sched_yield|usleep|nanosleep|clock_nanosleep|sleep|pause" \
        "|_mm_pause|__builtin_ia32_pause|cpu_pause) ?\\("
}

function end_file() {
    if (file != "" && !generated && lines > max_file)
        offence(lines, "file", "the file has " lines " lines, over " max_file)
}

FNR == 1 {
    end_file()
    file = FILENAME
    sub(/^\.\//, "", file)
    generated = in_comment = in_function = macro = forever = polls = 0
    header = ""
    start = 0
    library = (file ~ /^(pgas|compat)\//)
    checked = (file ~ /^(pgas|tools|compat)\//)
}
{ lines = FNR }
FNR <= 12 && /Made by tools\// { generated = 1 }

# Returns the line without comments and with empty strings.
function bare(s,    i) {
    gsub(/\\./, "", s)
    gsub(/"[^"]*"/, "\"\"", s)
    gsub(/'[^']*'/, "''", s)
    if (in_comment) {
        i = index(s, "*/")
        if (i == 0)
            return ""
        s = substr(s, i + 2)
        in_comment = 0
    }
    while ((i = index(s, "/*")) > 0) {
        if (index(substr(s, i), "*/") == 0) {
            in_comment = 1
            return substr(s, 1, i - 1)
        }
        s = substr(s, 1, i - 1) " " substr(s, i + index(substr(s, i), "*/") + 1)
    }
    sub(/\/\/.*/, "", s)
    return s
}

# -- macros ---------------------------------------------------------------------------------
# A table (…_TABLE, or any macro of a .def file) is a list of rows and may be long.
function check_macro(continued) {
    if (macro == 0 && code ~ /^#[ ]*define/ && continued) {
        macro = 1
        macro_line = FNR
        macro_table = (code ~ /_TABLE\(/ || file ~ /\.def$/)
    } else if (macro > 0) {
        macro++
        if (!continued) {
            if (macro > max_macro && !macro_table && !generated && file !~ /^(tests|bench)\//)
                offence(macro_line, "macro", "a macro of " macro " lines, over " max_macro)
            macro = 0
        }
    }
}

# -- functions ------------------------------------------------------------------------------
function function_name(    s) {
    s = signature
    sub(/\(.*/, "", s)
    sub(/[ \t]*$/, "", s)
    sub(/.*[ *]/, "", s)
    return s
}

function end_function(    len) {
    len = FNR - start + 1
    if (len > max_function)
        offence(start, "function", name " has " len " lines, over " max_function)
    if (forever && polls && !wait_allowed())
        offence(forever, "wait", "a loop in " name " polls a shared word; use core/progress/block.c")
    in_function = forever = polls = 0
    start = 0
}

function check_function() {
    if (in_function) {
        if (code ~ /^[ \t]*#[ \t]*(if|ifdef|ifndef|else|elif|endif)/)
            offence(FNR, "if", "a preprocessor condition inside " name)
        if ($0 ~ /^}/)
            end_function()
        return
    }
    if ($0 == "{") {
        in_function = 1
        name = function_name()
        if (start == 0)
            start = FNR
        return
    }
    # The signature starts after a blank line, a comment, a directive or the end of another
    # definition.
    if (code ~ /^[A-Za-z_]/ && code !~ /[;}]$/) {
        if (start == 0) {
            start = FNR
            signature = code
        }
        if (code ~ /\) \{ .* \}$/) {
            name = function_name()
            end_function()
        }
    } else if (start > 0 && code !~ /^[ \t]+[^ \t]/) {
        start = 0
    }
    if (code ~ /;$/)
        start = 0
}

# -- waiting ----------------------------------------------------------------------------------
# A loop whose header reads a shared word is a wait loop; only core/progress/block.c may have one.
function wait_allowed() {
    return ((file "|" name) in wait_ok) || ((file "|*") in wait_ok)
}

function check_header(    s, opened, closed) {
    s = header
    opened = gsub(/\(/, "(", s)
    closed = gsub(/\)/, ")", s)
    if (opened > closed)
        return
    if (header ~ shared_probe && !wait_allowed())
        offence(header_line, "wait", "a loop in " name " polls a shared word; use core/progress/block.c")
    header = ""
}

function check_wait() {
    if (!checked || !in_function)
        return
    if (header != "")
        header = header " " code
    else if (code ~ /(^|[^A-Za-z0-9_])(while|for) \(/) {
        header = code
        sub(/^.*[^A-Za-z0-9_]while \(/, "while (", header)
        sub(/^.*[^A-Za-z0-9_]for \(/, "for (", header)
        header_line = FNR
    }
    # The condition of an endless loop is in its body: it is checked at the end of the function.
    if (code ~ /for \(;;\)|while \((1|true)\)/)
        forever = FNR
    if (code ~ shared_probe)
        polls = 1
    if (header != "")
        check_header()
    if (code ~ sleeping && !wait_allowed())
        offence(FNR, "wait", name " sleeps or yields; use core/progress/block.c")
    if (file ~ /^(pgas|tools\/oshrun)\// && code ~ /(^|[^A-Za-z0-9_])wait(pid|id)? ?\(/ && code !~ /WNOHANG/ && !wait_allowed())
        offence(FNR, "wait", name " waits for a child; use WNOHANG and an event of the loop")
}

# -- layers -----------------------------------------------------------------------------------
function check_include(    target, i, known) {
    if ($0 !~ /^#[ ]*include[ ]*"/)
        return
    target = $0
    sub(/^[^"]*"/, "", target)
    sub(/".*/, "", target)
    if (target == "config.h")
        return
    for (i = 1; i <= nlayers; i++) {
        if (file !~ ("^" layer_from[i]))
            continue
        known = 1
        if (target ~ ("^(" layer_to[i] ")"))
            return
    }
    if (known)
        offence(FNR, "layer", "may not include \"" target "\" (tests/lint/layers.txt)")
}

# Only the api*.c files define shmem_ names, and the library does not call them.
function check_names(    s) {
    if (!library || file ~ /\/api[^\/]*$/ || code ~ /^#[ ]*include/)
        return
    s = code
    gsub(/[A-Za-z0-9_]*_t([^A-Za-z0-9_]|$)|struct shmem_[a-z]+/, " ", s)
    if (s ~ /(^|[^A-Za-z0-9_])p?shmem_[a-z]/)
        offence(FNR, "names", "a shmem_ name outside an api_*.c file")
}

{
    continued = ($0 ~ /\\$/)
    code = bare($0)
    if (!generated && length($0) > max_columns)
        offence(FNR, "columns", "the line has " length($0) " columns, over " max_columns)
    check_macro(continued)
    check_include()
    if (macro == 0 && !(code ~ /^#/ && !in_function) && !generated)
        check_function()
    else if (!in_function)
        start = 0
    check_wait()
    check_names()
}

END { end_file() }
