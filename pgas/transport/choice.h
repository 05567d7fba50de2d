/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * choice.h - SHMEM_TRANSPORT, read: which network transports may be used.
 *
 * Pure.  Uses: nothing of ours.  Used by: core/net, oshmem_info.
 */
#ifndef PGAS_TRANSPORT_CHOICE_H
#define PGAS_TRANSPORT_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

/* Set wanted[i] if the list lets name[i] be used: "auto" or nothing does for all, "a,b"
 * for these, "^a,^b" for all others.  NULL; or the word in the list that means nothing,
 * of *len bytes: then nothing is wanted. */
const char *choice_read(const char *list, const char *const *name, size_t names,
                        bool *wanted, size_t *len);

#endif
