/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * oshrun-ft-client.c - a PMIx client of which some PEs fail while the others wait for
 * them in PMIx; checks the events and the results that the survivors get.
 *
 * Uses libpmix, ft_map.c.  Used by oshrun-ft.sh and hosts/survive.sh, to test the
 * launcher without the library.
 *
 *   oshrun-ft-client VICTIMS HOW OPERATION...
 *
 * VICTIMS: the PEs that fail, as in 2,3.  HOW: kill, exit, leave (exit with status 0),
 * each of them DELAY_MS after the barrier; early: killed before PMIx_Init; hang:
 * something else kills them.  OPERATION, one after the other by each survivor, while the
 * victims wait: fence (of all), pair (fence of PE 0 and the last victim), group, connect
 * (of all), get (data of the last victim, which has put none), pause (until the file
 * $FT_GO exists), mark (PE 0 marks the victims as failed in the alive map of its node, as
 * the agent does).  A survivor prints "PE N survived" after it has got the event of each
 * victim, once, and passed one more fence of all.
 */
#include "config.h"

#include "pgas/core/boot/node.h"
#include "pgas/ft/ft_map.h"
#include "tools/oshrun/pmix/pmix_api.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PES_MAX = 64,
    DELAY_MS = 200,
    WAIT_MS = 30000, /* for an event */
    AGAIN_MS = 150,  /* for one too many */
    HANG_S = 60,
    BAD = 99,
};

static pmix_proc_t me;
static uint32_t npes;
static bool is_victim[PES_MAX];
static uint32_t last_victim;
static atomic_int events[PES_MAX];

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
    va_list args;
    char text[256];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "PE %u: WRONG: %s\n", me.rank, text);
    exit(BAD);
}

static void sleep_ms(unsigned ms)
{
    usleep(ms * 1000);
}

static pmix_proc_t proc(uint32_t rank)
{
    pmix_proc_t p;
    PMIX_PROC_LOAD(&p, me.nspace, rank);
    return p;
}

/* ---- events ----------------------------------------------------------------------- */

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source,
                     pmix_info_t *info, size_t n, pmix_info_t *results, size_t nr,
                     pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)id, (void)code, (void)source, (void)results, (void)nr;
    for (size_t i = 0; i < n; i++)
        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) &&
            info[i].value.data.proc->rank < PES_MAX)
            atomic_fetch_add(&events[info[i].value.data.proc->rank], 1);
    if (done != NULL)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
}

static void on_registered(pmix_status_t status, size_t id, void *arg)
{
    (void)id;
    atomic_store((atomic_int *)arg, status == PMIX_SUCCESS ? 1 : -1);
}

static void register_handler(void)
{
    pmix_status_t code = PMIX_ERR_PROC_ABORTED;
    atomic_int done = 0;
    PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, on_registered, &done);
    while (atomic_load(&done) == 0)
        sleep_ms(1);
    if (atomic_load(&done) < 0)
        fail("cannot register a handler");
}

static void await_events(void)
{
    int waited = 0;
    for (uint32_t i = 0; i < npes; i++)
        for (; is_victim[i] && atomic_load(&events[i]) == 0; waited++) {
            if (waited > WAIT_MS)
                fail("no event for PE %u", i);
            sleep_ms(1);
        }
}

static void check_events(void)
{
    for (uint32_t i = 0; i < npes; i++)
        if (atomic_load(&events[i]) != is_victim[i])
            fail("%d events for PE %u", atomic_load(&events[i]), i);
}

/* ---- operations ------------------------------------------------------------------- */

static void check(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_PARTIAL_SUCCESS)
        fail("%s: %s", what, PMIx_Error_string(rc));
}

static void fence(const pmix_proc_t *procs, size_t n, const char *what)
{
    pmix_info_t collect;
    bool yes = true;
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    check(PMIx_Fence(procs, n, &collect, 1), what);
}

