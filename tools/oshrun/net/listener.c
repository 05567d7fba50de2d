/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listener.c - see listener.h.
 *
 * A connection is pending until its peer is authenticated.  At most PENDING_MAX
 * connections are pending, each for at most PENDING_MS.  When the table is full, the
 * oldest connection is evicted.  A daemon of the job answers the greeting at once, so it
 * needs its slot for one round trip only; if it is evicted nevertheless, it receives
 * AGAIN and retries (connector.c).  Evicting the newest connection, or accepting none,
 * would let a few silent peers block the listener.
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

#define SOCKETS_MAX      16   /* addresses at which one listener listens */
#define PENDING_MAX      64   /* pending connections */
#define PENDING_MS       2000 /* time limit of the authentication */
#define PERIODS          4    /* timer periods in PENDING_MS */
#define ACCEPTS          16   /* per event of a listen socket */
#define PAUSE_MS         100  /* before accepting again after EMFILE or ENOMEM */
#define TOLD_MAX         8    /* refusals that are reported */
#define ERROR_TEXT_BYTES 256
#define WRONG_MAX        1024 /* bytes of a message about --if */
#define MS_PER_S         1000

struct listen_socket {
    struct listener *listener;
    struct loop_watch watch;
};

struct pending {
    struct listener *listener;
    struct loop_watch watch;
    struct loop_timer patience;
    int periods; /* elapsed timer periods */
    struct auth auth;
    struct address from;
    uint64_t number; /* order of arrival; 0: the slot is free */
};

struct listener {
    struct loop *loop;
    const struct nonce *nonce;
    const struct listener_events *events;
    void *arg;
    struct listen_socket socket[SOCKETS_MAX];
    size_t nsockets;
    struct pending pending[PENDING_MAX];
    uint64_t came;
    unsigned told;
    struct loop_timer pause;
    bool accepting, closed; /* closed: listener_close ran in a callback */
};

/* ---- unauthenticated connections --------------------------------------------------- */

/* Frees the slot and returns the descriptor, which the caller owns. */
static int listener_pending_detach(struct pending *s)
{
    loop_want(s->listener->loop, &s->watch, 0);
    loop_cancel(s->listener->loop, &s->patience);
    s->number = 0;
    return s->watch.fd;
}

/* The callback may call listener_close(). */
static void listener_refuse(struct pending *s, const char *why)
{
    struct listener *d = s->listener;
    char from[ADDRESS_TEXT], error_text[ERROR_TEXT_BYTES];
    close(listener_pending_detach(s));
    if (d->told == TOLD_MAX)
        return;
    d->told++;
    address_text(&s->from, from);
    snprintf(error_text, sizeof error_text, "refused a connection from %s: %s%s", from,
             why, d->told < TOLD_MAX ? "" : " (further ones are not reported)");
    d->events->refused(d->arg, error_text);
}

static void listener_refuse_for(struct pending *s, enum auth_news news)
{
    static const char *const why[] = {
        [AUTH_ALIEN] = "it sent an invalid authentication message",
        [AUTH_WRONG] = "it does not know the nonce of this job",
        [AUTH_CLOSED] = "it closed the connection before it was authenticated",
    };
    char error[ERROR_TEXT_BYTES / 2];
    if (news == AUTH_BROKEN)
        snprintf(error, sizeof error,
                 "the connection failed before it was authenticated (%s)",
                 strerror(errno));
    listener_refuse(s, news == AUTH_BROKEN ? error : why[news]);
}

static void listener_on_pending_readable(void *arg, unsigned ready)
{
    struct pending *s = arg;
    struct listener *d = s->listener;
    (void)ready;
    enum auth_news news = auth_read(&s->auth);
    if (news == AUTH_WAITS)
        return;
    if (news == AUTH_PROVEN) {
        struct seal *seal = auth_seal(&s->auth);
        d->events->came(d->arg, listener_pending_detach(s), seal);
    } else if (news == AUTH_LEFT) {
        close(listener_pending_detach(s));
    } else {
        listener_refuse_for(s, news);
    }
}

static void listener_on_pending_timeout(void *arg)
{
    struct pending *s = arg;
    char why[ERROR_TEXT_BYTES / 2];
    if (++s->periods < PERIODS) { /* a SIGSTOP of this process costs at most one period */
        loop_after(s->listener->loop, &s->patience, PENDING_MS / PERIODS);
        return;
    }
    snprintf(why, sizeof why, "it %s for %d s",
             s->auth.have > 0 ? "sent part of a message and then nothing"
                              : "sent nothing",
             PENDING_MS / MS_PER_S);
    auth_leave(&s->auth); /* the peer may be a slow daemon of this job: it retries */
    listener_refuse(s, why);
}

/* Returns a free slot; evicts the oldest connection if the table is full. */
static struct pending *listener_get_slot(struct listener *d)
{
    struct pending *oldest = &d->pending[0];
    for (struct pending *s = d->pending; s < d->pending + PENDING_MAX; s++)
        if (s->number < oldest->number)
            oldest = s;
    if (oldest->number == 0)
        return oldest;
    auth_leave(&oldest->auth);
    listener_refuse(oldest, "it was not authenticated when too many others connected");
    return oldest;
}

