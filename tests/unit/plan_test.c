/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_test.c - hosts of a job: options, variables, Slurm, names of this machine. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/map/plan.h"

static char said[ERROR_BYTES];
static char machine[256];

static void keep_error(const char *error_text)
{
    snprintf(said, sizeof said, "%s", error_text);
}

static void clear(void)
{
    static const char *const names[] = {
        "SLURM_JOB_NODELIST",   "SLURM_TASKS_PER_NODE",      "SLURM_JOB_CPUS_PER_NODE",
        "SLURM_NTASKS",         "SLURM_STEP_NUM_TASKS",      "SHMEM_LAUNCH_HOSTS",
        "SHMEM_LAUNCH_VNODES",  "SHMEM_LAUNCH_HOSTFILE",     "SHMEM_LAUNCH_FANOUT",
        "SHMEM_LAUNCH_TIMEOUT", "SHMEM_LAUNCH_START_TIMEOUT"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    cr_assert_eq(gethostname(machine, sizeof machine - 1), 0);
    error_redirect(keep_error);
    said[0] = '\0';
}

/* Sets "NAME=value" variables, separated by blanks. */
static void set(const char *assignments)
{
    char *copy = strdup(assignments), *rest = copy, *one;

    while ((one = strsep(&rest, " ")) != NULL) {
        char *value = strchr(one, '=');
        if (value == NULL)
            continue;
        *value = '\0';
        setenv(one, value + 1, 1);
    }
    free(copy);
}

/* The plan of a command line, "KIND name=npes ...", with an asterisk for this machine; or
 * the exit status and the message. */
static const char *plan(const char *line)
{
    static const char *const kinds[] = {"here", "vnodes", "hosts", "slurm"};
    static char text[ERROR_BYTES + 32];
    char *copy = strdup(line), *rest = copy, *argv[32] = {"oshrun"};
    struct options o;
    struct plan p;
    struct job job = {0};
    size_t at = 0;

    for (int i = 1; (argv[i] = strsep(&rest, " ")) != NULL; i++)
        ;
    cr_assert_eq(options_read(&o, argv), OPTIONS_RUN, "%s", line);
    said[0] = '\0';
    int rc = plan_make(&p, &o, &job);
    if (rc != 0)
        snprintf(text, sizeof text, "%d %s", rc, said);
    else
        at += (size_t)sprintf(text, "%s", kinds[p.kind]);
    for (uint32_t i = 0; rc == 0 && i < job.nnodes; i++) {
        bool me = strcmp(job.node[i].name, machine) == 0;
        at += (size_t)snprintf(text + at, sizeof text - at, " %s%s=%u",
                               me ? "ME" : job.node[i].name, p.local[i] ? "*" : "",
                               job.node[i].npes);
    }
    cr_assert_eq(rc != 0, said[0] != '\0');
    cr_assert(rc != 0 || job.virtual_nodes == (p.kind == PLAN_VNODES));
    plan_free(&p, &job);
    options_free(&o);
    free(copy);
    return text;
}

static const struct {
    const char *env, *line, *plan;
} cases[] = {
    {"", "p", "here ME*=1"},
    {"", "-n 3 p", "here ME*=3"},
    {"", "-N 4 p", "here ME*=4"},
    {"", "--vnodes 3 p", "vnodes vn0*=1 vn1*=1 vn2*=1"},
    {"", "--vnodes 3 -n 2 p", "vnodes vn0*=1 vn1*=1"},
    {"", "--vnodes 2 -N 3 p", "vnodes vn0*=3 vn1*=3"},
    {"", "--vnodes 1 p", "vnodes vn0*=1"},
    {"", "-H a:2,b p", "hosts a=2 b=1"},
    {"", "-H localhost:4 p", "here ME*=4"},
    {"", "-H 127.0.0.1 -n 2 p", "here ME*=2"},
    {"", "-H [::1] p", "here ME*=1"},
    {"", "-H localhost:2,b:2 p", "hosts ME*=2 b=2"},
    {"", "-H localhost:2,b:2 -n 2 p", "here ME*=2"},
    {"", "-H b:2,localhost:2 -n 2 p", "hosts b=2"},
    {"", "-H joe@localhost p", "hosts joe@localhost=1"},
    {"", "-H 127.0.0.1,localhost p",
     "2 '127.0.0.1' and 'localhost' are both this machine; name it once, or use "
     "--vnodes"},
    {"", "-H a,,b p", "2 --host a,,b: a name is missing after 'a,'"},
    {"SHMEM_LAUNCH_HOSTS=a,,b", "p",
     "2 SHMEM_LAUNCH_HOSTS=a,,b: a name is missing after 'a,'"},
    {"", "--hostfile /no/such p",
     "1 hostfile /no/such cannot be read: No such file or directory"},
    {"", "--rank-file /no/such p",
     "1 rank file /no/such cannot be read: No such file or directory"},
    {"", "-H a,b -N 1 -n 3 p",
     "2 -N 1 gives at most 2 PEs on 2 nodes, but -n asks for 3"},
    {"", "--gdb=2 -n 2 p", "2 --gdb=2: there are only PEs 0 to 1"},
    {"", "--gdb=1 p", "2 --gdb=1: there are only PEs 0 to 0"},
    {"", "--gdb -H a p",
     "2 --gdb: a debugger on this terminal is only for jobs on one node, this machine"},
    {"", "--gdb --vnodes 2 p",
     "2 --gdb: a debugger on this terminal is only for jobs on one node, this machine"},
    /* variables, and precedence */
    {"SHMEM_LAUNCH_HOSTS=a:2,b", "p", "hosts a=2 b=1"},
    {"SHMEM_LAUNCH_HOSTS= SHMEM_LAUNCH_VNODES=", "p", "here ME*=1"},
    {"SHMEM_LAUNCH_VNODES=2", "p", "vnodes vn0*=1 vn1*=1"},
    {"SHMEM_LAUNCH_VNODES=2 SHMEM_LAUNCH_HOSTS=a", "p", "vnodes vn0*=1 vn1*=1"},
    {"SHMEM_LAUNCH_VNODES=2 SHMEM_LAUNCH_HOSTS=a", "-H c p", "hosts c=1"},
    {"SHMEM_LAUNCH_HOSTS=a SHMEM_LAUNCH_HOSTFILE=/no/such", "p", "hosts a=1"},
    {"SHMEM_LAUNCH_HOSTS=a", "--vnodes 1 p", "vnodes vn0*=1"},
    {"SHMEM_LAUNCH_HOSTS=a SLURM_JOB_NODELIST=b", "p", "hosts a=1"},
    /* Slurm */
    {"SLURM_JOB_NODELIST=n[0-2] SLURM_TASKS_PER_NODE=2(x3)", "p", "slurm n0=2 n1=2 n2=2"},
    {"SLURM_JOB_NODELIST=n[0-2] SLURM_TASKS_PER_NODE=2(x3)", "-n 3 p", "slurm n0=2 n1=1"},
    {"SLURM_JOB_NODELIST=n[0-2] SLURM_TASKS_PER_NODE=2(x3) SLURM_NTASKS=5", "p",
     "slurm n0=2 n1=2 n2=1"},
    {"SLURM_JOB_NODELIST=n[0-1] SLURM_TASKS_PER_NODE=2(x2) SLURM_NTASKS=4", "-N 1 p",
     "slurm n0=1 n1=1"},
    {"SLURM_JOB_NODELIST=n[0-1] SLURM_JOB_CPUS_PER_NODE=8(x2)", "p", "slurm n0=8 n1=8"},
    {"SLURM_JOB_NODELIST=localhost SLURM_TASKS_PER_NODE=2", "p", "here ME*=2"},
    {"SLURM_JOB_NODELIST=n[0-1] SLURM_TASKS_PER_NODE=2 SLURM_STEP_NUM_TASKS=4", "p",
     "here ME*=1"},
    {"SLURM_JOB_NODELIST=n[0-1] SLURM_TASKS_PER_NODE=1 SLURM_STEP_NUM_TASKS=1 "
     "SLURM_JOB_CPUS_PER_NODE=2(x2)",
     "p", "slurm n0=2 n1=2"},
    {"SLURM_JOB_NODELIST=n[0-1] SLURM_TASKS_PER_NODE=2(x3)", "p",
     "1 the variables of the Slurm allocation are wrong: '2(x3)' does not match the 2 "
     "hosts "
     "of the allocation"},
    {"SLURM_JOB_NODELIST=n[0-1", "p",
     "1 the variables of the Slurm allocation are wrong: 'n[0-1': the bracket is not "
     "closed"},
    {"SLURM_JOB_NODELIST=n0 SLURM_NTASKS=many", "p",
     "1 SLURM_NTASKS=many is not a number of PEs from 1 to 65536; use -n"},
};

Test(plan, cases, .init = clear)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clear();
        set(cases[i].env);
        cr_assert_str_eq(plan(cases[i].line), cases[i].plan);
    }
}

