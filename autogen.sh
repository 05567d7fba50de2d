#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# autogen.sh - make `configure`, the Makefile.in and the public headers from their sources.
set -eu
cd "$(dirname "$0")"
for tool in autoconf automake libtoolize pkg-config; do
    command -v "$tool" >/dev/null || {
        echo "autogen.sh: $tool is missing; install it with:" \
            "apt-get install autoconf automake libtool pkg-config" >&2
        exit 1
    }
done
tools/gen-headers
exec autoreconf --install --force --warnings=all,no-obsolete "$@"
