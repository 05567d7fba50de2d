# SPDX-License-Identifier: BSD-3-Clause
# stages.sh - what quickstart and check share: stages with their time, packages of Debian,
# autogen and configure.  Sourced; the caller sets root, stages (their number) and log.

stage=0
began=$(date +%s)
began_all=$began

stage_end() {
    [ "$stage" -eq 0 ] || printf '      %d s\n' $(($(date +%s) - began))
}

# stage WHAT: begin the next stage.
stage() {
    stage_end
    stage=$((stage + 1))
    began=$(date +%s)
    printf '[%d/%d] %s\n' "$stage" "$stages" "$*"
}

note() { printf '      %s\n' "$*"; }

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# The end of a log, set apart.
show_tail() {
    tail -n "${2:-30}" "$1" 2>/dev/null | sed 's/^/    | /'
}

# logged COMMAND...: run it with its output in $log; on failure show the end of that.
logged() {
    "$@" </dev/null >>"$log" 2>&1 || {
        status=$?
        echo "failed (status $status): $*"
        show_tail "$log"
        note "all of it is in $log"
        return "$status"
    }
}

# -- packages -----------------------------------------------------------------------------
missing_packages() {
    for package in "$@"; do
        case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) in
        installed) ;;
        *) printf '%s ' "$package" ;;
        esac
    done
}

# As root, by sudo if we are not; without a terminal sudo must not ask.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif [ -t 0 ]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
        -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@"
}

# Install those of the packages that are not here.
need_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        note "this is not Debian: nothing is installed; configure will say what it lacks"
        return 0
    fi
    missing=$(missing_packages "$@")
    if [ -z "$missing" ]; then
        note "all $# packages are here"
        return 0
    fi
    note "installing: $missing"
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
        die "packages are missing and there is neither root nor sudo to install them;" \
            "run as root: apt-get install --no-install-recommends $missing"
    fi
    logged apt update ||
        die "apt-get update failed: is there a network, and may you use sudo? If not, ask for:" \
            "$missing"
    # shellcheck disable=SC2086 # a list of package names
    logged apt install --no-install-recommends $missing || die "the packages were not installed"
}

# -- build ---------------------------------------------------------------------------------
jobs=$(nproc 2>/dev/null || echo 2)

# configure is made when it is older than any file that it comes from.
need_configure_script() {
    [ ! -f "$root/config.status" ] ||
        die "the source tree itself is configured: run 'make distclean' in it first"
    if [ -x "$root/configure" ] && [ -f "$root/Makefile.in" ] &&
        [ -z "$(find "$root" -path "$root/build" -prune -o \( -name configure.ac \
            -o -name Makefile.am -o -name local.mk -o -name tools.mk \) \
            -newer "$root/configure" -print)" ]; then
        note "configure is up to date"
    else
        (cd "$root" && logged ./autogen.sh)
    fi
}

# configure_in DIR ARGUMENT...: once for the same arguments.
configure_in() {
    dir=$1
    shift
    mkdir -p "$dir"
    if [ -f "$dir/config.status" ] && [ "$(cat "$dir/.configured" 2>/dev/null)" = "$*" ]; then
        return 0
    fi
    (cd "$dir" && logged "$root/configure" "$@" && printf '%s\n' "$*" >.configured)
}
