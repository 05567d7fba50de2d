/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agents.c - the agents of several nodes: failures of nodes and PEs, agreements,
 * revocation, take-over, generations, and what comes to their ports from elsewhere.
 * usage: agents [case]
 */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pgas/ft/agent/ft_mesh.h"
#include "tests/ft/agent/job.h"

enum { NODES = 5, ALL = NODES * LOCAL, NS_PER_US = 1000, NS_PER_MS = 1000000 };

/* Load may delay a detection by so much before the test fails. */
enum { SLACK_MS = PATIENT_MS };

static struct job job;
static uint64_t dead; /* PEs that have failed */

static void kill_node(uint32_t node)
{
    job_kill_agent(&job, node);
    dead |= UINT64_C(3) << node * LOCAL;
}

static bool all_know(uint64_t set)
{
    for (uint32_t i = 0; i < job.nnodes; i++)
        for (uint32_t pe = 0; job.agent[i] > 0 && pe < job.nnodes * LOCAL; pe++)
            if ((set >> pe & 1) != 0 && !job_failed(&job, i, pe))
                return false;
    return true;
}

static bool one_knows(uint32_t pe)
{
    for (uint32_t i = 0; i < job.nnodes; i++)
        if (job.agent[i] > 0 && i != pe / LOCAL && job_failed(&job, i, pe))
            return true;
    return false;
}

/* Waits until all nodes know the failure of the node; checks and prints the times. */
static void await_node(uint32_t node, uint64_t since_ns, const char *how)
{
    JOB_AWAIT(one_knows(node * LOCAL), "a failed node is detected");
    uint64_t first = job_now_ns();
    JOB_AWAIT(all_know(dead), "all nodes know of a failure");
    double ms = (double)(first - since_ns) / NS_PER_MS;
    printf("%s: detected after %.1f ms, known everywhere %.0f us later\n", how, ms,
           (double)(job_now_ns() - first) / NS_PER_US);
    if (ms < period_ms / 2 || ms > timeout_ms + SLACK_MS)
        job_die("the detection took %.1f ms, not %u to %u", ms, period_ms, timeout_ms);
}

/* All PEs that live, except `silent`, agree; checks the decision. */
static void post_all(uint64_t team, uint32_t seq, uint64_t silent)
{
    for (uint32_t pe = 0; pe < job.nnodes * LOCAL; pe++)
        if (((dead | silent) >> pe & 1) == 0)
            job_post(&job, pe, team, seq, ~(UINT64_C(1) << pe), 100 + pe);
}

static bool all_done(uint64_t posted)
{
    for (uint32_t pe = 0; pe < job.nnodes * LOCAL; pe++)
        if ((posted >> pe & 1) != 0 && !job_done(&job, pe))
            return false;
    return true;
}

static void check_decision(uint64_t posted, const char *what)
{
    uint64_t first_failed = 0;
    bool any = false;

    for (uint32_t pe = 0; pe < job.nnodes * LOCAL; pe++) {
        uint64_t and, max, failed, live = posted & ~dead;
        if ((live >> pe & 1) == 0)
            continue;
        JOB_AWAIT(job_done(&job, pe), what);
        job_take(&job, pe, &and, &max, &failed);
        /* What a PE has contributed that fails later may be in it or not. */
        if ((~and&~posted) != 0 || (~and&live) != live)
            job_die("%s: PE %u: and %llx", what, pe, (unsigned long long)and);
        if (max != 100 + 63 - (uint64_t)__builtin_clzll(~and))
            job_die("%s: PE %u: max %llu", what, pe, (unsigned long long)max);
        if ((failed & ~dead) != 0 || (any && failed != first_failed))
            job_die("%s: PE %u: failed %llx", what, pe, (unsigned long long)failed);
        first_failed = failed;
        any = true;
    }
    if (first_failed != dead)
        job_die("%s: the failed set is %llx, not %llx", what,
                (unsigned long long)first_failed, (unsigned long long)dead);
}

static uint64_t all_pes(void)
{
    return (UINT64_C(1) << job.nnodes * LOCAL) - 1;
}

static void agree(uint64_t team, uint32_t seq, const char *what)
{
    uint64_t began = job_now_ns();

    post_all(team, seq, 0);
    check_decision(all_pes() & ~dead, what);
    printf("%s: %.0f us\n", what, (double)(job_now_ns() - began) / NS_PER_US);
}

