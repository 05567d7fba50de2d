/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch.c - finds the program and builds command lines and environments.
 *
 * Uses child.c, string_list.c.  Used by daemon.c.
 */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/daemon/launch.h"
#include "tools/oshrun/util/string_list.h"
#include "tools/oshrun/util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_ERROR 1
#define PATH_IS    "PATH="

extern char **environ;

static const char *const valgrind_args[] = {"valgrind", "-q", "--error-exitcode=1",
                                            "--num-callers=20", NULL};
static const char *const gdb_args[] = {"gdb", "-q", "--args", NULL};

/*
 * Variables that are set unless the user has set them.
 * - libpsm and libucs, used by libfabric and UCX, install handlers for fatal signals, so
 *   that a segmentation fault would appear as exit status 1: these are disabled.
 * - Open MPI 4 uses the PMIx server of a job only if it has the address of a daemon, to
 *   which it does not connect.  Without it, MPI_Init makes each PE a job of its own.
 */
static char *const default_env[] = {
    (char[]){"HFI_NO_BACKTRACE=1"}, (char[]){"IPATH_NO_BACKTRACE=1"},
    (char[]){"UCX_ERROR_SIGNALS="},
    (char[]){"OMPI_MCA_orte_local_daemon_uri=0.0;tcp://127.0.0.1:0"}, NULL};

/* Open MPI's files in shared memory have the same names on all virtual nodes: it must use
 * TCP. */
static char *const default_vnode_env[] = {(char[]){"OMPI_MCA_btl=self,tcp"}, NULL};

/* Index of the entry of env[0, n) with the name of assignment, or n. */
static size_t launch_find(char **env, size_t n, const char *assignment)
{
    size_t len = strcspn(assignment, "=");
    for (size_t i = 0; i < n; i++)
        if (strncmp(env[i], assignment, len) == 0 && env[i][len] == '=')
            return i;
    return n;
}

static void launch_put(char **env, size_t *n, char *assignment)
{
    size_t at = launch_find(env, *n, assignment);
    *n += at == *n;
    env[at] = assignment;
}

static void launch_set(struct launch *l, char *assignment)
{
    launch_put(l->env, &l->env_len, assignment);
    launch_put(l->added, &l->added_len, assignment);
}

/* Set by an outer launcher, whose PMIx namespace is not that of our PEs. */
static bool launch_is_foreign(const char *assignment)
{
    return strncmp(assignment, "PMIX_", 5) == 0 &&
           strncmp(assignment, "PMIX_MCA_", 9) != 0;
}

static void launch_set_defaults(struct launch *l, char *const *defaults)
{
    for (char *const *e = defaults; *e != NULL; e++)
        if (launch_find(l->env, l->env_len, *e) == l->env_len)
            launch_set(l, *e);
}

static int launch_make_env(struct launch *l, const struct job *job, uint32_t app,
                           char *node_env, char *job_env)
{
    char *const *own = job->app[app].env;
    size_t more = string_list_count(job->env) + string_list_count(own) +
                  sizeof default_env / sizeof *default_env +
                  sizeof default_vnode_env / sizeof *default_vnode_env + 3;
    l->env = mem_calloc(string_list_count(environ) + more, sizeof *l->env);
    l->added = mem_calloc(more, sizeof *l->added);
    for (char **e = environ; *e != NULL; e++)
        if (!launch_is_foreign(*e))
            l->env[l->env_len++] = *e;
    launch_set_defaults(l, default_env);
    if (job->virtual_nodes)
        launch_set_defaults(l, default_vnode_env);
    for (char *const *e = job->env; *e != NULL; e++)
        launch_set(l, *e);
    for (char *const *e = own; *e != NULL; e++)
        launch_set(l, *e);
    launch_set(l, node_env);
    launch_set(l, job_env);
    return 0;
}

