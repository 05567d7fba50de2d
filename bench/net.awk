# SPDX-License-Identifier: BSD-3-Clause
# net.awk - prints medians, ratios and pass or fail for bench/net.
#   awk -f median.awk -f net.awk data
# A line of data: contestant, round, name, size, value, unit.  A ratio is the median over
# the rounds of (ours / other) within a round: high is good for rates, low for times.
BEGIN {
    RAW = 1.10    # permitted overhead over the network library
    THEIRS = 1.05 # permitted ratio to oshmem and to the other build: equal within noise
    LINE = "%-10s %7s %-5s"
    raw_of["ofi"] = "fi_raw"
    raw_of["ucx"] = "ucp_raw ucx_perftest"
    raw_of["tcp"] = "fi_raw"
}

NF == 6 {
    row = $3 " " $4
    if (!(row in unit))
        order[++rows] = row
    unit[row] = $6
    names[$3]
    before = before || $1 ~ /^before-/
    value[$1, $2, row] = $5 + 0
    all[$1, row] = all[$1, row] " " $5
    if ($2 > rounds)
        rounds = $2
}

function mid(who, row) { return median(all[who, row]) }

function ratio(who, other, row,    r, list) {
    for (r = 1; r <= rounds; r++)
        if ((who, r, row) in value && (other, r, row) in value && \
            value[other, r, row] > 0)
            list = list " " value[who, r, row] / value[other, r, row]
    return median(list)
}

function show(x) {
    return x == "" ? "-" : sprintf(x < 10 ? "%.3f" : x < 1000 ? "%.1f" : "%.0f", x)
}

# A ratio and its verdict, 10 characters wide.
function ratio_column(x, row, limit,    ok) {
    if (x == "")
        return sprintf("%10s", "-")
    ok = unit[row] ~ /\/s$/ ? x >= 1 / limit : x <= limit
    goals++
    missed += !ok
    return sprintf("%5.2f %-4s", x, ok ? "ok" : "MISS")
}

# The figure of `other` and the ratio.
function pair(who, other, row, limit,    r) {
    r = ratio(who, other, row)
    return sprintf("%12s %s", show(mid(other, row)), ratio_column(r, row, limit))
}

# The columns beside `who`
function others_of(who, others) {
    return others == "" ? raw_of[who] : others == "before" ? "before-" who : others
}

function table(title, own, others, limit,    i, k, n, o, other, w, who, part) {
    n = split(own, who, " ")
    printf "\n%s\n" LINE, title, "name", "size", "unit"
    for (w = 1; w <= n; w++) {
        printf " |%9s", who[w]
        k = split(others_of(who[w], others), other, " ")
        for (o = 1; o <= k; o++)
            printf " %12s %-10s", other[o], "ratio"
    }
    printf "\n"
    for (i = 1; i <= rows; i++) {
        split(order[i], part, " ")
        printf LINE, part[1], part[2], unit[order[i]]
        for (w = 1; w <= n; w++) {
            printf " |%9s", show(mid(who[w], order[i]))
            k = split(others_of(who[w], others), other, " ")
            for (o = 1; o <= k; o++)
                printf " %s", pair(who[w], other[o], order[i], limit)
        }
        printf "\n"
    }
}

# The share of a contiguous put's bandwidth that strided transfers reach
function strided(own,    i, n, w, who, part, same, r, list) {
    n = split(own, who, " ")
    printf "\nstrided: bandwidth / that of a contiguous put of the same bytes\n"
    printf LINE, "name", "size", "unit"
    for (w = 1; w <= n; w++)
        printf " |%9s", who[w]
    printf "\n"
    for (i = 1; i <= rows; i++) {
        split(order[i], part, " ")
        if (part[1] !~ /^i(put|get)_/)
            continue
        same = "put_same " part[2]
        printf LINE, part[1], part[2], "share"
        for (w = 1; w <= n; w++) {
            list = ""
            for (r = 1; r <= rounds; r++)
                if ((who[w], r, order[i]) in value && (who[w], r, same) in value)
                    list = list " " value[who[w], r, same] / value[who[w], r, order[i]]
            printf " |%9s", show(median(list))
        }
        printf "\n"
    }
}

END {
    if ("put_same" in names)
        strided("tcp ofi ucx oshmem")
    table("over the raw library", "ofi ucx tcp", "", RAW)
    table("against Open MPI's oshmem", "ofi ucx tcp", "oshmem", THEIRS)
    if (before)
        table("against the other build", "ofi ucx tcp", "before", THEIRS)
    printf "\nmedians of %d rounds; ratio: ours / the other's, of the same round\n", rounds
    printf "goals: times <= %.2f x the raw library's, <= %.2f x oshmem's", RAW, THEIRS
    printf "; rates >= 1 / that\n%d figures have a goal, %d miss it\n", goals, missed
}
