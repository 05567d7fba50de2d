/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * env.h - the SHMEM_* environment variables.  The table is env.def.
 * A leaf.  Used by: coll/life, block, heap, oshmem_info, tests.
 */
#ifndef PGAS_CORE_ENV_H
#define PGAS_CORE_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pgas/core/base/env.def"

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

/* Values of SHMEM_REPRODUCIBLE: the order in which floating-point reductions combine.
 * NOT: may be the order of arrival.  ANYWHERE: always the order of the PEs.  Any other
 * value, including the default: depends only on the team and the size of the call. */
enum { REPRODUCIBLE_NOT = 0, REPRODUCIBLE_ANYWHERE = 1 };

/* Maximum length of an error message of env_load, with its NUL. */
#define ENV_ERROR_MAX 256

/*
 * Reads env from the process environment; SHMEM_X takes precedence over SMA_X.
 * Returns 0, or -1 with a message about the first invalid value in error[ENV_ERROR_MAX].
 */
int env_load(struct env *env, char *error);

/* Parses a size: a decimal number >= 0, optionally with a fraction and a suffix k, m, g
 * or t of either case (powers of 1024), rounded up to bytes.  Returns 0, or -1 with
 * *bytes unchanged. */
int env_parse_size(const char *text, size_t *bytes);

/* Prints the table for SHMEM_INFO: name, current value, default or reader, help. */
void env_print(FILE *out);

/* Warns about each variable SHMEM_* or SMA_* that is set but unknown, and suggests a
 * similar name. */
void env_warn_unknown(FILE *out);

/* The effective value of a variable, named without prefix; NULL if it is not set. */
const char *env_value(const char *name);

#endif
