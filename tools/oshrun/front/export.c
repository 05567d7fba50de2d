/* SPDX-License-Identifier: BSD-3-Clause */
/* export.c - see export.h. */
#include "config.h"

#include "tools/oshrun/front/export.h"
#include "tools/oshrun/util/string_list.h"
#include "tools/oshrun/util/mem.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* Variables, or prefixes (with *), that are valid on this host only. */
static const char *const host_specific[] = {
    "HOSTNAME",      "HOST",        "HOME",        "USER",    "LOGNAME",
    "SHELL",         "MAIL",        "TMPDIR",      "TMP",     "TEMP",
    "PWD",           "OLDPWD",      "SHLVL",       "_",       "DISPLAY",
    "WINDOW*",       "XDG_*",       "DBUS_*",      "SSH_*",   "SLURM*",
    "PMI_*",         "PMIX_*",      "OMPI_*",      "HYDRA_*", "PGAS_NODE",
    "PGAS_NODE_JOB", "PGAS_JOINED", "BASH_FUNC_*",
};

static bool export_matches(const char *assignment, const char *pattern)
{
    size_t len = strlen(pattern);
    if (len > 0 && pattern[len - 1] == '*')
        return strncmp(assignment, pattern, len - 1) == 0;
    return strncmp(assignment, pattern, len) == 0 && assignment[len] == '=';
}

static bool export_is_host_specific(const char *assignment)
{
    if (export_matches(assignment, "PMIX_MCA_*"))
        return false; /* user settings */
    for (size_t i = 0; i < sizeof host_specific / sizeof *host_specific; i++)
        if (export_matches(assignment, host_specific[i]))
            return true;
    return false;
}

char **export_env(char *const *more)
{
    size_t n = 0;
    char **env =
        mem_calloc(string_list_count(environ) + string_list_count(more) + 1, sizeof *env);
    for (char **e = environ; *e != NULL; e++)
        if (!export_is_host_specific(*e))
            env[n++] = *e;
    for (char *const *e = more; *e != NULL; e++)
        env[n++] = *e;
    return env;
}
