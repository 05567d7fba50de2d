/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.c - failure, waiting and barrier of the conformance suite; the service thread.
 * Uses: suite, sim_pe.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/transport/sim_pe.h"
#include "tests/transport/suite.h"

enum {
    SPINS = 200,            /* progress calls before a nap */
    OWN_NAP_MS = 20,        /* longest sleep on the fd of a context of one thread */
    SHARED_NAP_MS = 1,      /* same if the service thread may consume the completions */
    NO_FD_NAP_US = 50,      /* between progress calls if the transport has no fd */
    SERVICE_NAP_MS = 2,     /* service thread, while the main thread uses context 0 */
    SERVICE_NAP_MAX = 32,   /* longest nap without fd, in ms */
    SERVICE_SLEEP_MS = 500, /* longest sleep on fd */
    SERVICE_TURNS = 64,     /* progress calls with the lock held */
    BARRIER_NAP_MS = 50,
    US_PER_MS = 1000,
    NS_PER_US = 1000,
    NS_PER_MS = 1000000,
    MS_PER_S = 1000,
    SIM_NAP_NS = 1000,
};

uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * MS_PER_S * NS_PER_MS + (uint64_t)t.tv_nsec;
}

static void sleep_us(unsigned us)
{
    struct timespec t = {.tv_sec = us / (MS_PER_S * US_PER_MS),
                         .tv_nsec = (long)(us % (MS_PER_S * US_PER_MS)) * NS_PER_US};

    nanosleep(&t, NULL);
}

void fail(struct pe *pe, const char *file, int line, const char *format, ...)
{
    char text[WHAT_MAX];
    const char *name = strrchr(file, '/');
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "suite: %s: %s: PE %d: %s:%d: %s\n", pe->options->name, pe->case_name,
            pe->me, name ? name + 1 : file, line, text);
    fflush(stderr);
    __atomic_store_n(&pe->shared->failed, 1, __ATOMIC_RELEASE);
    _exit(PE_FAILED);
}

/* -- a context and its lock ----------------------------------------------------- */

static void enter(struct chan *chan)
{
    struct service *s = chan->service;
    const uint64_t one = 1;

    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->calls++;
    if (s->sleeping && write(s->kick, &one, sizeof one) == sizeof one)
        s->sleeping = false;
}

static void leave(struct chan *chan)
{
    if (chan->service)
        pthread_mutex_unlock(&chan->service->lock);
}

static int progress(struct chan *chan)
{
    enter(chan);
    const int happened = chan->pe->t->progress(chan->ctx);
    leave(chan);
    CHECK(chan->pe, happened >= 0, "progress returned %d", happened);
    return happened;
}

/* Sleep on the context's fd, as net.c does. */
static void sleep_on_fd(struct chan *chan)
{
    const struct transport *t = chan->pe->t;
    struct pollfd ready = {.fd = t->fd(chan->ctx), .events = POLLIN};
    int armed;

    if (ready.fd < 0) {
        sleep_us(NO_FD_NAP_US);
        return;
    }
    enter(chan);
    armed = t->arm(chan->ctx);
    leave(chan);
    CHECK(chan->pe, armed == 0 || armed == -EAGAIN, "arm returned %d", armed);
    if (armed == 0)
        poll(&ready, 1, chan->service ? SHARED_NAP_MS : OWN_NAP_MS);
}

/* -- waiting -------------------------------------------------------------------- */

struct wait wait_begin(struct chan *chan, const char *what, int line, bool memory)
{
    struct shared_pe *mine = chan->pe->mine;

    __atomic_store_n(&mine->waits_for, what, __ATOMIC_RELAXED);
    __atomic_store_n(&mine->line, line, __ATOMIC_RELAXED);
    return (struct wait){.chan = chan, .what = what, .memory = memory};
}

static void check_deadline(struct pe *pe, struct chan *chan, const char *what)
{
    int who = -1;

    if (__atomic_load_n(&pe->shared->failed, __ATOMIC_ACQUIRE))
        _exit(PE_GAVE_UP);
    pe->mine->pending = pending(chan, &who);
    pe->mine->pending_pe = who;
    if (now_ns() > pe->deadline)
        FAIL(pe, "timed out waiting for %s (line %d); pending: %llu, PE %d", what,
             pe->mine->line, (unsigned long long)pe->mine->pending, who);
}

void wait_step(struct wait *wait)
{
    struct chan *chan = wait->chan;

    if (progress(chan) > 0 && ++wait->turns % SPINS != 0)
        return;
    if (wait->memory || wait->turns % SPINS == 0)
        relax(chan);
    if (++wait->turns < SPINS)
        return;
    check_deadline(chan->pe, chan, wait->what);
    if (!wait->memory && !chan->pe->options->sim)
        sleep_on_fd(chan);
}

