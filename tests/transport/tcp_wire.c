/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_wire.c - writes bytes to the sockets of the tcp transport: a malformed request or
 * reply ends its connection with one message and changes no memory, requests may arrive
 * byte by byte, and other connections keep working.  Notifications are acknowledged at
 * once or late, as tcp.h says.  The handshake has a test of its own, tcp_handshake.
 * usage: tcp_wire [CASE]
 * Uses: tcp_raw.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/transport/tcp_raw.h"

enum { A, B, WORD = 5, MARK = 0x5a5a, WAIT_MS = 20000, BYTES_MAX = 4096 };

static struct pair pair;
static int rejected; /* malformed messages that were reported so far */

static struct raw raw_to_b(void)
{
    return (struct raw){.pair = &pair, .endpoint = raw_endpoint_of(&pair, B)};
}

static void send_bytes(int fd, const void *from, size_t len)
{
    raw_send(&(struct raw){.pair = &pair, .fd = fd}, from, len);
}

/* Receive len bytes while B makes progress; returns what came before the end. */
static size_t receive(int fd, void *to, size_t len)
{
    return raw_receive(&(struct raw){.pair = &pair, .fd = fd}, to, len);
}

/* An authenticated connection from A to B. */
static int connect_as_a(void)
{
    struct raw r = raw_to_b();

    raw_open_initiator(&r);
    return r.fd;
}

static void mark(void)
{
    for (unsigned i = 0; i < PAIR_WORDS; i++)
        pair.heap[B][i] = MARK;
}

static void check_unchanged(const char *what)
{
    for (unsigned i = 0; i < PAIR_WORDS; i++)
        CHECK(pair.heap[B][i] == MARK, "%s: word %u was changed", what, i);
}

static void check_closed(int fd, const char *what)
{
    unsigned char byte;

    CHECK(receive(fd, &byte, 1) == 0, "%s: the connection is still open", what);
    close(fd);
}

/* ---- the cases --------------------------------------------------------------------- */

/* More connections than B keeps that send nothing: the oldest are closed. */
static void silent_connections(void)
{
    enum { MORE = 550 };
    static int fd[MORE];
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int i = 0; i < MORE; i++) {
        struct raw r = raw_to_b();
        raw_connect(&r);
        fd[i] = r.fd;
        pair_progress(&pair);
    }
    pair_check_works(&pair);
    check_closed(fd[0], "the oldest silent connection");
    for (int i = 1; i < MORE; i++)
        close(fd[i]);
}

/* A request and a body that must be rejected. */
static void is_rejected(const char *what, struct tcp_request request, const void *body,
                        size_t len)
{
    int fd = connect_as_a();

    mark();
    send_bytes(fd, &request, sizeof request);
    if (len > 0)
        send_bytes(fd, body, len);
    pair_until_failed(&pair, B, ++rejected, what);
    CHECK(strstr(pair.message[B], "malformed request") != NULL, "%s: the message is '%s'",
          what, pair.message[B]);
    check_closed(fd, what);
    check_unchanged(what);
}

static struct tcp_request request_of(enum tcp_request_kind kind, unsigned flags,
                                     uint64_t offset, uint64_t len)
{
    struct tcp_request r = {.kind = (uint8_t)kind,
                            .segment = SEGMENT_HEAP,
                            .op = TRANSPORT_AMO_ADD,
                            .flags = (uint8_t)flags};

    tcp_request_set(&r, offset, len);
    return r;
}

/* The first offset of a run of `len` bytes of records is `offset`. */
static void run_is_rejected(const char *what, enum tcp_request_kind kind, unsigned flags,
                            uint64_t offset, uint64_t len)
{
    const struct tcp_record record[2] = {{.offset = offset}, {.offset = offset}};
    struct tcp_request r = request_of(kind, flags, 0, len);

    is_rejected(what, r, record, len < sizeof record ? len : sizeof record);
    r.op = TRANSPORT_AMO_COMPARE_SWAP;
    if (kind == TCP_AMO_RUN)
        is_rejected("a run of compare-and-swaps", r, record, sizeof record);
    r.op = TRANSPORT_AMO_ADD;
    r.segment = SEGMENTS;
    is_rejected("a run on an unknown segment", r, record,
                len < sizeof record ? len : sizeof record);
}

