/* SPDX-License-Identifier: BSD-3-Clause */
/* link_help.h - links for tests; the other end is a second link or a bare socket, whose
 * bytes the test seals. */
#ifndef TESTS_UNIT_LINK_HELP_H
#define TESTS_UNIT_LINK_HELP_H

#include <criterion/criterion.h>
#include <event2/buffer.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/net_help.h"
#include "tools/oshrun/net/link.h"
#include "tools/oshrun/net/record.h"

enum { HEADER = 20, MIB = 1 << 20, FDS = 1024 };
enum { OVERHEAD = RECORD_HEAD + SEAL_TAG, PING_BYTES = HEADER + OVERHEAD };

/* An end that counts and checks received frames. */
struct end {
    struct link *link;
    size_t frames, stop_at;
    size_t bytes;
    char why[128];
    int downs;
    void (*at_frame)(struct end *e, const struct frame *f);
    struct end *other;
};

static inline void set_up(void)
{
    signal(SIGPIPE, SIG_IGN); /* as in oshrun */
    cr_assert_eq(loop_open(&loop), 0);
}

static inline void tear_down(void)
{
    loop_close(&loop);
}

/* ---- connections ------------------------------------------------------------------ */

/* Of the bare sockets. */
static bool is_connector[FDS];
static struct seal *bare_seal[FDS];

static inline struct seal *make_seal(int fd)
{
    static const uint8_t secret[SEAL_SECRET] = "a secret of both ends";
    static const uint8_t challenge[2][SEAL_CHALLENGE] = {"listener", "connector"};
    struct seal *s =
        seal_new(secret, "test", challenge[0], challenge[1], !is_connector[fd]);
    cr_assert_not_null(s);
    return s;
}

/* Two connected TCP sockets. */
static inline void make_pair(int fd[2])
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    cr_assert_eq(bind(listener, (struct sockaddr *)&a, len), 0);
    cr_assert_eq(listen(listener, 1), 0);
    cr_assert_eq(getsockname(listener, (struct sockaddr *)&a, &len), 0);
    fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(connect(fd[0], (struct sockaddr *)&a, len), 0);
    fd[1] = accept(listener, NULL, NULL);
    cr_assert_geq(fd[1], 0);
    close(listener);
    for (int i = 0; i < 2; i++) {
        cr_assert_lt(fd[i], FDS);
        is_connector[fd[i]] = i == 0;
        seal_free(bare_seal[fd[i]]);
        bare_seal[fd[i]] = make_seal(fd[i]);
    }
}

static inline unsigned char byte_at(size_t i, size_t len)
{
    return (unsigned char)(i * 31 + (i >> 8) + len);
}

static inline void fill(unsigned char *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        data[i] = byte_at(i, len);
}

static inline void check_data(const struct frame *f)
{
    const unsigned char *data = f->data;
    size_t bad = 0;
    for (size_t i = 0; i < f->len; i++)
        bad += data[i] != byte_at(i, f->len);
    cr_assert_eq(bad, 0, "%zu bytes of %zu are wrong", bad, f->len);
}

static inline void on_frame(void *arg, struct link *l, const struct frame *f)
{
    struct end *e = arg;
    cr_assert_eq(l, e->link);
    cr_assert_eq(e->downs, 0);
    cr_assert_neq(f->type, WIRE_PING);
    check_data(f);
    e->frames++;
    e->bytes += f->len;
    if (e->at_frame != NULL)
        e->at_frame(e, f);
    if (e->frames == e->stop_at)
        loop.stop = true;
}

static inline void on_down(void *arg, struct link *l, const char *why)
{
    struct end *e = arg;
    cr_assert_eq(l, e->link);
    e->downs++;
    snprintf(e->why, sizeof e->why, "%s", why);
    loop.stop = true;
}

static const struct link_events events = {on_frame, on_down};

