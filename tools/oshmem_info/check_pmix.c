/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_pmix.c - checks PMIx with a server and one client, like oshrun and a PE.
 * Uses: check, libpmix.  Used by: check (its table).
 *
 * The client is forked before the server starts its threads, and waits for its
 * environment on a pipe: so neither has to execute another program.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "tools/oshmem_info/info.h"

#define ENV_BYTES_MAX 16384
#define JOB_INFOS     8

extern char **environ;

static const char *const remedy = "install libpmix2, set the interface lo up (ip link "
                                  "set lo up), make TMPDIR writable, "
                                  "and unset all PMIX_MCA_* variables";

/* The first error, for the error message. */
struct step {
    const char *what;
    pmix_status_t rc;
};

/* ---- the client ----------------------------------------------------------------------
 */

/* Receives the environment from the server; false if the server failed. */
static bool check_pmix_recv_environment(int from)
{
    static char text[ENV_BYTES_MAX];
    size_t len = 0;
    ssize_t n = 1;
    struct pollfd p = {.fd = from, .events = POLLIN};

    while (n > 0 && len < sizeof text && poll(&p, 1, CHECK_WAIT_MS) == 1) {
        n = read(from, text + len, sizeof text - len);
        len += n > 0 ? (size_t)n : 0;
    }
    if (n != 0 || len == 0)
        return false;
    for (char *at = text; at < text + len; at += strlen(at) + 1)
        putenv(at);
    return true;
}

static bool check_pmix_job_size_is_one(const pmix_proc_t *me)
{
    pmix_proc_t job = *me;
    pmix_value_t *value = NULL;

    job.rank = PMIX_RANK_WILDCARD;
    if (PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value) != PMIX_SUCCESS)
        return false;
    bool one = value->type == PMIX_UINT32 && value->data.uint32 == 1;
    PMIX_VALUE_RELEASE(value);
    return one;
}

