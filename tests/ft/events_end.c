/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * events_end.c - the end of the library's handler of PMIx events (SHMEM_FT=continue).
 *   events_end alone    the library is the only user of libpmix: it must not deregister
 * its handler, because the next message to the server, that of PMIx_Finalize, is then
 * held back for 40 ms events_end shared   the program uses libpmix, too: the handler is
 * removed, and the program still gets events with its own The functions of libpmix are
 * replaced by ones that count.
 */
#include <dlfcn.h>
#include <pmix.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAIT_MS = 20000 };

static int removals, finalizes, finalizes_before_removal = -1;
static atomic_int events;

/* A pointer to an object cannot be converted to one to a function in ISO C. */
static void find_next(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (found == NULL)
        abort();
    memcpy(function, &found, sizeof found);
}

pmix_status_t PMIx_Deregister_event_handler(size_t id, pmix_op_cbfunc_t done, void *data)
{
    pmix_status_t (*next)(size_t, pmix_op_cbfunc_t, void *);

    find_next(&next, "PMIx_Deregister_event_handler");
    removals++;
    finalizes_before_removal = finalizes;
    return next(id, done, data);
}

pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo)
{
    pmix_status_t (*next)(const pmix_info_t[], size_t);

    find_next(&next, "PMIx_Finalize");
    finalizes++;
    return next(info, ninfo);
}

static void check_equal(int got, int expected, const char *what)
{
    if (got == expected)
        return;
    fprintf(stderr, "events_end: %s: %d, expected %d\n", what, got, expected);
    exit(1);
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t ninfo, pmix_info_t *results,
                     size_t nresults, pmix_event_notification_cbfunc_fn_t complete,
                     void *data)
{
    (void)id, (void)status, (void)source, (void)info, (void)ninfo, (void)results;
    (void)nresults;
    events++;
    complete(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

static void run_alone(void)
{
    shmem_init();
    shmem_finalize();
    check_equal(removals, 0, "deregistrations");
    check_equal(finalizes, 1, "PMIx_Finalize");
    check_equal(PMIx_Initialized(), 0, "PMIx_Initialized");
}

/* An event as the launcher sends it, to the handlers of this process. */
static void notify_self(const pmix_proc_t *self)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_EVENT_AFFECTED_PROC, self, PMIX_PROC);
    check_equal(PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, self, PMIX_RANGE_PROC_LOCAL,
                                  &info, 1, NULL, NULL),
                PMIX_SUCCESS, "PMIx_Notify_event");
    PMIX_INFO_DESTRUCT(&info);
}

static void run_shared(void)
{
    pmix_status_t code = PMIX_ERR_PROC_ABORTED;
    pmix_proc_t self;

    check_equal(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS, "PMIx_Init");
    shmem_init();
    pmix_status_t handler =
        PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL);
    check_equal(handler >= 0, 1, "PMIx_Register_event_handler succeeds");
    shmem_finalize();
    check_equal(removals, 1, "deregistrations");
    check_equal(finalizes_before_removal, 1, "PMIx_Finalize before them");
    check_equal(PMIx_Initialized() != 0, 1, "PMIx_Initialized");
    notify_self(&self);
    for (int ms = 0; ms < WAIT_MS && events == 0; ms++)
        usleep(1000);
    check_equal(events, 1, "events of the program's handler");
    check_equal(PMIx_Finalize(NULL, 0), PMIX_SUCCESS, "the program's PMIx_Finalize");
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "shared") == 0)
        run_shared();
    else
        run_alone();
    printf("passed\n");
    return 0;
}
