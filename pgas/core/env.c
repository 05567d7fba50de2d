/* SPDX-License-Identifier: BSD-3-Clause */
/* env.c - parse and print the table of env.def.  Uses: nothing of ours. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/env.h"

#define NAME_MAX_LEN 64

const char *env_value(const char *name)
{
    static const char *const prefixes[] = {"SHMEM_", "SMA_"};
    char full[NAME_MAX_LEN];

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        snprintf(full, sizeof full, "%s%s", prefixes[i], name);
        const char *value = getenv(full);
        if (value != NULL)
            return value;
    }
    return NULL;
}

/* Powers of 2 that a suffix stands for; -1 for an unknown one.  What follows the first
 * letter is ignored: the specification's "20kk" is 20k, and "20MB" is 20m. */
static int suffix_shift(char suffix)
{
    static const char letters[] = "kKmMgGtT";
    const char *at = strchr(letters, suffix);

    if (suffix == '\0')
        return 0;
    return at != NULL ? 10 * (int)((at - letters) / 2 + 1) : -1;
}

/* By hand, since strtod reads what is no size (inf, -1, 0x10, 1e9) and takes its decimal
 * point from the locale. */
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
    int shift = suffix_shift(*text);
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

static int parse_level(const char *text, const char *def, env_level *out)
{
    char *end;
    const char *source = text != NULL ? text : def;
    unsigned long number = strtoul(source, &end, 10);

    *out = (end == source || *end != '\0' || number > 9) ? 1 : (env_level)number;
    return 0;
}

static int parse_size(const char *text, const char *def, env_size *out)
{
    return env_parse_size(text != NULL ? text : def, out);
}

static int parse_uint(const char *text, const char *def, env_uint *out)
{
    char *end;
    const char *source = text != NULL ? text : def;

    errno = 0;
    unsigned long long number = strtoull(source, &end, 10);
    if (end == source || *end != '\0' || errno != 0 || strchr(source, '-') != NULL)
        return -1;
    *out = number;
    return 0;
}

/* What a kind takes, for the error sentence. */
static const char *const help_flag = "anything";
static const char *const help_level = "a number from 0 to 9";
static const char *const help_size =
    "a number of bytes such as 1048576, 64M or 1.5g (k, m, g or t)";
static const char *const help_uint = "a whole number >= 0";

static int refuse(char *error, const char *name, const char *text, const char *takes)
{
    snprintf(error, ENV_ERROR_MAX, "SHMEM_%s=\"%.60s\" is not valid: it takes %s", name,
             text != NULL ? text : "", takes);
    return -1;
}

/* clang-format off */
#define LOAD(NAME, kind, field, def, help)                                               \
    static int load_##field(struct env *env, char *error)                                \
    {                                                                                    \
        const char *text = env_value(#NAME);                                             \
        int bad = parse_##kind(text, def, &env->field);                                  \
        return bad ? refuse(error, #NAME, text, help_##kind) : 0;                        \
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

    (void)help_flag;
    (void)help_level;
    for (size_t i = 0; i < sizeof load / sizeof load[0]; i++)
        if (load[i](env, error) != 0)
            return -1;
    return 0;
}

void env_print(FILE *out)
{
    static const struct {
        const char *name, *def, *help;
    } row[] = {
#define E(NAME, kind, field, def, help) {#NAME, def, help},
        PGAS_ENV_TABLE(E)
#undef E
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const char *value = env_value(row[i].name);
        fprintf(out, "SHMEM_%-16s %-12s (default %s): %s\n", row[i].name,
                value != NULL ? value : "-", row[i].def[0] != '\0' ? row[i].def : "off",
                row[i].help);
    }
}
