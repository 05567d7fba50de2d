/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_raw.c - implements tcp_raw.h. */
#include "config.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>

#include "tests/transport/tcp_raw.h"

enum { BACKLOG = 16, POLL_MS = 10 };

/* ---- sockets ----------------------------------------------------------------------- */

struct tcp_endpoint raw_endpoint_of(const struct pair *pair, int pe)
{
    struct tcp_endpoint e;

    memset(&e, 0, sizeof e);
    pair->t->address(pair->net[pe], &e);
    return e;
}

struct tcp_endpoint raw_false;

ssize_t raw_false_address(const struct transport_world *world, int pe, void *to,
                          size_t space)
{
    (void)world;
    (void)pe;
    CHECK(space >= sizeof raw_false, "no space for a descriptor");
    memcpy(to, &raw_false, tcp_endpoint_size(&raw_false));
    return (ssize_t)tcp_endpoint_size(&raw_false);
}

static struct sockaddr_in raw_address(unsigned last, uint32_t port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_addr.s_addr =
                                    htonl((INADDR_LOOPBACK & ~UINT32_C(0xff)) | last),
                                .sin_port = htons((uint16_t)port)};
}

int raw_listen(unsigned last, uint32_t *port)
{
    struct sockaddr_in at = raw_address(last, *port);
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    CHECK(bind(fd, (struct sockaddr *)&at, len) == 0 && listen(fd, BACKLOG) == 0 &&
              getsockname(fd, (struct sockaddr *)&at, &len) == 0,
          "cannot listen: %s", strerror(errno));
    *port = ntohs(at.sin_port);
    return fd;
}

