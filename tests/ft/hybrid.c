/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hybrid.c - a program with MPI and OpenSHMEM survives the death of its last PE.
 * hybrid.sh compiles it with Open MPI's mpicc and runs it with SHMEM_FT=continue.
 *
 * The ranks of both models agree, and both communicate before and after the failure.  A
 * handler that was registered by another user of libpmix gets the event exactly once, in
 * addition to the function of shmemx_failure_handler.
 *
 *   hybrid mpi | shmem     which of both is initialized first
 *   hybrid last            shmem, but after a handler that takes the last place
 */
#include <mpi.h>
#include <pmix.h>
#include <shmem.h>
#include <shmemx.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 7, WAIT_MS = 30000, AGAIN_MS = 100 };

static atomic_int events, handled; /* number of reports of the victim */
static int victim, last;

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "hybrid: PE %d: %s\n", shmem_my_pe(), what);
    shmem_global_exit(1);
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t ninfo, pmix_info_t *results,
                     size_t nresults, pmix_event_notification_cbfunc_fn_t complete,
                     void *data)
{
    (void)id, (void)status, (void)source, (void)results, (void)nresults;
    for (size_t i = 0; i < ninfo; i++)
        if (strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) == 0)
            events += info[i].value.data.proc->rank == (pmix_rank_t)victim;
    complete(last ? PMIX_EVENT_ACTION_COMPLETE : PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0,
             NULL, NULL, data);
}

static void on_failure(const int *pes, int n, void *arg)
{
    (void)arg;
    for (int i = 0; i < n; i++)
        handled += pes[i] == victim;
}

static void register_other_handler(void)
{
    pmix_proc_t self;
    pmix_status_t codes[] = {PMIX_ERR_PROC_ABORTED, PMIX_ERR_PROC_TERM_WO_SYNC};
    pmix_info_t order;
    PMIX_INFO_LOAD(&order, PMIX_EVENT_HDLR_LAST_IN_CATEGORY, NULL, PMIX_BOOL);
    check(PMIx_Init(&self, NULL, 0) == PMIX_SUCCESS, "PMIx_Init failed");
    /* Handlers of one code and of several ones are different categories. */
    check(PMIx_Register_event_handler(codes, last ? 2 : 1, last ? &order : NULL,
                                      last ? 1 : 0, on_event, NULL, NULL) >= 0,
          "no second handler");
    PMIX_INFO_DESTRUCT(&order);
}

static void init(int *argc, char ***argv)
{
    int shmem_first = strcmp((*argv)[1], "mpi") != 0;
    last = strcmp((*argv)[1], "last") == 0;
    if (last)
        register_other_handler();
    if (shmem_first)
        shmem_init();
    MPI_Init(argc, argv);
    if (!shmem_first)
        shmem_init();
    if (!last)
        register_other_handler();
}

static void check_ranks(void)
{
    int rank, size, one = 1, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check(rank == shmem_my_pe() && size == shmem_n_pes(), "the ranks of MPI differ");
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(sum == size, "wrong sum of MPI_Allreduce");
}

/* Window memory is shared by the processes of a node, in a file of the job.  Open MPI 4
 * has no windows over TCP alone. */
static void check_window(void)
{
    static int symmetric;
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes(), got = -1, *base;
    MPI_Win window;
    if (shmem_ptr(&symmetric, shmem_n_pes() - 1 - me) == NULL)
        return; /* some PEs are on another node */
    MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                     &window);
    *base = me;
    MPI_Win_fence(0, window);
    MPI_Get(&got, 1, MPI_INT, next, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    check(got == next, "wrong value of MPI_Get");
    MPI_Win_free(&window);
}

static void die_and_shrink(void)
{
    shmem_team_t survivors;
    shmem_barrier_all();
    if (shmem_my_pe() == victim)
        kill(getpid(), SIGKILL);
    while (!shmemx_pe_failed(victim))
        shmem_barrier_all();
    check(shmemx_team_shrink(SHMEM_TEAM_WORLD, &survivors) == 0, "shrink failed");
    for (int ms = 0; ms < WAIT_MS && (events == 0 || handled == 0); ms++)
        usleep(1000);
    usleep(AGAIN_MS * 1000);
    check(handled == 1, "not one call of the failure handler");
    check(events == 1, "not one event for the other user of PMIx");
}

/* MPI's point-to-point messages between survivors; its collectives would need the dead.
 */
static void send_after(void)
{
    int me = shmem_my_pe(), value = me == 0 ? TAG : 0;
    if (me == 0)
        MPI_Send(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    if (me == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(me > 1 || value == TAG, "wrong message");
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    init(&argc, &argv);
    victim = shmem_n_pes() - 1;
    check_ranks();
    check_window();
    shmemx_failure_handler(on_failure, NULL);
    die_and_shrink();
    send_after();
    if (shmem_my_pe() == 0)
        puts("passed");
    shmem_finalize();
    PMIx_Finalize(NULL, 0);
    MPI_Finalize();
    return 0;
}
