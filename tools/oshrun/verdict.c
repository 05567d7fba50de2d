/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verdict.c - what the end of a PE means for the job.  Pure: no clock, no I/O.
 *
 * Uses daemon.h.  Used by front.c.
 */
#include "config.h"

#include "tools/oshrun/verdict.h"

#include <stdio.h>
#include <string.h>

#define STATUS_SIGNAL     128
#define STATUS_UNFINISHED 1

enum verdict verdict_of(const struct daemon_end *end)
{
    if (end->signalled)
        return VERDICT_END;
    if (end->code != 0)
        return end->finalized ? VERDICT_COUNTS : VERDICT_END;
    if (!end->connected)
        return VERDICT_ABSENT;
    return end->finalized ? VERDICT_GOOD : VERDICT_WAIT;
}

int verdict_status(const struct daemon_end *end)
{
    if (end->signalled)
        return STATUS_SIGNAL + end->code;
    return end->code != 0 ? end->code : STATUS_UNFINISHED;
}

void verdict_sentence(const struct daemon_end *end, char *buf, size_t len)
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
        snprintf(buf, len, "left without %s",
                 end->connected ? "shmem_finalize" : "shmem_init");
}
