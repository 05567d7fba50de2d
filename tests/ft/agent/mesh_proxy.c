/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mesh_proxy.c - the mesh of agents through a proxy that changes the connection: each
 * kind of fault at each message of the handshake and at each frame, in both directions.
 * The agents must connect again, all messages arrive once and in order, and a frame or a
 * last message of the handshake that is not authentic is reported.  Also a proof that is
 * replayed, and another secret.
 *
 *     mesh_proxy [first seed]
 *
 * The proxy knows the secret, only in order to find the ends of the frames.
 */
#include "config.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "pgas/ft/agent/ft_mesh_int.h"

enum {
    MESSAGES = 40,
    BYTES = 100, /* of a message, at most */
    PAIRS = 16,  /* connections of a run, at most */
    LIMIT_S = 20,
    SHORT_IN = 3, /* without PGAS_TEST_LONG one row in so many is run */
    SPACE = 4096,
};

enum fault_kind { FLIP, DROP, REPEAT, SWAP, SHORTEN, CUT, KINDS };
static const char *const kind_name[] = {"flipped", "dropped",   "repeated",
                                        "swapped", "shortened", "cut"};

/* The messages of each direction: those of the handshake, then frames. */
enum direction { FORWARD, BACK, DIRECTIONS }; /* FORWARD: from the connector */
static const unsigned handshake[] = {[FORWARD] = 1, [BACK] = 2};
static const unsigned units[] = {[FORWARD] = 1 + MESSAGES, [BACK] = 2 + 3};

static struct fault {
    enum direction direction;
    unsigned unit;
    enum fault_kind kind;
    bool done;
    uint32_t byte; /* that was flipped */
} fault;

struct stream {
    int from, to;
    unsigned unit;     /* number of the next one */
    struct seal *seal; /* NULL before the end of the handshake */
    size_t frame;      /* length of the frame that begins the buffer; 0: unknown */
    size_t have, held; /* bytes in the buffer; of a unit that was taken out */
    bool raw;          /* the fault has happened: all is passed on */
    uint8_t buffer[SPACE], hold[SPACE];
};

static struct pair {
    bool open;
    struct ft_hello hello;
    struct ft_proof proof;
    struct stream stream[DIRECTIONS];
} pairs[PAIRS];

static struct agent {
    struct ft_mesh *mesh;
    struct ft_endpoint endpoint[2];
    uint32_t node;
} agents[2];

static const uint8_t secret[FT_SECRET] = "a key that the agents know",
                     other_secret[FT_SECRET] = "another key";
static struct ft_address real; /* of agent 1 */
static struct ft_proof recorded;
static int listener, npairs;
static unsigned arrived, forged, closed;
static uint64_t state;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "mesh_proxy: %s %u %s: %s (%u of %d messages, %d connections)\n",
            fault.direction == FORWARD ? "forward" : "back", fault.unit,
            kind_name[fault.kind], what, arrived, MESSAGES, npairs);
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

/* ---- the proxy ----------------------------------------------------------------------
 */

static struct sockaddr_in address_of(const struct ft_address *a)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(a->port)};

    memcpy(&in.sin_addr, a->ip, sizeof in.sin_addr);
    return in;
}

static void proxy_open(struct ft_endpoint *at)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    socklen_t len = sizeof in;

    in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(listener, (const void *)&in, sizeof in) != 0 || listen(listener, 16) != 0 ||
        getsockname(listener, (void *)&in, &len) != 0)
        fail("no proxy");
    *at = (struct ft_endpoint){.address = {{AF_INET, ntohs(in.sin_port), {0}, 0}}};
    memcpy(at->address[0].ip, &in.sin_addr, sizeof in.sin_addr);
}

static void pair_close(struct pair *p)
{
    if (!p->open)
        return;
    p->open = false;
    close(p->stream[FORWARD].from);
    close(p->stream[FORWARD].to);
    for (int d = 0; d < DIRECTIONS; d++)
        seal_free(p->stream[d].seal);
}

