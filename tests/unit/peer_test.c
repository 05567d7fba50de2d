/* SPDX-License-Identifier: BSD-3-Clause */
/* peer_test.c - address translation in a made-up world of two PEs. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pgas/core/memory/heap.h"
#include "pgas/core/memory/peer.h"
#include "pgas/core/memory/segment.h"
#include "pgas/ft/ft_map.h"

enum { LEN = 1 << 20 };

static char *data; /* stands for this PE's globals */
static struct node *node;

enum { NODE_SIZE = 1 << 16 }; /* of the node segment with its alive map */

/* PE 0 is us; PE 1 is a second segment of this process. */
static void world(void)
{
    static const uint32_t pes[] = {0, 1};
    struct pgas *g = &pgas_self;

    node = aligned_alloc(NODE_LINE, NODE_SIZE);
    memset(node, 0, NODE_SIZE);
    node->ft_at = node_bytes(2);
    node->npes = 2;
    g->env.symmetric_size = LEN;
    g->npes = 2;
    g->local_size = 2;
    g->node = node;
    cr_assert_eq(heap_init(), 0);
    cr_assert_eq(peer_init(pes), 0);
    g->peer[0].heap = (char *)g->heap_base;
    int fd = segment_create("data", LEN);
    data = segment_map(fd, LEN, 0);
    g->data_base = (uintptr_t)data;
    g->data_len = LEN;
    g->data_tag = 42;
    g->peer[0].data = data;
    node->pe[1] = (struct node_pe){.pid = getpid(),
                                   .heap_fd = segment_create("heap1", g->heap_len),
                                   .heap_len = g->heap_len,
                                   .data_fd = segment_create("data1", LEN),
                                   .data_len = LEN,
                                   .data_tag = 42};
    g->life = LIFE_UP;
}

Test(peer, own_addresses_are_unchanged, .init = world)
{
    char *p = heap_alloc(100, 16);

    cr_assert_eq(peer_at(p, 100, 0, "test"), p);
    cr_assert_eq(peer_at(data + 8, 8, 0, "test"), data + 8);
}

Test(peer, same_offset_on_the_other_pe, .init = world)
{
    long *p = heap_alloc(sizeof *p, 16), *q = peer_at(p, sizeof *p, 1, "test");

    cr_assert_neq(q, p);
    *p = 1;
    *q = 2;
    cr_assert_eq(*p, 1);
    cr_assert_eq(peer_at(p, sizeof *p, 1, "test"), q, "a second translation differs");
    cr_assert_eq((char *)peer_at(p + 1, 1, 1, "test") - (char *)q, (ptrdiff_t)sizeof *p);
    cr_assert_neq(peer_at(data + 8, 8, 1, "test"), data + 8);
}

/* An alive map in which PE 1 has failed. */
static void fail_pe_1(void)
{
    pgas_self.ft = node_ft(node);
    ft_map_init(pgas_self.ft, 2, 1, 0, 2);
    atomic_store(ft_map_failed(pgas_self.ft), 1 << 1);
}

Test(peer, memory_of_a_dead_pe_is_a_sink, .init = world)
{
    char *p = heap_alloc(LEN / 2, 16);
    const char *heap = segment_map(node->pe[1].heap_fd, pgas_self.heap_len, 0);

    fail_pe_1();
    char *q = peer_at(p, LEN / 2, 1, "test"), *r = peer_at(data + 8, 8, 1, "test");
    cr_assert(q[0] == 0 && q[LEN / 2 - 1] == 0 && *r == 0);
    *p = *data = 1;
    *q = *r = 2;
    cr_assert(*p == 1 && *data == 1);
    cr_assert_eq(heap[p - (char *)pgas_self.heap_base], 0, "the PE's memory was written");
    cr_assert_eq((uintptr_t)(q - (p - (char *)pgas_self.heap_base)) % HEAP_ALIGN, 0);
    peer_fini();
}

Test(peer, mapped_memory_of_a_dead_pe_stays, .init = world)
{
    char *p = heap_alloc(8, 16), *q = peer_at(p, 8, 1, "test");

    fail_pe_1();
    cr_assert_eq(peer_at(p, 8, 1, "test"), q);
}

Test(peer, edges_of_a_segment, .init = world)
{
    char *last = (char *)pgas_self.heap_base + pgas_self.heap_len - 1;

    cr_assert_neq(peer_find(last, 1, 1), NULL);
    cr_assert_eq(peer_find(last, 2, 1), NULL);
    cr_assert_eq(peer_find(last + 1, 1, 1), NULL);
    cr_assert_eq(peer_find(data + LEN - 4, 8, 1), NULL);
    cr_assert_eq(peer_find(data - 1, 1, 1), NULL);
    cr_assert_eq(peer_find(last, SIZE_MAX, 1), NULL);
}

Test(peer, invalid_addresses_and_pes_are_not_found, .init = world)
{
    long local = 0;
    char *p = heap_alloc(8, 16);

    cr_assert_eq(peer_find(&local, sizeof local, 1), NULL);
    cr_assert_eq(peer_find(NULL, 1, 1), NULL);
    cr_assert_eq(peer_find(p, 8, 2), NULL);
    cr_assert_eq(peer_find(p, 8, -1), NULL);
}

Test(peer, an_error_ends_the_process, .init = world, .exit_code = 1)
{
    long local = 0;

    peer_at(&local, sizeof local, 1, "test");
}

Test(peer, another_executable_is_rejected, .init = world, .exit_code = 1)
{
    node->pe[1].data_tag = 43;
    peer_at(data, 8, 1, "test");
}

Test(peer, symaddr_has_segment_and_offset, .init = world)
{
    const char *heap = (const char *)pgas_self.heap_base;
    size_t offset;

    cr_assert_eq(symaddr_find(heap + 5, 1, &offset), SEGMENT_HEAP);
    cr_assert_eq(offset, 5);
    cr_assert_eq(symaddr_find(data + LEN - 8, 8, &offset), SEGMENT_DATA);
    cr_assert_eq(offset, LEN - 8);
    cr_assert_eq(symaddr_find(data + LEN - 8, 9, &offset), SEGMENTS);
    cr_assert_eq(symaddr_encode(heap), 2);
    cr_assert_eq(symaddr_encode(data), 1);
    cr_assert_eq(symaddr_encode(data - 1), 0);
    cr_assert_eq(symaddr_decode(symaddr_encode(heap + 5)), heap + 5);
    cr_assert_eq(symaddr_decode(symaddr_encode(data + 7)), data + 7);
    cr_assert_eq(symaddr_decode(0), NULL);
    pgas_self.heap_len = 0; /* before shmem_init nothing is symmetric */
    pgas_self.data_len = 0;
    cr_assert_eq(symaddr_find(heap, 1, &offset), SEGMENTS);
}
