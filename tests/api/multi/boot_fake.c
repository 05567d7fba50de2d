/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot_fake.c - a PMIx server that gives its PEs incomplete, unusual or wrong information
 * about the nodes of their job.
 *
 * Uses libpmix.  Used by boot_fake.sh:
 *   boot_fake KIND PROGRAM ARGS...
 * The job has 6 PEs on 3 nodes, mapped round-robin; only PEs 1 and 4, on the second node,
 * are started, with PROGRAM.  Exit status: the higher one of the two.
 */
#include "config.h"

#include "tools/oshrun/pmix/pmix_api.h"

#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NODES = 3, PER_NODE = 2, PES = NODES * PER_NODE, HERE = 1 };
enum { JOB_INFOS = 8, PE_INFOS = 2, REGISTER_WAIT_S = 30, STATUS_SIGNAL = 128 };

/* The information that the server provides.  From the maps, libpmix derives further keys,
 * PMIX_LOCAL_PEERS among them. */
static const struct kind {
    const char *name;
    bool maps;  /* PMIX_NODE_MAP and PMIX_PROC_MAP */
    bool names; /* PMIX_HOSTNAME of each PE */
    bool count; /* PMIX_NUM_NODES */
    const char *host[NODES];
    const char *peers; /* PMIX_LOCAL_PEERS; NULL = not provided */
} kinds[] = {
    {"all", true, true, true, {"a", "b", "c"}, "1,4"},
    {"maps", true, false, true, {"a", "b", "c"}, "1,4"},
    {"names", false, true, true, {"a", "b", "c"}, "1,4"},
    {"no-count", false, true, false, {"a", "b", "c"}, "1,4"},
    {"backwards", false, true, true, {"a", "b", "c"}, "4,1"},
    {"nothing", false, false, true, {"a", "b", "c"}, "1,4"},
    {"checked", true, true, true, {"a", "b", "b"}, "1,4"},
    {"checked-by-name", false, true, false, {"a", "b", "b"}, "1,4"},
    {"other-checked", true, true, true, {"a", "b", "a"}, "1,4"},
    {"other-checked-by-name", false, true, true, {"a", "b", "a"}, "1,4"},
    {"no-peers", false, true, true, {"a", "b", "c"}, NULL},
    {"few-peers", false, true, true, {"a", "b", "c"}, "1"},
    {"wild-peers", false, true, true, {"a", "b", "c"}, "1,6"},
    {"other-peers", false, true, true, {"a", "b", "c"}, "1,3"},
    {"bad-peers", false, true, true, {"a", "b", "c"}, "one,four"},
};

/* A pmix_nspace_t, not a shorter string: libpmix reads the whole array. */
static const pmix_nspace_t nspace = "boot-fake";
static sem_t settled;
static pmix_status_t result;

static _Noreturn void give_up(const char *what, pmix_status_t rc)
{
    fprintf(stderr, "boot_fake: %s: %s\n", what, PMIx_Error_string(rc));
    exit(99);
}

static void on_settled(pmix_status_t status, void *arg)
{
    (void)arg;
    result = status;
    sem_post(&settled);
}

/* Waits for the completion of an asynchronous call that returned rc. */
static void settle(const char *what, pmix_status_t rc)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += REGISTER_WAIT_S;
    if (rc == PMIX_SUCCESS)
        rc = sem_timedwait(&settled, &until) == 0 ? result : PMIX_ERR_TIMEOUT;
    if (rc != PMIX_SUCCESS && rc != PMIX_OPERATION_SUCCEEDED)
        give_up(what, rc);
}

/* ---- job information ------------------------------------------------------------- */

static void load_pe(pmix_info_t *info, const struct kind *k, pmix_rank_t pe)
{
    pmix_info_t *say;
    size_t n = 1;

    PMIX_INFO_CREATE(say, PE_INFOS);
    PMIX_INFO_LOAD(&say[0], PMIX_RANK, &pe, PMIX_PROC_RANK);
    if (k->names)
        PMIX_INFO_LOAD(&say[n++], PMIX_HOSTNAME, k->host[pe % NODES], PMIX_STRING);
    pmix_data_array_t array = {.type = PMIX_INFO, .size = n, .array = say};
    PMIX_INFO_LOAD(info, PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY);
    PMIX_INFO_FREE(say, PE_INFOS);
}

