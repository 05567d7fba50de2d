# SPDX-License-Identifier: BSD-3-Clause
# time.awk - finds what a test does with time: lines that compare a time with a limit, and limits
# below 20 s, which a busy machine may exceed.
# usage: awk -v table=tests/lint/time.txt -f time.awk FILE..
# Each such line is a row.  Its outcome is a call of tests/steady, or an entry of the table.
# Prints the rows without an outcome, the entries without a row, and the numbers of both.
function trim(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }

function in_file(i,   folder) {
    folder = file[i]
    return file[i] == FILENAME || (sub(/\*$/, "", folder) && index(FILENAME, folder) == 1)
}

# row WHAT: this line needs an outcome.  A short limit is no guard.
function row(what,   i) {
    rows++
    for (i = 1; i <= entries; i++)
        if (in_file(i) && (text[i] == "*" || index($0, text[i]) > 0) &&
            !(kind[i] == "guard" && what ~ /short/)) {
            used[i] = 1
            outcomes++
            return
        }
    printf "%s:%d: [time] %s; use tests/steady, or give a reason in tests/lint/time.txt:\n    %s\n", \
        FILENAME, FNR, what, trim($0)
}

# Milliseconds of a number whose name or place gives its unit.
function short_of(number, unit) {
    return number + 0 > 0 && number * (unit ~ /_?NS$/ ? 1e-6 : unit ~ /_?US$/ ? 1e-3 : unit ~ /_?MS$/ ? 1 : 1000) < 20000
}

# The number that follows PATTERN in the line, or "".
function number_after(pattern,   rest) {
    if (!match(code, pattern))
        return ""
    rest = substr(code, RSTART + RLENGTH)
    return match(rest, /^[0-9]+(\.[0-9]+)?/) ? substr(rest, 1, RLENGTH) : ""
}

function compares_time(comparison,   name) {
    if (code !~ comparison)
        return 0
    if (code ~ clock)
        return 1
    for (name in is_time)
        if (code ~ "(^|[^A-Za-z0-9_.>])" name "([^A-Za-z0-9_(]|$)")
            return 1
    return 0
}

# Names that are set to a time in this file.
function note_times(assignment,   rest, name) {
    rest = code
    while (match(rest, assignment)) {
        name = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (rest !~ "^[^;]*" clock && rest !~ clock)
            continue
        gsub(/[^A-Za-z0-9_]/, "", name)
        is_time[name] = 1
    }
}

function shell_line(   n) {
    clock = "now_ms|steady_now|date \\+%s"
    if (code ~ /steady_(within|judge|late|ended|is_within)/) {
        rows++
        outcomes++
        return
    }
    note_times("[a-z_]+=")
    if (code ~ /\$\{?took/ && code ~ / -(le|lt|ge|gt) / || compares_time(" -(le|lt|ge|gt) "))
        return row("compares a time")
    n = number_after("(^|[^-a-z_])(timeout|guard=\"timeout)( -[a-z]+ [A-Z0-9]+)* ")
    if (short_of(n, "S") || short_of(number_after("(until_true|await) "), "S") ||
        short_of(number_after("--timeout "), "S"))
        return row("a short limit")
    limits = "(limit|timeout|patience|late|end|clean|soon|most|alone|left|stacks)_"
    if (code ~ limits "(s|ms)=" &&
        (short_of(number_after(limits "s="), "S") || short_of(number_after(limits "ms="), "MS")))
        return row("a short limit")
    if (match(code, /SHMEM_[A-Z_]*TIMEOUT=/) && short_of(number_after("SHMEM_[A-Z_]*TIMEOUT="), code ~ /_FT_TIMEOUT/ ? "MS" : "S"))
        row("a short limit of the library")
}

function c_line(   n, name) {
    clock = "(^|[^A-Za-z0-9])[a-z_]*(now|now_ns|now_ms|clock_ns|cpu_ms|cpu_time|wtime|seconds)\\(|clock_gettime\\("
    gsub(/sim_(now|time)_ns\(\)/, "0", code)
    gsub(/->/, ".", code)
    gsub(/<<|>>/, "+", code)
    note_times("[a-z_]+ = ")
    if (code ~ /steady_status\(/) {
        rows++
        outcomes++
        return
    }
    if (code !~ /^#/ && compares_time("[<>]|cr_assert_(lt|leq|gt|geq|l|g)"))
        return row("compares a time")
    name = "(WAIT|LIMIT|PATIENT|LATE|TIMEOUT|SOON|AT_ONCE|SLACK|CALL|LONG|STOPS)_(MS|S|SECONDS|NS)"
    if (match(code, name "( =)? +[0-9]+")) {
        n = substr(code, RSTART, RLENGTH)
        match(n, /[0-9]+$/)
        if (short_of(substr(n, RSTART), substr(n, 1, RSTART - 1) ~ /MS/ ? "MS" : substr(n, 1, RSTART - 1) ~ /NS/ ? "NS" : "S"))
            return row("a short limit")
    }
    if (short_of(number_after("\\.timeout = "), "S") ||
        (code ~ /alarm\([0-9]+\)/ && short_of(number_after("alarm\\("), "S")) ||
        short_of(number_after("now_ms\\(\\) \\+ "), "MS"))
        row("a short limit")
}

BEGIN {
    while ((getline line <table) > 0) {
        if (line ~ /^#/ || trim(line) == "")
            continue
        if (split(line, part, "|") < 4) {
            print table ": [time] an entry has no reason: " line
            bad = 1
            continue
        }
        file[++entries] = trim(part[1])
        text[entries] = trim(part[2])
        kind[entries] = trim(part[3])
        if (kind[entries] !~ /^(judged|guard|least|paced|cpu|virtual|product|report|other)$/ || trim(part[4]) == "") {
            print table ": [time] unknown kind or no reason: " line
            bad = 1
        }
    }
}
FNR == 1 { split("", is_time); in_comment = 0 }
{
    code = $0
    if (FILENAME ~ /\.[ch]$/) {
        gsub(/\/\*.*\*\//, "", code)
        if (in_comment) {
            if (code !~ /\*\//)
                next
            sub(/.*\*\//, "", code)
            in_comment = 0
        }
        if (code ~ /\/\*/) {
            sub(/\/\*.*/, "", code)
            in_comment = 1
        }
        gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
        c_line()
    } else if (code !~ /^[ \t]*#/) {
        sub(/ # .*/, "", code)
        shell_line()
    }
}
END {
    for (i = 1; i <= entries; i++)
        if (!used[i]) {
            printf "%s: [time] no row matches this entry: %s | %s\n", table, file[i], text[i]
            bad = 1
        }
    printf "rows %d, outcomes %d\n", rows, outcomes
    exit bad || rows != outcomes
}