static void requests(void)
{
    static const unsigned char zero[BYTES_MAX];
    const uint64_t heap = sizeof pair.heap[B],
                   high = (UINT64_C(1) << TCP_OFFSET_BITS) - 8;
    const unsigned word = TCP_ACKED | TCP_LONG;
    struct tcp_request r = request_of(TCP_REQUESTS, TCP_ACKED, 0, 8);
    struct {
        struct tcp_signal signal;
        uint64_t payload;
    } body = {.signal = {.offset = heap, .segment = SEGMENT_HEAP}};

    is_rejected("an unknown kind", r, NULL, 0);
    is_rejected("a put behind the heap", request_of(TCP_PUT, 1, heap - 7, 8), zero, 8);
    is_rejected("a put far behind the heap", request_of(TCP_PUT, 1, high, 8), zero, 8);
    is_rejected("a put that is too long",
                request_of(TCP_PUT, 1, 8, UINT64_C(1) << TCP_OFFSET_BITS >> 1), zero, 64);
    r = request_of(TCP_PUT, 1, 0, 8);
    r.segment = SEGMENT_DATA;
    is_rejected("a put to a segment without memory", r, zero, 8);
    r.segment = SEGMENTS;
    is_rejected("a put to an unknown segment", r, zero, 8);
    is_rejected("a get behind the heap", request_of(TCP_GET, 0, heap, 1), NULL, 0);
    is_rejected("an unaligned atomic", request_of(TCP_AMO, word, 4, 8), zero, 16);
    is_rejected("an atomic of 4 bytes that has 8", request_of(TCP_AMO, word, 8, 4), zero,
                16);
    r = request_of(TCP_AMO, word, 8, 8);
    r.op = TRANSPORT_AMO_OPS;
    is_rejected("an unknown atomic", r, zero, 16);
    r = request_of(TCP_PUT_SIGNAL, word, 8, 8);
    is_rejected("a signal behind the heap", r, &body, sizeof body);
    r.op = TRANSPORT_AMO_XOR;
    body.signal.offset = 8;
    is_rejected("a signal that is not set or add", r, &body, sizeof body);
    run_is_rejected("a run of puts without words", TCP_PUT_RUN, word, 0, 0);
    run_is_rejected("a run of puts with half a record", TCP_PUT_RUN, word, 0, 24);
    run_is_rejected("a run of puts behind the heap", TCP_PUT_RUN, word, heap - 7, 16);
    run_is_rejected("a run of gets with half a record", TCP_GET_RUN, word, 0, 12);
    run_is_rejected("a run of gets far behind the heap", TCP_GET_RUN, word, high, 8);
    run_is_rejected("a run of unaligned atomics", TCP_AMO_RUN, word, 4, 16);
    run_is_rejected("a run that is too long", TCP_AMO_RUN, word, 8, TCP_BLOCKS_MAX + 16);
    is_rejected("blocks without vectors", request_of(TCP_PUT_BLOCKS, 1, 1, 8), zero, 8);
    is_rejected("blocks that are too long",
                request_of(TCP_PUT_BLOCKS, 1, 1, TCP_BLOCKS_MAX + 1), NULL, 0);
    is_rejected("a get of blocks that are too long",
                request_of(TCP_GET_BLOCKS, 0, TCP_BLOCKS_MAX + 1, 0), NULL, 0);
}

