/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_connect.c - reconnecting to a lost peer is retried until SHMEM_NET_TIMEOUT expires,
 * not for a fixed time; then the error names the cause.  The test simulates the lost
 * connection by replacing an endpoint function with one that returns -FI_EAGAIN.
 * Uses: pair, ofi.h.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "pgas/transport/ofi/ofi.h"
#include "tests/transport/pair.h"

enum { A, B, LONG_MS = 8000, REFUSED_MS = 1300, SHORT_MS = 300 };

static struct pair pair;
static struct fi_ops_rma refusing;
static struct fi_ops_rma *usual;

static ssize_t refuse_msg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
    (void)ep;
    (void)msg;
    (void)flags;
    return -FI_EAGAIN;
}

/* Every put of A returns -FI_EAGAIN, as while its connection is re-established. */
static void connection_is_lost(void)
{
    usual = pair.ctx[A]->ep->rma;
    refusing = *usual;
    refusing.writemsg = refuse_msg;
    pair.ctx[A]->ep->rma = &refusing;
}

static void connection_is_back(void)
{
    pair.ctx[A]->ep->rma = usual;
}

/* Posts a put of A, retrying for at most ms; returns the last status. */
static int try_put(uint64_t ms)
{
    static const uint64_t from = 42;
    const struct transport_symaddr to = {.pe = B};
    struct transport_completion done = {.pending = 1};
    uint64_t end = pair_now_ms() + ms;
    int error = -EAGAIN;

    while (error == -EAGAIN && pair_now_ms() < end) {
        error = pair.t->put(pair.ctx[A], &to, &from, sizeof from, &done);
        pair_progress(&pair);
    }
    return error;
}

int main(void)
{
    int error;

    pair_open(&pair, &transport_ofi, NULL, LONG_MS);
    pair_check_works(&pair);
    connection_is_lost();
    error = try_put(REFUSED_MS);
    CHECK(error == -EAGAIN && pair.failures[A] == 0,
          "a put failed after %d ms without a connection, the timeout is %d ms: %s: %s",
          REFUSED_MS, LONG_MS, strerror(-error), pair.message[A]);
    connection_is_back();
    CHECK(try_put(LONG_MS) == 0, "a put failed after the connection was restored: %s",
          pair.message[A]);
    pair_check_works(&pair);

    pair.world[A].timeout_ns = SHORT_MS * 1000000ULL;
    connection_is_lost();
    error = try_put(LONG_MS);
    CHECK(error == -ETIMEDOUT && pair.failures[A] == 1 && pair.failed_pe[A] == B,
          "a put without a connection returned %s, %d failures", strerror(-error),
          pair.failures[A]);
    CHECK(strstr(pair.message[A], "connection was lost") != NULL &&
              strstr(pair.message[A], "SHMEM_NET_TIMEOUT") != NULL,
          "the message does not name the cause and the variable: %s", pair.message[A]);
    printf("ok: %s\n", pair.message[A]);
    connection_is_back();
    pair_close(&pair);
    return EXIT_SUCCESS;
}
