# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# show-tail.sh - sourced by scripts that show the end of a log.

# show_tail FILE [LINES]: the end of a log, indented.
show_tail() {
    tail -n "${2:-30}" "$1" 2>/dev/null | sed 's/^/    | /'
}
