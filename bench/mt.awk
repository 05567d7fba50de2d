# SPDX-License-Identifier: BSD-3-Clause
# mt.awk - prints the table of bench/mt.
#   awk -v processors=.. -v where=.. -f median.awk -f mt.awk data
# A line of data: library, round, name, threads, context, size, value, unit.  A ratio is the
# median over the rounds of the ratios within each round, above 1 if the first is faster.
NF == 8 {
    row = $3 " " $6 " " $4
    if (!(row in unit)) {
        unit[row] = $8
        order[++n_rows] = row
    }
    who = $1 "." $5
    value[who, $2, row] = $7 + 0
    all[who, row] = all[who, row] " " $7
    if ($2 + 0 > rounds)
        rounds = $2 + 0
}

# The ratio of the speeds of `mine` in row a and `other` in row b.
function speedup(mine, a, other, b,    r, x, y, list) {
    for (r = 1; r <= rounds; r++) {
        x = value[mine, r, a]
        y = value[other, r, b]
        if (x > 0 && y > 0)
            list = list " " (unit[a] == "us" ? y / x : x / y)
    }
    list = median(list)
    return list == "" ? "-" : sprintf("%.2f", list)
}

function show(x) {
    return x == "" ? "-" : sprintf("%.4g", x)
}

END {
    printf "%s, %d processors; medians of %d rounds\n", where, processors, rounds
    print "latency: us; bandwidth: GB/s; rate, halo: millions of messages a second, of all" \
        " threads of a PE"
    printf "%-16s %8s %7s %10s %10s %10s %10s | %8s %8s %8s\n", "", "bytes", "threads",
        "default", "private", "oshmem.d", "oshmem.p", "priv/def", "scaling", "/oshmem"
    for (i = 1; i <= n_rows; i++) {
        row = order[i]
        split(row, part, " ")
        one = part[1] " " part[2] " 1"
        printf "%-16s %8d %7d %10s %10s %10s %10s | %8s %8s %8s\n", part[1], part[2], part[3],
            show(median(all["pgas.default", row])), show(median(all["pgas.private", row])),
            show(median(all["oshmem.default", row])), show(median(all["oshmem.private", row])),
            speedup("pgas.private", row, "pgas.default", row),
            speedup("pgas.private", row, "pgas.private", one),
            speedup("pgas.private", row, "oshmem.private", row)
    }
}
