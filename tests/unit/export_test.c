/* SPDX-License-Identifier: BSD-3-Clause */
/* export_test.c - the variables that are exported to other hosts. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tools/oshrun/front/export.h"

TestSuite(export, .timeout = 30);

extern char **environ;

static char *no_more[] = {NULL};

/* Sets the environment of the test, which is its own process. */
static void set_environment(const char *const *list)
{
    clearenv();
    for (; *list != NULL; list++)
        cr_assert_eq(putenv(strdup(*list)), 0);
}

/* Number of occurrences; *at: index of the last one. */
static size_t occurs(char **env, const char *assignment, size_t *at)
{
    size_t n = 0;
    for (size_t i = 0; env[i] != NULL; i++)
        if (strcmp(env[i], assignment) == 0) {
            n++;
            if (at != NULL)
                *at = i;
        }
    return n;
}

static const char *const goes[] = {
    "PATH=/usr/bin",
    "LD_LIBRARY_PATH=/opt/lib",
    "LANG=C.UTF-8",
    "OMP_NUM_THREADS=4",
    "EMPTY=",
    "TWICE=a=b",
    "SHMEM_SYMMETRIC_SIZE=1G",
    "SHMEM_LAUNCH_TIMEOUT=5",
    "PMIX_MCA_gds=hash",
    "PMIX_MCA_ptl_base_if_include=eth0",
    "UCX_TLS=tcp",
    "FI_PROVIDER=tcp",
    /* They only start like names that are not exported. */
    "HOMEWORK=done",
    "USERS=3",
    "TMPFILE=x",
    "PWDS=1",
    "HOSTNAMES=a",
    "_X=1",
    "PGAS_NODES=2",
    "PMIXER=1",
};

static const char *const stays[] = {
    "HOSTNAME=n0",
    "HOST=n0",
    "HOME=/home/u",
    "USER=u",
    "LOGNAME=u",
    "SHELL=/bin/sh",
    "MAIL=/var/mail/u",
    "TMPDIR=/tmp/x",
    "TMP=/tmp/x",
    "TEMP=/tmp/x",
    "PWD=/here",
    "OLDPWD=/there",
    "SHLVL=2",
    "_=/usr/bin/oshrun",
    "DISPLAY=:0",
    "XDG_RUNTIME_DIR=/run/user/0",
    "DBUS_SESSION_BUS_ADDRESS=unix:path=/x",
    "SSH_AUTH_SOCK=/tmp/ssh",
    "SSH_CONNECTION=a b",
    "SLURM_JOB_ID=12",
    "SLURM_CONF=/etc/slurm.conf",
    "PMI_RANK=1",
    "PMI_SIZE=8",
    "PMIX_RANK=1",
    "PMIX_NAMESPACE=x",
    "PMIX_SERVER_URI41=x",
    "OMPI_COMM_WORLD_RANK=0",
    "HYDRA_CONTROL_FD=5",
    "PGAS_NODE=/proc/1/fd/5",
    "PGAS_NODE_JOB=x",
    "PGAS_JOINED=1",
    "BASH_FUNC_module%%=() { :; }",
};

enum { GOES = sizeof goes / sizeof *goes, STAYS = sizeof stays / sizeof *stays };

Test(export, variables_of_this_host_are_not_exported)
{
    const char *list[GOES + STAYS + 1] = {NULL};
    size_t sent = 0;
    memcpy(list, stays, STAYS * sizeof *list);
    memcpy(list + STAYS, goes, GOES * sizeof *list);
    set_environment(list);
    char **env = export_env(no_more);
    cr_assert_not_null(env);
    for (size_t i = 0; i < GOES; i++)
        cr_expect_eq(occurs(env, goes[i], NULL), 1, "%s does not go", goes[i]);
    for (size_t i = 0; i < STAYS; i++)
        cr_expect_eq(occurs(env, stays[i], NULL), 0, "%s goes", stays[i]);
    while (env[sent] != NULL)
        sent++;
    cr_expect_eq(sent, GOES, "%zu go", sent);
    free(env);
}

/* A variable that the user names is exported whatever its name, last of all. */
Test(export, named_variables_are_exported)
{
    static const char *const list[] = {"A=old", "HOME=/home/u", "B=2", "PATH=/bin", NULL};
    char *more[] = {(char[]){"A=new"}, (char[]){"HOME=/scratch"}, (char[]){"PATH=/x/bin"},
                    (char[]){"SLURM_JOB_ID=7"}, NULL};
    size_t old = 0, at = 0;
    set_environment(list);
    char **env = export_env(more);
    cr_assert_not_null(env);
    for (size_t i = 0; more[i] != NULL; i++)
        cr_assert_eq(occurs(env, more[i], NULL), 1, "%s", more[i]);
    cr_assert_eq(occurs(env, "HOME=/home/u", NULL), 0);
    cr_assert_eq(occurs(env, "B=2", NULL), 1);
    occurs(env, "A=new", &at);
    cr_assert(occurs(env, "A=old", &old) == 0 || old < at, "the last one takes effect");
    occurs(env, "PATH=/x/bin", &at);
    cr_assert(occurs(env, "PATH=/bin", &old) == 0 || old < at,
              "the last one takes effect");
    free(env);
}

Test(export, an_empty_environment)
{
    char *more[] = {(char[]){"A=1"}, NULL};
    clearenv();
    environ = no_more;
    char **env = export_env(no_more);
    cr_assert_not_null(env);
    cr_assert_null(env[0]);
    free(env);
    env = export_env(more);
    cr_assert_str_eq(env[0], "A=1");
    cr_assert_null(env[1]);
    free(env);
}
