# SPDX-License-Identifier: BSD-3-Clause
# ft.awk - the tables of bench/ft.  After median.awk.
function add(key, value) {
    if (!(key in list)) {
        order[++keys] = key
        list[key] = value
    } else
        list[key] = list[key] " " value
    count[key]++
}
# The smallest value that a fraction p of the list does not exceed.
function quantile(key, p,    n, a, i, j, gap, t) {
    n = split(list[key], a, " ")
    for (gap = int(n / 2); gap > 0; gap = int(gap / 2))
        for (i = gap + 1; i <= n; i++)
            for (j = i; j > gap && a[j - gap] + 0 > a[j] + 0; j -= gap) {
                t = a[j]; a[j] = a[j - gap]; a[j - gap] = t
            }
    i = int(p * n)
    return a[i < p * n ? i + 1 : (i > 0 ? i : 1)] + 0
}
$1 == "pe" { add("pe " $2 " " $3 " known", $4); add("pe " $2 " " $3 " returned", $5) }
$1 == "node" { add("node " $2 " " $3 " " $4 " " $5, $6 / 1e3) }
$1 == "cost" { value["cost " $4 " " $5, $3, $2] = $6; pair["cost " $4 " " $5, $3] = 1 }
$1 == "cost" && (!(($4, $5, $2) in fastest) || $7 < fastest[$4, $5, $2]) {
    fastest[$4, $5, $2] = $7 + 0
}
$1 == "bfs" { value["bfs " $4 " " $3, $5, $2] = $6; pair["bfs " $4 " " $3, $5] = 1 }
$1 == "idle" { idle[++idles] = $0 }
$1 == "calls" { value["calls", $3, $2] = $4 / $5; operation[$3] = 1 }

function print_detect(    k, part) {
    for (k = 1; k <= keys; k++) {
        split(order[k], part, " ")
        if (part[1] == "pe")
            printf "%-9s %-5s %6s MiB %7d failures: median %.0f us, p99 %.0f us, p99.9 %.0f us, max %.0f us\n",
                part[4], part[2], part[3], count[order[k]], quantile(order[k], 0.5),
                quantile(order[k], 0.99), quantile(order[k], 0.999), quantile(order[k], 1)
        else
            printf "period %3d ms, %s, %d %s: %d failures: median %.1f ms, max %.1f ms\n", part[2],
                part[3], part[4], part[5], count[order[k]], quantile(order[k], 0.5),
                quantile(order[k], 1)
    }
}
# Medians of both modes over the rounds, and the median of the ratios of the rounds; if it
# is known, the ratio of the fastest batches, which other load on the machine disturbs least.
function print_pairs(kind, unit,    k, part, abort_, continue_, ratio, seen, i, n, rows) {
    for (k in pair) {
        split(k, part, SUBSEP)
        if (index(part[1], kind " ") != 1 || !((part[1], part[2], "abort") in value) ||
            !((part[1], part[2], "continue") in value))
            continue
        if (!(part[1] in seen)) {
            seen[part[1]] = 1
            rows[++n] = part[1]
        }
        abort_[part[1]] = abort_[part[1]] " " value[part[1], part[2], "abort"]
        continue_[part[1]] = continue_[part[1]] " " value[part[1], part[2], "continue"]
        ratio[part[1]] = ratio[part[1]] " " \
            value[part[1], part[2], "continue"] / value[part[1], part[2], "abort"]
    }
    for (i = 1; i <= n; i++)
        for (k = i + 1; k <= n; k++)
            if (rows[k] < rows[i]) {
                part[1] = rows[i]; rows[i] = rows[k]; rows[k] = part[1]
            }
    for (i = 1; i <= n; i++) {
        printf "%-22s abort %.2f %s, continue %.2f %s, ratio %.3f", rows[i],
            median(abort_[rows[i]]), unit, median(continue_[rows[i]]), unit,
            median(ratio[rows[i]])
        split(rows[i], part, " ")
        if ((part[2], part[3], "abort") in fastest)
            printf "; fastest %.2f, %.2f, ratio %.3f", fastest[part[2], part[3], "abort"],
                fastest[part[2], part[3], "continue"],
                fastest[part[2], part[3], "continue"] / fastest[part[2], part[3], "abort"]
        printf "\n"
    }
}
END {
    print_detect()
    for (i = 1; i <= idles; i++) {
        split(idle[i], idle_field, " ")
        printf "period %3d ms, idle for %d s: %d barriers, %d false detections\n",
            idle_field[2], idle_field[3], idle_field[4], idle_field[5]
    }
    print_pairs("cost", "ns")
    for (name in operation)
        printf "system calls per %s: abort %.3f, continue %.3f\n", name,
            value["calls", name, "abort"], value["calls", name, "continue"]
    print_pairs("bfs", "ms")
}
