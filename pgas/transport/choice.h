/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * choice.h - parses SHMEM_TRANSPORT: which network transports may be used; and
 * SHMEM_OFI_ORDER.
 *
 * Pure functions.  A leaf.  Used by: core/net, oshmem_info, tests/transport.
 */
#ifndef PGAS_TRANSPORT_CHOICE_H
#define PGAS_TRANSPORT_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/transport/transport.h"

/* Set wanted[i] if the list permits name[i]: "auto" or "" permits all, "a,b" only these,
 * "^a,^b" all others. Returns NULL; or the first unknown word of the list, *len bytes
 * long, with all of wanted[] false. */
const char *choice_read(const char *list, const char *const *name, size_t names,
                        bool *wanted, size_t *len);

/* Parse "auto", "yes" or "no"; NULL or "" is auto.  False: it is something else. */
bool choice_read_order(const char *text, enum transport_order *order);

#endif
