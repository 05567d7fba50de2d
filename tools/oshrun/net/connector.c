/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connector.c - see listener.h.
 *
 * Connection attempts are staggered by STAGGER_MS (RFC 8305): an unreachable address
 * costs STAGGER_MS, and a reachable one usually sees no concurrent attempt.  The process
 * at an address may be another service, or the listener of another job (172.17.0.1 exists
 * on many hosts), so only the MAC of the listener ends the search.  At most one attempt
 * at a time sends its proof: the listener must not accept the same daemon twice.
 */
#include "config.h"

#include "tools/oshrun/net/listener.h"

#include "pgas/core/base/address.h"
#include "tools/oshrun/net/auth.h"
#include "tools/oshrun/util/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ATTEMPTS_MAX   32
#define STAGGER_MS     200  /* between attempts */
#define AGAIN_MS       100  /* before a retry after AGAIN */
#define REPLY_MS       2000 /* for the reply to a proof, then another attempt proves */
#define WHY_BYTES      96
#define ERROR_TEXT_MAX 1024
#define MS_PER_S       1000

enum state {
    IDLE,
    CONNECTING,
    LISTENING, /* for the greeting */
    GREETED,   /* greeting received; another attempt is proving */
    PROVING,
    PAUSED, /* AGAIN received */
    FAILED
};

struct attempt {
    struct connector *connector;
    enum state state;
    struct address to;
    struct loop_watch watch;
    struct loop_timer timer;
    struct auth auth;
    char why[WHY_BYTES];
};

struct connector {
    struct loop *loop;
    const struct nonce *nonce;
    const struct connector_events *events;
    void *arg;
    struct connector_limits limits;
    bool extended; /* a host has accepted: prove_ms applies */
    struct loop_timer step, end;
    struct attempt attempt[ATTEMPTS_MAX];
    size_t n;
    bool is_bad;
    char bad[ADDRESS_TEXT]; /* the malformed address (possibly truncated) */
};

static void connector_attempt_close(struct attempt *a, enum state now)
{
    loop_cancel(a->connector->loop, &a->timer);
    if (a->state >= CONNECTING && a->state <= PROVING) {
        loop_want(a->connector->loop, &a->watch, 0);
        close(a->watch.fd);
    }
    a->state = now;
}

static struct attempt *connector_first_in(struct connector *d, enum state state)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->attempt[i].state == state)
            return &d->attempt[i];
    return NULL;
}

/* The next step runs from the loop, so that callbacks never nest. */
static void connector_attempt_fail(struct attempt *a, const char *why)
{
    snprintf(a->why, sizeof a->why, "%s", why);
    connector_attempt_close(a, FAILED);
    loop_after(a->connector->loop, &a->connector->step, 0);
}

/* ---- one attempt ------------------------------------------------------------------ */

static void connector_on_attempt(void *arg, unsigned ready);

static void connector_connect_to(struct attempt *a)
{
    int fd = address_socket(&a->to);
    if (fd < 0) {
        connector_attempt_fail(a, strerror(errno));
        return;
    }
    a->state = CONNECTING;
    a->watch = (struct loop_watch){.fd = fd, .fn = connector_on_attempt, .arg = a};
    if (connect(fd, &a->to.as.any, a->to.len) != 0 && errno != EINPROGRESS)
        connector_attempt_fail(a, strerror(errno));
    else
        loop_want(a->connector->loop, &a->watch, LOOP_OUT);
}

static void connector_connected(struct attempt *a)
{
    int err = 0;
    socklen_t len = sizeof err;
    if (getsockopt(a->watch.fd, SOL_SOCKET, SO_ERROR, &err, &len) != 0)
        err = errno;
    if (err == 0 &&
        auth_start(&a->auth, a->watch.fd, AUTH_CONNECTOR, a->connector->nonce) != 0)
        err = errno;
    if (err != 0) {
        connector_attempt_fail(a, strerror(err));
        return;
    }
    a->state = LISTENING;
    loop_want(a->connector->loop, &a->watch, LOOP_IN);
}

/* An attempt without a reply after REPLY_MS no longer blocks the other attempts. */
static void connector_on_attempt_timer(void *arg)
{
    struct attempt *a = arg, *idle = connector_first_in(a->connector, IDLE);
    if (a->state == PAUSED) {
        connector_connect_to(a);
    } else if (connector_first_in(a->connector, GREETED) != NULL) {
        connector_attempt_fail(a, "it has not answered");
    } else {
        loop_after(a->connector->loop, &a->timer, REPLY_MS);
        if (idle != NULL)
            connector_connect_to(idle);
    }
}

/* ---- all together ----------------------------------------------------------------- */

static void connector_stop_attempts(struct connector *d)
{
    loop_cancel(d->loop, &d->step);
    loop_cancel(d->loop, &d->end);
    for (struct attempt *a = d->attempt; a < d->attempt + d->n; a++) {
        if (a->state == LISTENING || a->state == GREETED)
            auth_leave(&a->auth);
        connector_attempt_close(a, FAILED);
    }
}

static void connector_succeed(struct attempt *a)
{
    struct connector *d = a->connector;
    int fd = a->watch.fd;
    struct seal *seal = auth_seal(&a->auth);
    loop_want(d->loop, &a->watch, 0);
    loop_cancel(d->loop, &a->timer);
    a->state = FAILED; /* the callee owns its descriptor */
    connector_stop_attempts(d);
    d->events->made(d->arg, fd, seal);
}

