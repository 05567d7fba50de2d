/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_handshake.c - changes every message of the handshake of the tcp transport in every
 * way: each byte flipped, cut at each byte, repeated, left out, replayed, made with
 * another secret, for another PE, port or role.  The rows are derived from the structures
 * of tcp_wire.h; `outcomes` says how each kind of row must end, and a row without an
 * outcome is an error, as is an outcome without a row.
 *
 * Of each row a connection is made by hand: to the target B, or from the initiator A to a
 * false B at the first of two addresses.  Afterwards nothing may be stored that should
 * not, nothing may wait, and what A has posted is performed once or reported.
 * Uses: tcp_raw, tcp_layout.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pgas/core/base/timing.h"
#include "tests/transport/tcp_layout.h"
#include "tests/transport/tcp_raw.h"

enum { A, B, WORD = 5, MARK = 0x5a5a, BITS = 8, TEXT = 128, SECOND = 2, OLD = 77 };
enum { CLOSES = 3, SILENT_MS = 200 };

static struct pair pair;

/* ---- rows and their outcomes ------------------------------------------------------- */

enum change {
    NOTHING,
    FLIP,     /* a bit of byte `at` */
    CUT,      /* after `at` bytes the connection is closed */
    RESET,    /* or reset */
    REPEAT,   /* sent twice, at once */
    AGAIN,    /* sent again, later */
    OMIT,     /* what follows it is sent instead */
    REPLAY,   /* what was recorded on another connection */
    OTHER_PE, /* the other PE of the job */
    SECRET,   /* a MAC with another secret */
    ROLE,     /* with the role of the other end */
    REFLECT,  /* the MAC that the other end has sent */
    INPUT,    /* over a transcript with a flipped bit in byte `at` */
    CHANGES
};
static const char *const change_name[CHANGES] = {
    "nothing", "flip",     "cut",          "reset",      "repeat",  "again",    "omit",
    "replay",  "other PE", "other secret", "other role", "reflect", "MAC input"};

struct row {
    enum message message;
    enum change change;
    size_t at;
};

enum outcome {
    OPENED,   /* the connection is authenticated, what follows is performed */
    TWICE,    /* likewise, and the target reports that it came twice */
    MUTE,     /* the target closes the connection without having sent a byte */
    CLOSED,   /* ... after its challenge */
    NEXT,     /* the initiator uses the next address, where it is served once */
    REPORTED, /* the operation fails, with a message */
    OUTCOMES
};
static const char *const outcome_name[OUTCOMES] = {"opened", "twice", "mute",
                                                   "closed", "next",  "reported"};

static struct expected {
    enum message message;
    enum change change;
    const char *field; /* NULL: any */
    enum outcome outcome;
    unsigned rows;
} outcomes[] = {
    {HELLO, NOTHING, NULL, OPENED, 0},
    {HELLO, FLIP, "challenge", CLOSED, 0}, /* the proof is made with another one */
    {HELLO, FLIP, NULL, MUTE, 0},
    {HELLO, CUT, NULL, MUTE, 0},
    {HELLO, AGAIN, NULL, CLOSED, 0},
    {HELLO, OMIT, NULL, MUTE, 0},
    {HELLO, REPLAY, NULL, CLOSED, 0},
    {HELLO, OTHER_PE, NULL, CLOSED, 0},
    {PROOF, FLIP, NULL, CLOSED, 0},
    {PROOF, CUT, NULL, CLOSED, 0},
    {PROOF, AGAIN, NULL, TWICE, 0},
    {PROOF, OMIT, NULL, CLOSED, 0},
    {PROOF, REPLAY, NULL, CLOSED, 0},
    {PROOF, OTHER_PE, NULL, CLOSED, 0},
    {PROOF, SECRET, NULL, CLOSED, 0},
    {PROOF, ROLE, NULL, CLOSED, 0},
    {PROOF, REFLECT, NULL, CLOSED, 0},
    {PROOF, INPUT, NULL, CLOSED, 0},
    {CHALLENGE, NOTHING, NULL, OPENED, 0},
    {CHALLENGE, FLIP, NULL, NEXT, 0},
    {CHALLENGE, CUT, NULL, NEXT, 0},
    {CHALLENGE, RESET, NULL, NEXT, 0},
    {CHALLENGE, REPEAT, NULL, NEXT, 0},
    {CHALLENGE, AGAIN, NULL, NEXT, 0},
    {CHALLENGE, OMIT, NULL, NEXT, 0},
    {CHALLENGE, REPLAY, NULL, NEXT, 0},
    {CHALLENGE, OTHER_PE, NULL, NEXT, 0},
    {CHALLENGE, SECRET, NULL, NEXT, 0},
    {CHALLENGE, ROLE, NULL, NEXT, 0},
    {CHALLENGE, INPUT, NULL, NEXT, 0},
    {WELCOME, FLIP, NULL, NEXT, 0},
    {WELCOME, CUT, NULL, NEXT, 0},
    {WELCOME, RESET, NULL, NEXT, 0},
    {WELCOME, AGAIN, NULL, REPORTED, 0},
    {WELCOME, OMIT, NULL, NEXT, 0},
    {WELCOME, REPEAT, NULL, NEXT, 0}, /* sent before our proof */
};
enum { NOUTCOMES = sizeof outcomes / sizeof outcomes[0] };

