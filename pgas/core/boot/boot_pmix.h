/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot_pmix.h - internal interface of boot.c and boot_nodes.c, the only files of the
 * library that call PMIx.  Uses: boot, PMIx.
 */
#ifndef PGAS_CORE_BOOT_PMIX_H
#define PGAS_CORE_BOOT_PMIX_H

#include <pmix.h>

#include "pgas/core/boot/boot.h"

/* The value of a key of PE `rank`, or of the job for PMIX_RANK_WILDCARD.  The caller
 * frees it with PMIX_VALUE_RELEASE.  NULL: no such key. */
pmix_value_t *boot_value(uint32_t rank, const char *key);

/* Likewise, but only if this process has it: asks no server, hence does not block. */
pmix_value_t *boot_value_here(uint32_t rank, const char *key);

/* As boot_value for a value of any numeric type.  False: no such key, or not a number. */
bool boot_number(uint32_t rank, const char *key, uint32_t *out);

/* The PMIx namespace of the job. */
const char *boot_nspace(void);

/* Sets all members except rank and launched.  Ends the process with an error message if
 * the launcher provides too little information. */
void boot_find_nodes(struct boot *b);

#endif
