# SPDX-License-Identifier: BSD-3-Clause
# median.awk - returns the median of a list of numbers, or "" for an empty list.
function median(list,    n, i, j, a, t) {
    n = split(list, a, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && a[j - 1] + 0 > a[j] + 0; j--) {
            t = a[j]; a[j] = a[j - 1]; a[j - 1] = t
        }
    if (n == 0)
        return ""
    return n % 2 ? a[(n + 1) / 2] + 0 : (a[n / 2] + a[n / 2 + 1]) / 2
}