/* A change applies to each byte, or to the message. */
static bool change_has_bytes(enum change c)
{
    return c == FLIP || c == CUT || c == RESET || c == INPUT;
}

/* False: there is no such row.  NOTHING is changed once for each end; a MAC is in
 * challenge and proof; an initiator cannot tell a target's cut from its reset, except
 * after the proof; and what is sent twice at once reaches a target in one piece or two.
 */
static bool change_applies(enum message m, enum change c)
{
    bool has_mac = m == CHALLENGE || m == PROOF;

    switch (c) {
    case NOTHING:
        return m == HELLO || m == CHALLENGE;
    case RESET:
    case REPEAT:
        return !layouts[m].to_target;
    case SECRET:
    case ROLE:
    case INPUT:
        return has_mac;
    case REFLECT:
        return m == PROOF; /* an initiator has sent no MAC before */
    case OTHER_PE:
    case REPLAY:
        return m != WELCOME; /* it is a constant */
    default:
        return true;
    }
}

static void row_text(const struct row *r, char text[TEXT])
{
    const struct layout *l =
        r->change == INPUT ? &transcript_layout : &layouts[r->message];
    const struct field *f = change_has_bytes(r->change) ? field_of(l, r->at) : NULL;

    snprintf(text, TEXT, "%s, %s%s%s %zu", layouts[r->message].name,
             change_name[r->change], f != NULL ? " " : "", f != NULL ? f->name : "",
             r->at);
}

static struct expected *row_expected(const struct row *r)
{
    const struct field *f = field_of(&layouts[r->message], r->at);
    const char *name = f != NULL ? f->name : "";

    for (struct expected *e = outcomes; e < outcomes + NOUTCOMES; e++)
        if (e->message == r->message && e->change == r->change &&
            (e->field == NULL || strcmp(e->field, name) == 0))
            return e;
    return NULL;
}

/* ---- making a changed message ------------------------------------------------------ */

/* What a genuine connection has sent before. */
static struct {
    struct tcp_hello hello;
    struct tcp_challenge challenge;
    struct tcp_proof proof;
} recorded;

static void flip(void *bytes, size_t at)
{
    ((unsigned char *)bytes)[at] ^= (unsigned char)(1u << at % BITS);
}

/* The MAC of a challenge or a proof, with a change. */
static void make_mac(const struct raw *r, const struct row *row, unsigned char *mac)
{
    struct tcp_transcript t = r->transcript;
    enum tcp_role role = row->message == CHALLENGE ? TCP_TARGET : TCP_INITIATOR;
    unsigned char secret[SEAL_SECRET];

    memcpy(secret, r->endpoint.secret, sizeof secret);
    if (row->change == SECRET)
        flip(secret, 0);
    if (row->change == ROLE)
        role = role == TCP_TARGET ? TCP_INITIATOR : TCP_TARGET;
    if (row->change == OTHER_PE) {
        t.initiator = B;
        t.target = A;
    }
    if (row->change == INPUT)
        flip(&t, row->at);
    tcp_auth_mac(secret, role, &t, mac);
}