static void proxy_accept(void)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct sockaddr_in in = address_of(&real);

    if (fd < 0)
        return;
    if (npairs == PAIRS)
        fail("too many connections");
    struct pair *p = &pairs[npairs++];
    int to = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(to, (const void *)&in, sizeof in) != 0)
        fail("cannot connect");
    fcntl(to, F_SETFL, O_NONBLOCK);
    *p = (struct pair){.open = true};
    p->stream[FORWARD] = (struct stream){.from = fd, .to = to};
    p->stream[BACK] = (struct stream){.from = to, .to = fd};
}

/* The connection may have been closed by its other end. */
static void pass(const struct stream *s, const uint8_t *bytes, size_t n)
{
    (void)!send(s->to, bytes, n, MSG_NOSIGNAL);
}

/* The length of the unit that begins the buffer; 0: not yet known. */
static size_t unit_length(struct pair *p, enum direction d)
{
    struct stream *s = &p->stream[d];
    struct ft_frame head;
    const uint8_t part = FT_PART_HEAD;

    if (s->unit < handshake[d])
        return d == FORWARD   ? sizeof p->proof
               : s->unit == 0 ? sizeof p->hello
                              : sizeof(struct ft_reply);
    if (s->frame > 0 || s->have < FT_HEAD_WIRE)
        return s->frame;
    if (s->seal == NULL)
        s->seal = seal_new(secret, FT_MESH_PROTOCOL, p->hello.challenge,
                           p->proof.challenge, d == FORWARD);
    if (s->seal == NULL || !seal_decrypt(s->seal, &part, 1, s->buffer, sizeof head, &head,
                                         s->buffer + sizeof head))
        fail("the proxy cannot read a frame");
    s->frame = FT_HEAD_WIRE + (head.len > 0 ? head.len + SEAL_TAG : 0);
    return s->frame;
}

/* Keeps the seal of the proxy in step. */
static void unit_skip(struct pair *p, enum direction d)
{
    struct stream *s = &p->stream[d];
    uint8_t bytes[SPACE];
    const uint8_t part = FT_PART_BODY;

    if (s->unit == 0 && d == BACK)
        memcpy(&p->hello, s->buffer, sizeof p->hello);
    if (s->unit == 0 && d == FORWARD)
        memcpy(&p->proof, s->buffer, sizeof p->proof);
    if (s->unit < handshake[d] || s->frame == FT_HEAD_WIRE)
        return;
    size_t n = s->frame - FT_HEAD_WIRE - SEAL_TAG;
    if (!seal_decrypt(s->seal, &part, 1, s->buffer + FT_HEAD_WIRE, n, bytes,
                      s->buffer + FT_HEAD_WIRE + n))
        fail("the proxy cannot read the body of a frame");
}

static void unit_damage(struct pair *p, struct stream *s, size_t n)
{
    uint32_t bit = draw((uint32_t)n * 8);

    fault.done = s->raw = true;
    fault.byte = bit / 8;
    switch (fault.kind) {
    case FLIP:
        s->buffer[bit / 8] ^= (uint8_t)(1 << bit % 8);
        pass(s, s->buffer, n);
        break;
    case REPEAT:
        pass(s, s->buffer, n);
        pass(s, s->buffer, n);
        break;
    case SWAP:
        memcpy(s->hold, s->buffer, n);
        s->held = n;
        s->raw = false;
        break;
    case SHORTEN:
        pass(s, s->buffer, n / 2);
        break;
    case CUT:
        pass(s, s->buffer, n / 2);
        pair_close(p);
        break;
    default:
        break;
    }
}

static void unit_pass(struct pair *p, enum direction d, size_t n)
{
    struct stream *s = &p->stream[d];

    unit_skip(p, d);
    if (!fault.done && d == fault.direction && s->unit == fault.unit) {
        unit_damage(p, s, n);
    } else {
        pass(s, s->buffer, n);
        pass(s, s->hold, s->held);
        s->raw = s->held > 0;
        s->held = 0;
    }
    s->unit++;
    s->frame = 0;
    s->have -= n;
    memmove(s->buffer, s->buffer + n, s->have);
}