static void raw_no_delay(int fd)
{
    int on = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void raw_connect(struct raw *r)
{
    struct sockaddr_in to = raw_address(1, r->endpoint.port);

    r->fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(r->fd >= 0 && connect(r->fd, (struct sockaddr *)&to, sizeof to) == 0,
          "cannot connect: %s", strerror(errno));
    raw_no_delay(r->fd);
}

void raw_progress(const struct raw *r, int fd)
{
    const struct transport *t = r->pair->t;
    struct pollfd waiting[] = {
        {.fd = fd, .events = POLLIN},
        {.fd = t->fd(r->pair->ctx[RAW_INITIATOR]), .events = POLLIN},
        {.fd = t->fd(r->pair->ctx[RAW_TARGET]), .events = POLLIN},
        {.fd = r->ctx != NULL ? t->fd(r->ctx) : -1, .events = POLLIN}};

    poll(waiting, sizeof waiting / sizeof waiting[0], POLL_MS);
    pair_progress(r->pair);
    if (r->ctx != NULL)
        r->pair->t->progress(r->ctx);
}

bool raw_try_accept(struct raw *r, int listener)
{
    int fd = accept(listener, NULL, NULL);

    if (fd < 0)
        return false;
    r->fd = fd;
    raw_no_delay(fd);
    return true;
}

void raw_accept(struct raw *r, int listener)
{
    const uint64_t end = pair_now_ms() + RAW_WAIT_MS;

    while (!raw_try_accept(r, listener)) {
        CHECK(pair_now_ms() < end, "PE %d does not connect", RAW_INITIATOR);
        raw_progress(r, listener);
    }
}

void raw_send(const struct raw *r, const void *from, size_t len)
{
    CHECK(send(r->fd, from, len, MSG_NOSIGNAL) == (ssize_t)len, "send: %s",
          strerror(errno));
}

size_t raw_receive(const struct raw *r, void *to, size_t len)
{
    const uint64_t end = pair_now_ms() + RAW_WAIT_MS;
    size_t have = 0;

    while (have < len) {
        CHECK(pair_now_ms() < end, "waited for %zu of %zu bytes", have, len);
        ssize_t n = recv(r->fd, (char *)to + have, len - have, MSG_DONTWAIT);
        if (n > 0)
            have += (size_t)n;
        else if (n == 0 || errno != EAGAIN)
            break;
        else
            raw_progress(r, r->fd);
    }
    return have;
}

/* ---- the handshake ----------------------------------------------------------------- */

static void raw_transcript(struct raw *r)
{
    r->transcript = (struct tcp_transcript){.magic = TCP_MAGIC,
                                            .version = TCP_VERSION,
                                            .port = r->endpoint.port,
                                            .initiator = RAW_INITIATOR,
                                            .target = RAW_TARGET};
}

struct tcp_hello raw_hello(struct raw *r)
{
    struct tcp_hello hello = {
        .magic = TCP_MAGIC, .version = TCP_VERSION, .pe = RAW_INITIATOR};

    raw_transcript(r);
    CHECK(seal_random(hello.challenge, sizeof hello.challenge), "no random numbers");
    memcpy(r->transcript.initiator_challenge, hello.challenge, sizeof hello.challenge);
    return hello;
}

struct tcp_challenge raw_challenge(struct raw *r)
{
    struct tcp_challenge c = {.magic = TCP_MAGIC};

    CHECK(seal_random(c.challenge, sizeof c.challenge), "no random numbers");
    memcpy(r->transcript.target_challenge, c.challenge, sizeof c.challenge);
    tcp_auth_mac(r->endpoint.secret, TCP_TARGET, &r->transcript, c.mac);
    return c;
}

struct tcp_proof raw_proof(const struct raw *r)
{
    struct tcp_proof proof = {.magic = TCP_MAGIC};

    tcp_auth_mac(r->endpoint.secret, TCP_INITIATOR, &r->transcript, proof.mac);
    return proof;
}

void raw_receive_hello(struct raw *r)
{
    struct tcp_hello hello;

    CHECK(raw_receive(r, &hello, sizeof hello) == sizeof hello, "no hello");
    CHECK(hello.magic == TCP_MAGIC && hello.version == TCP_VERSION &&
              hello.pe == RAW_INITIATOR,
          "another hello");
    raw_transcript(r);
    memcpy(r->transcript.initiator_challenge, hello.challenge, sizeof hello.challenge);
}

static bool raw_is_mac(const struct raw *r, enum tcp_role sender,
                       const unsigned char *mac)
{
    unsigned char right[SEAL_MAC];

    tcp_auth_mac(r->endpoint.secret, sender, &r->transcript, right);
    return memcmp(right, mac, sizeof right) == 0;
}

struct tcp_challenge raw_receive_challenge(struct raw *r)
{
    struct tcp_challenge c;

    CHECK(raw_receive(r, &c, sizeof c) == sizeof c && c.magic == TCP_MAGIC,
          "no challenge");
    memcpy(r->transcript.target_challenge, c.challenge, sizeof c.challenge);
    CHECK(raw_is_mac(r, TCP_TARGET, c.mac), "the target's MAC is wrong");
    return c;
}

void raw_receive_proof(const struct raw *r)
{
    struct tcp_proof proof;

    CHECK(raw_receive(r, &proof, sizeof proof) == sizeof proof &&
              proof.magic == TCP_MAGIC && raw_is_mac(r, TCP_INITIATOR, proof.mac),
          "no proof");
}

void raw_receive_welcome(const struct raw *r)
{
    const struct tcp_reply welcome = {.kind = TCP_WELCOME};
    struct tcp_reply reply;

    CHECK(raw_receive(r, &reply, sizeof reply) == sizeof reply &&
              memcmp(&reply, &welcome, sizeof reply) == 0,
          "no welcome");
}

void raw_send_welcome(const struct raw *r)
{
    const struct tcp_reply welcome = {.kind = TCP_WELCOME};

    raw_send(r, &welcome, sizeof welcome);
}

void raw_open_initiator(struct raw *r)
{
    raw_connect(r);
    const struct tcp_hello hello = raw_hello(r);
    raw_send(r, &hello, sizeof hello);
    raw_receive_challenge(r);
    const struct tcp_proof proof = raw_proof(r);
    raw_send(r, &proof, sizeof proof);
    raw_receive_welcome(r);
}

void raw_open_target(struct raw *r)
{
    raw_receive_hello(r);
    const struct tcp_challenge challenge = raw_challenge(r);
    raw_send(r, &challenge, sizeof challenge);
    raw_receive_proof(r);
    raw_send_welcome(r);
}