/* All requests in one stream that arrives byte by byte. */
static void slowly(void)
{
    unsigned char stream[BYTES_MAX], reply[TCP_HEAD + 8];
    const uint64_t value = 77;
    const struct tcp_operands one = {.operand = 1};
    const struct tcp_signal signal = {
        .offset = 3 * sizeof value, .operand = 5, .segment = SEGMENT_HEAP};
    const struct tcp_request list[] = {
        request_of(TCP_PUT, TCP_ACKED, sizeof value, sizeof value),
        request_of(TCP_AMO, TCP_ACKED | TCP_LONG, sizeof value, sizeof value),
        request_of(TCP_PUT_SIGNAL, TCP_LONG, 2 * sizeof value, sizeof value),
        request_of(TCP_GET, 0, sizeof value, sizeof value)};
    const void *body[] = {&value, &one, &signal, &value};
    const size_t len[] = {sizeof value, sizeof one, sizeof signal, 0};
    size_t n = 0;
    struct tcp_reply head;
    int fd = connect_as_a();

    mark();
    for (int i = 0; i < 4; i++) {
        memcpy(stream + n, &list[i], sizeof list[i]);
        memcpy(stream + n + sizeof list[i], body[i], len[i]);
        n += sizeof list[i] + len[i];
        if (i == 2) {
            memcpy(stream + n, &value, sizeof value);
            n += sizeof value;
        }
    }
    for (size_t i = 0; i < n; i++) {
        send_bytes(fd, stream + i, 1);
        pair_progress(&pair);
    }
    do /* acknowledgements come first */
        CHECK(receive(fd, &head, sizeof head) == sizeof head, "no reply");
    while (head.kind == TCP_ACK);
    CHECK(head.kind == TCP_DATA && head.len == sizeof value && head.acked == 2,
          "reply of kind %u, %llu bytes, %u acknowledged", head.kind,
          (unsigned long long)head.len, head.acked);
    CHECK(receive(fd, reply, sizeof value) == sizeof value &&
              memcmp(reply, &pair.heap[B][1], sizeof value) == 0,
          "the get has other bytes");
    CHECK(pair.heap[B][1] == value + 1 && pair.heap[B][2] == value &&
              pair.heap[B][3] == MARK + 5 && pair.heap[B][0] == MARK,
          "the requests have other effects");
    close(fd);
}

/* Receive a reply with data, after acknowledgements. */
static void receive_data(int fd, enum tcp_reply_kind kind, void *to, size_t len)
{
    struct tcp_reply head;

    do
        CHECK(receive(fd, &head, sizeof head) == sizeof head, "no reply");
    while (head.kind == TCP_ACK);
    CHECK(head.kind == (uint32_t)kind && head.len == len, "reply of kind %u, %llu bytes",
          head.kind, (unsigned long long)head.len);
    CHECK(receive(fd, to, len) == len, "the reply ends early");
}

/* Runs of puts and fetching additions of 4 bytes, of xors and gets of 8 bytes: words next
 * to them keep their values.  The stream arrives byte by byte. */
