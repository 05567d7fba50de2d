/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot_pmix.h - the inside of boot.  Uses: boot, PMIx.  Used by: boot.c, boot_nodes.c;
 * nobody else calls PMIx in the library.
 */
#ifndef PGAS_CORE_BOOT_PMIX_H
#define PGAS_CORE_BOOT_PMIX_H

#include <pmix.h>

#include "pgas/core/boot/boot.h"

/* What the launcher, or PE `rank`, says under a key: PMIX_VALUE_RELEASE it.  NULL: it
 * does not say. */
pmix_value_t *boot_value(uint32_t rank, const char *key);

/* The same for a number, of whatever type.  False: it does not say. */
bool boot_number(uint32_t rank, const char *key, uint32_t *out);

/* The name space of the job. */
const char *boot_nspace(void);

/* Fill all but rank, which is there, and launched.  Ends the process with a sentence if
 * the launcher does not say enough. */
void boot_find_nodes(struct boot *b);

#endif
