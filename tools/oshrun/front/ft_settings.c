/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_settings.c - see ft_settings.h.  Uses error.c, pgas/core/base/number.h. */
#include "config.h"

#include "tools/oshrun/front/ft_settings.h"
#include "tools/oshrun/util/error.h"
#include "pgas/core/base/number.h"

#include <stdlib.h>
#include <string.h>

/* Names and defaults as in pgas/core/base/env.def. */
#define FT             "SHMEM_FT"
#define FT_PERIOD      "SHMEM_FT_PERIOD"
#define FT_TIMEOUT     "SHMEM_FT_TIMEOUT"
#define FT_DOMAINS     "SHMEM_FT_DOMAINS"
#define FT_PERIOD_MS   100
#define FT_TIMEOUT_MS  200
#define FT_MAX_MS      3600000
#define FT_MIN_PERIODS 2 /* in a timeout */
#define EXIT_USAGE     2

/* The value in a list of NAME=value, where the last one counts; NULL: none. */
static const char *ft_settings_find(char *const *env, const char *name)
{
    size_t len = strlen(name);
    const char *value = NULL;
    for (; env != NULL && *env != NULL; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            value = *env + len + 1;
    return value;
}

/* The value that the PEs of a program will see; "" if it is not set. */
static const char *ft_settings_value(const struct job *job, const struct job_app *app,
                                     const char *name)
{
    const char *value = ft_settings_find(app->env, name);
    if (value == NULL)
        value = ft_settings_find(job->env, name);
    if (value == NULL)
        value = getenv(name);
    return value != NULL ? value : "";
}

/* -1 after an error message: the programs of the job have different values. */
static int ft_settings_agree(const struct job *job, const char *name, const char **value)
{
    *value = ft_settings_value(job, &job->app[0], name);
    for (uint32_t i = 1; i < job->napps; i++) {
        const char *other = ft_settings_value(job, &job->app[i], name);
        if (strcmp(*value, other) == 0)
            continue;
        error_report("%s is '%s' for %s, but '%s' for %s: set it for all programs of the "
                     "job (-x before the first)",
                     name, *value, job->app[0].argv[0], other, job->app[i].argv[0]);
        return -1;
    }
    return 0;
}

static int ft_settings_ms(const struct job *job, const char *name, uint32_t def,
                          uint32_t *ms)
{
    const char *value;
    *ms = def;
    if (ft_settings_agree(job, name, &value) != 0)
        return -1;
    if (*value == '\0' || number_parse_u32(value, 1, FT_MAX_MS, ms))
        return 0;
    error_report("%s=%s: expected milliseconds, from 1 to %d", name, value, FT_MAX_MS);
    return -1;
}

static int ft_settings_read_all(struct job *job)
{
    struct job_ft *ft = &job->ft;
    if (ft_settings_ms(job, FT_PERIOD, FT_PERIOD_MS, &ft->period_ms) != 0 ||
        ft_settings_ms(job, FT_TIMEOUT, FT_TIMEOUT_MS, &ft->timeout_ms) != 0 ||
        ft_settings_agree(job, FT_DOMAINS, &ft->domains) != 0)
        return -1;
    if (ft->timeout_ms / FT_MIN_PERIODS >= ft->period_ms)
        return 0;
    error_report("%s=%u is less than twice %s (%u)", FT_TIMEOUT, ft->timeout_ms,
                 FT_PERIOD, ft->period_ms);
    return -1;
}

int ft_settings_read(struct job *job, const char *interfaces)
{
    const char *mode;
    job->ft = (struct job_ft){.interfaces = interfaces};
    if (ft_settings_agree(job, FT, &mode) != 0)
        return EXIT_USAGE;
    job->ft.on = strcmp(mode, "continue") == 0;
    if (job->ft.on)
        return ft_settings_read_all(job) == 0 ? 0 : EXIT_USAGE;
    if (*mode == '\0' || strcmp(mode, "abort") == 0)
        return 0;
    error_report("%s=%s: expected abort or continue", FT, mode);
    return EXIT_USAGE;
}
