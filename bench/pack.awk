# SPDX-License-Identifier: BSD-3-Clause
# pack.awk - prints the medians of bench/pack, a line per cell, and the summary.  Input:
# contestant, round, direction, bytes, block, stride, kernel, GB/s.  The ratios of a cell are
# those of the medians.
{
    cell = $3 " " $4 " " $5 " " $6
    if (!(cell in seen)) {
        seen[cell] = 1
        order[++cells] = cell
    }
    if (!($7 in column)) {
        column[$7] = 1
        name[++columns] = $7
    }
    values[cell, $7] = values[cell, $7] " " $8
}
function rate(cell, kernel) { return median(values[cell, kernel]) }
function is_kernel(k) { return k !~ /^(memcpy|generic|chosen|again|found|ompi|mpich|.*vs_.*)$/ }
# A cell in which the ratio `name` is less than `enough`
function is_below(cell, name, enough) { return rate(cell, name) != "" && rate(cell, name) < enough }
function add(what, value) {
    list[what] = list[what] " " value
    number[what]++
    if (number[what] == 1 || value < least[what])
        least[what] = value
}
function ratios(title, what) {
    if (number[what] > 0)
        printf "%-58s %4d cells  median %6.2f  least %6.2f\n", title, number[what], median(list[what]), least[what]
}
END {
    printf "# %-6s %9s %5s %6s", "", "bytes", "block", "stride"
    for (k = 1; k <= columns; k++)
        printf " %*s", length(name[k]) < 6 ? 6 : length(name[k]), name[k]
    print "  best"
    for (i = 1; i <= cells; i++) {
        cell = order[i]
        split(cell, f, " ")
        printf "%-8s %9d %5d %6d", f[1], f[2], f[3], f[4]
        best = 0
        best_name = "-"
        for (k = 1; k <= columns; k++) {
            r = rate(cell, name[k])
            printf " %*s", length(name[k]) < 6 ? 6 : length(name[k]), r == "" ? "-" : sprintf("%.2f", r)
            if (r != "" && is_kernel(name[k]) && r > best) {
                best = r
                best_name = name[k]
            }
        }
        print "  " best_name
        chosen = rate(cell, "chosen")
        if (chosen == "")
            continue
        wins[best_name]++
        add("best", chosen / best)
        is_near = chosen >= 0.95 * best
        near += is_near
        found = rate(cell, "found")
        found_near += found != "" && found >= 0.95 * best
        founds += found != ""
        add("generic", chosen / rate(cell, "generic"))
        add("vs_best", rate(cell, "vs_best"))
        add("vs_generic", rate(cell, "vs_generic"))
        missed += is_below(cell, "vs_best", 0.95)
        missed_found += is_below(cell, "found_vs_best", 0.95)
        missed_generic += is_below(cell, "vs_generic", 1)
        missed_generic_5 += is_below(cell, "vs_generic", 0.95)
        again = rate(cell, "again")
        if (again != "") {
            agains++
            differ = again < 0.95 * chosen || chosen < 0.95 * again
            noisy += differ
            steady_near += !differ && is_near
        }
        slower += chosen < rate(cell, "generic")
        slower_5 += chosen < 0.95 * rate(cell, "generic")
        for (k = 1; k <= columns; k++)
            if ((name[k] == "ompi" || name[k] == "mpich") && rate(cell, name[k]) != "") {
                ratio = chosen / rate(cell, name[k])
                add(f[1] " " name[k], ratio)
                if (f[3] <= 16)
                    add(f[1] " " name[k] " small", ratio)
            }
        if (f[3] == 8 && f[4] == 12)
            reference[++references] = sprintf("  %-6s %9d bytes: %4.0f %% of memcpy, %.1f GB/s", f[1], f[2],
                100 * chosen / rate(cell, "memcpy"), chosen)
    }
    if (number["best"] == 0)
        exit
    print "# summary"
    printf "chosen within 5 %% of the best kernel: %d of %d cells (%.0f %%)\n", near, number["best"],
        100 * near / number["best"]
    printf "the kernel that was found, called directly, within 5 %%: %d of %d cells\n", found_near, founds
    printf "in pairs: the kernel that was found is within 5 %% of the best in %d of %d cells (%.1f %%), " \
        "with the time of the selection in %d of %d (%.1f %%)\n", founds - missed_found, founds,
        100 * (founds - missed_found) / (founds + !founds), number["best"] - missed, number["best"],
        100 * (number["best"] - missed) / number["best"]
    printf "in pairs: slower than generic in %d cells, by more than 5 %% in %d\n", missed_generic,
        missed_generic_5
    if (agains > 0)
        printf "noise: two measurements of chosen differ by more than 5 %% in %d of %d cells; " \
            "chosen is within 5 %% in %d of the others\n", noisy, agains, steady_near
    printf "chosen slower than generic memcpy per block: %d cells, by more than 5 %%: %d\n", slower, slower_5
    ratios("chosen / best kernel", "best")
    ratios("chosen / generic", "generic")
    ratios("chosen / best kernel, in pairs where it seems slower", "vs_best")
    ratios("chosen / generic, in pairs where it seems slower", "vs_generic")
    split("pack unpack", directions, " ")
    split("ompi mpich", libraries, " ")
    for (d = 1; d <= 2; d++)
        for (l = 1; l <= 2; l++) {
            what = directions[d] " " libraries[l]
            ratios(directions[d] ": chosen / " libraries[l], what)
            ratios(directions[d] ": chosen / " libraries[l] ", blocks up to 16 bytes", what " small")
        }
    printf "best kernel:"
    for (k in wins)
        printf " %s %d", k, wins[k]
    print ""
    print "reference case (8 bytes every 12):"
    for (i = 1; i <= references; i++)
        print reference[i]
}