static void stream_pump(struct pair *p, enum direction d)
{
    struct stream *s = &p->stream[d];
    ssize_t got = recv(s->from, s->buffer + s->have, SPACE - s->have, 0);
    size_t n;

    if (got == 0)
        pair_close(p);
    if (got <= 0)
        return;
    s->have += (size_t)got;
    while (p->open && !s->raw && (n = unit_length(p, d)) > 0 && s->have >= n)
        unit_pass(p, d, n);
    if (!p->open || !s->raw)
        return;
    pass(s, s->buffer, s->have);
    s->have = 0;
}

static void proxy_step(void)
{
    proxy_accept();
    for (int i = 0; i < npairs; i++)
        for (int d = 0; d < DIRECTIONS; d++)
            if (pairs[i].open)
                stream_pump(&pairs[i], (enum direction)d);
}

/* ---- the agents ---------------------------------------------------------------------
 */

static void on_message(void *arg, uint32_t node, uint32_t tag, const void *bytes,
                       size_t n)
{
    const struct agent *a = arg;

    if (a->node != 1 || node != 0 || tag != arrived || n != 1 + tag * 7 % BYTES)
        fail("a message is lost, repeated or late");
    for (size_t i = 0; i < n; i++)
        if (((const uint8_t *)bytes)[i] != (uint8_t)(tag + i))
            fail("a message is damaged");
    arrived++;
}

static void on_closed(void *arg, uint32_t node)
{
    (void)arg, (void)node;
    closed++;
}

static void on_failed(void *arg, uint32_t node, size_t bytes, size_t limit)
{
    (void)arg, (void)node, (void)bytes, (void)limit;
    fail("a queue overflows");
}

static void on_forged(void *arg, uint32_t node)
{
    (void)arg, (void)node;
    forged++;
}

static void agent_open(struct agent *a, uint32_t node, const uint8_t *key)
{
    struct ft_endpoint own = {.domain = 0};
    struct ft_mesh_job job = {.node = node,
                              .nnodes = 2,
                              .attempt_ms = 200,
                              .probe_ns = 200000,
                              .secret = key,
                              .endpoint = a->endpoint,
                              .message = on_message,
                              .closed = on_closed,
                              .failed = on_failed,
                              .forged = on_forged,
                              .arg = a};
    char why[256];

    a->node = node;
    a->mesh = ft_mesh_open("lo", &own, why, sizeof why);
    a->endpoint[node] = own;
    if (a->mesh == NULL || !ft_mesh_join(a->mesh, &job))
        fail("no mesh");
}

/* Agent 0 knows the proxy as the address of agent 1. */
static void open_all(const uint8_t *key_0)
{
    arrived = forged = closed = 0;
    npairs = 0;
    proxy_open(&agents[0].endpoint[1]);
    agent_open(&agents[0], 0, key_0);
    agent_open(&agents[1], 1, secret);
    agents[1].endpoint[0] = agents[0].endpoint[0];
    real = agents[1].endpoint[1].address[0];
    if (real.family != AF_INET)
        fail("the loopback interface has no IPv4 address");
}

static void close_all(void)
{
    for (int i = 0; i < npairs; i++)
        pair_close(&pairs[i]);
    for (int i = 0; i < 2; i++)
        ft_mesh_close(agents[i].mesh);
    close(listener);
}

static void send_message(uint32_t number)
{
    uint8_t bytes[BYTES + 1];
    size_t n = 1 + number * 7 % BYTES;

    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(number + i);
    ft_mesh_send(agents[0].mesh, 1, number, bytes, n);
}

static void step_all(void)
{
    struct pollfd fd[2 + 1 + 2 * PAIRS] = {
        {.fd = ft_mesh_fd(agents[0].mesh), .events = POLLIN},
        {.fd = ft_mesh_fd(agents[1].mesh), .events = POLLIN},
        {.fd = listener, .events = POLLIN}};
    nfds_t n = 3;

    for (int i = 0; i < npairs; i++)
        for (int d = 0; d < DIRECTIONS && pairs[i].open; d++)
            fd[n++] = (struct pollfd){.fd = pairs[i].stream[d].from, .events = POLLIN};
    poll(fd, n, 1);
    for (int i = 0; i < 2; i++)
        ft_mesh_step(agents[i].mesh, now_ns());
    proxy_step();
}

