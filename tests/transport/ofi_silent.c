/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_silent.c - gets from a PE that never replies, through bounce buffers: what
 * libfabric may still write when the PE has been given up is not used for other
 * operations, and those go on; when libfabric ends the reads late, it is used again.  The
 * test simulates the silence by an endpoint function
 * that posts nothing. Uses: pair, ofi.h.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include <rdma/fi_rma.h>

#include "pgas/transport/ofi/ofi.h"
#include "tests/transport/pair.h"

enum { A, B, GETS = OFI_BOUNCES + 8, WORDS = 100, LIMIT_MS = 5000 };

static struct pair pair;
static struct fi_ops_rma watched;
static struct fi_ops_rma *usual;
static bool silent;
static unsigned nlost;
static const unsigned char *lost[2 * GETS]; /* destinations of reads that do not end */
static struct ofi_op *late[2 * GETS];       /* their records */
static uint64_t got[GETS][WORDS];           /* private memory */

static ssize_t watch_read(struct fid_ep *ep, void *to, size_t len, void *desc,
                          fi_addr_t from, uint64_t at, uint64_t key, void *context)
{
    const unsigned char *begin = to;

    for (unsigned i = 0; i < nlost; i++)
        CHECK(begin + len <= lost[i] || begin >= lost[i] + 1,
              "a read uses the memory of read %u, which has not ended", i);
    if (!silent)
        return usual->read(ep, to, len, desc, from, at, key, context);
    late[nlost] = context;
    lost[nlost++] = begin;
    return 0;
}

/* Post gets from a PE.  Returns the number of reads that were posted. */
static void gets_post(int pe, struct transport_completion done[GETS])
{
    const struct transport_symaddr from = {.pe = pe};

    for (int i = 0; i < GETS; i++) {
        done[i] = (struct transport_completion){.pending = 1};
        CHECK(pair.t->get(pair.ctx[A], got[i], &from, sizeof got[i], &done[i]) == 0,
              "get %d from PE %d was refused", i, pe);
    }
}

static void gets_end(struct transport_completion done[GETS], int error)
{
    for (int i = 0; i < GETS; i++) {
        PAIR_UNTIL(&pair, done[i].pending == 0, "a get");
        CHECK(done[i].error == error, "get %d ended with %d, expected %d", i,
              done[i].error, error);
    }
    PAIR_UNTIL(&pair, pair.t->quiet(pair.ctx[A]) == 0, "quiet");
}

/* Gets of A from itself end with the right data. */
static void gets_check(void)
{
    struct transport_completion done[GETS];

    memset(got, 0, sizeof got);
    gets_post(A, done);
    gets_end(done, 0);
    for (int i = 0; i < GETS; i++)
        CHECK(memcmp(got[i], pair.heap[A], sizeof got[i]) == 0, "get %d: wrong data", i);
}

int main(void)
{
    struct transport_completion done[GETS];

    pair_open(&pair, &transport_ofi, "local,immediate", LIMIT_MS);
    pair_check_works(&pair);
    for (unsigned i = 0; i < WORDS; i++)
        pair.heap[A][i] = 3 * i + 1;
    gets_check();
    usual = pair.ctx[A]->ep->rma;
    watched = *usual;
    watched.read = watch_read;
    pair.ctx[A]->ep->rma = &watched;

    silent = true;
    gets_post(B, done);
    CHECK(nlost > OFI_BOUNCES / 4, "only %u reads were posted", nlost);
    ofi_peer_failed(pair.ctx[A], B, "a get", EIO, NULL);
    silent = false;
    gets_end(done, -EIO);
    gets_check();
    pair.t->lost(pair.net[A], B, false);
    PAIR_UNTIL(&pair, pair.ctx[A]->losses == 1 && pair.ctx[A]->drains == 0, "the drain");
    gets_check();
    CHECK(pair.ctx[A]->bounces.filled > 0, "no bounce buffer was filled");
    for (unsigned i = 0; i < nlost; i++)
        ofi_op_event(pair.ctx[A], late[i], -EIO);
    CHECK(pair.ctx[A]->bounces.filled == 0 && pair.ctx[A]->bounces.stale == 0 &&
              pair.ctx[A]->bounces.nfree == OFI_BOUNCES,
          "%u bounce buffers are not free", (unsigned)pair.ctx[A]->bounces.filled);
    printf("ok: %u reads ended late\n", nlost);
    nlost = 0;
    gets_check();
    pair.ctx[A]->ep->rma = usual;
    pair_close(&pair);
    return EXIT_SUCCESS;
}
