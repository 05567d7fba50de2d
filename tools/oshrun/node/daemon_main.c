/* SPDX-License-Identifier: BSD-3-Clause */
/* daemon_main.c - the process of a node daemon. */
#include "config.h"

#include "tools/oshrun/node/daemon.h"
