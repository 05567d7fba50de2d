/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mesh.c - the mesh of agents in one process: random messages between all pairs, while
 * connections are cut at random and agents are replaced.  Each message must arrive once
 * and in order.  Then a queue overflows: its node must fail.  usage: mesh [first seed
 * [number of seeds]]
 */
#include "config.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "pgas/ft/agent/ft_domain.h"
#include "pgas/ft/agent/ft_mesh_int.h"

enum {
    NODES = 4,
    TURNS = 3000,
    SMALL = 300,
    BIG = 300000,
    UNKNOWN = -1,
    LIMIT_S = 60,
    QUEUE = 64 << 10, /* the limit of the queue that overflows */
    SHORT_SEEDS = 12
};

struct test_agent {
    struct ft_mesh *mesh;
    struct ft_endpoint endpoint[NODES];
    uint32_t node, incarnation;
    uint32_t seen[NODES];    /* incarnation of the last message from each node */
    int64_t sent[NODES];     /* messages to each node */
    int64_t expected[NODES]; /* number of the next message from each node; UNKNOWN: any */
};

static struct test_agent agents[NODES];
static uint8_t secret[FT_SECRET] = "a key that all agents know";
static uint64_t state, seed_now;
static unsigned cuts, reconnects, replaced;
static size_t queue; /* the limit of the agents; 0: that of ft_mesh.h */
/* The report of a failed node. */
static struct {
    unsigned times;
    uint32_t at, node;
    size_t bytes, limit;
} report;

static _Noreturn void fail(const char *what, uint32_t from, uint32_t to)
{
    fprintf(stderr, "mesh: seed %llu: %s (from node %u to node %u)\n",
            (unsigned long long)seed_now, what, from, to);
    exit(1);
}