/* A copy of prefix and argv in one list. */
static char **launch_join(const char *const *prefix, char *const *argv)
{
    size_t n = 0, argc = string_list_count(argv);
    while (prefix != NULL && prefix[n] != NULL)
        n++;
    char **list = mem_calloc(n + argc + 1, sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[i] = (char *)(uintptr_t)prefix[i];
    for (size_t i = 0; i < argc; i++)
        list[n + i] = argv[i];
    return list;
}

static int launch_look_up(const struct launch *l, const char *name, char *path)
{
    size_t at = launch_find(l->env, l->env_len, PATH_IS); /* PATH of the PEs, if any */
    int dir = l->wdir_fd >= 0 ? l->wdir_fd : AT_FDCWD;
    int rc = child_find(dir, at < l->env_len ? l->env[at] + strlen(PATH_IS) : NULL, name,
                        path, PATH_MAX);
    int err = errno;
    if (rc == 0)
        return 0;
    if (strchr(name, '/') == NULL && name[0] != '\0' &&
        faccessat(dir, name, X_OK, AT_EACCESS) == 0)
        error_report("cannot run '%s': it is not in PATH; did you mean './%s'?", name,
                     name);
    else
        error_report("cannot run '%s': %s", name, strerror(err));
    return rc;
}

static int launch_make_command(struct launch *l, struct launch_command *c,
                               const char *const *prefix, char *const *argv)
{
    int rc = launch_look_up(l, prefix != NULL ? prefix[0] : argv[0], c->path);
    if (rc != 0)
        return rc;
    c->argv = launch_join(prefix, argv);
    return 0;
}

static int launch_open_wdir(struct launch *l, const char *wdir)
{
    l->wdir_fd = -1;
    if (wdir == NULL)
        return 0;
    l->wdir_fd = open(wdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (l->wdir_fd >= 0)
        return 0;
    error_report("cannot use the working directory '%s': %s", wdir, strerror(errno));
    return EXIT_ERROR;
}

int launch_prepare(struct launch *l, const struct job *job, uint32_t app, char *node_env,
                   char *job_env)
{
    char path[PATH_MAX], *const *argv = job->app[app].argv;
    *l = (struct launch){0};
    int rc = launch_open_wdir(l, job->app[app].wdir);
    if (rc == 0)
        rc = launch_make_env(l, job, app, node_env, job_env);
    if (rc == 0)
        rc = launch_look_up(l, argv[0], path);
    if (rc == 0)
        rc =
            launch_make_command(l, &l->plain, job->valgrind ? valgrind_args : NULL, argv);
    if (rc == 0 && job->gdb_pe != JOB_NO_PE)
        rc = launch_make_command(l, &l->gdb, gdb_args, argv);
    if (rc != 0)
        launch_free(l);
    return rc;
}

void launch_free(struct launch *l)
{
    free(l->plain.argv);
    free(l->gdb.argv);
    free(l->env);
    free(l->added);
    if (l->wdir_fd >= 0)
        close(l->wdir_fd);
    *l = (struct launch){.wdir_fd = -1};
}

const struct launch_command *launch_of(const struct launch *l, const struct job *job,
                                       uint32_t rank)
{
    return rank == job->gdb_pe ? &l->gdb : &l->plain;
}

char **launch_env(const struct launch *l, char **pmix)
{
    size_t n = string_list_count(pmix), len = 0;
    char **env = mem_calloc(l->env_len + n + 1, sizeof *env);
    for (size_t i = 0; i < l->env_len; i++)
        if (launch_find(pmix, n, l->env[i]) == n) /* the PMIx server takes precedence */
            env[len++] = l->env[i];
    memcpy(env + len, pmix, n * sizeof *env);
    return env;
}

void launch_print(const struct launch *l, const struct job *job, uint32_t rank,
                  const char *place)
{
    const struct launch_command *c = launch_of(l, job, rank);
    const char *wdir = job->app[job_app_of(job, rank)].wdir;
    printf("[%u] %s: ", rank, place != NULL ? place : "not bound");
    if (wdir != NULL) {
        printf("cd ");
        shell_quote(stdout, wdir);
        printf(" && ");
    }
    printf("env ");
    shell_print(stdout, l->added);
    putchar(' ');
    shell_print(stdout, c->argv);
    putchar('\n');
}
