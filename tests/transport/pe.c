/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pe.c - one PE of the suite: open the transport, exchange addresses, run the cases,
 * close.
 * Uses: suite.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/transport/suite.h"

#ifdef PGAS_SANITIZED
enum { SLOWER = 4 };
#else
enum { SLOWER = 1 };
#endif

enum {
    CASE_SECONDS = 60,
    ADDRESS_AWAITED = 3, /* calls */
    OPEN_MS = 1000,
    NS_PER_MS = 1000000,
    MS_PER_S = 1000,
    US_PER_MS = 1000
};
static const uint64_t ns_per_s = 1000000000;

/* The first calls for a PE say that its address is awaited. */
static bool address_awaited(struct pe *pe, int who)
{
    return who >= 0 && who < pe->npes &&
           __atomic_fetch_add(&pe->address_calls[who], 1, __ATOMIC_RELAXED) <
               ADDRESS_AWAITED;
}

static ssize_t address_of(const struct transport_world *world, int who, void *to,
                          size_t space)
{
    struct pe *pe = world->arg;
    const struct shared_pe *peer = &pe->shared->pe[who];

    if (address_awaited(pe, who))
        return -EAGAIN;

    if (who < 0 || who >= pe->npes || peer->address_len == 0 || peer->address_len > space)
        return -1;
    memcpy(to, peer->address, peer->address_len);
    return (ssize_t)peer->address_len;
}

static void failed(const struct transport_world *world, int who, const char *message)
{
    struct pe *pe = world->arg;

    CHECK(pe, who >= -1 && who < pe->npes, "world->failed names PE %d", who);
    CHECK(pe, message && message[0] && strlen(message) < TRANSPORT_TEXT_MAX,
          "world->failed has an empty or too long message");
    snprintf(pe->mine->message, sizeof pe->mine->message, "%s", message);
    CHECK(pe, pe->expect_failed, "world->failed: PE %d: %s", who, message);
    pe->mine->failed_pe = who;
    __atomic_fetch_add(&pe->mine->failures, 1, __ATOMIC_RELAXED);
}

/* -- open ----------------------------------------------------------------------- */

double cpu_ms(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * MS_PER_S +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / US_PER_MS;
}

static void dispositions(struct sigaction *actions)
{
    memset(actions, 0, NSIG * sizeof actions[0]);
    for (int i = 1; i < NSIG; i++)
        sigaction(i, NULL, &actions[i]);
}

static void dispositions_check(struct pe *pe, const struct sigaction *before)
{
    struct sigaction now[NSIG];

    dispositions(now);
    for (int i = 1; i < NSIG; i++)
        CHECK(pe, now[i].sa_handler == before[i].sa_handler,
              "open changed the disposition of signal %d", i);
}

static bool open_net(struct pe *pe)
{
    struct sigaction before[NSIG];
    char why[TRANSPORT_TEXT_MAX] = "";
    const uint64_t start = now_ns();
    const double cpu = cpu_ms();
    int status;

    dispositions(before);
    status = pe->t->open(&pe->world, &pe->net, why);
    if (status != 0) {
        if (pe->me == 0)
            fprintf(stderr, "suite: %s cannot be opened: %s (%s)\n", pe->options->name,
                    why, status < 0 ? strerror(-status) : "not a status");
        return false;
    }
    dispositions_check(pe, before);
    pe->mine->open_ms = (double)(now_ns() - start) / NS_PER_MS;
    CHECK(pe, cpu_ms() - cpu < OPEN_MS * SLOWER, "open took %.0f ms of processor time",
          cpu_ms() - cpu);
    pe->ctx0 = (struct chan){.pe = pe, .ctx = pe->t->ctx_0(pe->net)};
    CHECK(pe, pe->ctx0.ctx, "ctx_0 returned NULL");
    return true;
}

static void publish(struct pe *pe)
{
    const char *text = pe->t->describe(pe->net);

    CHECK(pe, text && text[0], "describe() returned no text");
    if (pe->me == 0)
        snprintf(pe->shared->describe, sizeof pe->shared->describe, "%s", text);
    pe->mine->address_len = pe->t->address(pe->net, pe->mine->address);
    CHECK(pe, pe->mine->address_len > 0 && pe->mine->address_len <= TRANSPORT_ADDRESS_MAX,
          "an address of %zu bytes", pe->mine->address_len);
}

/* -- a case --------------------------------------------------------------------- */

static void case_begin(struct pe *pe, const struct test_case *c, int i)
{
    pe->members = pe->npes;
    pe->expect_failed = false;
    pe->case_name = c->name;
    pe->deadline = now_ns() + CASE_SECONDS * SLOWER * pe->options->scale * ns_per_s;
    barrier(pe);
    if (pe->me == 0)
        __atomic_store_n(&pe->shared->case_now, i, __ATOMIC_RELEASE);
    words_clear(pe);
}

static void case_end(struct pe *pe)
{
    if (!pe->expect_failed)
        quiet(&pe->ctx0);
    barrier(pe);
    CHECK(pe, pe->mine->failures == 0 || pe->expect_failed, "world->failed was called");
    pe->mine->failures = 0;
}

static void run_case(struct pe *pe, const struct test_case *c, int i)
{
    const uint64_t start = now_ns();

    case_begin(pe, c, i);
    c->run(pe);
    if (pe->dead)
        return;
    case_end(pe);
    if (pe->me != 0)
        return;
    pe->shared->seconds[i] = (double)(now_ns() - start) / (double)ns_per_s;
    __atomic_store_n(&pe->shared->passed[i], 1, __ATOMIC_RELEASE);
}

int pe_run(struct pe *pe, const struct test_case *const *cases, int from, int to)
{
    pe->t = pe->options->transport;
    pe->world.arg = pe;
    pe->world.address_of = address_of;
    pe->world.failed = failed;
    pe->case_name = "open";
    pe->members = pe->npes;
    pe->deadline = now_ns() + CASE_SECONDS * SLOWER * ns_per_s;
    if (!open_net(pe))
        return PE_CANNOT_OPEN;
    publish(pe);
    service_start(pe);
    barrier(pe);
    for (int i = from; i < to; i++)
        run_case(pe, cases[i], i);
    if (pe->dead)
        return PE_OK;
    pe->case_name = "close";
    pe->deadline = now_ns() + CASE_SECONDS * SLOWER * ns_per_s;
    barrier(pe);
    service_stop(pe);
    pe->ctx0.service = NULL;
    pe->t->close(pe->net);
    return PE_OK;
}