static void runs(void)
{
    enum { BITS = 12 };
    struct {
        struct tcp_request put;
        struct tcp_record put_record[3];
        struct tcp_request add;
        struct tcp_record add_record[2];
        struct tcp_request flip;
        struct tcp_record flip_record[BITS];
        struct tcp_request get;
        uint64_t offset[3];
    } stream = {
        request_of(TCP_PUT_RUN, TCP_ACKED, 0, sizeof stream.put_record),
        {{8, 70}, {16, 71}, {20, 72}},
        request_of(TCP_AMO_RUN, TCP_RESULT, 0, sizeof stream.add_record),
        {{8, 5}, {20, 6}},
        request_of(TCP_AMO_RUN, TCP_ACKED | TCP_LONG, 0, sizeof stream.flip_record),
        {{0, 0}},
        request_of(TCP_GET_RUN, TCP_LONG, 0, sizeof stream.offset),
        {16, 0, 8}};
    uint32_t old[2];
    uint64_t got[3];
    int fd = connect_as_a();

    stream.flip.op = TRANSPORT_AMO_XOR;
    for (unsigned i = 0; i < BITS; i++)
        stream.flip_record[i] = (struct tcp_record){24, UINT64_C(1) << i};
    mark();
    for (size_t i = 0; i < sizeof stream; i++) {
        send_bytes(fd, (const char *)&stream + i, 1);
        pair_progress(&pair);
    }
    receive_data(fd, TCP_DATA_RUN, old, sizeof old);
    receive_data(fd, TCP_DATA_RUN, got, sizeof got);
    CHECK(old[0] == 70 && old[1] == 72, "old values: %u, %u", old[0], old[1]);
    CHECK(got[0] == (UINT64_C(78) << 32 | 71) && got[1] == MARK && got[2] == 75,
          "words: %llx, %llx, %llx", (unsigned long long)got[0],
          (unsigned long long)got[1], (unsigned long long)got[2]);
    CHECK(pair.heap[B][3] == (MARK ^ ((1u << BITS) - 1)) && pair.heap[B][4] == MARK,
          "words: %llx, %llx", (unsigned long long)pair.heap[B][3],
          (unsigned long long)pair.heap[B][4]);
    close(fd);
}

/* ---- replies: the listener of B is replaced by one of this file -------------------- */

static int false_listen(void)
{
    uint32_t port = 0;
    int fd = raw_listen(1, &port);

    raw_false = raw_endpoint_of(&pair, B);
    raw_false.port = port;
    return fd;
}

/* A gets 8 bytes from the false B, which answers so. */
static void reply_is_rejected(const struct tcp_reply *reply)
{
    struct transport_completion done = {.pending = 1};
    const struct transport_symaddr from = {.pe = B};
    const uint64_t data[8] = {0};
    struct raw r = {.pair = &pair};
    uint64_t got = MARK;

    pair_open(&pair, &transport_tcp, NULL, 5000);
    pair.world[A].address_of = raw_false_address;
    int listener = false_listen();
    r.endpoint = raw_false;
    CHECK(pair.t->ctx_open(pair.net[A], &r.ctx) == 0, "no context");
    CHECK(pair.t->get(r.ctx, &got, &from, sizeof got, &done) == 0, "a get was refused");
    raw_accept(&r, listener);
    raw_open_target(&r);
    raw_send(&r, reply, sizeof *reply);
    raw_send(&r, data, sizeof data);
    for (uint64_t end = pair_now_ms() + WAIT_MS; done.pending != 0;) {
        CHECK(pair_now_ms() < end, "the get is still outstanding");
        pair.t->progress(r.ctx);
    }
    CHECK(done.error < 0 && got == MARK, "the get has succeeded");
    CHECK(pair.failures[A] == 1 && pair.failed_pe[A] == B, "not reported");
    const char *text =
        reply->kind == TCP_WELCOME ? "handshake came twice" : "malformed reply";
    CHECK(strstr(pair.message[A], text) != NULL, "the message is '%s'", pair.message[A]);
    CHECK(pair.t->quiet(r.ctx) == 0 && pair.t->pending(r.ctx, NULL) == 0,
          "operations are pending");
    close(r.fd);
    close(listener);
    pair.t->ctx_close(r.ctx);
    pair_close(&pair);
}

static void replies(void)
{
    static const struct tcp_reply malformed[] = {
        {TCP_DATA, 0, 9},          {TCP_ACK, 1, 0},
        {TCP_REPLIES, 0, 8},       {TCP_WELCOME, 0, 0},
        {TCP_DATA, 0, UINT64_MAX}, {TCP_DATA_RUN, 0, 0},
        {TCP_DATA_RUN, 0, 4},      {TCP_DATA_RUN, 0, UINT64_MAX}};

    pair_close(&pair);
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++)
        reply_is_rejected(&malformed[i]);
    pair_open(&pair, &transport_tcp, NULL, 5000);
}