static void connector_on_attempt(void *arg, unsigned ready)
{
    struct attempt *a = arg;
    struct loop *loop = a->connector->loop;
    (void)ready;
    if (a->state == CONNECTING) {
        connector_connected(a);
        return;
    }
    enum auth_news news = auth_read(&a->auth);
    if (news == AUTH_PROVEN) {
        connector_succeed(a);
    } else if (news == AUTH_GREETED) {
        a->state = GREETED;
        loop_after(loop, &a->connector->step, 0);
    } else if (news == AUTH_AGAIN) {
        connector_attempt_close(a, PAUSED);
        loop_after(loop, &a->timer, AGAIN_MS);
        loop_after(loop, &a->connector->step, 0);
    } else if (news == AUTH_BROKEN) {
        connector_attempt_fail(a, strerror(errno));
    } else if (news == AUTH_CLOSED && !a->auth.proved) {
        connector_attempt_fail(a, "it closed the connection");
    } else if (news != AUTH_WAITS) {
        connector_attempt_fail(a, "it does not belong to this job");
    }
}

/* Reports "cannot connect to 10.0.0.1:40000 (No route to host), 10.1.0.1:40000 (...)".
 * Must be the last use of d: the callback may free it. */
static void connector_report(struct connector *d)
{
    char error_text[ERROR_TEXT_MAX], text[ADDRESS_TEXT];
    size_t have = 0;
    error_text[0] = '\0';
    connector_stop_attempts(d);
    for (size_t i = 0; i < d->n && have < sizeof error_text; i++) {
        address_text(&d->attempt[i].to, text);
        have += (size_t)snprintf(error_text + have, sizeof error_text - have, "%s%s (%s)",
                                 i == 0 ? "cannot connect to " : ", ", text,
                                 d->attempt[i].why);
    }
    if (d->is_bad)
        snprintf(error_text, sizeof error_text,
                 "cannot connect to '%s', which is not an address such as 10.0.0.1:40000",
                 d->bad);
    d->events->failed(d->arg, error_text);
}

/* True if a host has accepted, so that its process may still answer. */
static bool connector_may_answer(const struct connector *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->attempt[i].state > CONNECTING && d->attempt[i].state < FAILED)
            return true;
    return false;
}

static void connector_on_end(void *arg)
{
    struct connector *d = arg;
    uint32_t ms = d->limits.connect_ms, more = d->limits.prove_ms;
    if (!d->extended && more > ms && connector_may_answer(d)) {
        d->extended = true;
        loop_after(d->loop, &d->end, more - ms);
        return;
    }
    for (struct attempt *a = d->attempt; a < d->attempt + d->n; a++)
        if (a->state != FAILED)
            snprintf(a->why, sizeof a->why, "no answer for %.1f s",
                     (double)(d->extended ? more : ms) / MS_PER_S);
    connector_report(d);
}

/* Runs after each change of state and STAGGER_MS after each new attempt. */
static void connector_on_step(void *arg)
{
    struct connector *d = arg;
    struct attempt *next = connector_first_in(d, GREETED);
    if (connector_first_in(d, PROVING) != NULL)
        return;
    if (next != NULL && auth_prove(&next->auth) == 0) {
        next->state = PROVING;
        loop_after(d->loop, &next->timer, REPLY_MS);
    } else if (next != NULL) {
        connector_attempt_fail(next, strerror(errno));
    } else if ((next = connector_first_in(d, IDLE)) != NULL) {
        loop_after(d->loop, &d->step, STAGGER_MS);
        connector_connect_to(next);
    } else if (connector_first_in(d, CONNECTING) == NULL &&
               connector_first_in(d, LISTENING) == NULL &&
               connector_first_in(d, PAUSED) == NULL) {
        connector_report(d); /* all have failed */
    }
}

/* Makes the attempts.  A malformed address invalidates the list: no listener has written
 * it. */
static void connector_read_addresses(struct connector *d, const char *text)
{
    for (size_t len; d->n < ATTEMPTS_MAX; text += len + 1) {
        struct attempt *a = &d->attempt[d->n];
        len = strcspn(text, ",");
        if (address_parse(&a->to, text, len) != 0) {
            snprintf(d->bad, sizeof d->bad, "%.*s",
                     (int)(len < WHY_BYTES ? len : WHY_BYTES), text);
            d->n = 0;
            d->is_bad = true;
            return;
        }
        a->connector = d;
        a->timer = (struct loop_timer){.fn = connector_on_attempt_timer, .arg = a};
        d->n++;
        if (text[len] == '\0')
            return;
    }
}

struct connector *connector_start(struct loop *loop, const struct nonce *nonce,
                                  const char *addresses, struct connector_limits limits,
                                  const struct connector_events *events, void *arg)
{
    struct connector *d = mem_calloc(1, sizeof *d);
    d->loop = loop;
    d->nonce = nonce;
    d->events = events;
    d->arg = arg;
    d->limits = limits;
    d->step = (struct loop_timer){.fn = connector_on_step, .arg = d};
    d->end = (struct loop_timer){.fn = connector_on_end, .arg = d};
    connector_read_addresses(d, addresses);
    loop_after(loop, &d->step, 0);
    loop_after(loop, &d->end, limits.connect_ms);
    return d;
}

void connector_free(struct connector *d)
{
    if (d == NULL)
        return;
    connector_stop_attempts(d);
    free(d);
}