static void mark_victims(void)
{
    const char *place = getenv(NODE_ENV);
    int fd = place != NULL ? open(place, O_RDWR) : -1;
    struct stat s;
    if (fd < 0 || fstat(fd, &s) != 0)
        fail("cannot open the node segment");
    struct node *node =
        mmap(NULL, (size_t)s.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (node == MAP_FAILED)
        fail("cannot map the node segment");
    for (uint32_t i = 0; i < npes; i++)
        if (is_victim[i])
            ft_map_fail(node, &i, 1);
}

static void operate(const char *name)
{
    const pmix_proc_t pair[] = {proc(0), proc(last_victim)},
                      all = proc(PMIX_RANK_WILDCARD);
    pmix_info_t *results = NULL;
    pmix_value_t *value = NULL;
    size_t n = 0;
    if (strcmp(name, "fence") == 0) {
        fence(NULL, 0, name);
    } else if (strcmp(name, "pair") == 0) {
        if (me.rank == 0)
            fence(pair, 2, name);
    } else if (strcmp(name, "group") == 0) {
        check(PMIx_Group_construct("g", &all, 1, NULL, 0, &results, &n), name);
    } else if (strcmp(name, "connect") == 0) {
        check(PMIx_Connect(&all, 1, NULL, 0), name);
    } else if (strcmp(name, "get") == 0) {
        if (PMIx_Get(&pair[1], "never", NULL, 0, &value) == PMIX_SUCCESS)
            fail("got data that was never put");
    } else if (strcmp(name, "pause") == 0) {
        while (access(getenv("FT_GO"), F_OK) != 0)
            sleep_ms(10);
    } else if (strcmp(name, "mark") == 0) {
        if (me.rank == 0)
            mark_victims();
    } else {
        fail("there is no operation '%s'", name);
    }
    printf("PE %u: %s\n", me.rank, name);
    fflush(stdout);
}

/* ---- the PEs ---------------------------------------------------------------------- */

static void die(const char *how)
{
    if (strcmp(how, "hang") == 0)
        sleep(HANG_S);
    sleep_ms(DELAY_MS);
    if (strcmp(how, "kill") == 0 || strcmp(how, "late") == 0)
        raise(SIGKILL);
    _exit(strcmp(how, "exit") == 0 ? 7 : 0);
}

static void read_victims(char *list)
{
    for (char *at = strtok(list, ","); at != NULL; at = strtok(NULL, ",")) {
        last_victim = (uint32_t)strtoul(at, NULL, 10) % PES_MAX;
        is_victim[last_victim] = true;
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 2 ? argv[2] : "kill", *rank = getenv("PMIX_RANK");
    const bool late = strcmp(how, "late") == 0;
    pmix_value_t *size;
    alarm(2 * HANG_S); /* in case the launcher has died */
    read_victims(argc > 1 ? argv[1] : (char[]){""});
    if (strcmp(how, "early") == 0 && rank != NULL && is_victim[atoi(rank) % PES_MAX])
        raise(SIGKILL);
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS)
        fail("PMIx_Init");
    pmix_proc_t all = proc(PMIX_RANK_WILDCARD);
    if (PMIx_Get(&all, PMIX_JOB_SIZE, NULL, 0, &size) != PMIX_SUCCESS)
        fail("no job size");
    npes = size->data.uint32;
    if (!late)
        register_handler();
    fence(NULL, 0, "the first fence");
    printf("PE %u is there\n", me.rank);
    fflush(stdout);
    if (is_victim[me.rank])
        die(how);
    if (late) {
        sleep_ms(2 * DELAY_MS);
        register_handler();
    }
    for (int i = 3; i < argc; i++)
        operate(argv[i]);
    await_events();
    fence(NULL, 0, "the last fence");
    sleep_ms(AGAIN_MS);
    check_events();
    printf("PE %u survived\n", me.rank);
    fence(NULL, 0, "the fence before the end");
    return PMIx_Finalize(NULL, 0) == PMIX_SUCCESS ? 0 : BAD;
}
