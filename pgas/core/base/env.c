/* SPDX-License-Identifier: BSD-3-Clause */
/* env.c - parses and prints the tables of env.def.  A leaf. */
#include "config.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pgas/core/base/env.h"
#include "pgas/core/base/number.h"

#define NAME_MAX_LEN 64
#define PREFIX       "SHMEM_"
#define PREFIX_OLD   "SMA_"

struct variable {
    const char *name, *def, *help;
    const char *reader; /* the program that reads it; NULL: the library */
};

static const struct variable variables[] = {
#define E(NAME, kind, field, def, help) {#NAME, def, help, NULL},
#define T(NAME, reader, help)           {#NAME, "", help, reader},
    PGAS_ENV_TABLE(E) PGAS_ENV_TOOLS(T)
#undef E
#undef T
};
enum { VARIABLES = sizeof variables / sizeof variables[0] };

/* True if the variable, named without prefix, is also read with the prefix SMA_. */
static bool env_has_alias(const char *name)
{
#define S(NAME) #NAME,
    static const char *const names[] = {PGAS_ENV_SMA(S)};
#undef S

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static const char *env_value_of(const char *prefix, const char *name)
{
    char full[NAME_MAX_LEN];

    snprintf(full, sizeof full, "%s%s", prefix, name);
    return getenv(full);
}

static const char *env_effective_prefix(const char *name)
{
    bool old = env_value_of(PREFIX, name) == NULL && env_has_alias(name) &&
               env_value_of(PREFIX_OLD, name) != NULL;

    return old ? PREFIX_OLD : PREFIX;
}

const char *env_value(const char *name)
{
    return env_value_of(env_effective_prefix(name), name);
}

/* log2 of the factor of a suffix; -1 if it is unknown.  Only the first letter counts:
 * "20kk" (in the specification) means 20k, and "20MB" means 20m. */
static int env_suffix_shift(char suffix)
{
    static const char letters[] = "kKmMgGtT";
    const char *at = strchr(letters, suffix);

    if (suffix == '\0')
        return 0;
    return at != NULL ? 10 * (int)((at - letters) / 2 + 1) : -1;
}

/* Parsed by hand: strtod accepts inf, -1, 0x10 and 1e9, and its decimal point depends on
 * the locale. */
int env_parse_size(const char *text, size_t *bytes)
{
    double number = 0.0, scale = 1.0;
    size_t digits = 0;
    bool fraction = false;

    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !fraction); text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        digits++;
        number = number * 10.0 + (*text - '0');
        scale *= fraction ? 10.0 : 1.0;
    }
    int shift = env_suffix_shift(*text);
    double product = ceil(ldexp(number / scale, shift < 0 ? 0 : shift));
    if (digits == 0 || shift < 0 || product >= 0x1p62)
        return -1;
    *bytes = (size_t)product;
    return 0;
}

static int parse_flag(const char *text, const char *def, env_flag *out)
{
    (void)def;
    *out = text != NULL;
    return 0;
}

/* Text that is not a level means 1: according to the specification, any value enables
 * SHMEM_DEBUG. */
static int parse_level(const char *text, const char *def, env_level *out)
{
    const char *source = text != NULL ? text : def;
    uint32_t number = 1;

    number_parse_u32(source, 0, 9, &number);
    *out = (env_level)number;
    return 0;
}

static int parse_size(const char *text, const char *def, env_size *out)
{
    return env_parse_size(text != NULL ? text : def, out);
}

static int parse_uint(const char *text, const char *def, env_uint *out)
{
    const char *source = text != NULL ? text : def;
    uint64_t number;

    if (!number_parse(source, strlen(source), 0, UINT64_MAX, &number))
        return -1;
    *out = number;
    return 0;
}

/* *out points into the environment: valid until the program changes the variable. */
static int parse_string(const char *text, const char *def, env_string *out)
{
    *out = text != NULL ? text : def;
    return 0;
}

/* The values that each kind accepts, for error messages. */
static const char *const help_flag = "anything";
static const char *const help_level = "a number from 0 to 9";
static const char *const help_size =
    "a number of bytes such as 1048576, 64M or 1.5g (k, m, g or t)";
static const char *const help_uint = "a whole number >= 0";
static const char *const help_string = "text";

static int env_refuse(char *error, const char *name, const char *text, const char *takes)
{
    snprintf(error, ENV_ERROR_MAX, "%s%s=\"%.60s\" is not valid: it takes %s",
             env_effective_prefix(name), name, text != NULL ? text : "", takes);
    return -1;
}

