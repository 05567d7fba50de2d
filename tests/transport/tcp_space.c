/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_space.c - the reply buffer of a target of tcp: it grows when a PE pipelines gets,
 * is kept while they go on, and is freed when they have ended.
 */
#include "config.h"

#include <errno.h>

#include "pgas/transport/tcp/tcp.h"
#include "tests/transport/pair.h"

enum { A, B };
enum { GETS = 1000, BYTES = 4096, LEAST = 1 << 20 };

static struct pair pair;
static char arrived[BYTES];

/* The size of B's buffer for replies to A. */
static size_t space(void)
{
    const struct tcp_client *client = pair.ctx[B]->clients;

    CHECK(client != NULL && client->next == NULL, "B has one connection");
    return client->stream.out.size;
}

/* Posts all gets before B evaluates one, and waits for them. */
static void burst(void)
{
    const struct transport_symaddr from = {.pe = B, .segment = SEGMENT_HEAP};

    for (int i = 0; i < GETS; i++) {
        int rc = transport_tcp.get(pair.ctx[A], arrived, &from, BYTES, NULL);
        CHECK(rc == 0, "get %d: %d", i, rc);
    }
    PAIR_UNTIL(&pair, transport_tcp.quiet(pair.ctx[A]) == 0, "the gets");
}

int main(void)
{
    pair_open(&pair, &transport_tcp, NULL, 5000);
    pair_check_works(&pair);
    CHECK(space() <= TCP_OUTPUT_KEEP, "at first: %zu bytes", space());
    burst();
    size_t most = space();
    CHECK(most >= LEAST, "after %d gets of %d bytes: %zu bytes", GETS, BYTES, most);
    /* Longer than two intervals in which an unused buffer is freed. */
    for (uint64_t end = pair_now_ms() + 2500; pair_now_ms() < end;) {
        burst();
        CHECK(space() >= most, "while gets go on: %zu of %zu bytes", space(), most);
    }
    PAIR_UNTIL(&pair, space() <= TCP_OUTPUT_KEEP, "the end of the buffer");
    pair_check_works(&pair);
    burst();
    CHECK(space() >= LEAST, "more gets: %zu bytes", space());
    pair_close(&pair);
    return EXIT_SUCCESS;
}