/* Send a message of the row, which is at `bytes`, unless it is left out. */
static void send_changed(const struct raw *r, const struct row *row, void *bytes)
{
    const struct linger at_once = {.l_onoff = 1};
    size_t len = layouts[row->message].size;

    if (row->change == FLIP)
        flip(bytes, row->at);
    if (row->change == CUT || row->change == RESET)
        len = row->at;
    if (row->change != OMIT && len > 0)
        raw_send(r, bytes, len);
    if (row->change == CUT)
        shutdown(r->fd, SHUT_WR);
    if (row->change == RESET)
        setsockopt(r->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

/* ---- the target -------------------------------------------------------------------- */

/* An 8-byte put to B, and another one. */
static void send_requests(const struct raw *r)
{
    struct {
        struct tcp_request request;
        uint64_t value;
    } put[2];

    for (int i = 0; i < 2; i++) {
        put[i].request = (struct tcp_request){.kind = TCP_PUT, .segment = SEGMENT_HEAP};
        put[i].request.flags = TCP_ACKED;
        tcp_request_set(&put[i].request, WORD * sizeof(uint64_t), sizeof(uint64_t));
        put[i].value = OLD;
    }
    (void)send(r->fd, put, sizeof put, MSG_NOSIGNAL); /* B may have closed it */
}

static void send_hello(struct raw *r, const struct row *row)
{
    struct tcp_hello hello = raw_hello(r);

    if (row->message != HELLO) {
        raw_send(r, &hello, sizeof hello);
        return;
    }
    if (row->change == OTHER_PE)
        hello.pe = B;
    if (row->change == REPLAY)
        hello = recorded.hello;
    send_changed(r, row, &hello);
}

static void send_proof(struct raw *r, const struct row *row,
                       const struct tcp_challenge *theirs)
{
    struct tcp_proof proof = raw_proof(r);

    if (row->message == PROOF)
        make_mac(r, row, proof.mac);
    if (row->change == REPLAY) /* of a hello, too: the whole connection */
        proof = recorded.proof;
    if (row->change == REFLECT)
        memcpy(proof.mac, theirs->mac, sizeof proof.mac);
    if (row->message == PROOF)
        send_changed(r, row, &proof);
    else
        (void)send(r->fd, &proof, sizeof proof, MSG_NOSIGNAL);
    if (row->change == AGAIN && row->message == PROOF) {
        raw_receive_welcome(r);
        raw_send(r, &proof, sizeof proof);
    }
}

static enum outcome run_to_target(const struct row *row)
{
    struct raw r = {.pair = &pair, .endpoint = raw_endpoint_of(&pair, B)};
    struct tcp_challenge theirs = {.magic = 0};
    struct tcp_reply welcome;

    raw_connect(&r);
    send_hello(&r, row);
    bool silent = row->message == HELLO && row->change == OMIT;
    if (!silent) {
        if (raw_receive(&r, &theirs, sizeof theirs) < sizeof theirs) {
            close(r.fd);
            return MUTE;
        }
        memcpy(r.transcript.target_challenge, theirs.challenge, sizeof theirs.challenge);
    }
    if (row->message == HELLO && row->change == AGAIN) {
        const struct tcp_hello hello = raw_hello(&r);
        raw_send(&r, &hello, sizeof hello);
    }
    send_proof(&r, row, &theirs);
    if (row->message == PROOF && row->change == AGAIN) {
        shutdown(r.fd, SHUT_WR);
        while (raw_receive(&r, &welcome, 1) > 0)
            ;
        close(r.fd);
        return TWICE;
    }
    if (row->change != CUT)
        send_requests(&r);
    size_t n = raw_receive(&r, &welcome, sizeof welcome);
    if (n == sizeof welcome)
        PAIR_UNTIL(&pair, pair.heap[B][WORD] == OLD, "a put to be performed");
    close(r.fd);
    return n == sizeof welcome ? OPENED : silent ? MUTE : CLOSED;
}

static void check_target(enum outcome got, const char *text)
{
    PAIR_UNTIL(&pair, pair.ctx[B]->nunknown == 0, "B to forget a connection");
    CHECK((pair.heap[B][WORD] != MARK) == (got == OPENED), "%s: stored", text);
    CHECK(pair.failures[B] == (got == TWICE), "%s: reported %d times: %s", text,
          pair.failures[B], pair.message[B]);
    pair.failures[B] = 0;
}

/* ---- the initiator ----------------------------------------------------------------- */

/* The false B is at 127.0.0.1 and then, on the same port, at 127.0.0.2. */
static void false_open(int listener[2])
{
    const unsigned char ip[] = {127, 0, 0, SECOND};
    uint32_t port = 0;

    listener[0] = raw_listen(1, &port);
    listener[1] = raw_listen(SECOND, &port);
    raw_false = raw_endpoint_of(&pair, B);
    raw_false.port = port;
    raw_false.naddresses = 1;
    memset(raw_false.address, 0, sizeof raw_false.address);
    memcpy(raw_false.address[0].bytes, ip, sizeof ip);
}

/* Receive A's fetching addition, if it is sent, and answer it. */
static void serve_addition(const struct raw *r, bool is_sent)
{
    const struct {
        struct tcp_reply head;
        uint64_t old;
    } reply = {{.kind = TCP_DATA, .len = sizeof reply.old}, OLD};
    struct {
        struct tcp_request head;
        struct tcp_operands operands;
    } request;

    CHECK(!is_sent || (raw_receive(r, &request, sizeof request) == sizeof request &&
                       request.head.kind == TCP_AMO),
          "no request");
    raw_send(r, &reply, sizeof reply);
}

static void send_challenge(struct raw *r, const struct row *row)
{
    const struct tcp_reply welcome = {.kind = TCP_WELCOME};
    struct tcp_challenge c[2] = {raw_challenge(r)};

    if (row->message == WELCOME && row->change == REPEAT) {
        struct {
            struct tcp_challenge challenge;
            struct tcp_reply welcome;
        } both = {c[0], welcome};
        raw_send(r, &both, sizeof both);
        return;
    }
    if (row->message != CHALLENGE || row->change == AGAIN) {
        raw_send(r, &c[0], sizeof c[0]);
        return;
    }
    make_mac(r, row, c[0].mac);
    if (row->change == REPLAY)
        c[0] = recorded.challenge;
    c[1] = c[0];
    if (row->change == REPEAT)
        raw_send(r, c, sizeof c);
    else
        send_changed(r, row, &c[0]);
}

/* True if the initiator proves itself. */
static bool reads_proof(const struct raw *r)
{
    struct tcp_proof proof;

    return raw_receive(r, &proof, sizeof proof) == sizeof proof;
}

/* The false B at the first address. */
static void run_false_target(struct raw *r, const struct row *row)
{
    struct tcp_reply welcome = {.kind = TCP_WELCOME};
    const struct tcp_challenge again = {.magic = TCP_MAGIC};

    raw_receive_hello(r);
    send_challenge(r, row);
    if (row->message == CHALLENGE && row->change == OMIT)
        raw_send_welcome(r);
    if (row->message == CHALLENGE && (row->change == CUT || row->change == RESET))
        return;
    if (!reads_proof(r))
        return;
    if (row->message == CHALLENGE && row->change == AGAIN)
        raw_send(r, &again, sizeof again);
    else if (row->message == WELCOME && row->change != AGAIN)
        send_changed(r, row, &welcome);
    else
        raw_send_welcome(r);
    if (row->change == NOTHING || (row->message == WELCOME && row->change == OMIT))
        serve_addition(r, row->change == NOTHING);
    if (row->message == WELCOME && row->change == AGAIN)
        raw_send_welcome(r);
}

/* A posts a fetching addition to the false B by a context of its own. */
struct addition {
    struct transport_completion done;
    uint64_t old;
    struct raw raw;
    int listener[2];
};

static void addition_begin(struct addition *a)
{
    const struct transport_symaddr at = {.pe = B, .offset = WORD * sizeof(uint64_t)};
    const struct transport_amo add = {
        .op = TRANSPORT_AMO_ADD, .size = sizeof a->old, .operand = 1, .result = &a->old};

    *a = (struct addition){.done = {.pending = 1}, .old = MARK, .raw = {.pair = &pair}};
    false_open(a->listener);
    a->raw.endpoint = raw_false;
    CHECK(pair.t->ctx_open(pair.net[A], &a->raw.ctx) == 0, "no context");
    CHECK(pair.t->amo(a->raw.ctx, &at, &add, &a->done) == 0, "an atomic was refused");
}

/* Await the end of the operation.  A connection to the second address is served; true:
 * there was one. */
static bool addition_end(struct addition *a)
{
    const uint64_t end = pair_now_ms() + RAW_WAIT_MS;
    struct raw second = a->raw;
    unsigned char byte;
    bool next = false;

    while (a->done.pending != 0) {
        CHECK(pair_now_ms() < end, "the operation is still outstanding");
        if (next || !raw_try_accept(&second, a->listener[1])) {
            raw_progress(&second, next ? -1 : a->listener[1]);
            continue;
        }
        raw_open_target(&second);
        serve_addition(&second, true);
        next = true;
    }
    CHECK((a->done.error == 0) == (a->old == OLD), "error %d, value %llu", a->done.error,
          (unsigned long long)a->old);
    if (next) {
        CHECK(recv(second.fd, &byte, 1, MSG_DONTWAIT) < 0, "something is sent twice");
        close(second.fd);
    }
    close(a->listener[0]);
    close(a->listener[1]);
    pair.t->ctx_close(a->raw.ctx);
    return next;
}

static enum outcome run_to_initiator(const struct row *row)
{
    bool ends = row->change == CUT || row->change == RESET;
    struct addition a;

    addition_begin(&a);
    raw_accept(&a.raw, a.listener[0]);
    run_false_target(&a.raw, row);
    if (ends)
        close(a.raw.fd);
    bool next = addition_end(&a);
    if (!ends)
        close(a.raw.fd);
    if (a.done.error != 0)
        return REPORTED;
    return next ? NEXT : OPENED;
}

static void check_initiator(enum outcome got, const char *text)
{
    CHECK(pair.failures[A] == (got == REPORTED), "%s: %d messages: %s", text,
          pair.failures[A], pair.message[A]);
    __atomic_store_n(&pair.net[A]->reported[B], 0, __ATOMIC_RELAXED);
    pair.failures[A] = 0;
}

/* Nobody at the addresses of B knows its secret. */
static void strangers(void)
{
    const struct row wrong = {.message = CHALLENGE, .change = SECRET};
    struct addition a;

    addition_begin(&a);
    for (int i = 0; i < 2; i++) {
        raw_accept(&a.raw, a.listener[i]);
        run_false_target(&a.raw, &wrong);
        close(a.raw.fd);
    }
    addition_end(&a);
    CHECK(a.done.error == -EPROTO && strstr(pair.message[A], "secret") != NULL,
          "error %d, message '%s'", a.done.error, pair.message[A]);
    check_initiator(REPORTED, "strangers");
}

/* The only address that answers closes the connection after each message, and then no
 * more. */
static void closes(void)
{
    struct addition a;

    addition_begin(&a);
    shutdown(a.listener[1], SHUT_RDWR); /* it listens no more */
    for (int i = 0; i < CLOSES; i++) {
        raw_accept(&a.raw, a.listener[0]);
        if (i > 0)
            raw_receive_hello(&a.raw);
        if (i > 1) {
            const struct tcp_challenge c = raw_challenge(&a.raw);
            raw_send(&a.raw, &c, sizeof c);
            raw_receive_proof(&a.raw);
        }
        shutdown(a.raw.fd, SHUT_WR);
        close(a.raw.fd);
    }
    raw_accept(&a.raw, a.listener[0]);
    raw_open_target(&a.raw);
    serve_addition(&a.raw, true);
    CHECK(!addition_end(&a) && a.done.error == 0, "error %d", a.done.error);
    close(a.raw.fd);
    check_initiator(NEXT, "closes");
}

/* The target accepts the connection and answers neither the hello nor, the second time,
 * the proof. */
static void silent(void)
{
    const uint64_t limit_ns = pair.world[A].timeout_ns;

    pair.world[A].timeout_ns = SILENT_MS * NS_PER_MS;
    for (int messages = 0; messages < 2; messages++) {
        struct addition a;

        addition_begin(&a);
        raw_accept(&a.raw, a.listener[0]);
        raw_receive_hello(&a.raw);
        if (messages > 0) {
            const struct tcp_challenge c = raw_challenge(&a.raw);
            raw_send(&a.raw, &c, sizeof c);
            raw_receive_proof(&a.raw);
        }
        CHECK(!addition_end(&a) && a.done.error == -ETIMEDOUT &&
                  strstr(pair.message[A], "does not answer the handshake") != NULL,
              "error %d, message '%s'", a.done.error, pair.message[A]);
        close(a.raw.fd);
        check_initiator(REPORTED, "silent");
    }
    pair.world[A].timeout_ns = limit_ns;
}

/* ---- the sweep --------------------------------------------------------------------- */

static void record(void)
{
    struct raw r = {.pair = &pair, .endpoint = raw_endpoint_of(&pair, B)};

    raw_connect(&r);
    recorded.hello = raw_hello(&r);
    raw_send(&r, &recorded.hello, sizeof recorded.hello);
    recorded.challenge = raw_receive_challenge(&r);
    recorded.proof = raw_proof(&r);
    raw_send(&r, &recorded.proof, sizeof recorded.proof);
    raw_receive_welcome(&r);
    close(r.fd);
}

/* True: the row ends as it should. */
static bool run_row(const struct row *row)
{
    struct expected *e = row_expected(row);
    char text[TEXT];

    row_text(row, text);
    if (e == NULL) {
        printf("%s: no outcome\n", text);
        return false;
    }
    e->rows++;
    pair.heap[B][WORD] = MARK;
    enum outcome got =
        layouts[row->message].to_target ? run_to_target(row) : run_to_initiator(row);
    if (layouts[row->message].to_target)
        check_target(got, text);
    else
        check_initiator(got, text);
    if (got != e->outcome)
        printf("%s: %s, expected %s\n", text, outcome_name[got],
               outcome_name[e->outcome]);
    return got == e->outcome;
}

/* Runs all rows of a change; counts them. */
static unsigned run_change(enum message m, enum change c, unsigned *rows)
{
    struct row row = {.message = m, .change = c};
    size_t n = 1;
    unsigned failures = 0;

    if (change_has_bytes(c))
        n = c == INPUT ? sizeof(struct tcp_transcript) : layouts[m].size;
    for (; row.at < n; row.at++, ++*rows)
        failures += !run_row(&row);
    return failures;
}

int main(void)
{
    unsigned rows = 0, used = 0, failures = 0;

    pair_open(&pair, &transport_tcp, NULL, RAW_WAIT_MS);
    pair_check_works(&pair);
    record();
    pair.world[A].address_of = raw_false_address;
    for (enum message m = 0; m < MESSAGES; m++)
        for (size_t at = 0; at < layouts[m].size; at++)
            CHECK(field_of(&layouts[m], at) != NULL, "%s: byte %zu is in no field",
                  layouts[m].name, at);
    for (enum message m = 0; m < MESSAGES; m++)
        for (enum change c = 0; c < CHANGES; c++)
            if (change_applies(m, c))
                failures += run_change(m, c, &rows);
    for (size_t i = 0; i < NOUTCOMES; i++) {
        used += outcomes[i].rows > 0;
        if (outcomes[i].rows == 0)
            printf("%s, %s: no row\n", layouts[outcomes[i].message].name,
                   change_name[outcomes[i].change]);
    }
    printf("rows %u, outcomes %u\n", rows, used);
    strangers();
    closes();
    silent();
    pair_check_works(&pair);
    pair_close(&pair);
    return failures == 0 && used == NOUTCOMES ? EXIT_SUCCESS : EXIT_FAILURE;
}