/* ---- connections that end while nothing is outstanding ----------------------------- */

/* The false B accepts A's connection and reads its first request of `len` bytes; it
 * acknowledges `acked` requests. */
static int false_serve(struct transport_ctx *ctx, int listener, size_t len,
                       uint32_t acked)
{
    const struct tcp_reply ack = {.kind = TCP_ACK, .acked = acked};
    struct raw r = {.pair = &pair, .ctx = ctx, .endpoint = raw_false};
    unsigned char bytes[BYTES_MAX];

    raw_accept(&r, listener);
    raw_open_target(&r);
    CHECK(raw_receive(&r, bytes, len) == len, "no request");
    if (acked > 0)
        raw_send(&r, &ack, sizeof ack);
    return r.fd;
}

static void put_word(struct transport_ctx *ctx)
{
    const struct transport_symaddr to = {.pe = B};
    const uint64_t word = MARK;

    CHECK(pair.t->put(ctx, &to, &word, sizeof word, NULL) == 0, "a put was refused");
}

static void quiet_of(struct transport_ctx *ctx)
{
    const uint64_t end = pair_now_ms() + WAIT_MS;

    while (pair.t->quiet(ctx) != 0) {
        CHECK(pair_now_ms() < end, "quiet does not return");
        pair.t->progress(ctx);
    }
}

/* A connects again after its connection has ended while nothing was outstanding; after an
 * unacknowledged put with signal a reset is a failure. */
static void idle_connections(void)
{
    const struct transport_symaddr to = {.pe = B};
    const struct transport_signal signal = {.at = {.pe = B, .offset = 8},
                                            .op = TRANSPORT_AMO_ADD,
                                            .size = 8,
                                            .unacked = true};
    const struct linger reset = {.l_onoff = 1}; /* close resets the connection */
    struct transport_ctx *ctx;

    pair.world[A].address_of = raw_false_address;
    int listener = false_listen();
    CHECK(pair.t->ctx_open(pair.net[A], &ctx) == 0, "no context");
    for (int i = 0; i < 3; i++) {
        put_word(ctx);
        int fd = false_serve(ctx, listener, TCP_HEAD + 8, 1);
        quiet_of(ctx);
        close(fd);
        while (ctx->peer[B]->state == TCP_PEER_OPEN)
            pair.t->progress(ctx);
        CHECK(pair.failures[A] == 0, "the end of an idle connection is reported");
    }
    CHECK(pair.t->put_signal(ctx, &to, NULL, 0, &signal, NULL) == 0, "refused");
    int fd = false_serve(ctx, listener, TCP_HEAD + sizeof(struct tcp_signal), 0);
    quiet_of(ctx);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fd);
    for (uint64_t end = pair_now_ms() + WAIT_MS; pair.failures[A] == 0;) {
        CHECK(pair_now_ms() < end, "the loss of a signal is not reported");
        pair.t->progress(ctx);
    }
    CHECK(pair.t->quiet_all(ctx) == 0 && pair.t->pending(ctx, NULL) == 0,
          "operations on a failed peer are pending");
    close(listener);
    pair.t->ctx_close(ctx);
    pair_close(&pair);
    pair_open(&pair, &transport_tcp, NULL, 5000);
}

/* ---- requests before the welcome ----------------------------------------------------
 */

/* The false B receives a request of `n` words, which is a run if n > 1. */
static void receive_words(const struct raw *r, uint64_t n)
{
    const uint64_t record = sizeof(struct tcp_record);
    unsigned char body[BYTES_MAX];
    struct tcp_request head;
    uint64_t len = n > 1 ? n * record : sizeof(uint64_t);

    CHECK(raw_receive(r, &head, sizeof head) == sizeof head, "no request");
    CHECK(head.kind == (n > 1 ? TCP_PUT_RUN : TCP_PUT) && tcp_request_len(&head) == len,
          "request of kind %u and %llu bytes, expected %llu words", head.kind,
          (unsigned long long)tcp_request_len(&head), (unsigned long long)n);
    CHECK(raw_receive(r, body, len) == len, "the request ends early");
}