static pmix_status_t check_pmix_collecting_fence(void)
{
    bool yes = true;
    pmix_info_t info;

    PMIX_INFO_CONSTRUCT(&info);
    PMIx_Info_load(&info, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    pmix_status_t rc = PMIx_Fence(NULL, 0, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

static void check_pmix_client(int from)
{
    pmix_proc_t me;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!check_pmix_recv_environment(from))
        _exit(1);
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        _exit(2);
    if (!check_pmix_job_size_is_one(&me) || check_pmix_collecting_fence() != PMIX_SUCCESS)
        _exit(3);
    _exit(PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? 0 : 4);
}

/* ---- the server ----------------------------------------------------------------------
 */

static sem_t done;
static pmix_status_t done_status;

static void check_pmix_on_done(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    done_status = status;
    sem_post(&done);
}

/* Waits for a request that completes by check_pmix_on_done; returns its status. */
static pmix_status_t check_pmix_await(pmix_status_t rc)
{
    struct timespec end;

    if (rc == PMIX_OPERATION_SUCCEEDED)
        return PMIX_SUCCESS;
    if (rc != PMIX_SUCCESS)
        return rc;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += CHECK_WAIT_MS / 1000;
    return sem_timedwait(&done, &end) == 0 ? done_status : PMIX_ERR_TIMEOUT;
}

static pmix_status_t check_pmix_server_start(const char *dir)
{
    static pmix_server_module_t module;
    pmix_info_t info;

    PMIX_INFO_CONSTRUCT(&info);
    PMIx_Info_load(&info, PMIX_SERVER_TMPDIR, dir, PMIX_STRING);
    pmix_status_t rc = PMIx_server_init(&module, &info, 1);
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

/* Registers a job of one process on this host with the server. */
static pmix_status_t check_pmix_register_job(const char *nspace)
{
    pmix_info_t info[JOB_INFOS];
    uint32_t one = 1;
    size_t n = 0;
    char host[256] = "localhost";
    char *nodes = NULL, *procs = NULL;

    gethostname(host, sizeof host - 1);
    pmix_status_t rc = PMIx_generate_regex(host, &nodes);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_generate_ppn("0", &procs);
    if (rc != PMIX_SUCCESS)
        return rc;
    PMIx_Info_load(&info[n++], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIx_Info_load(&info[n++], PMIX_PROC_MAP, procs, PMIX_REGEX);
    PMIx_Info_load(&info[n++], PMIX_JOB_SIZE, &one, PMIX_UINT32);
    PMIx_Info_load(&info[n++], PMIX_UNIV_SIZE, &one, PMIX_UINT32);
    PMIx_Info_load(&info[n++], PMIX_LOCAL_SIZE, &one, PMIX_UINT32);
    rc = check_pmix_await(
        PMIx_server_register_nspace(nspace, 1, info, n, check_pmix_on_done, NULL));
    for (size_t i = 0; i < n; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    free(nodes);
    free(procs);
    return rc;
}

/* Writes the variables of the environment list, each with its NUL, and closes `to`. */
static bool check_pmix_send_environment(char **list, int to)
{
    bool good = true;

    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        size_t len = strlen(list[i]) + 1;
        good = good && write(to, list[i], len) == (ssize_t)len;
    }
    close(to);
    return good;
}

static bool check_pmix_await_client(pid_t pid, int *code)
{
    int status = 0;

    /* The time limit of the whole check bounds this wait. */
    if (waitpid(pid, &status, 0) != pid)
        return false;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return *code == 0;
}

static struct step check_pmix_serve(const char *dir, pid_t pid, int to, int *code)
{
    pmix_proc_t proc;
    char **list = NULL;
    pmix_status_t rc = check_pmix_server_start(dir);

    if (rc != PMIX_SUCCESS)
        return (struct step){"PMIx_server_init", rc};
    PMIX_PROC_LOAD(&proc, "oshmem_info", 0);
    rc = check_pmix_register_job(proc.nspace);
    if (rc != PMIX_SUCCESS)
        return (struct step){"PMIx_server_register_nspace", rc};
    rc = check_pmix_await(PMIx_server_register_client(&proc, getuid(), getgid(), NULL,
                                                      check_pmix_on_done, NULL));
    if (rc != PMIX_SUCCESS)
        return (struct step){"PMIx_server_register_client", rc};
    rc = PMIx_server_setup_fork(&proc, &list);
    if (rc != PMIX_SUCCESS)
        return (struct step){"PMIx_server_setup_fork", rc};
    if (!check_pmix_send_environment(list, to) || !check_pmix_await_client(pid, code))
        return (struct step){"client", PMIX_ERROR};
    rc = PMIx_server_finalize();
    return (struct step){"PMIx_server_finalize", rc};
}

static void check_pmix_conclude(struct finding *f, struct step last, int code)
{
    static const char *const call[] = {"", "setup", "PMIx_Init", "PMIx_Get or PMIx_Fence",
                                       "PMIx_Finalize"};

    if (last.rc == PMIX_SUCCESS)
        check_ok(f, "a server and a client work: %.*s",
                 (int)strcspn(PMIx_Get_version(), "("), PMIx_Get_version());
    else if (code > 0 && code < (int)(sizeof call / sizeof call[0]))
        check_flaw(f, CHECK_FAIL, remedy, "the client failed in %s", call[code]);
    else if (code > 0)
        check_flaw(f, CHECK_FAIL, remedy, "the client ended with status %d", code);
    else
        check_flaw(f, CHECK_FAIL, remedy, "%s: %s", last.what,
                   PMIx_Error_string(last.rc));
}

void check_pmix(struct finding *f, const char *dir)
{
    int env[2], code = 0;

    if (sem_init(&done, 0, 0) != 0 || pipe2(env, O_CLOEXEC) != 0) {
        check_flaw(f, CHECK_FAIL, "raise ulimit -n", "pipe: %s", strerror(errno));
        return;
    }
    setenv("TMPDIR", dir, 1);
    pid_t pid = fork();
    if (pid < 0) {
        check_flaw(f, CHECK_FAIL, "raise ulimit -u", "fork: %s", strerror(errno));
        return;
    }
    if (pid == 0) {
        close(env[1]);
        check_pmix_client(env[0]);
    }
    close(env[0]);
    check_pmix_conclude(f, check_pmix_serve(dir, pid, env[1], &code), code);
}