void relax(struct chan *chan)
{
    if (chan->pe->options->sim)
        progress(chan);
    else
        sched_yield();
}

void nap(struct pe *pe, unsigned ms)
{
    if (pe->options->sim)
        sim_pe_sleep((uint64_t)ms * NS_PER_MS);
    else
        sleep_us(ms * US_PER_MS);
}

static char process_state(pid_t pid)
{
    char path[40], state = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    f = fopen(path, "r");
    if (f != NULL && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    if (f != NULL)
        fclose(f);
    return state;
}

void await_stop(pid_t pid)
{
    enum { TRIES = 10000 };

    for (int i = 0; i < TRIES && process_state(pid) != 'T'; i++)
        sleep_us(US_PER_MS);
}

/* -- the barrier ---------------------------------------------------------------- */

static void futex(uint32_t *word, int op, uint32_t value, unsigned ms)
{
    const struct timespec t = {.tv_sec = 0, .tv_nsec = (long)ms * NS_PER_MS};

    syscall(SYS_futex, word, op, value, &t, NULL, 0);
}

/* A fiber, or a PE without a running service thread, must poll here so that the others'
 * operations on it progress. */
static void barrier_nap(struct pe *pe, uint32_t generation)
{
    progress(&pe->ctx0);
    if (pe->options->sim)
        sim_pe_sleep(SIM_NAP_NS);
    else if (pe->service.started && !pe->service.paused)
        futex(&pe->shared->generation, FUTEX_WAIT, generation, BARRIER_NAP_MS);
    else
        sleep_us(NO_FD_NAP_US);
}

void barrier_at(struct pe *pe, int line)
{
    struct shared *shared = pe->shared;
    const uint32_t now = __atomic_load_n(&shared->generation, __ATOMIC_ACQUIRE);

    __atomic_store_n(&pe->mine->waits_for, "the barrier", __ATOMIC_RELAXED);
    __atomic_store_n(&pe->mine->line, line, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&shared->arrived, 1, __ATOMIC_ACQ_REL) ==
        (uint32_t)pe->members) {
        __atomic_store_n(&shared->arrived, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&shared->generation, now + 1, __ATOMIC_RELEASE);
        futex(&shared->generation, FUTEX_WAKE, INT_MAX, 0);
        return;
    }
    while (__atomic_load_n(&shared->generation, __ATOMIC_ACQUIRE) == now) {
        check_deadline(pe, &pe->ctx0, "the barrier");
        barrier_nap(pe, now);
    }
}

/* -- the service thread --------------------------------------------------------- */

/* Exponential backoff of a service thread that must poll because there is no fd. */
static int longer_nap(struct service *s)
{
    if (s->nap_ms < SERVICE_NAP_MAX)
        s->nap_ms *= 2;
    return s->nap_ms;
}

/* One round with the lock held.  Returns how many ms to sleep; sets ready->fd to the fd
 * to sleep on, if there is one. */
static int serve(struct service *s, struct pollfd *ready, uint64_t *calls)
{
    const struct transport *t = s->pe->t;
    struct transport_ctx *ctx = s->pe->ctx0.ctx;

    s->sleeping = false;
    if (s->paused)
        return SERVICE_SLEEP_MS;
    int turns = 0;
    while (turns < SERVICE_TURNS && t->progress(ctx) > 0)
        turns++;
    if (*calls != s->calls || turns > 0)
        s->nap_ms = SERVICE_NAP_MS;
    if (*calls != s->calls) {
        *calls = s->calls;
        return SERVICE_NAP_MS;
    }
    ready->fd = t->fd(ctx);
    if (ready->fd < 0)
        return longer_nap(s);
    if (t->arm(ctx) != 0)
        return 0;
    s->sleeping = true;
    return SERVICE_SLEEP_MS;
}

static void *service_main(void *arg)
{
    struct service *s = arg;
    uint64_t calls = 0, kicks;

    while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) {
        struct pollfd ready[] = {{.fd = s->kick, .events = POLLIN},
                                 {.fd = -1, .events = POLLIN}};

        pthread_mutex_lock(&s->lock);
        const int ms = serve(s, &ready[1], &calls);
        pthread_mutex_unlock(&s->lock);
        poll(ready, 2, ms);
        if (ready[0].revents & POLLIN && read(s->kick, &kicks, sizeof kicks) < 0)
            FAIL(s->pe, "read from an eventfd failed: %s", strerror(errno));
    }
    return NULL;
}

