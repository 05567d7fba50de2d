/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exit_status.c - how the exit of a PE affects the job.  Pure: no clock, no I/O.
 *
 * Uses daemon.h.  Used by front_events.c.
 */
#include "config.h"

#include "tools/oshrun/front/exit_status.h"

#include <stdio.h>
#include <string.h>

#define STATUS_SIGNAL     128
#define STATUS_UNFINISHED 1

enum exit_status exit_status_classify(const struct daemon_end *end)
{
    if (end->signalled)
        return EXIT_STATUS_END;
    if (end->code != 0)
        return end->finalized ? EXIT_STATUS_COUNTS : EXIT_STATUS_END;
    if (!end->connected)
        return EXIT_STATUS_ABSENT;
    return end->finalized ? EXIT_STATUS_GOOD : EXIT_STATUS_WAIT;
}

int exit_status_code(const struct daemon_end *end)
{
    if (end->signalled)
        return STATUS_SIGNAL + end->code;
    return end->code != 0 ? end->code : STATUS_UNFINISHED;
}

/* The PMIx client counts its users: the server is told when the last one finalizes. */
const char *exit_status_missing(bool connected, bool left)
{
    if (!connected)
        return "exited without shmem_init";
    return left
               ? "exited after shmem_finalize, but MPI or another library still used PMIx"
               : "exited without shmem_finalize";
}

void exit_status_text(const struct daemon_end *end, char *buf, size_t len)
{
    int n = snprintf(buf, len, "PE %u (pid %d) ", end->rank, (int)end->pid);
    if (n < 0 || (size_t)n >= len)
        return;
    buf += n;
    len -= (size_t)n;
    if (end->signalled)
        snprintf(buf, len, "was killed by signal %d (%s)", end->code,
                 strsignal(end->code));
    else if (end->code != 0)
        snprintf(buf, len, "exited with status %d%s", end->code,
                 end->finalized ? " after shmem_finalize" : "");
    else
        snprintf(
            buf, len, "%s",
            exit_status_missing(end->connected, end->stage_ns[NODE_STAGE_LEAVE] != 0));
}