/* ---- cases --------------------------------------------------------------------------
 */

static void test_kill(void)
{
    job_start(&job, NODES);
    job_sleep_ms(4 * timeout_ms);
    job_check_no_other_failure(&job, 0);
    uint64_t now = job_now_ns();
    kill_node(3);
    await_node(3, now, "agent killed");
    now = job_now_ns();
    kill_node(0);
    await_node(0, now, "another agent killed");
    agree(7, 1, "agreement of three nodes");
    job_check_no_other_failure(&job, dead);
}

/* A node that is silent for too long is failed, and kills its PEs when it runs again. */
static void test_stop(void)
{
    int status;

    job_start(&job, NODES);
    job_sleep_ms(11 * timeout_ms); /* silence in the grace period is no failure */
    uint64_t now = job_now_ns();
    kill(job.agent[2], SIGSTOP);
    dead |= UINT64_C(3) << 2 * LOCAL;
    pid_t agent = job.agent[2];
    job.agent[2] = 0;
    await_node(2, now, "agent stopped");
    kill(agent, SIGCONT);
    JOB_AWAIT(atomic_load(&job.map[2]->agent) == FT_AGENT_FAILED,
              "a failed node learns of its failure");
    for (uint32_t pe = 2 * LOCAL; pe < 3 * LOCAL; pe++)
        if (waitpid(job.pe[pe], &status, 0) != job.pe[pe] || !WIFSIGNALED(status))
            job_die("PE %u of the failed node is not killed", pe);
    job.agent[2] = agent;
    job_kill_agent(&job, 2);
    job_check_no_other_failure(&job, dead);
}

static void test_pe(void)
{
    uint32_t victim = 5, spared = ALL - 1;

    job_start(&job, NODES);
    agree(1, 1, "agreement of all PEs");
    agree(1, 2, "the next one");
    uint64_t now = job_now_ns();
    dead |= UINT64_C(1) << victim;
    ft_map_fail(job.node[victim / LOCAL], &victim, 1);
    JOB_AWAIT(all_know(dead), "all nodes know of a failed PE");
    printf("PE failed: known everywhere after %.0f us\n",
           (double)(job_now_ns() - now) / NS_PER_US);
    agree(1, 3, "agreement without a PE");

    /* A PE fails while the others wait for it; then a whole node whose agent lives. */
    post_all(1, 4, UINT64_C(1) << spared);
    job_sleep_ms(20);
    if (job_done(&job, 0))
        job_die("an agreement was decided without PE %u, which lives", spared);
    dead |= UINT64_C(1) << spared;
    ft_map_fail(job.node[spared / LOCAL], &spared, 1);
    check_decision(all_pes() & ~dead, "agreement during which a PE fails");
    uint64_t silent = UINT64_C(3) << 1 * LOCAL;
    post_all(1, 5, silent);
    job_sleep_ms(20);
    uint32_t both[] = {2, 3};
    dead |= silent;
    ft_map_fail(job.node[1], both, 2);
    check_decision(all_pes() & ~dead, "agreement during which all PEs of a node fail");
    job_check_no_other_failure(&job, dead);
}

/* A PE without a watch thread is killed: the pidfd of the agent is the only witness.  One
 * that has left shmem_finalize ends without a failure. */
static void test_exit(void)
{
    uint32_t victim = 7, gone = 2;

    job_start(&job, NODES);
    atomic_store(&ft_map_word(job.map[gone / LOCAL])[gone % LOCAL].departed, 1);
    kill(job.pe[gone], SIGKILL);
    uint64_t now = job_now_ns();
    dead |= UINT64_C(1) << victim;
    kill(job.pe[victim], SIGKILL);
    JOB_AWAIT(all_know(dead), "all nodes know of a killed PE");
    printf("PE killed: known everywhere after %.0f us\n",
           (double)(job_now_ns() - now) / NS_PER_US);
    agree(1, 1, "agreement without a killed PE");
    job_check_no_other_failure(&job, dead);
}

/* The coordinator, node 0, fails before and after the others have contributed. */
static void test_coordinator(void)
{
    job_start(&job, NODES);
    post_all(9, 1, UINT64_C(3));
    job_sleep_ms(20);
    kill_node(0);
    check_decision(all_pes() & ~dead, "agreement whose coordinator fails");
    agree(9, 2, "agreement with the next coordinator");
}

