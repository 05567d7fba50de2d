/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot.h - who am I, who else is there: a plain PMIx client, or a job of one PE.
 * Uses: pgas.h, log.  Used by: init, node.
 */
#ifndef PGAS_CORE_BOOT_H
#define PGAS_CORE_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct boot {
    uint32_t rank, size;
    uint32_t local_rank, local_size;
    uint32_t *local_pes; /* PE numbers of this node's PEs, by local rank */
    bool launched;       /* there is a PMIx server */
};

/* Connect.  Ends the process with a sentence if a launcher is there but does not answer.
 */
void boot_connect(struct boot *b);

/* Publish text under key for the PEs of this node / get what PE `rank` published,
 * waiting for it.  get returns 0 or -1. */
int boot_put(const char *key, const char *text);
int boot_get(uint32_t rank, const char *key, char *text, size_t len);

/* Ask the launcher to end the whole job with this status. */
void boot_abort(int status, const char *why);

/* Disconnect; frees what connect filled. */
void boot_disconnect(struct boot *b);

#endif
