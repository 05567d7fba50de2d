# SPDX-License-Identifier: BSD-3-Clause
# stages.sh - functions of quickstart and check: stages with their time, packages of Debian,
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

. "$root/tools/show-tail.sh"

# -- interruption -----------------------------------------------------------------------
# in_group PROGRAM ARGUMENT...: runs it in a session and process group of its own and waits,
# so that a signal ends this script and the whole group at once: the shell runs a trap only
# between two commands, but `wait` returns for it.  Background jobs of a shell ignore SIGINT;
# env restores its default action.
group=
in_group() {
    setsid env --default-signal=INT,QUIT "$@" &
    group=$!
    status=0
    wait "$group" || status=$?
    group=
    return "$status"
}

# beside COMMAND ARGUMENT...: runs a function of the script in the background, beside the
# next stages; wait_beside waits for it.
beside=
beside() {
    (
        trap 'interrupted 143 2>/dev/null' HUP TERM
        beside=
        "$@"
    ) &
    beside=$!
}

wait_beside() {
    [ -z "$beside" ] || wait "$beside" || :
    beside=
}

# The groups get a second to clean up.
interrupted() {
    trap '' HUP INT TERM
    [ -z "$beside" ] || kill -s TERM "$beside" 2>/dev/null || :
    if [ -n "$group" ]; then
        kill -s TERM -- "-$group" 2>/dev/null || :
        tries=0
        while kill -s 0 -- "-$group" 2>/dev/null && [ "$tries" -lt 10 ]; do
            sleep 0.1
            tries=$((tries + 1))
        done
        kill -s KILL -- "-$group" 2>/dev/null || :
    fi
    [ -z "$beside" ] || wait "$beside" || :
    printf '\n%s: interrupted\n' "${0##*/}" >&2
    exit "$1"
}
trap 'interrupted 129' HUP
trap 'interrupted 130' INT
trap 'interrupted 143' TERM

# logged PROGRAM ARGUMENT...: runs it with its output in $log, whose end is shown on failure.
# logged_here: the same for a shell function, in the foreground.
logged() {
    logged_here in_group "$@"
}

logged_here() {
    "$@" </dev/null >>"$log" 2>&1 || {
        status=$?
        [ "$1" != in_group ] || shift
        echo "failed (status $status): $*"
        show_tail "$log"
        note "complete log: $log"
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

# Runs a command as root, if necessary by sudo, which must not prompt without a terminal.
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

# Installed services are neither started nor enabled: the tests start what they need.  Debian
# consults policy-rc.d, which here denies all actions; an existing one is kept.
policy=/usr/sbin/policy-rc.d
install_without_services() {
    ours=
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null && ours=1
        as_root chmod 755 "$policy"
    fi
    installed=0
    logged_here apt install --no-install-recommends "$@" || installed=1
    [ -z "$ours" ] || as_root rm -f "$policy"
    if [ -d /run/systemd/system ]; then
        for service in $services; do
            as_root systemctl disable --quiet "$service" 2>/dev/null || :
        done
    fi
    return "$installed"
}

# Installs the missing packages.
need_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        note "this is not Debian: nothing is installed; configure reports what is missing"
        return 0
    fi
    missing=$(missing_packages "$@")
    if [ -z "$missing" ]; then
        note "all $# packages are installed"
        return 0
    fi
    note "installing: $missing"
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
        die "packages are missing and there is neither root nor sudo to install them;" \
            "run as root: apt-get install --no-install-recommends $missing"
    fi
    # sudo can prompt for a password only in the foreground.
    [ "$(id -u)" -eq 0 ] || [ ! -t 0 ] || sudo -v
    logged_here apt update ||
        die "apt-get update failed: check the network and sudo; missing packages:" \
            "$missing"
    # Services of the missing packages; those of installed packages are not changed.
    services=
    for package in $missing; do
        case $package in
        openssh-server) services="$services ssh" ;;
        slurmctld | slurmd | munge) services="$services $package" ;;
        esac
    done
    # shellcheck disable=SC2086 # a list of package names
    install_without_services $missing || die "the packages were not installed"
}

# -- build ---------------------------------------------------------------------------------
jobs=$(nproc 2>/dev/null || echo 2)

# configure is generated if it is older than one of its sources.
need_configure_script() {
    [ ! -f "$root/config.status" ] ||
        die "the source tree itself is configured: run 'make distclean' in it first"
    if [ -x "$root/configure" ] && [ -f "$root/Makefile.in" ] && [ -f "$root/include/shmem.h" ] &&
        [ -z "$(find "$root" -path "$root/build" -prune -o \( -name configure.ac \
            -o -name Makefile.am -o -name local.mk -o -name tools.mk \) \
            -newer "$root/configure" -print)" ]; then
        note "configure is up to date"
    else
        logged sh -c 'cd "$1" && ./autogen.sh' sh "$root"
    fi
}

# configure_in DIR ARGUMENT...: runs configure in DIR unless it has run with these arguments.
configure_in() {
    dir=$1
    shift
    mkdir -p "$dir"
    if [ -f "$dir/config.status" ] && [ "$(cat "$dir/.configured" 2>/dev/null)" = "$*" ]; then
        return 0
    fi
    logged sh -c 'cd "$1" && shift && "$@"' sh "$dir" "${source:-$root}/configure" "$@" &&
        printf '%s\n' "$*" >"$dir/.configured"
}