/* clang-format off */
#define LOAD(NAME, kind, field, def, help)                                               \
    static int load_##field(struct env *env, char *error)                                \
    {                                                                                    \
        const char *text = env_value(#NAME);                                             \
        int bad = parse_##kind(text, def, &env->field);                                  \
        return bad ? env_refuse(error, #NAME, text, help_##kind) : 0;                    \
    }
PGAS_ENV_TABLE(LOAD)
#undef LOAD
/* clang-format on */

int env_load(struct env *env, char *error)
{
    static int (*const load[])(struct env *, char *) = {
#define E(NAME, kind, field, def, help) load_##field,
        PGAS_ENV_TABLE(E)
#undef E
    };

    for (size_t i = 0; i < sizeof load / sizeof load[0]; i++)
        if (load[i](env, error) != 0)
            return -1;
    return 0;
}

static void env_print_row(FILE *out, const struct variable *v)
{
    const char *value = env_value(v->name);

    fprintf(out, "SHMEM_%-16s %-12s ", v->name, value != NULL ? value : "-");
    if (v->reader != NULL)
        fprintf(out, "(for %s): %s\n", v->reader, v->help);
    else
        fprintf(out, "(default %s): %s\n", v->def[0] != '\0' ? v->def : "off", v->help);
}

void env_print(FILE *out)
{
    for (size_t i = 0; i < VARIABLES; i++)
        env_print_row(out, &variables[i]);
}

static bool env_same(char a, char b)
{
    return toupper((unsigned char)a) == toupper((unsigned char)b);
}

static size_t env_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Damerau-Levenshtein distance (optimal string alignment), ignoring case.  Row i of the
 * table is for the first i letters of a; only the last three rows are stored. */
static size_t env_distance(const char *a, const char *b)
{
    size_t rows[3][NAME_MAX_LEN], a_len = strlen(a), b_len = strlen(b);

    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            row[j] = env_least(up[j], row[j - 1]) + 1;
            row[j] = env_least(row[j], up[j - 1] + !env_same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && env_same(a[i - 1], b[j - 2]) &&
                env_same(a[i - 2], b[j - 1]))
                row[j] = env_least(row[j], up2[j - 2] + 1);
        }
    }
    return rows[a_len % 3][b_len];
}

/* The variable most similar to a name of fewer than NAME_MAX_LEN letters; NULL if the
 * distance is at least half the length of the longer name. */
static const struct variable *env_nearest(const char *name)
{
    const struct variable *best = NULL;
    size_t best_distance = NAME_MAX_LEN;

    for (size_t i = 0; i < VARIABLES; i++) {
        const struct variable *v = &variables[i];
        size_t d = env_distance(name, v->name), len = strlen(name);
        size_t longer = strlen(v->name) > len ? strlen(v->name) : len;
        if (d < best_distance && 2 * d < longer) {
            best = v;
            best_distance = d;
        }
    }
    return best;
}

static bool env_is_variable(const char *name)
{
    for (size_t i = 0; i < VARIABLES; i++)
        if (strcmp(name, variables[i].name) == 0)
            return true;
    return false;
}

static void env_warn_if_unknown(FILE *out, const char *prefix, const char *name)
{
    bool old = strcmp(prefix, PREFIX_OLD) == 0;

    if (old ? env_has_alias(name) : env_is_variable(name))
        return;
    const struct variable *meant = env_nearest(name);
    if (meant != NULL)
        fprintf(out, "pgas: %s%s is unknown and ignored; did you mean SHMEM_%s?\n",
                prefix, name, meant->name);
    else
        fprintf(out, "pgas: %s%s is unknown and ignored; SHMEM_INFO=1 lists all\n",
                prefix, name);
}

void env_warn_unknown(FILE *out)
{
    static const char *const prefixes[] = {PREFIX, PREFIX_OLD};
    char name[NAME_MAX_LEN];

    for (char **entry = environ; entry != NULL && *entry != NULL; entry++)
        for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
            size_t len = strlen(prefixes[i]);
            if (strncmp(*entry, prefixes[i], len) != 0)
                continue;
            const char *rest = *entry + len;
            snprintf(name, sizeof name, "%.*s", (int)strcspn(rest, "="), rest);
            env_warn_if_unknown(out, prefixes[i], name);
        }
}
