# SPDX-License-Identifier: BSD-3-Clause
# compare.awk - medians, ratios and verdicts for bench/compare.
#   awk -f median.awk -f compare.awk goals data
# A ratio is the median over the rounds of (ours / theirs) within a round.

function is_rate(row) { return unit[row] ~ /\/s$/ }

function in_ns(value, u) {
    return u == "us" ? value * 1e3 : u == "ms" ? value * 1e6 : value + 0
}

# Median of (ours of row) / (other's of reference) over the rounds that have both.
function ratio(row, other, reference,    r, list) {
    for (r = 1; r <= rounds; r++)
        if (("ours", r, row) in value && (other, r, reference) in value &&
            value[other, r, reference] > 0)
            list = list " " value["ours", r, row] / value[other, r, reference]
    return median(list)
}

function matches(pattern, name,    star) {
    star = index(pattern, "*")
    if (star == 0)
        return pattern == name
    return substr(name, 1, star - 1) == substr(pattern, 1, star - 1) &&
           substr(name, length(name) - length(pattern) + star + 1) == \
               substr(pattern, star + 1)
}

# The verdict of one goal; "" if a figure is missing.
function goal_verdict(g, row, name, size,    x, reference, ok) {
    if (kind[g] == "most") {
        x = in_ns(median(all["ours", row]), unit[row])
        ok = x <= limit[g]
        return ok ? "ok" : sprintf("MISS: more than %g ns", limit[g])
    }
    if (kind[g] == "own" || kind[g] == "own_rate") {
        reference = against[g] " " size
        if (!(reference in unit))
            reference = against[g] " 8"
        x = ratio(row, "ours", reference)
        if (x == "")
            return ""
        ok = kind[g] == "own" ? x <= limit[g] : x >= limit[g]
        return sprintf("%s: %.2f x %s%s", ok ? "ok" : "MISS", x, against[g],
                       ok ? "" : sprintf(", should be %s %s", \
                                         kind[g] == "own" ? "<=" : ">=", limit[g]))
    }
    x = ratio(row, "theirs", row)
    if (x == "")
        return ""
    ok = is_rate(row) ? x >= 1 / limit[g] : x <= limit[g]
    return ok ? "ok" : sprintf("MISS: should be %s %.2f x theirs", \
                               is_rate(row) ? ">=" : "<=",
                               is_rate(row) ? 1 / limit[g] : limit[g])
}

# All goals of the row; `*` only if the row has no other goal of the kind `theirs`.
function verdict(row, name, size,    g, v, text, found) {
    for (g = 1; g <= goals; g++) {
        if (!matches(goal[g], name) || size < from[g] || size > to[g])
            continue
        if (kind[g] == "-")
            return ""
        if (goal[g] == "*" && found == "theirs")
            continue
        found = kind[g]
        v = goal_verdict(g, row, name, size)
        if (v != "" && !(v == "ok" && text != ""))
            text = text (text == "" ? "" : "; ") v
    }
    return text
}

function show(x) { return x == "" ? "-" : sprintf(x < 10 ? "%.3f" : "%.2f", x) }

FNR == NR {
    if ($1 ~ /^#/ || NF < 4)
        next
    goals++
    goal[goals] = $1; from[goals] = $2 + 0; to[goals] = $3 + 0
    kind[goals] = $4; limit[goals] = $5 + 0; against[goals] = $6
    next
}

NF == 6 {
    row = $3 " " $4
    if (!(row in unit))
        order[++rows] = row
    unit[row] = $6
    value[$1, $2, row] = $6 ~ /\/s$/ ? $5 + 0 : in_ns($5, $6)
    all[$1, row] = all[$1, row] " " $5
    if ($2 > rounds)
        rounds = $2
}

END {
    printf "%-22s %9s %11s %11s %-5s %7s  %s\n", "name", "size", "ours", "theirs", "unit",
           "ratio", "verdict"
    for (i = 1; i <= rows; i++) {
        row = order[i]
        split(row, part, " ")
        v = verdict(row, part[1], part[2] + 0)
        missed += v ~ /MISS/
        printf "%-22s %9s %11s %11s %-5s %7s  %s\n", part[1], part[2],
               show(median(all["ours", row])), show(median(all["theirs", row])),
               unit[row], show(ratio(row, "theirs", row)), v
    }
    printf "%d rows, %d miss a goal of bench/goals; ratio is ours / theirs\n", rows,
           missed
}
