#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# handler.sh - the function of shmemx_failure_handler may block: see handler.c.  The second
# failure is known although the function has not returned.
set -eu
. "$top_srcdir/tests/launcher/cli/oshrun-lib.sh"
limit_s=30
run 0 -x SHMEM_FT=continue -n 3 "$top_builddir/tests/ft/handler"
prints passed
says 'the job survived 2 failed PEs'
finish
