/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stand_in.h - a process that connects to the PMIx server in place of a PE that failed
 * before it connected, and exits.
 *
 * libpmix removes a PE from pending and later fences when it loses the connection, and
 * waits forever for one that never had a connection.
 *
 * Uses libpmix, child.c, launch.h.  Used by daemon_ft.c and main.c.
 */
#ifndef OSHRUN_DAEMON_STAND_IN_H
#define OSHRUN_DAEMON_STAND_IN_H

#include "tools/oshrun/daemon/launch.h"

#include <sys/resource.h>
#include <sys/types.h>

#define STAND_IN_OPTION "--pmix-stand-in"

/* The main function of the process. */
_Noreturn void stand_in_main(void);

/* Starts the process in the environment of the PE.  pmix: of pmix_host_env.  The pid, or
 * -1. */
pid_t stand_in_start(const struct launch *l, char **pmix, int reaper_fd,
                     struct rlimit files);

#endif