static inline void open_end(struct end *e, int fd, uint32_t timeout_ms,
                            enum link_life peer)
{
    e->link = link_open(&loop, fd, make_seal(fd), timeout_ms, peer, &events, e);
    cr_assert_not_null(e->link);
}

/* A link, and the bare socket at its other end. */
static inline int open_half(struct end *e, uint32_t timeout_ms, enum link_life peer)
{
    int fd[2];
    make_pair(fd);
    open_end(e, fd[0], timeout_ms, peer);
    return fd[1];
}

static inline void open_both(struct end *a, struct end *b, uint32_t timeout_ms)
{
    open_end(b, open_half(a, timeout_ms, LINK_AWAKE), timeout_ms, LINK_AWAKE);
    a->other = b;
    b->other = a;
}

static inline void send_one(struct link *l, enum wire_type type, size_t len)
{
    unsigned char *data = malloc(len + 1);
    fill(data, len);
    struct frame f = {
        .type = type, .from = 1, .to = WIRE_FRONT, .data = data, .len = len};
    link_send(l, &f);
    memset(data, 0, len); /* the caller owns it again */
    free(data);
}

/* The bytes of a frame. */
static inline size_t make_raw(unsigned char *to, uint32_t type, uint64_t claimed,
                              size_t len)
{
    memset(to, 0, HEADER);
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(type >> (8 * i));
    for (int i = 0; i < 8; i++)
        to[12 + i] = (unsigned char)(claimed >> (8 * i));
    fill(to + HEADER, len);
    return HEADER + len;
}

/* The records in which a bare socket sends these bytes; `to` has space for OVERHEAD bytes
 * per RECORD_BODY_MAX more. */
static inline size_t seal_raw(int fd, const void *plain, size_t n, unsigned char *to)
{
    struct evbuffer *from = evbuffer_new(), *wire = evbuffer_new();
    evbuffer_add(from, plain, n);
    while (evbuffer_get_length(from) > 0)
        record_seal(bare_seal[fd], from, wire);
    int sealed = evbuffer_remove(wire, to, evbuffer_get_length(wire));
    evbuffer_free(from);
    evbuffer_free(wire);
    cr_assert_gt(sealed, 0);
    return (size_t)sealed;
}

static inline size_t sealed_size(size_t n)
{
    return n + (n + RECORD_BODY_MAX - 1) / RECORD_BODY_MAX * OVERHEAD;
}

static inline void send_sealed(int fd, const void *plain, size_t n)
{
    unsigned char *bytes = malloc(sealed_size(n));
    size_t sealed = seal_raw(fd, plain, n, bytes);
    cr_assert_eq(send(fd, bytes, sealed, MSG_NOSIGNAL), (ssize_t)sealed);
    free(bytes);
}

static inline void send_raw(int fd, uint32_t type, uint64_t claimed, size_t len)
{
    unsigned char *bytes = malloc(HEADER + len);
    send_sealed(fd, bytes, make_raw(bytes, type, claimed, len));
    free(bytes);
}

/* All bytes that a bare socket has received. */
static inline size_t drain(int fd)
{
    static char sink[MIB];
    size_t sum = 0;
    for (ssize_t n; (n = recv(fd, sink, sizeof sink, MSG_DONTWAIT)) > 0;)
        sum += (size_t)n;
    return sum;
}

static inline void reset(int fd)
{
    struct linger hard = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(fd);
}

/* A link goes down once, with the reason, and then rejects frames. */
static inline void expect_down(struct end *e, const char *why)
{
    while (e->downs == 0)
        cr_assert(run(PATIENT_MS));
    cr_assert_str_eq(e->why, why);
    send_one(e->link, WIRE_STOP, 100);
    cr_assert_eq(link_queued(e->link), 0);
    run(20);
    cr_assert_eq(e->downs, 1);
    link_free(e->link);
}

static inline int exit_status(pid_t pid)
{
    int status = 0;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