/* No request is sent before the welcome: the target could perform it, and the connection
 * be closed and the request repeated on another one. */
static void early_requests(void)
{
    const struct tcp_reply ack = {.kind = TCP_ACK, .acked = 3};
    struct raw r = {.pair = &pair};
    unsigned char byte;

    pair.world[A].address_of = raw_false_address;
    int listener = false_listen();
    r.endpoint = raw_false;
    CHECK(pair.t->ctx_open(pair.net[A], &r.ctx) == 0, "no context");
    for (int i = 0; i < 3; i++)
        put_word(r.ctx);
    raw_accept(&r, listener);
    raw_receive_hello(&r);
    const struct tcp_challenge challenge = raw_challenge(&r);
    raw_send(&r, &challenge, sizeof challenge);
    raw_receive_proof(&r);
    CHECK(pair.t->quiet(r.ctx) == -EAGAIN, "quiet returns before the welcome");
    CHECK(recv(r.fd, &byte, 1, MSG_DONTWAIT) < 0, "something is sent before the welcome");
    raw_send_welcome(&r);
    receive_words(&r, 1);
    receive_words(&r, 2);
    raw_send(&r, &ack, sizeof ack);
    quiet_of(r.ctx);
    close(r.fd);
    close(listener);
    pair.t->ctx_close(r.ctx);
    pair_close(&pair);
    pair_open(&pair, &transport_tcp, NULL, 5000);
}

/* ---- delayed acknowledgements ------------------------------------------------------ */

enum { PROMPT_FIRST = 7, BURST = 40, POLLS = 8, LONG_PUT = 8192 };

enum notification { PUT_SIGNAL, FENCED_PUT, FENCED_ADD };

/* A adds 1 to a word of B (FENCED_PUT: stores the next value), in a way after which the
 * acknowledgement may be delayed. */
static void post_notification(enum notification how, uint64_t value)
{
    const struct transport_symaddr to = {.pe = B}, word = {.pe = B, .offset = 8 * WORD};
    const struct transport_signal signal = {
        .at = word, .op = TRANSPORT_AMO_ADD, .operand = 1, .size = 8};
    const struct transport_amo add = {.op = TRANSPORT_AMO_ADD, .operand = 1, .size = 8};
    struct transport_ctx *ctx = pair.ctx[A];
    const uint64_t mark = MARK;
    int error = how == PUT_SIGNAL ? 0 : pair.t->fence(ctx);

    if (how == PUT_SIGNAL)
        error = pair.t->put_signal(ctx, &to, &mark, sizeof mark, &signal, NULL);
    else if (how == FENCED_PUT)
        error = pair.t->put(ctx, &word, &value, sizeof value, NULL);
    else
        error = pair.t->amo(ctx, &word, &add, NULL);
    CHECK(error == 0, "notification %d was refused", how);
}

/* Notifies B, which makes no progress after it has been notified. */
static void notify(enum notification how, int times)
{
    const uint64_t was = pair.heap[B][WORD], want = was + (uint64_t)times;

    for (int i = 1; i <= times; i++)
        post_notification(how, was + (uint64_t)i);
    PAIR_UNTIL(&pair, pair.heap[B][WORD] == want, "a notification");
}

static uint64_t unacknowledged(void)
{
    for (int i = 0; i < POLLS; i++)
        pair.t->progress(pair.ctx[A]);
    return pair.t->pending(pair.ctx[A], NULL);
}

/* Until A has at most `most` unacknowledged operations, without progress of B. */
static void await_acknowledged(uint64_t most, const char *what)
{
    const uint64_t end = pair_now_ms() + WAIT_MS;

    while (unacknowledged() > most)
        CHECK(pair_now_ms() < end, "not acknowledged: %s", what);
}

