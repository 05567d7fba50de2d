/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * door_help.h - one door and one dial for tests, and bare sockets at the other end.
 */
#ifndef TESTS_UNIT_DOOR_HELP_H
#define TESTS_UNIT_DOOR_HELP_H

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/net_help.h"
#include "tools/oshrun/net/address.h"
#include "tools/oshrun/net/door.h"

enum { TOLD = 8, FUZZ_ROUNDS = 4000, FUZZ_MS = 2000 };
enum { GREETING_BYTES = 40, PROOF_BYTES = 72, VERDICT_BYTES = 40, HEADER = 8 };
enum { KIND_GREETING, KIND_PROOF, KIND_VERDICT, KIND_AGAIN, KIND_LEAVE };

static struct nonce nonce, other_nonce;

/* What a door and a dial said. */
static struct {
    struct door *door;
    char at[ADDRESSES_MAX];
    struct sockaddr_in in;
    int came, fd, refused;
    char sentence[TOLD][256];
    bool close_it, speak;
} door;

static struct {
    struct dial *dial;
    int made, fd, failed;
    char why[1024];
    bool free_it;
} dial;

static inline void on_came(void *arg, int fd)
{
    cr_assert_eq(arg, &door);
    if (door.came++ > 0)
        close(door.fd);
    door.fd = fd;
    loop.stop = true;
    if (door.speak) {
        int on = 1; /* at once, so that it lies behind the last message */
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        cr_assert_eq(write(fd, "hello", 5), 5);
    }
    if (door.close_it)
        door_close(door.door);
}

static inline void on_refused(void *arg, const char *sentence)
{
    cr_assert_eq(arg, &door);
    cr_assert_lt(door.refused, TOLD);
    cr_assert_null(strchr(sentence, '\n'));
    snprintf(door.sentence[door.refused++], sizeof door.sentence[0], "%s", sentence);
    loop.stop = true;
    if (door.close_it)
        door_close(door.door);
}

static inline void on_made(void *arg, int fd)
{
    cr_assert_eq(arg, &dial);
    dial.made++;
    dial.fd = fd;
    loop.stop = true;
    if (dial.free_it)
        dial_free(dial.dial);
}

static inline void on_failed(void *arg, const char *why)
{
    cr_assert_eq(arg, &dial);
    dial.failed++;
    snprintf(dial.why, sizeof dial.why, "%s", why);
    loop.stop = true;
    if (dial.free_it)
        dial_free(dial.dial);
}

static const struct door_events door_events = {on_came, on_refused};
static const struct dial_events dial_events = {on_made, on_failed};

static inline void set_up(void)
{
    char why[512];
    struct address at;
    signal(SIGPIPE, SIG_IGN); /* for the strangers of this test */
    cr_assert_eq(loop_open(&loop), 0);
    cr_assert_eq(nonce_make(&nonce), 0);
    cr_assert_eq(nonce_make(&other_nonce), 0);
    door.door = door_open(&loop, &nonce, "127.0.0.1", door.at, &door_events, &door, why,
                          sizeof why);
    cr_assert_not_null(door.door, "%s", why);
    cr_assert_eq(address_parse(&at, door.at, strlen(door.at)), 0);
    door.in = at.as.in;
}

static inline void tear_down(void)
{
    if (!door.close_it)
        door_close(door.door);
    if (!dial.free_it)
        dial_free(dial.dial);
    if (door.came > 0)
        close(door.fd);
    if (dial.made > 0)
        close(dial.fd);
    loop_close(&loop);
}

static inline void start_dial(const struct nonce *n, const char *at, uint32_t timeout_ms)
{
    if (dial.made > 0)
        close(dial.fd);
    dial_free(dial.dial);
    dial.made = dial.failed = 0;
    dial.dial = dial_start(&loop, n, at, (struct dial_limits){timeout_ms, timeout_ms},
                           &dial_events, &dial);
    cr_assert_not_null(dial.dial);
    cr_assert_eq(dial.made + dial.failed, 0, "events come from the loop");
}

/* Both ends have told that they have each other, and really do. */
static inline void expect_in(void)
{
    char byte = 0;
    int before = door.came;
    while (dial.made + dial.failed == 0 || (dial.made > 0 && door.came == before))
        cr_assert(run(PATIENT_MS));
    cr_assert_eq(dial.failed, 0, "%s", dial.why);
    cr_assert_eq(door.came, before + 1);
    cr_assert_eq(write(dial.fd, "x", 1), 1);
    cr_assert_eq(read(door.fd, &byte, 1), 1);
    cr_assert_eq(byte, 'x');
    for (int i = 0; i < 2; i++) {
        int fd = i == 0 ? dial.fd : door.fd;
        cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        cr_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
    }
}

static inline void expect_daemon_gets_in(void)
{
    door.came = 0;
    start_dial(&nonce, door.at, PATIENT_MS);
    expect_in();
    close(door.fd);
    door.came = 0;
}

static inline void expect_failed(const char *part)
{
    while (dial.made + dial.failed == 0)
        cr_assert(run(PATIENT_MS));
    cr_assert_eq(dial.failed, 1);
    cr_assert_not_null(strstr(dial.why, part), "'%s' not in '%s'", part, dial.why);
}

static inline void expect_refused(int n, const char *part)
{
    while (door.refused < n)
        cr_assert(run(PATIENT_MS));
    const char *sentence = door.sentence[n - 1];
    cr_assert_eq(strncmp(sentence, "refused a connection from 127.0.0.1:", 36), 0, "%s",
                 sentence);
    cr_assert_not_null(strstr(sentence, part), "'%s' not in '%s'", part, sentence);
}

/* A stranger's connection. */
static inline int knock(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_geq(fd, 0);
    cr_assert_eq(connect(fd, (struct sockaddr *)&door.in, sizeof door.in), 0);
    return fd;
}

/* A bare listening socket, and its address as a text. */
static inline int listen_bare(char at[ADDRESS_TEXT])
{
    struct address a = {.len = sizeof a.as.in};
    a.as.in.sin_family = AF_INET;
    a.as.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(bind(fd, &a.as.any, a.len), 0);
    cr_assert_eq(listen(fd, 8), 0);
    address_of_socket(&a, fd);
    address_text(&a, at);
    return fd;
}

/* Runs the loop until all n bytes have come to a bare socket; fewer if it ended. */
static inline size_t receive(int fd, void *to, size_t n)
{
    size_t have = 0;
    for (uint64_t end = now_ms() + PATIENT_MS; have < n && now_ms() < end; run(1)) {
        ssize_t got = recv(fd, (char *)to + have, n - have, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN))
            break;
        have += got > 0 ? (size_t)got : 0;
    }
    return have;
}

static inline int accept_bare(int listener)
{
    struct pollfd p = {.fd = listener, .events = POLLIN};
    for (uint64_t end = now_ms() + PATIENT_MS; poll(&p, 1, 0) == 0;) {
        cr_assert(now_ms() < end);
        run(1);
    }
    return accept(listener, NULL, NULL);
}

static inline void header(unsigned char *m, int kind)
{
    memcpy(m, "oshrun\1", 7);
    m[7] = (unsigned char)kind;
}

#endif