/* ---- the cases ----------------------------------------------------------------------
 */

/* A frame, or the reply that ends the handshake, if it looks like one.  Other messages of
 * the handshake may come from anybody who connects. */
static bool must_be_reported(void)
{
    if (fault.unit >= handshake[fault.direction])
        return fault.kind != CUT;
    return fault.direction == BACK && fault.unit == 1 && fault.kind == FLIP &&
           fault.byte >= sizeof "pgasft" - 1;
}

/* All messages arrive and are acknowledged.  The connection with the fault is closed, and
 * another one serves a last message. */
static void run(void)
{
    uint64_t end = now_ns() + LIMIT_S * UINT64_C(1000000000);
    uint32_t sent = 0;

    open_all(secret);
    while (sent < MESSAGES || arrived < sent || agents[0].mesh->peer[1].have > 0 ||
           (fault.done && sent == MESSAGES)) {
        if (fault.done && sent == MESSAGES && !pairs[0].open)
            send_message(sent++);
        for (uint32_t n = draw(4); n > 0 && sent < MESSAGES; n--)
            send_message(sent++);
        step_all();
        if (now_ns() > end)
            fail("messages do not arrive");
    }
    if (fault.done && npairs < 2)
        fail("the agents have not connected again");
    if (fault.done && must_be_reported() && forged == 0)
        fail("a message that is not authentic is not reported");
    recorded = pairs[0].proof;
    close_all();
}

/* In the handshake an agent waits for what does not come. */
static bool is_slow(const struct fault *f)
{
    return f->unit < handshake[f->direction] &&
           (f->kind == DROP || f->kind == SWAP || f->kind == SHORTEN);
}

static void run_faults(void)
{
    bool all = getenv("PGAS_TEST_LONG") != NULL;
    unsigned rows = 0, reached = 0;

    for (int d = 0; d < DIRECTIONS; d++)
        for (unsigned unit = 0; unit < units[d]; unit++)
            for (int kind = 0; kind < KINDS; kind++) {
                fault = (struct fault){(enum direction)d, unit, (enum fault_kind)kind,
                                       false, 0};
                if (!all &&
                    (is_slow(&fault) || (unit >= handshake[d] && draw(SHORT_IN) != 0)))
                    continue;
                run();
                rows++;
                reached += fault.done;
            }
    printf("rows %u, outcomes %u, faults that happened %u\n", rows, rows, reached);
    if (reached < rows * 9 / 10)
        fail("too few faults have happened");
}

/* What a connector has sent once proves nothing to a listener later. */
static void check_replay(void)
{
    struct ft_hello hello;
    struct sockaddr_in in;
    uint8_t byte;
    uint64_t end = now_ns() + LIMIT_S * UINT64_C(1000000000);

    open_all(secret);
    in = address_of(&real);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (const void *)&in, sizeof in) != 0)
        fail("cannot connect");
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (recv(fd, &hello, sizeof hello, 0) != (ssize_t)sizeof hello && now_ns() < end)
        step_all();
    if (send(fd, &recorded, sizeof recorded, MSG_NOSIGNAL) != (ssize_t)sizeof recorded)
        fail("cannot send");
    ssize_t got;
    while ((got = recv(fd, &byte, 1, 0)) < 0 && now_ns() < end)
        step_all();
    if (got != 0 || agents[1].mesh->peer[0].up != NULL)
        fail("a proof that is replayed is accepted");
    close(fd);
    close_all();
}

static void check_secret(void)
{
    open_all(other_secret);
    send_message(0);
    uint64_t end = now_ns() + LIMIT_S * UINT64_C(1000000000);
    while (npairs < 4 && now_ns() < end)
        step_all();
    if (npairs < 4 || closed == 0)
        fail("an agent with another secret does not try again");
    if (arrived > 0 || forged > 0 || agents[0].mesh->peer[1].up != NULL)
        fail("an agent with another secret is accepted");
    close_all();
}

int main(int argc, char **argv)
{
    state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    run_faults();
    fault = (struct fault){.unit = UINT32_MAX};
    run(); /* records a proof */
    check_replay();
    check_secret();
    return 0;
}
