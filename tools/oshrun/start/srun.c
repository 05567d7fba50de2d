/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srun.c - the command line and the environment of the srun that starts the daemons of a
 * Slurm allocation.
 *
 * Uses string_list.h.  Used by starter.c.
 */
#include "config.h"

#include "tools/oshrun/start/starter_int.h"
#include "tools/oshrun/util/string_list.h"
#include "tools/oshrun/util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* Options that are the same for all jobs. */
static const char *const options[] = {
    "--ntasks-per-node=1",
    "--mpi=none",           /* the daemons are not tasks of an MPI job */
    "--kill-on-bad-exit=0", /* oshrun handles the end of a daemon, not Slurm */
    "--wait=0",
    "--no-kill",
    "--overlap", /* other steps of the allocation may run at the same time */
    "--mem=0",
    "--cpu-bind=none", /* oshrun binds the PEs */
    "--input=all",
    "--export=ALL",
    "--quiet",
};

#define OPTIONS (sizeof options / sizeof *options)

/*
 * Variables of the allocation that srun needs.  All others that begin with SLURM_ or
 * SRUN_ are options of srun for the user's program: they are removed, since they could
 * conflict with our options.
 */
static const char *const kept[] = {
    "SLURM_CLUSTER", "SLURM_CONF",    "SLURM_JOBID=",         "SLURM_JOB_",
    "SLURM_JWT=",    "SLURM_SUBMIT_", "SLURM_WORKING_CLUSTER"};

static bool srun_begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool srun_is_kept(const char *assignment)
{
    if (srun_begins(assignment, "SRUN_"))
        return false;
    if (!srun_begins(assignment, "SLURM_"))
        return true;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (srun_begins(assignment, kept[i]))
            return true;
    return false;
}

char **srun_env(void)
{
    size_t n = string_list_count(environ), to = 0;
    char **env = mem_calloc(n + 1, sizeof *env);
    for (size_t i = 0; i < n; i++)
        if (srun_is_kept(environ[i]))
            env[to++] = environ[i];
    return env;
}

static char *srun_node_list(const struct starter_config *c)
{
    char *text = NULL;
    size_t len;
    FILE *f = mem_stream(&text, &len);
    for (uint32_t i = 0; i < c->nnodes; i++)
        fprintf(f, "%s%s", i > 0 ? "," : "", c->host[i]);
    mem_stream_close(f);
    return text;
}

char **srun_argv(const struct starter_config *c)
{
    char **argv = NULL, *nodes = srun_node_list(c);
    string_list_print(&argv, "srun");
    string_list_print(&argv, "--nodes=%u", c->nnodes);
    string_list_print(&argv, "--ntasks=%u", c->nnodes);
    string_list_print(&argv, "--nodelist=%s", nodes);
    for (size_t i = 0; i < OPTIONS; i++)
        string_list_print(&argv, "%s", options[i]);
    string_list_print(&argv, "%s", c->daemon_path);
    string_list_print(&argv, DAEMON_OPTION);
    free(nodes);
    return argv;
}

bool srun_is_noise(const char *line)
{
    return srun_begins(line, "srun: cluster configuration lacks support for cpu binding");
}

bool srun_is_task_end(const char *line)
{
    return srun_begins(line, "srun: error: ") && strstr(line, ": task") != NULL;
}

bool srun_lacks_program(const char *line)
{
    return srun_begins(line, "slurmstepd") && strstr(line, "execve()") != NULL;
}
