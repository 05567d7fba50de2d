/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_report.c - see profile_report.h.
 *
 * PE 0 of each shmem_init writes one raw profile (pgas/profile/profile_file.h); oshprof
 * makes a report of each.  The variable PROFILE_BY_OSHRUN informs PE 0 of it.
 */
#include "config.h"

#include "tools/oshrun/front/profile_report.h"

#include "pgas/profile/profile_file.h"
#include "tools/oshrun/util/error.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIABLE "SHMEM_PROFILE_ARRIVAL"

enum { ENDING_MAX = 48, NAME_MAX_BYTES = PATH_MAX + ENDING_MAX };

extern char **environ;

/* The value that the PEs see: -x overrides the environment, and the last -x wins. */
static const char *profile_report_variable(const struct options *o)
{
    const char *value = getenv(VARIABLE);
    size_t len = strlen(VARIABLE);

    for (char *const *e = o->env; e != NULL && *e != NULL; e++)
        if (strncmp(*e, VARIABLE "=", len + 1) == 0)
            value = *e + len + 1;
    return value != NULL ? value : "";
}

/* `base` with the suffix; `base.n` with the suffix for the n-th shmem_init, n > 1. */
static void profile_report_name(char name[NAME_MAX_BYTES], const struct report *r,
                                unsigned generation, const char *ending)
{
    if (generation > 1)
        snprintf(name, NAME_MAX_BYTES, "%s.%u%s", r->base, generation, ending);
    else
        snprintf(name, NAME_MAX_BYTES, "%s%s", r->base, ending);
}

/* A relative path is relative to the working directory of the PEs. */
static int profile_report_set_base(struct report *r, const struct options *o,
                                   const char *value)
{
    char cwd[PATH_MAX] = "";
    const char *wdir = o->wdir != NULL ? o->wdir : "";

    if (value[0] != '/' && wdir[0] != '/' && getcwd(cwd, sizeof cwd) == NULL)
        return -1;
    int n = value[0] == '/'
                ? snprintf(r->base, sizeof r->base, "%s", value)
                : snprintf(r->base, sizeof r->base, "%s%s%s/%s", cwd,
                           cwd[0] != '\0' && wdir[0] != '\0' ? "/" : "", wdir, value);
    if (n < 0 || (size_t)n >= sizeof r->base)
        return -1;
    r->base[(size_t)n - strlen(value) + profile_base_length(value)] = '\0';
    return 0;
}

static int profile_report_check_writable(const struct report *r, const char *ending)
{
    char name[NAME_MAX_BYTES];

    profile_report_name(name, r, 1, ending);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        error_report(VARIABLE ": cannot write '%s': %s", name, strerror(errno));
        return -1;
    }
    close(fd);
    return 0;
}

int report_prepare(struct report *r, const struct options *o)
{
    const char *value = profile_report_variable(o);
    bool raw = profile_name_ends(value, PROFILE_SUFFIX);
    char name[NAME_MAX_BYTES];

    *r = (struct report){.base = ""};
    unsetenv(PROFILE_BY_OSHRUN);
    if (value[0] == '\0')
        return 0;
    if (profile_report_set_base(r, o, value) != 0) {
        error_report(VARIABLE ": the name is too long: %.100s", value);
        return -1;
    }
    bool text = profile_name_ends(value, ".txt");
    if (!raw && !profile_name_ends(value, ".html"))
        r->ending[REPORT_TEXT] = text ? ".txt" : "";
    if (!raw && !text)
        r->ending[REPORT_HTML] = ".html";
    for (unsigned i = 1;; i++) { /* remove profiles of an earlier job */
        profile_report_name(name, r, i, PROFILE_SUFFIX);
        if (unlink(name) != 0)
            break;
    }
    for (int i = 0; i < REPORTS; i++)
        if (r->ending[i] != NULL && profile_report_check_writable(r, r->ending[i]) != 0)
            return -1;
    return setenv(PROFILE_BY_OSHRUN, value, 1);
}

/* Runs the oshprof in the directory of this oshrun.  Returns its exit status, or -1. */
static int profile_report_run_oshprof(char *const *argv)
{
    char path[PATH_MAX];
    int status = -1;
    pid_t pid;

    ssize_t len = readlink("/proc/self/exe", path, sizeof path - sizeof "oshprof");
    path[len > 0 ? len : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL)
        return -1;
    snprintf(slash + 1, sizeof "oshprof", "oshprof");
    int error = posix_spawn(&pid, path, NULL, NULL, argv, environ);
    if (error != 0) {
        error_report("cannot run '%s': %s", path, strerror(error));
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int profile_report_make_one(const struct report *r, unsigned generation,
                                   char *profile)
{
    static char program[] = "oshprof", command[] = "report", option[] = "-o";
    char name[REPORTS][NAME_MAX_BYTES];
    char *argv[4 + 2 * REPORTS] = {program, command, profile};
    int n = 3;

    for (int i = 0; i < REPORTS; i++) {
        if (r->ending[i] == NULL)
            continue;
        profile_report_name(name[i], r, generation, r->ending[i]);
        argv[n++] = option;
        argv[n++] = name[i];
    }
    return n > 3 ? profile_report_run_oshprof(argv) : 0;
}

/* The job wrote no profile: removes the empty files that report_prepare made. */
static void profile_report_remove_reports(const struct report *r)
{
    char name[NAME_MAX_BYTES];

    for (int i = 0; i < REPORTS; i++) {
        if (r->ending[i] == NULL)
            continue;
        profile_report_name(name, r, 1, r->ending[i]);
        unlink(name);
    }
}

int report_make(const struct report *r, int status)
{
    char profile[NAME_MAX_BYTES];
    struct stat st;
    int rc = 0;

    for (unsigned i = 1; r->base[0] != '\0'; i++) {
        profile_report_name(profile, r, i, PROFILE_SUFFIX);
        bool there = stat(profile, &st) == 0;
        if (there && st.st_size > 0) {
            rc = profile_report_make_one(r, i, profile) != 0 ? -1 : rc;
            continue;
        }
        if (there)
            unlink(profile);
        if (i > 1)
            break;
        profile_report_remove_reports(r);
        if (status != 0)
            break; /* the failure of the job has been reported */
        error_report(VARIABLE
                     ": there is no '%s' on this host: PE 0 has not called "
                     "shmem_finalize, or runs on another host (make the report there "
                     "by oshprof report)",
                     profile);
        return -1;
    }
    return rc;
}
