# SPDX-License-Identifier: BSD-3-Clause
# launch.awk - tables, ratios and verdicts for bench/launch.
#   awk -v wanted='start fence memory' -f median.awk -f launch.awk data
# A ratio is the median over the rounds of (ours / theirs) within a round.

BEGIN {
    LIMIT = 1.05 # equal within noise
    LINE = "%6s %5s"
}

{
    value[$1, $2, $3, $4, $5] = $6
    there[$1, $3, $4, $5] = 1
    all[$1, $3, $4, $5] = all[$1, $3, $4, $5] " " $6
    row = $4 " " $5
    if (!(row in seen))
        order[++rows] = row
    seen[row] = 1
    if ($2 > rounds)
        rounds = $2
    if ($1 == "ours_hosts")
        has_hosts = 1
}

function mid(who, what, nodes, pes) { return median(all[who, what, nodes, pes]) }

# The number of nodes of their figure: the same, or 1 if only that was measured.
function their_nodes(what, nodes, pes) {
    return ("theirs", what, nodes, pes) in there || \
           !(("theirs", what, 1, pes) in there) ? nodes : 1
}

function ratio(who, what, nodes, pes,    r, other, list) {
    other = their_nodes(what, nodes, pes)
    for (r = 1; r <= rounds; r++)
        if ((who, r, what, nodes, pes) in value &&
            ("theirs", r, what, other, pes) in value)
            list = list " " value[who, r, what, nodes, pes] / \
                            value["theirs", r, what, other, pes]
    return median(list)
}

function show(x) { return x == "" ? "-" : sprintf(x < 10 ? "%.2f" : "%.1f", x) }

function verdict(x) {
    if (x == "")
        return "-"
    goals++
    missed += x > LIMIT
    return x <= LIMIT ? "ok" : "MISS"
}

function times(what, title,    i, part, ours, on_hosts) {
    printf "\n%s\n" LINE " %11s %11s %7s %-5s", title, "nodes", "PEs", "ours",
           "theirs", "ratio", ""
    printf has_hosts ? " %11s %7s\n" : "\n", "ours, hosts", "ratio"
    for (i = 1; i <= rows; i++) {
        split(order[i], part, " ")
        if (!(("ours", what, part[1], part[2]) in there) || part[2] == 1)
            continue
        ours = ratio("ours", what, part[1], part[2])
        on_hosts = ratio("ours_hosts", what, part[1], part[2])
        printf LINE " %11s %10s%s %7s %-5s", part[1], part[2],
               show(mid("ours", what, part[1], part[2])),
               show(mid("theirs", what, their_nodes(what, part[1], part[2]), part[2])),
               their_nodes(what, part[1], part[2]) == part[1] ? " " : "*",
               show(ours), verdict(ours)
        if (has_hosts && part[1] > 1)
            printf " %11s %7s %s", show(mid("ours_hosts", what, part[1], part[2])),
                   show(on_hosts), verdict(on_hosts)
        printf "\n"
    }
}

# KiB for each PE of a node except the first.
function per_pe(who, what, nodes, pes,    more, base) {
    base = mid(who, what, nodes, nodes)
    more = mid(who, what, nodes, pes)
    if (pes <= nodes || base == "" || more == "")
        return ""
    return (more - base) / (pes / nodes - 1)
}

function memory(    i, part, w, who, what) {
    printf "\nmemory of the daemon on the last node, in KiB; per PE: each one on it but "
    printf "the first\n" LINE, "nodes", "PEs"
    for (w = 0; w < 2; w++)
        printf " %11s %7s %11s %7s", w ? "theirs: RSS" : "ours: RSS", "per PE", "PSS",
               "per PE"
    printf "\n"
    for (i = 1; i <= rows; i++) {
        split(order[i], part, " ")
        if (!(("ours", "rss", part[1], part[2]) in there))
            continue
        printf LINE, part[1], part[2]
        for (w = 0; w < 4; w++) {
            who = w < 2 ? "ours" : "theirs"
            what = w % 2 ? "pss" : "rss"
            printf " %11s %7s", show(mid(who, what, part[1], part[2])),
                   show(per_pe(who, what, part[1], part[2]))
        }
        printf "\n"
    }
}

END {
    if (wanted ~ /start/)
        times("start", "start to end of a job that fences once, in ms")
    if (wanted ~ /fence/)
        times("fence", "put of 1 KB by each PE, commit, fence that collects it, in us")
    if (wanted ~ /memory/)
        memory()
    printf "\nours: oshrun, with --vnodes for several nodes; theirs: mpirun"
    printf " (*: on one node); hosts: of namespaces\n"
    printf "%d figures have a goal, %d miss it; goal: ours / theirs <= %g\n", goals,
           missed, LIMIT
}