static size_t load_maps(pmix_info_t *info, const struct kind *k)
{
    char names[PES * 2 + 1], *node_map, *proc_map;

    snprintf(names, sizeof names, "%s,%s,%s", k->host[0], k->host[1], k->host[2]);
    if (PMIx_generate_regex(names, &node_map) != PMIX_SUCCESS ||
        PMIx_generate_ppn("0,3;1,4;2,5", &proc_map) != PMIX_SUCCESS)
        give_up("maps", PMIX_ERROR);
    PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, node_map, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, proc_map, PMIX_REGEX);
    free(node_map);
    free(proc_map);
    return 2;
}

/* Uses other integer types than oshrun does. */
static void register_job(const struct kind *k)
{
    int size = PES;
    int64_t nodes = NODES;
    uint16_t local_size = PER_NODE;
    pmix_info_t *info;
    size_t n = 0;

    PMIX_INFO_CREATE(info, JOB_INFOS + PES);
    if (k->maps)
        n += load_maps(info, k);
    if (k->count)
        PMIX_INFO_LOAD(&info[n++], PMIX_NUM_NODES, &nodes, PMIX_INT64);
    if (k->peers != NULL)
        PMIX_INFO_LOAD(&info[n++], PMIX_LOCAL_PEERS, k->peers, PMIX_STRING);
    PMIX_INFO_LOAD(&info[n++], PMIX_JOB_SIZE, &size, PMIX_INT);
    PMIX_INFO_LOAD(&info[n++], PMIX_LOCAL_SIZE, &local_size, PMIX_UINT16);
    for (pmix_rank_t pe = 0; pe < PES; pe++)
        load_pe(&info[n++], k, pe);
    settle("registration",
           PMIx_server_register_nspace(nspace, PER_NODE, info, n, on_settled, NULL));
    PMIX_INFO_FREE(info, JOB_INFOS + PES);
}

/* ---- the PEs --------------------------------------------------------------------- */

static pid_t start(pmix_rank_t pe, char **argv)
{
    char **env = NULL;
    pmix_proc_t proc;

    PMIX_PROC_LOAD(&proc, nspace, pe);
    settle("a PE's registration", PMIx_server_register_client(&proc, getuid(), getgid(),
                                                              NULL, on_settled, NULL));
    pmix_status_t rc = PMIx_server_setup_fork(&proc, &env);
    if (rc != PMIX_SUCCESS)
        give_up("a PE's environment", rc);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    for (char **e = env; *e != NULL; e++)
        putenv(*e);
    execv(argv[0], argv);
    _exit(98);
}

static int wait_for(pid_t pid)
{
    int status;

    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 97;
    return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_SIGNAL + WTERMSIG(status);
}

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    fprintf(stderr, "boot_fake: no kind is named '%s'\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    static pmix_server_module_t upcalls;
    const char *dir = getenv("TMPDIR");
    pmix_info_t where[2];
    int worst = 0;

    if (argc < 3)
        return 2;
    const struct kind *k = find_kind(argv[1]);
    sem_init(&settled, 0, 0);
    PMIX_INFO_LOAD(&where[0], PMIX_SERVER_TMPDIR, dir != NULL ? dir : "/tmp",
                   PMIX_STRING);
    PMIX_INFO_LOAD(&where[1], PMIX_HOSTNAME, k->host[HERE], PMIX_STRING);
    pmix_status_t rc = PMIx_server_init(&upcalls, where, 2);
    if (rc != PMIX_SUCCESS)
        give_up("start", rc);
    register_job(k);
    settle("local support",
           PMIx_server_setup_local_support(nspace, NULL, 0, on_settled, NULL));
    pid_t pid[PER_NODE];
    for (int i = 0; i < PER_NODE; i++)
        pid[i] = start(HERE + (pmix_rank_t)i * NODES, argv + 2);
    for (int i = 0; i < PER_NODE; i++) {
        int status = wait_for(pid[i]);
        worst = status > worst ? status : worst;
    }
    PMIx_server_finalize();
    return worst;
}