static void test_revoke(void)
{
    job_start(&job, NODES);
    struct ft_mailbox *box = ft_map_mailbox(job.map[4], 1, 2);
    box->request = FT_REVOKE;
    box->team = 0x1234567890;
    box->slot = 7;
    for (uint32_t i = 0; i < NODES; i++)
        for (uint32_t k = 0; k < LOCAL; k++)
            atomic_store(&ft_map_slot(job.map[i], k, box->slot)->team, box->team);
    uint64_t now = job_now_ns();
    atomic_store(&box->state, FT_POSTED);
    ft_map_notify_agent(job.map[4]);
    JOB_AWAIT(atomic_load(&box->state) == FT_DONE, "a revocation is sent");
    for (uint32_t i = 0; i < NODES; i++)
        for (uint32_t k = 0; k < LOCAL; k++)
            JOB_AWAIT(ft_map_is_revoked(job.map[i], k, box->slot, box->team),
                      "a node learns of a revocation");
    printf("revocation: known everywhere after %.0f us\n",
           (double)(job_now_ns() - now) / NS_PER_US);
}

/* An agent is replaced: no failure is reported, and an agreement that was open goes on.
 */
static void test_takeover(void)
{
    job_start(&job, NODES);
    agree(5, 1, "agreement before the take-over");
    for (uint32_t round = 0; round < 3; round++) {
        uint32_t node = round % 2 == 0 ? 0 : 3, seq = 2 + 2 * round;
        post_all(5, seq, UINT64_C(1) << 9);
        job_sleep_ms(10);
        job_kill_agent(&job, node);
        job_start_agent(&job, node);
        job_post(&job, 9, 5, seq, ~(UINT64_C(1) << 9), 109);
        JOB_AWAIT(all_done(all_pes()) || job_failed(&job, 1, node * LOCAL),
                  "agreement during a take-over");
        job_check_no_other_failure(&job, 0); /* by a new agent that was late */
        check_decision(all_pes(), "agreement during a take-over");
        agree(5, seq + 1, "agreement after a take-over");
        job_sleep_ms(3 * timeout_ms);
        job_check_no_other_failure(&job, 0);
    }
    uint64_t now = job_now_ns();
    kill_node(3);
    await_node(3, now, "agent killed after a take-over");
}

static void leave_all(uint32_t generation)
{
    for (uint32_t i = 0; i < NODES; i++)
        for (uint32_t k = 0; k < LOCAL; k++) {
            atomic_store(&ft_map_word(job.map[i])[k].departed, generation);
            ft_map_notify_agent(job.map[i]);
        }
    for (uint32_t i = 0; i < NODES; i++)
        JOB_AWAIT(job.agent[i] == 0 ||
                      atomic_load(&job.map[i]->agent) == FT_AGENT_STOPPED,
                  "an agent stops");
}

/* After shmem_finalize the end of a node is no failure; in the next generation it is. */
static void test_generations(void)
{
    job_start(&job, NODES);
    for (uint32_t generation = 1; generation <= 2; generation++) {
        agree(3, generation, "agreement of a generation");
        leave_all(generation);
        job_arm(&job, generation + 1);
    }
    agree(3, 3, "agreement of the third generation");
    uint64_t now = job_now_ns();
    kill_node(1);
    await_node(1, now, "agent killed in the third generation");
    leave_all(3);
    job_kill_agent(&job, 4);
    job_kill_agent(&job, 2);
    job_sleep_ms(3 * timeout_ms);
    job_check_no_other_failure(&job, dead);
}

static void test_one_node(void)
{
    uint32_t victim = 1;

    job_start(&job, 1);
    agree(1, 1, "agreement on one node");
    dead |= UINT64_C(1) << victim;
    ft_map_fail(job.node[0], &victim, 1);
    agree(1, 2, "agreement on one node with one PE");
}

/* ---- strangers ----------------------------------------------------------------------
 */

static void on_message(void *arg, uint32_t node, uint32_t tag, const void *bytes,
                       size_t n)
{
    (void)arg, (void)node, (void)tag, (void)bytes, (void)n;
    job_die("an agent sent a message to a stranger");
}

static void on_closed(void *arg, uint32_t node)
{
    (void)node;
    ++*(int *)arg;
}

