# SPDX-License-Identifier: BSD-3-Clause
# mini.awk - prints one table per number of nodes, for bench/mini.
#   awk -v processors=.. -f median.awk -f mini.awk data
# A line of data: library, round, nodes, PEs, name, threads, context, size, value, unit.  A
# ratio is the median over the rounds of the ratios of the speeds within each round, above 1
# if the first is faster.
NF == 10 {
    point = $5 " " $8
    row = $3 " " point " " $4 " " $6
    if (!($3 in known_nodes)) {
        known_nodes[$3] = 1
        nodes[++n_nodes] = $3
    }
    if ($5 !~ /\.comm$/ && !(row in known)) {
        known[row] = 1
        rows[++n_rows] = row
    }
    who = $1 "." $7
    value[who, $2, row] = $9 + 0
    all[who, row] = all[who, row] " " $9
    if ($2 + 0 > rounds)
        rounds = $2 + 0
}

# The ratio of the speeds of `mine` in row a and `other` in row b.
function speedup(mine, a, other, b,    r, list) {
    for (r = 1; r <= rounds; r++)
        if (value[mine, r, a] > 0 && value[other, r, b] > 0)
            list = list " " value[other, r, b] / value[mine, r, a]
    list = median(list)
    return list == "" ? "-" : sprintf("%.2f", list)
}

function show(x) {
    return x == "" ? "-" : sprintf(x < 10 ? "%.3g" : x < 10000 ? "%.1f" : "%.0f", x)
}

function print_row(row,    p, comm, single) {
    split(row, p, " ")
    comm = p[1] " " p[2] ".comm " p[3] " " p[4] " " p[5]
    single = p[1] " " p[2] " " p[3] " " p[4] * p[5] " 1"
    printf "%-6s %6d %4d x %-2d %9s %9s %9s %9s %9s | %8s %8s %8s %8s\n", p[2], p[3], p[4],
        p[5], show(median(all["pgas.default", row])), show(median(all["pgas.private", row])),
        show(median(all["pgas.private", comm])), show(median(all["oshmem.default", row])),
        show(median(all["oshmem.private", row])),
        speedup("pgas.private", row, "pgas.default", row),
        speedup("pgas.private", row, "pgas.private", single),
        speedup("oshmem.private", row, "oshmem.private", single),
        speedup("pgas.private", row, "oshmem.private", row)
}

END {
    for (k = 1; k <= n_nodes; k++) {
        printf "\n%d node%s: ms\n%-6s %6s %9s %9s %9s %9s %9s %9s | %8s %8s %8s %8s\n",
            nodes[k], (nodes[k] > 1 ? "s (virtual)" : ""), "", "size", "PEs x thr", "default",
            "private", ".comm", "oshmem.d", "oshmem.p", "priv/def", "/single", "(oshmem)",
            "/oshmem"
        for (i = 1; i <= n_rows; i++)
            if (index(rows[i], nodes[k] " ") == 1)
                print_row(rows[i])
    }
    printf "\nmedians of %d rounds on %d processors; /single: relative to as many PEs with" \
        " one thread each\n", rounds, processors
}
