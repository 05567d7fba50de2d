/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * env.h - the SHMEM_* environment variables, parsed.  The table is env.def.
 * Uses: nothing of ours.  Used by: init, block, heap, oshmem_info, tests.
 */
#ifndef PGAS_CORE_ENV_H
#define PGAS_CORE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pgas/core/env.def"

typedef bool env_flag;
typedef unsigned env_level;
typedef size_t env_size;
typedef uint64_t env_uint;
typedef const char *env_string;

struct env {
#define E(NAME, kind, field, def, help) env_##kind field;
    PGAS_ENV_TABLE(E)
#undef E
};

/* SHMEM_REPRODUCIBLE: reductions of reals may go by the order of arrival; go by that of
 * the PEs alone; or, the default, by one that a call's team and size give. */
enum { REPRODUCIBLE_NOT = 0, REPRODUCIBLE_ANYWHERE = 1 };

/* Longest sentence that env_load may write, with its zero. */
#define ENV_ERROR_MAX 256

/*
 * Fill env from the process environment; SHMEM_X wins over SMA_X where both exist.
 * Returns 0, or -1 with a sentence in error[ENV_ERROR_MAX] for the first bad value.
 */
int env_load(struct env *env, char *error);

/* Parse a size: decimal number >= 0, fraction allowed, optional k m g t of either case
 * (powers of 1024), rounded up to bytes.  Returns 0 or -1 (*bytes untouched). */
int env_parse_size(const char *text, size_t *bytes);

/* The tables as SHMEM_INFO prints them: name, current value, default or reader, help. */
void env_print(FILE *out);

/* One sentence for each variable SHMEM_* or SMA_* that is set and that nobody reads, with
 * the nearest name if one is near. */
void env_warn_unknown(FILE *out);

/* Value that is in force for a variable's name without prefix; NULL if unset. */
const char *env_value(const char *name);

#endif