static uint32_t draw(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % n;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void on_message(void *arg, uint32_t node, uint32_t tag, const void *bytes,
                       size_t n)
{
    struct test_agent *a = arg;
    int64_t number;

    if (n < sizeof number || tag > agents[node].incarnation || tag < a->seen[node])
        fail("a message is damaged, or one of a former agent late", node, a->node);
    a->seen[node] = tag;
    memcpy(&number, bytes, sizeof number);
    for (size_t i = sizeof number; i < n; i += 97)
        if (((const uint8_t *)bytes)[i] != (uint8_t)(number + (int64_t)i))
            fail("a message is damaged", node, a->node);
    if (tag < agents[node].incarnation)
        return; /* from the connection of a former agent */
    if (a->expected[node] != UNKNOWN && number != a->expected[node])
        fail("a message is lost, repeated or late", node, a->node);
    if (number >= agents[node].sent[a->node])
        fail("a message was never sent", node, a->node);
    a->expected[node] = number + 1;
}

static void on_closed(void *arg, uint32_t node)
{
    const struct test_agent *a = arg;

    if (a->mesh->peer[node].up != NULL)
        fail("a connection is reported closed although there is one", node, a->node);
}

static void on_failed(void *arg, uint32_t node, size_t bytes, size_t limit)
{
    const struct test_agent *a = arg;

    if (queue == 0)
        fail("a queue overflows", a->node, node);
    report.times++;
    report.at = a->node;
    report.node = node;
    report.bytes = bytes;
    report.limit = limit;
}

static void on_forged(void *arg, uint32_t node)
{
    const struct test_agent *a = arg;

    fail("a message is not authentic", node, a->node);
}

static void open_agent(struct test_agent *a)
{
    char why[256];
    struct ft_mesh_job job = {.node = a->node,
                              .nnodes = NODES,
                              .incarnation = a->incarnation,
                              .attempt_ms = 200,
                              .probe_ns = 20000,
                              .queue = queue,
                              .secret = secret,
                              .endpoint = a->endpoint,
                              .message = on_message,
                              .closed = on_closed,
                              .failed = on_failed,
                              .forged = on_forged,
                              .arg = a};

    a->mesh = ft_mesh_open("lo", &a->endpoint[a->node], why, sizeof why);
    if (a->mesh == NULL || !ft_mesh_join(a->mesh, &job))
        fail("no mesh", a->node, a->node);
}

/* The endpoints are complete before any agent steps. */
static void open_all(void)
{
    for (uint32_t i = 0; i < NODES; i++) {
        agents[i] = (struct test_agent){.node = i};
        open_agent(&agents[i]);
    }
    for (uint32_t i = 0; i < NODES; i++)
        for (uint32_t k = 0; k < NODES; k++)
            agents[i].endpoint[k] = agents[k].endpoint[k];
}

static void send_at_most(struct test_agent *from, uint32_t to, uint32_t most)
{
    static uint8_t bytes[BIG];
    int64_t number = from->sent[to]++;
    size_t n = sizeof number + draw(most);

    for (size_t i = sizeof number; i < n; i++)
        bytes[i] = (uint8_t)(number + (int64_t)i);
    memcpy(bytes, &number, sizeof number);
    ft_mesh_send(from->mesh, to, from->incarnation, bytes, n);
}

static void send_one(struct test_agent *from, uint32_t to)
{
    send_at_most(from, to, draw(50) == 0 ? BIG - 8 : SMALL);
}

/* Cuts a connection at any time of its life, perhaps with data in flight. */
static void cut_one(void)
{
    struct ft_peer *peer = &agents[draw(NODES)].mesh->peer[draw(NODES)];
    struct ft_link *link = peer->up != NULL && draw(4) > 0 ? peer->up : peer->attempt;

    if (link == NULL)
        return;
    shutdown(link->fd, draw(2) == 0 ? SHUT_RDWR : SHUT_RD);
    cuts++;
}

/* Replaces a connection while data are in flight on it. */
static void reconnect_one(void)
{
    uint32_t from = draw(NODES), to = draw(NODES);

    if (from == to || agents[from].mesh->peer[to].up == NULL)
        return;
    ft_peer_reconnect(agents[from].mesh, to, now_ns());
    reconnects++;
}

/* Another agent continues for the node: nothing is known about what its predecessor got,
 * and its messages have new numbers. */
static void replace_one(void)
{
    struct test_agent *a = &agents[draw(NODES)];

    ft_mesh_close(a->mesh);
    a->incarnation++;
    open_agent(a);
    for (uint32_t i = 0; i < NODES; i++) {
        a->expected[i] = UNKNOWN;
        a->sent[i] = agents[i].expected[a->node] = 0;
        if (i != a->node)
            ft_mesh_connect(a->mesh, i);
    }
    replaced++;
}

static void step_all(void)
{
    for (uint32_t i = 0; i < NODES; i++)
        if (draw(4) > 0)
            ft_mesh_step(agents[i].mesh, now_ns());
}

static bool complete(void)
{
    for (uint32_t i = 0; i < NODES; i++)
        for (uint32_t k = 0; k < NODES; k++)
            if (i != k && agents[k].expected[i] != agents[i].sent[k])
                return false;
    return true;
}

static void run(uint64_t seed)
{
    uint64_t end = now_ns() + LIMIT_S * UINT64_C(1000000000);

    state = seed_now = seed;
    cuts = reconnects = replaced = 0;
    open_all();
    for (int turn = 0; turn < TURNS; turn++) {
        uint32_t from = draw(NODES), to = draw(NODES);
        if (from != to && draw(3) > 0)
            send_one(&agents[from], to);
        if (draw(30) == 0)
            cut_one();
        if (draw(30) == 0)
            reconnect_one();
        if (draw(600) == 0)
            replace_one();
        step_all();
    }
    for (uint32_t i = 0; i < NODES; i++) /* also after the last replacement */
        for (uint32_t k = 0; k < NODES; k++)
            if (i != k)
                send_one(&agents[i], k);
    while (!complete()) {
        if (now_ns() > end)
            fail("messages do not arrive", NODES, NODES);
        step_all();
    }
    for (uint32_t i = 0; i < NODES; i++)
        ft_mesh_close(agents[i].mesh);
}

/* ---- a queue that overflows ---------------------------------------------------------
 */

/* Steps agents 0 .. n - 1 until all messages between them have arrived. */
static void await_all(uint32_t n, const char *what)
{
    uint64_t end = now_ns() + LIMIT_S * UINT64_C(1000000000);

    for (bool done = false; !done;) {
        done = true;
        for (uint32_t i = 0; i < n; i++) {
            ft_mesh_step(agents[i].mesh, now_ns());
            for (uint32_t k = 0; k < n; k++)
                done = done && (i == k || agents[k].expected[i] == agents[i].sent[k]);
        }
        if (now_ns() > end)
            fail(what, n, n);
    }
}

/* Node 0 sends to node 1, which does not run, until that node fails, and to node 2. */
static void fill_queue(void)
{
    enum { MOST = 2 * QUEUE / sizeof(struct ft_frame) };

    for (int n = 0; report.times == 0 && n < MOST; n++) {
        send_at_most(&agents[0], 1, SMALL);
        send_at_most(&agents[0], 2, SMALL);
        ft_mesh_step(agents[0].mesh, now_ns());
        ft_mesh_step(agents[2].mesh, now_ns());
    }
}

/* A message that is dropped must be the last one that was sent: the node fails. */
static void check_overflow(void)
{
    enum { RUNS = 3 };

    queue = QUEUE;
    seed_now = state = 0;
    open_all();
    report.times = 0;
    for (uint32_t i = 0; i < RUNS; i++)
        for (uint32_t k = 0; k < RUNS; k++)
            if (i != k)
                send_one(&agents[i], k);
    await_all(RUNS, "the first messages do not arrive");
    fill_queue();
    int64_t sent = agents[0].sent[1];
    if (report.times != 1 || report.at != 0 || report.node != 1 ||
        report.limit != QUEUE || report.bytes <= QUEUE ||
        report.bytes > QUEUE + SMALL + 64)
        fail("a queue has overflowed, but the node has not failed", 0, 1);
    for (int i = 0; i < 10; i++)
        send_one(&agents[0], 1);
    send_one(&agents[1], 0);
    /* Node 1 gets the first messages and what it is told later, and nothing between. */
    uint64_t end = now_ns() + LIMIT_S * UINT64_C(1000000000);
    while (agents[0].expected[1] < agents[1].sent[0]) {
        for (uint32_t i = 0; i < RUNS; i++)
            ft_mesh_step(agents[i].mesh, now_ns());
        if (now_ns() > end)
            fail("a failed node cannot connect", 1, 0);
    }
    if (agents[1].expected[0] > sent - 1)
        fail("a message that was dropped has arrived", 0, 1);
    agents[1].expected[0] = UNKNOWN;
    send_one(&agents[0], 1);
    await_all(RUNS, "a failed node cannot be told");
    if (report.times != 1)
        fail("a node fails twice", 0, 1);
    for (uint32_t i = 0; i < NODES; i++)
        ft_mesh_close(agents[i].mesh);
    printf("node 1 failed with %zu bytes (limit %zu) after message %lld\n", report.bytes,
           report.limit, (long long)sent - 1);
    queue = 0;
}

/* ------------------------------------------------------------------------------------ */

static void check_domains(void)
{
    static const struct {
        const char *lists, *name;
        bool good;
        int64_t domain; /* -1: that of the name */
    } rows[] = {
        {"", "n0", true, -1},           {"n0", "n0", true, 0},
        {"n0,n1;n2,n3", "n1", true, 0}, {"n0,n1;n2,n3", "n3", true, 1},
        {"n0,n1;n2,n3", "n", true, -1}, {"n0;n1;n10", "n1", true, 1},
        {"n0;n1;n10", "n10", true, 2},  {"n0,n0", "n0", true, 0},
        {"n0;n0", "n0", false, 0},      {"n0,,n1", "n0", false, 0},
        {";n0", "n0", false, 0},        {"n0;", "n0", false, 0},
        {"n0, n1", "n0", false, 0},     {",", "", false, 0},
    };
    char why[128];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t domain = 77;
        bool good = ft_domain_find(rows[i].lists, rows[i].name, &domain, why, sizeof why);
        uint32_t right = rows[i].domain < 0 ? ft_domain_of_name(rows[i].name)
                                            : (uint32_t)rows[i].domain;
        if (good != rows[i].good || (good && domain != right)) {
            fprintf(stderr, "mesh: domain of %s in \"%s\": %d %u\n", rows[i].name,
                    rows[i].lists, good, domain);
            exit(1);
        }
    }
}