static void service_kick(struct service *s)
{
    const uint64_t one = 1;

    if (write(s->kick, &one, sizeof one) < 0)
        FAIL(s->pe, "write to an eventfd failed: %s", strerror(errno));
}

void service_start(struct pe *pe)
{
    struct service *s = &pe->service;

    if (pe->options->sim)
        return;
    s->pe = pe;
    s->nap_ms = SERVICE_NAP_MS;
    pthread_mutex_init(&s->lock, NULL);
    s->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    CHECK(pe, s->kick >= 0, "eventfd: %s", strerror(errno));
    pe->ctx0.service = s;
    s->started = pthread_create(&s->thread, NULL, service_main, s) == 0;
    CHECK(pe, s->started, "pthread_create of the service thread failed");
}

void service_stop(struct pe *pe)
{
    struct service *s = &pe->service;

    if (!s->started)
        return;
    __atomic_store_n(&s->stop, true, __ATOMIC_RELEASE);
    service_kick(s);
    pthread_join(s->thread, NULL);
    close(s->kick);
    s->started = false;
}

void service_pause(struct pe *pe, bool pause)
{
    struct service *s = &pe->service;

    if (!s->started)
        return;
    pthread_mutex_lock(&s->lock);
    s->paused = pause;
    pthread_mutex_unlock(&s->lock);
    service_kick(s);
}

/* -- operations ----------------------------------------------------------------- */

#define POST(chan, what, call)                                                           \
    struct transport_ctx *ctx = (chan)->ctx;                                             \
    const struct transport *t = (chan)->pe->t;                                           \
    int status;                                                                          \
    WAIT_OPS(chan, what,                                                                 \
             (enter(chan), status = (call), leave(chan), status != -EAGAIN));            \
    return status

int try_put(struct chan *chan, struct transport_symaddr to, const void *from, size_t len,
            struct transport_completion *done)
{
    POST(chan, "put to be accepted", t->put(ctx, &to, from, len, done));
}

int try_get(struct chan *chan, void *to, struct transport_symaddr from, size_t len,
            struct transport_completion *done)
{
    POST(chan, "get to be accepted", t->get(ctx, to, &from, len, done));
}

int try_amo(struct chan *chan, struct transport_symaddr at,
            const struct transport_amo *amo, struct transport_completion *done)
{
    POST(chan, "amo to be accepted", t->amo(ctx, &at, amo, done));
}

int try_put_signal(struct chan *chan, struct transport_symaddr to, const void *from,
                   size_t len, const struct transport_signal *signal,
                   struct transport_completion *done)
{
    POST(chan, "put with signal to be accepted",
         t->put_signal(ctx, &to, from, len, signal, done));
}

int try_put_blocks(struct chan *chan, const struct transport_blocks *blocks)
{
    POST(chan, "put of blocks to be accepted", t->put_blocks(ctx, blocks));
}

int try_get_blocks(struct chan *chan, const struct transport_blocks *blocks,
                   struct transport_completion *done)
{
    POST(chan, "get of blocks to be accepted", t->get_blocks(ctx, blocks, done));
}

int try_quiet(struct chan *chan)
{
    POST(chan, "quiet", t->quiet(ctx));
}

int try_quiet_all(struct chan *chan)
{
    POST(chan, "quiet_all", t->quiet_all(ctx));
}

int try_fence(struct chan *chan)
{
    POST(chan, "fence", t->fence(ctx));
}

size_t blocks_max(struct chan *chan, int pe, size_t bytes)
{
    size_t max = 0;

    WAIT_OPS(chan, "blocks_max to be positive",
             (enter(chan), max = chan->pe->t->blocks_max(chan->ctx, pe, bytes),
              leave(chan), max > 0));
    return max;
}

uint64_t pending(struct chan *chan, int *pe)
{
    enter(chan);
    const uint64_t n = chan->pe->t->pending(chan->ctx, pe);
    leave(chan);
    return n;
}

bool chan_open(struct pe *pe, struct chan *chan, bool must)
{
    int status;

    *chan = (struct chan){.pe = pe};
    status = pe->t->ctx_open(pe->net, &chan->ctx);
    CHECK(pe, status <= 0 && status != -EAGAIN, "ctx_open returned %d", status);
    CHECK(pe, status == 0 || !must, "no context can be opened: %s", strerror(-status));
    CHECK(pe, status != 0 || chan->ctx, "ctx_open returned 0 but no context");
    return status == 0;
}

void chan_close(struct chan *chan)
{
    chan->pe->t->ctx_close(chan->ctx);
    chan->ctx = NULL;
}
