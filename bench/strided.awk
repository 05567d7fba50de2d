# SPDX-License-Identifier: BSD-3-Clause
# strided.awk - prints one table per number of nodes and PEs, for bench/strided.
#   awk -v processors=.. -f median.awk -f strided.awk data
# A line of data: library, round, nodes, PEs, name, form, size, value, unit.  A ratio is the
# median over the rounds of the ratios within each round.
NF == 9 {
    table = $3 " " $4
    if (!(table in rows))
        tables[++n_tables] = table
    row = table " " $5 " " $7
    if (!(row in known)) {
        known[row] = 1
        name[table, ++rows[table]] = $5 " " $7
    }
    who = $1 "." $6
    if (!(who in column)) {
        column[who] = ++columns
        title[columns] = who
    }
    value[who, $2, row] = $8 + 0
    all[who, row] = all[who, row] " " $8
    if ($2 + 0 > rounds)
        rounds = $2 + 0
}

function ratio(mine, other, row,    r, list) {
    for (r = 1; r <= rounds; r++)
        if ((mine, r, row) in value && (other, r, row) in value && value[other, r, row] > 0)
            list = list " " value[mine, r, row] / value[other, r, row]
    list = median(list)
    return list == "" ? "-" : sprintf("%.2f", list)
}

function show(x) {
    return x == "" ? "-" : sprintf(x < 100 ? "%.2f" : x < 10000 ? "%.0f" : "%.3g", x)
}

END {
    for (t = 1; t <= n_tables; t++) {
        split(tables[t], part, " ")
        printf "\n%d PEs on %d node%s: us per step\n%-16s %5s", part[2], part[1],
            (part[1] > 1 ? "s (virtual)" : ""), "", "size"
        for (c = 1; c <= columns; c++)
            printf " %14s", title[c]
        print " | strided/packed strided/ompi"
        for (r = 1; r <= rows[tables[t]]; r++) {
            row = tables[t] " " name[tables[t], r]
            split(name[tables[t], r], part, " ")
            printf "%-16s %5d", part[1], part[2]
            for (c = 1; c <= columns; c++)
                printf " %14s", show(median(all[title[c], row]))
            printf " | %14s %12s\n", ratio("pgas.strided", "pgas.packed", row),
                ratio("pgas.strided", "ompi.datatype", row)
        }
    }
    printf "\nmedians of %d rounds on %d processors\n", rounds, processors
}
