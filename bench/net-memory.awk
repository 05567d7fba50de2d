# SPDX-License-Identifier: BSD-3-Clause
# net-memory.awk - prints tables, linear fits and extrapolations for bench/net-memory.
#   awk -v nodes=K -f median.awk -f net-memory.awk data
# A line of data: transport, round, PEs, stage, peers used, then ms ("start") or RSS, PSS,
# private (KiB) and open files.
BEGIN {
    LARGE_JOB = 100000 # PEs
    ALLOCATED = 36 # bytes for each PE of the job (docs/TRANSPORTS.md)
    RSS = 6; PSS = 7; OWN = 8; FDS = 9
}

NF >= 6 {
    if (!($1 in seen))
        transport[++transports] = $1
    seen[$1] = 1
    if (!(($1, $3) in row))
        pes[$1, ++rows[$1]] = $3
    row[$1, $3] = 1
    peers[$1, $3, $4] = $5
    for (i = 6; i <= NF; i++)
        list[$1, $3, $4, i] = list[$1, $3, $4, i] " " $i
    if ($2 > rounds)
        rounds = $2
}

function mid(t, n, stage, column) { return median(list[t, n, stage, column]) }

function show(x, width, digits) {
    return sprintf("%" width "s", x == "" ? "-" : sprintf("%." digits "f", x))
}

# Least squares through x[1..n], y[1..n]: base + slope * x; "" for less than two points.
function fit(x, y, n,    i, sx, sy, sxx, sxy, d) {
    base = slope = ""
    for (i = 1; i <= n; i++) {
        sx += x[i]; sy += y[i]; sxx += x[i] * x[i]; sxy += x[i] * y[i]
    }
    d = n * sxx - sx * sx
    if (n < 2 || d == 0)
        return 0
    slope = (n * sxy - sx * sy) / d
    base = (sy - slope * sx) / n
    return 1
}

function table(t,    i, n, s, stage) {
    split("init one all", stage, " ")
    printf "\n%s: a job on %d virtual nodes, and memory of a PE in KiB\n", t, nodes
    printf "%5s %9s |%23s |%23s |%30s\n", "", "start to", "after shmem_init",
           "after it used 1 peer", "after it used all of them"
    printf "%5s %9s |%7s %7s %7s |%7s %7s %7s |%6s %7s %7s %7s\n", "PEs", "end, ms",
           "RSS", "PSS", "private", "RSS", "PSS", "private", "peers", "RSS", "PSS",
           "private"
    for (i = 1; i <= rows[t]; i++) {
        n = pes[t, i]
        printf "%5d %s", n, show(mid(t, n, "start", 6), 9, 1)
        for (s = 1; s <= 3; s++) {
            printf " |"
            if (s == 3)
                printf "%s ", show(peers[t, n, "all"], 6, 0)
            printf "%s %s %s", show(mid(t, n, stage[s], RSS), 7, 0),
                   show(mid(t, n, stage[s], PSS), 7, 0),
                   show(mid(t, n, stage[s], OWN), 7, 0)
        }
        printf "\n"
    }
}

# x[1..], y[1..] for a fit; returns their number.  With one PE per node, shared
# memory counts as private, and the first peer includes memory that all peers share.
function points(t, what,    i, n, m, column, from, to) {
    column = what == "start" ? 6 : what == "files" ? FDS : OWN
    for (i = 1; i <= rows[t]; i++) {
        n = pes[t, i]
        if (what != "start" && n < 2 * nodes)
            continue
        from = what == "start" || what == "known" ? 0 : mid(t, n, "one", column)
        to = mid(t, n, what == "start" ? what : what == "known" ? "init" : "all", column)
        if (from == "" || to == "")
            continue
        x[++m] = what == "start" || what == "known" ? n : peers[t, n, "all"] - 1
        y[m] = to - from
    }
    return m + 0
}

function mib(kib) { return sprintf("%.1f MiB", kib / 1024) }

function extrapolate(t,    known, used, own, files, k, n, count) {
    if (!fit(x, y, points(t, "known")))
        return
    own = base; known = slope
    printf "%s: private memory is %s, %.0f bytes for each PE of the job", t, mib(own),
           known * 1024
    # With few PEs the slope is within noise: use at least what the core allocates.
    if (known < ALLOCATED / 1024) {
        known = ALLOCATED / 1024
        printf " (taken as %d, which are allocated)", ALLOCATED
    }
    if (!fit(x, y, points(t, "used"))) {
        printf "\n"
        return
    }
    used = slope
    fit(x, y, points(t, "files"))
    files = slope
    printf ", %.0f bytes and %.2f open files for each peer used\n", used * 1024, files
    count = split("0 16 1000 " (LARGE_JOB - 1), k, " ")
    printf "%s: by linear extrapolation a PE of %d that uses", t, LARGE_JOB
    for (n = 1; n <= count; n++)
        printf "%s %d peers has %s", (n > 1 ? "," : ""), k[n],
               mib(own + known * LARGE_JOB + used * k[n])
    printf "\n"
}

END {
    for (w = 1; w <= transports; w++) {
        table(transport[w])
        if (fit(x, y, points(transport[w], "start")))
            printf "%s: start to end is %.0f ms and %.2f ms for each PE, on this machine\n",
                   transport[w], base, slope
        extrapolate(transport[w])
    }
    printf "\nmedians of %d rounds, each the mean over all PEs; peers: PEs on other ", rounds
    printf "nodes.  The kernel's memory\nfor connections and the memory of the "
    printf "daemons (bench/launch) are not included.\n"
}