/* Agents on one host, whatever their ports. */
static void check_hosts(void)
{
    enum { A = 1, B, BRIDGE, INTERFACES };
    static const struct {
        uint8_t a[INTERFACES], b[INTERFACES]; /* last bytes of the addresses */
        bool shared;
    } rows[] = {
        {{A}, {A}, true},
        {{A}, {B}, false},
        {{A, BRIDGE}, {B, BRIDGE}, false},
        {{A, BRIDGE}, {A}, true},
        {{BRIDGE, A}, {A, BRIDGE}, true},
        {{0}, {0}, false},
        {{A}, {0}, false},
        {{A, B}, {A, BRIDGE}, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ft_endpoint e[2] = {{.domain = 0}};
        for (uint16_t k = 0; k < INTERFACES; k++) {
            if (rows[i].a[k] != 0)
                e[0].address[k] =
                    (struct ft_address){AF_INET, k, {10, 0, 0, rows[i].a[k]}, 0};
            if (rows[i].b[k] != 0)
                e[1].address[k] = (struct ft_address){
                    AF_INET, (uint16_t)(k + 7), {10, 0, 0, rows[i].b[k]}, 0};
        }
        if (ft_endpoint_share_host(&e[0], &e[1]) != rows[i].shared ||
            ft_endpoint_share_host(&e[1], &e[0]) != rows[i].shared) {
            fprintf(stderr, "mesh: row %zu: one host or not\n", i);
            exit(1);
        }
    }
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    uint64_t n = argc > 2                           ? strtoull(argv[2], NULL, 0)
                 : getenv("PGAS_TEST_LONG") != NULL ? 20 * SHORT_SEEDS
                                                    : SHORT_SEEDS;

    check_domains();
    check_hosts();
    check_overflow();
    for (uint64_t seed = first; seed < first + n; seed++) {
        uint64_t began = now_ns();
        run(seed);
        printf("seed %llu: %u connections cut, %u renewed, %u agents replaced, %.2f s\n",
               (unsigned long long)seed, cuts, reconnects, replaced,
               (double)(now_ns() - began) / 1e9);
    }
    return 0;
}