/* With and without the domain. */
Test(plan, the_own_name_is_this_machine, .init = clear)
{
    char line[512], name[256];

    snprintf(line, sizeof line, "-n 2 -H %s p", machine);
    cr_assert_str_eq(plan(line), "here ME*=2");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(machine, "."), machine);
    snprintf(line, sizeof line, "-n 2 -H b:1,%s:1 p", name);
    cr_assert(strstr(plan(line), "*=1"), "%s", plan(line));
    snprintf(line, sizeof line, "-H %.*s0 p", (int)strcspn(machine, "."), machine);
    cr_assert_eq(strncmp(plan(line), "hosts ", 6), 0, "%s", plan(line));
}

Test(plan, settings, .init = clear)
{
    struct options o;
    char *argv[] = {"oshrun", "p", NULL};

    cr_assert_eq(options_read(&o, argv), OPTIONS_RUN);
    cr_assert(o.npes == 0 && o.fanout == 32 && o.timeout_ms == 60000 &&
              o.start_timeout_ms == 30000);
    options_free(&o);
    set("SHMEM_LAUNCH_FANOUT=2 SHMEM_LAUNCH_TIMEOUT=2.5 SHMEM_LAUNCH_START_TIMEOUT=0.75");
    cr_assert_eq(options_read(&o, argv), OPTIONS_RUN);
    cr_assert(o.fanout == 2 && o.timeout_ms == 2500 && o.start_timeout_ms == 750);
    options_free(&o);
}
