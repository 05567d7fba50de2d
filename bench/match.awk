# SPDX-License-Identifier: BSD-3-Clause
# match.awk - prints the medians of bench/match, and for engines the figures that the README of
# compat/mpi/match promises.  Input: pattern, entries, engine, ns, false positives per match; with
# mode=threads: threads, length, engine, lock, million pairs per second; with mode=heat: MiB of the
# sweep, entries, engine, heater, ns, us of the sweep.
BEGIN {
    paired = mode == "threads" || mode == "heat"
    first = mode == "threads" ? "threads" : mode == "heat" ? "MiB" : "pattern"
}
{
    cell = $1 " " $2
    column = paired ? $3 "/" $4 : $3
    if (!(cell in seen)) {
        seen[cell] = 1
        order[++cells] = cell
    }
    if (!(column in known)) {
        known[column] = 1
        name[++columns] = column
    }
    values[cell, column] = values[cell, column] " " (paired ? $5 : $4)
    second[cell, column] = second[cell, column] " " $NF
}
function value(cell, column) { return median(values[cell, column]) }
function width(k) { return length(name[k]) < 9 ? 9 : length(name[k]) }
function worst(what, ratio, cell) {
    if (!(what in limit) || ratio > limit[what]) {
        limit[what] = ratio
        where[what] = cell
    }
}
END {
    printf "# %-22s %6s", first, mode == "threads" ? "length" : "N"
    for (k = 1; k <= columns; k++)
        printf " %*s", width(k), name[k]
    print mode == "threads" ? "  tail/one (list, auto)" : ""
    for (i = 1; i <= cells; i++) {
        cell = order[i]
        split(cell, f, " ")
        printf "%-24s %6d", f[1], f[2]
        for (k = 1; k <= columns; k++)
            printf " %*.*f", width(k), mode == "threads" ? 3 : 1, value(cell, name[k])
        if (mode == "threads")
            printf "  %.2f %.2f", value(cell, "list/tail") / value(cell, "list/one"),
                value(cell, "auto/tail") / value(cell, "auto/one")
        print ""
        if (mode != "engines")
            continue
        list = value(cell, "list")
        if (f[2] <= 16)
            worst("auto / list, at most 16 entries", value(cell, "auto") / list, cell)
        if (f[2] <= 16)
            worst("fuzzy / list, at most 16 entries", value(cell, "fuzzy") / list, cell)
        if (f[2] == 1024)
            worst("fuzzy / list, 1024 entries", value(cell, "fuzzy") / list, cell)
        if (f[2] == 8192)
            worst("fuzzy at 8192 entries, ns", value(cell, "fuzzy"), cell)
    }
    for (what in limit)
        printf "worst %s: %.3f (%s)\n", what, limit[what], where[what]
    if (mode != "lanes" && mode != "heat")
        exit
    print mode == "heat" ? "# us of the sweep" : "# false positives per match"
    for (i = 1; i <= cells; i++) {
        split(order[i], f, " ")
        printf "%-24s %6d", f[1], f[2]
        for (k = 1; k <= columns; k++)
            printf " %*.2f", width(k), median(second[order[i], name[k]])
        print ""
    }
}
