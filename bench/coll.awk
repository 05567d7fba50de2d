# SPDX-License-Identifier: BSD-3-Clause
# coll.awk - prints one table per mode, number of PEs and operation, for bench/coll.
#   awk -v contestants=.. -v figure=.. -v processors=.. -f median.awk -f coll.awk data
# A line of data: contestant, round, mode, PEs, name, size, value, unit.  `to best`: the
# other library with the best median; ratio: the median over rounds of (ours / best) within
# a round.  `to own`: the same for the best of our forced algorithms.
BEGIN {
    LIMIT = 1.05 # within noise
    columns = split(contestants, who, " ")
    for (i = 1; i <= columns; i++)
        has_own = has_own || who[i] ~ /^ours:/
}

# Whether the tables show this figure of a point: mid, mean, max or last.
function wanted(mode, kind) {
    if (mode == "train")
        return kind == "mean"
    if (figure != "")
        return kind == figure
    return kind == (mode == "balanced" || mode == "loop" ? "mid" : "mean")
}

NF == 8 {
    dot = index($5, ".")
    if (!wanted($3, dot ? substr($5, dot + 1) : "mean"))
        next
    table = $3 " " $4 " " (dot ? substr($5, 1, dot - 1) : $5)
    if (!(table in rows)) {
        tables[++n_tables] = table
        unit[table] = $8
    }
    row = table " " $6
    if (!(row in seen)) {
        seen[row] = 1
        size[table, ++rows[table]] = $6
    }
    value[$1, $2, row] = $7 + 0
    all[$1, row] = all[$1, row] " " $7
    if ($2 + 0 > rounds)
        rounds = $2 + 0
}

function mid(name, row) { return median(all[name, row]) }

# The best of the other libraries or (own) of our forced algorithms; "" if none was run.
function best(row, own, rate,    i, m, least, name) {
    for (i = 1; i <= columns; i++) {
        if (own ? who[i] !~ /^ours:/ : who[i] ~ /^ours/)
            continue
        m = mid(who[i], row)
        if (m != "" && (name == "" || (rate ? m > least : m < least))) {
            name = who[i]
            least = m
        }
    }
    return name
}

function ratio(other, row,    r, list) {
    for (r = 1; r <= rounds; r++)
        if (("ours", r, row) in value && (other, r, row) in value && \
            value[other, r, row] > 0)
            list = list " " value["ours", r, row] / value[other, r, row]
    return median(list)
}

function show(x) {
    return x == "" ? "-" : sprintf(x < 10 ? "%.3f" : x < 1000 ? "%.1f" : "%.0f", x)
}

function bytes(n) {
    if (n >= 1048576 && n % 1048576 == 0)
        return n / 1048576 "M"
    return n >= 1024 && n % 1024 == 0 ? n / 1024 "K" : n
}

# The columns ratio, reference and verdict.  For rates, high is good.
function ratio_columns(row, own, rate,    other, x, worse, mark) {
    other = best(row, own, rate)
    x = other == "" ? "" : ratio(other, row)
    if (x == "")
        return sprintf(" | %6s %-12s %-4s", "-", other, "")
    worse = x > 0 && rate ? 1 / x : x
    mark = worse > LIMIT ? "MISS" : worse > 1 ? "~" : "ok"
    compared[own]++
    misses[own] += mark == "MISS"
    slower[own] += mark == "~"
    return sprintf(" | %6.2f %-12s %-4s", x, other, mark)
}

function width(i) { return length(who[i]) > 9 ? length(who[i]) : 9 }

function head(table,    part, i, text) {
    split(table, part, " ")
    printf "\n%s, %d PEs, %s (%s)\n", part[3], part[2], \
        part[1] ~ /^[0-9.]/ ? "imbalanced, MIF " part[1] : part[1], unit[table]
    text = sprintf("%8s", "bytes")
    for (i = 1; i <= columns; i++)
        text = text sprintf(" %*s", width(i), who[i])
    text = text sprintf(" | %6s %-17s", "ratio", "to best")
    if (has_own)
        text = text sprintf(" | %6s %-17s", "ratio", "to own")
    trimmed(text)
}

function trimmed(text) {
    sub(/ *$/, "", text)
    print text
}

function print_table(table,    i, r, row, rate, text) {
    rate = unit[table] ~ /\/s$/
    head(table)
    for (r = 1; r <= rows[table]; r++) {
        row = table " " size[table, r]
        text = sprintf("%8s", bytes(size[table, r]))
        for (i = 1; i <= columns; i++)
            text = text sprintf(" %*s", width(i), show(mid(who[i], row)))
        text = text ratio_columns(row, 0, rate)
        if (has_own)
            text = text ratio_columns(row, 1, rate)
        trimmed(text)
    }
}

END {
    for (t = 1; t <= n_tables; t++)
        print_table(tables[t])
    printf "\nmedians of %d rounds on %d processors; ratio: ours / the other's; ", rounds,
        processors
    printf "MISS: more than %.2f x worse, ~: less\n", LIMIT
    printf "%d figures are compared with the best other: %d MISS, %d ~\n", compared[0],
        misses[0], slower[0]
    if (has_own)
        printf "%d figures are compared with our best forced algorithm: %d MISS, %d ~\n",
            compared[1], misses[1], slower[1]
}
