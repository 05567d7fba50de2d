/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon_main.h - the process of a node daemon: `oshrun --node-daemon`.
 *
 * Uses daemon.h, listener.h, route.h.  Used by main.c.
 */
#ifndef OSHRUN_DAEMON_DAEMON_MAIN_H
#define OSHRUN_DAEMON_DAEMON_MAIN_H

#include <sys/resource.h>

/* Reads the bootstrap line from standard input, connects to the front end and serves
 * until it receives STOP or loses its parent.  Returns the exit status. */
int daemon_main(struct rlimit files);

#endif