static void expect_prompt_first(enum notification how)
{
    for (int i = 0; i < PROMPT_FIRST; i++) {
        notify(how, 1);
        await_acknowledged(0, "one of the first notifications after a quiet");
    }
    notify(how, 1);
    CHECK(unacknowledged() == 1, "notification %d is acknowledged at once", how);
}

/* Quiet of A.  B makes progress only if it has received something, so that it is never
 * idle. */
static void quiet_without_idle(int (*quiet)(struct transport_ctx *ctx))
{
    struct pollfd of_b = {.fd = pair.t->fd(pair.ctx[B]), .events = POLLIN};
    const uint64_t end = pair_now_ms() + WAIT_MS;

    while (quiet(pair.ctx[A]) != 0) {
        CHECK(pair_now_ms() < end, "quiet waits until the target is idle");
        pair.t->progress(pair.ctx[A]);
        if (poll(&of_b, 1, 0) == 1)
            pair.t->progress(pair.ctx[B]);
    }
}

/* A put after a notification without acknowledgement leaves at once and is acknowledged
 * at once, also if it is a long one after a fence. */
static void expect_prompt_put(size_t len)
{
    static uint64_t from[LONG_PUT / sizeof(uint64_t)];
    const struct transport_symaddr to = {.pe = B};
    const size_t last = len / sizeof(uint64_t) - 1;

    from[last] = MARK;
    pair.heap[B][last] = 0;
    CHECK(pair.t->put(pair.ctx[A], &to, from, len, NULL) == 0, "a put was refused");
    CHECK(pair.ctx[A]->peer[B]->stream.out.unsent == 0, "a put of %zu is queued", len);
    PAIR_UNTIL(&pair, pair.heap[B][last] == MARK, "a put");
    await_acknowledged(0, "a put");
}

static void delayed_acknowledgements(void)
{
    quiet_of(pair.ctx[A]);
    expect_prompt_first(PUT_SIGNAL);
    expect_prompt_put(sizeof(uint64_t));

    notify(PUT_SIGNAL, 1);
    CHECK(unacknowledged() == 1, "no delay after a put");
    PAIR_UNTIL(&pair, pair.t->pending(pair.ctx[A], NULL) == 0, "an idle target");

    notify(PUT_SIGNAL, 1);
    CHECK(unacknowledged() == 1, "no delay after an idle time");
    CHECK(pair.t->arm(pair.ctx[B]) == 0, "B cannot sleep");
    await_acknowledged(0, "the target goes to sleep");

    notify(PUT_SIGNAL, BURST);
    await_acknowledged(BURST - 1, "many notifications");
    notify(PUT_SIGNAL, 1);
    CHECK(unacknowledged() > 0, "no delay before quiet");
    quiet_without_idle(pair.t->quiet);

    expect_prompt_first(FENCED_PUT);
    CHECK(pair.t->fence(pair.ctx[A]) == 0, "fence");
    expect_prompt_put(LONG_PUT);
    quiet_without_idle(pair.t->quiet);
    expect_prompt_first(FENCED_ADD);
    quiet_without_idle(pair.t->quiet_all);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"silent_connections", silent_connections},
             {"requests", requests},
             {"slowly", slowly},
             {"runs", runs},
             {"replies", replies},
             {"idle_connections", idle_connections},
             {"early_requests", early_requests},
             {"delayed_acknowledgements", delayed_acknowledgements}};

int main(int argc, char **argv)
{
    pair_open(&pair, &transport_tcp, NULL, 5000);
    pair_check_works(&pair);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (argc > 1 && strcmp(argv[1], cases[i].name) != 0)
            continue;
        cases[i].run();
        pair.failures[B] = rejected = 0;
        pair_check_works(&pair);
        printf("ok %s\n", cases[i].name);
    }
    pair_close(&pair);
    return EXIT_SUCCESS;
}