static void listener_accept_pending(struct listener *d, int fd,
                                    const struct address *from)
{
    struct pending *s = listener_get_slot(d);
    if (d->closed || auth_start(&s->auth, fd, AUTH_LISTENER, d->nonce) != 0) {
        close(fd);
        return;
    }
    s->listener = d;
    s->from = *from;
    s->number = ++d->came;
    s->watch =
        (struct loop_watch){.fd = fd, .fn = listener_on_pending_readable, .arg = s};
    s->patience = (struct loop_timer){.fn = listener_on_pending_timeout, .arg = s};
    loop_want(d->loop, &s->watch, LOOP_IN);
    s->periods = 0;
    loop_after(d->loop, &s->patience, PENDING_MS / PERIODS);
}

/* ---- the listener ------------------------------------------------------------------ */

void listener_watch(struct listener *d, bool on)
{
    for (size_t i = 0; i < d->nsockets; i++)
        loop_want(d->loop, &d->socket[i].watch, on ? LOOP_IN : 0);
}

static void listener_on_pause_over(void *arg)
{
    listener_watch(arg, true);
}

/* Errors of accept that do not concern a single connection: an immediate retry would
 * spin. */
static bool listener_out_of_resources(int err)
{
    return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM;
}

static void listener_accept(struct listener *d, int listener)
{
    for (int i = 0; i < ACCEPTS && !d->closed; i++) {
        struct address from = {.len = sizeof from.as};
        int fd = accept4(listener, &from.as.any, &from.len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            listener_accept_pending(d, fd, &from);
        } else if (listener_out_of_resources(errno)) {
            listener_watch(d, false);
            loop_after(d->loop, &d->pause, PAUSE_MS);
            return;
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

static void listener_on_acceptable(void *arg, unsigned ready)
{
    struct listen_socket *e = arg;
    struct listener *d = e->listener;
    (void)ready;
    d->accepting = true;
    listener_accept(d, e->watch.fd);
    d->accepting = false;
    if (d->closed)
        free(d);
}

/* Adds a socket that listens at this address.  0, or -1 with errno. */
static int listener_add_socket(struct listener *d, struct address *at)
{
    int fd = address_socket(at);
    if (fd < 0)
        return -1;
    if (bind(fd, &at->as.any, at->len) != 0 || listen(fd, SOMAXCONN) != 0) {
        int err = errno;
        close(fd);
        errno = err;
        return -1;
    }
    address_of_socket(at, fd);
    struct listen_socket *e = &d->socket[d->nsockets++];
    *e = (struct listen_socket){.listener = d};
    e->watch = (struct loop_watch){.fd = fd, .fn = listener_on_acceptable, .arg = e};
    return 0;
}

/* Succeeds if at least one chosen address can be bound: an interface may have gone down
 * since address_choose(). */
static int listener_bind(struct listener *d, struct address *at, size_t n,
                         char *addresses, char *why, size_t len)
{
    char text[ADDRESS_TEXT];
    size_t have = 0;
    for (size_t i = 0; i < n; i++) {
        if (listener_add_socket(d, &at[i]) != 0) {
            address_text(&at[i], text);
            snprintf(why, len, "cannot listen at %s (%s)", text, strerror(errno));
            continue;
        }
        address_text(&at[i], text);
        have += (size_t)snprintf(addresses + have, ADDRESSES_MAX - have, "%s%s",
                                 have > 0 ? "," : "", text);
    }
    return d->nsockets > 0 ? 0 : -1;
}

_Static_assert(SOCKETS_MAX *ADDRESS_TEXT <= ADDRESSES_MAX, "all addresses fit");

struct listener *listener_open(struct loop *loop, const struct nonce *nonce,
                               const char *which, char addresses[ADDRESSES_MAX],
                               const struct listener_events *events, void *arg, char *why,
                               size_t len)
{
    struct address at[SOCKETS_MAX];
    char wrong[WRONG_MAX];
    size_t n = address_choose(which, at, SOCKETS_MAX, wrong, sizeof wrong);
    if (n == 0) {
        snprintf(why, len, "%s%s", which != NULL ? "--if " : "", wrong);
        return NULL;
    }
    struct listener *d = mem_calloc(1, sizeof *d);
    *d = (struct listener){.loop = loop, .nonce = nonce, .events = events, .arg = arg};
    d->pause = (struct loop_timer){.fn = listener_on_pause_over, .arg = d};
    if (listener_bind(d, at, n, addresses, why, len) != 0) {
        listener_close(d);
        return NULL;
    }
    listener_watch(d, true);
    return d;
}

void listener_close(struct listener *d)
{
    if (d == NULL || d->closed)
        return;
    d->closed = true;
    loop_cancel(d->loop, &d->pause);
    listener_watch(d, false);
    for (size_t i = 0; i < d->nsockets; i++)
        close(d->socket[i].watch.fd);
    for (struct pending *s = d->pending; s < d->pending + PENDING_MAX; s++)
        if (s->number != 0)
            close(listener_pending_detach(s));
    if (!d->accepting)
        free(d);
}
