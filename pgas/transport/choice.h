/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * choice.h - parses SHMEM_TRANSPORT: which network transports may be used.
 *
 * A pure function.  A leaf.  Used by: core/net, oshmem_info.
 */
#ifndef PGAS_TRANSPORT_CHOICE_H
#define PGAS_TRANSPORT_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

/* Set wanted[i] if the list permits name[i]: "auto" or "" permits all, "a,b" only these,
 * "^a,^b" all others. Returns NULL; or the first unknown word of the list, *len bytes
 * long, with all of wanted[] false. */
const char *choice_read(const char *list, const char *const *name, size_t names,
                        bool *wanted, size_t *len);

#endif
