# SPDX-License-Identifier: BSD-3-Clause
# kernels.awk - prints one table per number of nodes and PEs, for bench/kernels.
#   awk -v contestants=.. -v processors=.. -f median.awk -f kernels.awk data
# A line of data: contestant, round, nodes, PEs, name, size, value, unit.  A ratio is the
# median over the rounds of (shared / other) within a round.  Exit status 1 if the figures
# with the unit `=` differ for the same kernel, size and number of PEs.
BEGIN { columns = split(contestants, who, " ") }

NF == 8 && $8 == "=" {
    answer = $4 " PEs: " $5 " " $6
    if (!(answer in answers)) {
        answers[answer] = $7
        first[answer] = $1
    } else if (answers[answer] != $7) {
        printf "WRONG with %s: %s has %s, %s has %s\n", answer, first[answer],
            answers[answer], $1, $7
        wrong++
    }
    next
}

NF == 8 {
    table = $3 " " $4
    if (!(table in rows))
        tables[++n_tables] = table
    row = table " " $5 " " $6
    if (!(row in unit)) {
        unit[row] = $8
        name[table, ++rows[table]] = $5 " " $6
    }
    value[$1, $2, row] = $7 + 0
    all[$1, row] = all[$1, row] " " $7
    if ($2 + 0 > rounds)
        rounds = $2 + 0
}

# The faster MPI, or "" if none was measured.
function best(row,    i, m, least, other) {
    for (i = 1; i <= columns; i++) {
        if (who[i] != "ompi" && who[i] != "mpich")
            continue
        m = median(all[who[i], row])
        if (m != "" && (other == "" || m < least)) {
            other = who[i]
            least = m
        }
    }
    return other
}

function ratio(other, row,    r, list) {
    for (r = 1; r <= rounds; r++)
        if (("shared", r, row) in value && (other, r, row) in value && \
            value[other, r, row] > 0)
            list = list " " value["shared", r, row] / value[other, r, row]
    list = median(list)
    return list == "" ? "-" : sprintf("%.2f", list)
}

function show(x) {
    return x == "" ? "-" : sprintf(x < 0.01 && x > 0 ? "%.2g" : x < 10 ? "%.3f" : \
        x < 1000 ? "%.1f" : "%.0f", x)
}

function head(table,    part, i) {
    split(table, part, " ")
    printf "\n%d PEs on %d node%s\n%-18s %6s %-3s", part[2], part[1],
        (part[1] > 1 ? "s (virtual)" : ""), "", "size", ""
    for (i = 1; i <= columns; i++)
        printf " %9s", who[i]
    print " | shared/ordinary  shared/MPI"
}

function print_row(table, r,    row, part, i, other) {
    row = table " " name[table, r]
    split(name[table, r], part, " ")
    printf "%-18s %6d %-3s", part[1], part[2], unit[row]
    for (i = 1; i <= columns; i++)
        printf " %9s", show(median(all[who[i], row]))
    other = best(row)
    printf " | %15s  %10s%s\n", ratio("ordinary", row), ratio(other, row),
        (other == "" ? "" : " " other)
}

END {
    for (t = 1; t <= n_tables; t++) {
        head(tables[t])
        for (r = 1; r <= rows[tables[t]]; r++)
            print_row(tables[t], r)
    }
    printf "\nmedians of %d rounds on %d processors; ", rounds, processors
    print wrong ? wrong " answers are WRONG" : "all answers are the same"
    exit wrong > 0
}
