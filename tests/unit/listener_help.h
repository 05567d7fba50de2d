/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listener_help.h - one listener and one connector for tests, and bare sockets at the
 * other end.
 */
#ifndef TESTS_UNIT_LISTENER_HELP_H
#define TESTS_UNIT_LISTENER_HELP_H

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
#include "pgas/core/base/address.h"
#include "tools/oshrun/net/listener.h"

enum { REPORTS = 8, FUZZ_ROUNDS = 4000, FUZZ_MS = 2000 };
enum { GREETING_BYTES = 40, PROOF_BYTES = 72, VERDICT_BYTES = 40, HEADER = 8 };
enum { KIND_GREETING, KIND_PROOF, KIND_VERDICT, KIND_AGAIN, KIND_LEAVE };

static struct nonce nonce, other_nonce;

/* Events of a listener and a connector. */
static struct {
    struct listener *listener;
    char at[ADDRESSES_MAX];
    struct sockaddr_in in;
    int accepted, fd, refused;
    struct seal *seal;
    char error_text[REPORTS][256];
    bool close_it, send_first;
} listener;

static struct {
    struct connector *connector;
    int made, fd, failed;
    struct seal *seal;
    char why[1024];
    bool free_it;
} connector;

static inline void on_arrival(void *arg, int fd, struct seal *seal)
{
    cr_assert_eq(arg, &listener);
    seal_free(listener.seal);
    listener.seal = seal;
    if (listener.accepted++ > 0)
        close(listener.fd);
    listener.fd = fd;
    loop.stop = true;
    if (listener.send_first) {
        int on = 1; /* send at once, so that it follows the last message */
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        cr_assert_eq(write(fd, "hello", 5), 5);
    }
    if (listener.close_it)
        listener_close(listener.listener);
}

static inline void on_refused(void *arg, const char *error_text)
{
    cr_assert_eq(arg, &listener);
    cr_assert_lt(listener.refused, REPORTS);
    cr_assert_null(strchr(error_text, '\n'));
    snprintf(listener.error_text[listener.refused++], sizeof listener.error_text[0], "%s",
             error_text);
    loop.stop = true;
    if (listener.close_it)
        listener_close(listener.listener);
}

static inline void on_made(void *arg, int fd, struct seal *seal)
{
    cr_assert_eq(arg, &connector);
    seal_free(connector.seal);
    connector.seal = seal;
    connector.made++;
    connector.fd = fd;
    loop.stop = true;
    if (connector.free_it)
        connector_free(connector.connector);
}

static inline void on_failed(void *arg, const char *why)
{
    cr_assert_eq(arg, &connector);
    connector.failed++;
    snprintf(connector.why, sizeof connector.why, "%s", why);
    loop.stop = true;
    if (connector.free_it)
        connector_free(connector.connector);
}

static const struct listener_events listener_events = {on_arrival, on_refused};
static const struct connector_events connector_events = {on_made, on_failed};

static inline void set_up(void)
{
    char why[512];
    struct address at;
    signal(SIGPIPE, SIG_IGN); /* for the unauthenticated connections of this test */
    cr_assert_eq(loop_open(&loop), 0);
    cr_assert_eq(nonce_make(&nonce), 0);
    cr_assert_eq(nonce_make(&other_nonce), 0);
    listener.listener = listener_open(&loop, &nonce, "127.0.0.1", listener.at,
                                      &listener_events, &listener, why, sizeof why);
    cr_assert_not_null(listener.listener, "%s", why);
    cr_assert_eq(address_parse(&at, listener.at, strlen(listener.at)), 0);
    listener.in = at.as.in;
}

static inline void tear_down(void)
{
    if (!listener.close_it)
        listener_close(listener.listener);
    if (!connector.free_it)
        connector_free(connector.connector);
    if (listener.accepted > 0)
        close(listener.fd);
    if (connector.made > 0)
        close(connector.fd);
    seal_free(listener.seal);
    seal_free(connector.seal);
    loop_close(&loop);
}

static inline void start_connector(const struct nonce *n, const char *at,
                                   uint32_t timeout_ms)
{
    if (connector.made > 0)
        close(connector.fd);
    connector_free(connector.connector);
    connector.made = connector.failed = 0;
    connector.connector =
        connector_start(&loop, n, at, (struct connector_limits){timeout_ms, timeout_ms},
                        &connector_events, &connector);
    cr_assert_not_null(connector.connector);
    cr_assert_eq(connector.made + connector.failed, 0, "only the loop reports events");
}

/* Waits until both ends have reported the connection, and tests it. */
static inline void expect_connected(void)
{
    char byte = 0;
    int before = listener.accepted;
    while (connector.made + connector.failed == 0 ||
           (connector.made > 0 && listener.accepted == before))
        cr_assert(run(PATIENT_MS));
    cr_assert_eq(connector.failed, 0, "%s", connector.why);
    cr_assert_eq(listener.accepted, before + 1);
    unsigned char sealed, tag[SEAL_TAG];
    seal_encrypt(connector.seal, NULL, 0, "y", 1, &sealed, tag);
    cr_assert(seal_decrypt(listener.seal, NULL, 0, &sealed, 1, &byte, tag));
    cr_assert_eq(byte, 'y');
    seal_encrypt(listener.seal, NULL, 0, "z", 1, &sealed, tag);
    cr_assert(seal_decrypt(connector.seal, NULL, 0, &sealed, 1, &byte, tag));
    cr_assert_eq(byte, 'z');
    cr_assert_eq(write(connector.fd, "x", 1), 1);
    cr_assert_eq(read(listener.fd, &byte, 1), 1);
    cr_assert_eq(byte, 'x');
    for (int i = 0; i < 2; i++) {
        int fd = i == 0 ? connector.fd : listener.fd;
        cr_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
        cr_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
    }
}

static inline void expect_daemon_connects(void)
{
    listener.accepted = 0;
    start_connector(&nonce, listener.at, PATIENT_MS);
    expect_connected();
    close(listener.fd);
    listener.accepted = 0;
}

static inline void expect_failed(const char *part)
{
    while (connector.made + connector.failed == 0)
        cr_assert(run(PATIENT_MS));
    cr_assert_eq(connector.failed, 1);
    cr_assert_not_null(strstr(connector.why, part), "'%s' not in '%s'", part,
                       connector.why);
}

static inline void expect_refused(int n, const char *part)
{
    while (listener.refused < n)
        cr_assert(run(PATIENT_MS));
    const char *error_text = listener.error_text[n - 1];
    cr_assert_eq(strncmp(error_text, "refused a connection from 127.0.0.1:", 36), 0, "%s",
                 error_text);
    cr_assert_not_null(strstr(error_text, part), "'%s' not in '%s'", part, error_text);
}

/* An unauthenticated connection. */
static inline int connect_bare(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_geq(fd, 0);
    cr_assert_eq(connect(fd, (struct sockaddr *)&listener.in, sizeof listener.in), 0);
    return fd;
}

/* A bare listening socket, and its address as text. */
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

/* Runs the loop until all n bytes have arrived at a bare socket; fewer if it ended. */
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

static inline int accept_bare(int listen_fd)
{
    struct pollfd p = {.fd = listen_fd, .events = POLLIN};
    for (uint64_t end = now_ms() + PATIENT_MS; poll(&p, 1, 0) == 0;) {
        cr_assert(now_ms() < end);
        run(1);
    }
    return accept(listen_fd, NULL, NULL);
}

static inline void header(unsigned char *m, int kind)
{
    memcpy(m, "oshrun\2", 7);
    m[7] = (unsigned char)kind;
}

#endif