static void on_failed(void *arg, uint32_t node, size_t bytes, size_t limit)
{
    (void)arg, (void)node, (void)bytes, (void)limit;
    job_die("a queue overflows");
}

/* An agent with another secret is refused. */
static void test_secret(void)
{
    struct ft_endpoint own = {.domain = 0}, endpoint[NODES];
    uint8_t secret[FT_SECRET] = {1, 2, 3};
    char why[256];
    int closed = 0;

    job_start(&job, NODES);
    struct ft_mesh *mesh = ft_mesh_open("lo", &own, why, sizeof why);
    memcpy(endpoint, ft_map_endpoint(job.map[0]), sizeof endpoint);
    struct ft_mesh_job as = {.node = 1,
                             .nnodes = NODES,
                             .incarnation = 9,
                             .attempt_ms = 100,
                             .secret = secret,
                             .endpoint = endpoint,
                             .message = on_message,
                             .closed = on_closed,
                             .failed = on_failed,
                             .forged = on_closed,
                             .arg = &closed};
    if (mesh == NULL || !ft_mesh_join(mesh, &as))
        job_die("no mesh: %s", why);
    ft_mesh_send(mesh, 2, 1, "hello", 5);
    /* Until it is refused, and then long enough for another refusal. */
    uint64_t end = job_now_ns() + UINT64_C(10000) * NS_PER_MS;
    while (job_now_ns() < end) {
        struct pollfd fd = {.fd = ft_mesh_fd(mesh), .events = POLLIN};
        poll(&fd, 1, 1);
        ft_mesh_step(mesh, job_now_ns());
        if (closed == 1 && ft_mesh_idle(mesh)) {
            closed = 2;
            end = job_now_ns() + UINT64_C(100) * NS_PER_MS;
        }
    }
    if (closed == 0)
        job_die("an agent with another secret is not refused");
    ft_mesh_close(mesh);
    agree(2, 1, "agreement after an impostor");
    job_check_no_other_failure(&job, 0);
}

static int connect_to(uint32_t node)
{
    const struct ft_address *a = &job.map[node]->own.address[0];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(a->port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(&to.sin_addr, a->ip, sizeof to.sin_addr);
    if (a->family != AF_INET || connect(fd, (const void *)&to, sizeof to) != 0)
        job_die("cannot connect to an agent: %s", strerror(errno));
    return fd;
}

/* Connections that send random bytes, a part of a message, or nothing are closed, and the
 * agents serve on meanwhile. */
static void test_noise(void)
{
    enum { STRANGERS = 3 * FT_MESH_PENDING };
    static int fd[STRANGERS];
    unsigned char bytes[512];
    struct pollfd end = {.events = POLLIN};

    job_start(&job, NODES);
    for (int i = 0; i < STRANGERS; i++) {
        fd[i] = connect_to(0);
        size_t n = i % 3 == 0 ? sizeof bytes : i % 3 == 1 ? 6 : 0;
        if (getrandom(bytes, sizeof bytes, 0) < 0)
            job_die("getrandom: %s", strerror(errno));
        if (n == 6)
            memcpy(bytes, "pgasft", 6);
        (void)!send(fd[i], bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    agree(2, 1, "agreement among strangers");
    for (int i = 0; i < STRANGERS; i++) {
        ssize_t n = 1;
        end.fd = fd[i];
        while (n > 0) {
            if (poll(&end, 1, 4 * FT_MESH_PROVE_MS) != 1)
                job_die("an agent keeps a connection of a stranger");
            n = recv(fd[i], bytes, sizeof bytes, 0);
        }
        close(fd[i]);
    }
    agree(2, 2, "agreement after strangers");
    job_check_no_other_failure(&job, 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"kill", test_kill},
    {"stop", test_stop},
    {"exit", test_exit},
    {"pe", test_pe},
    {"coordinator", test_coordinator},
    {"revoke", test_revoke},
    {"takeover", test_takeover},
    {"one", test_one_node},
    {"generations", test_generations},
    {"secret", test_secret},
    {"noise", test_noise},
};

int main(int argc, char **argv)
{
    bool found = false;

    job_choose_times();
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (argc > 1 && strcmp(argv[1], cases[i].name) != 0)
            continue;
        printf("-- %s\n", cases[i].name);
        found = true;
        dead = 0;
        cases[i].run();
        job_end(&job);
    }
    return found ? 0 : 2;
}
