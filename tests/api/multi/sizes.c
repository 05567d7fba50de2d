/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sizes.c - put and get of 0 bytes to 1 MiB with odd alignments of source and
 * destination: the bytes arrive, and no adjacent byte changes.  Also the routines by
 * element size.
 */
#include "config.h"

#include "tests/api/multi/check.h"

enum { MAX = 1 << 20, GUARD = 64, ROOM = MAX + 4 * GUARD };
static const unsigned char guard_byte = 0x5a;
static const unsigned char other_byte = 0x33; /* around a source */

struct ends {
    unsigned char *symmetric; /* ROOM bytes on every PE */
    unsigned char *private;   /* ROOM bytes of private memory */
    int to, from;
};

static uint64_t salt_of(size_t n, size_t a, size_t b, int pe)
{
    return n * 4099 + a * 67 + b + (uint64_t)pe * 1000000007u;
}

static void check_arrived(const unsigned char *at, size_t n, uint64_t salt,
                          const char *what)
{
    size_t wrong = check_find_wrong(at, n, salt);
    CHECK_NAMED(wrong == n, "%s of %zu bytes: byte %zu is wrong", what, n, wrong);
    CHECK_NAMED(check_find_other(at - GUARD, GUARD, guard_byte) == GUARD,
                "%s of %zu bytes changed bytes before", what, n);
    CHECK_NAMED(check_find_other(at + n, GUARD, guard_byte) == GUARD,
                "%s of %zu bytes changed bytes after", what, n);
}

static void put_once(const struct ends *e, size_t n, size_t a, size_t b, bool nbi)
{
    int me = shmem_my_pe();
    unsigned char *dest = e->symmetric + GUARD + a, *source = e->private + GUARD + b;
    memset(dest - GUARD, guard_byte, n + 2 * (size_t)GUARD);
    memset(source - GUARD, other_byte, n + 2 * (size_t)GUARD);
    check_fill(source, n, salt_of(n, a, b, me));
    shmem_barrier_all();
    if (nbi)
        shmem_putmem_nbi(dest, source, n, e->to);
    else
        shmem_putmem(dest, source, n, e->to);
    if (!nbi)
        memset(source, 0, n); /* put has returned: the source may be reused */
    shmem_barrier_all();
    check_arrived(dest, n, salt_of(n, a, b, e->from), nbi ? "put_nbi" : "put");
    shmem_barrier_all();
}

static void get_once(const struct ends *e, size_t n, size_t a, size_t b, bool nbi)
{
    unsigned char *dest = e->private + GUARD + b, *source = e->symmetric + GUARD + a;
    memset(source - GUARD, other_byte, n + 2 * (size_t)GUARD);
    check_fill(source, n, salt_of(n, a, b, shmem_my_pe()));
    memset(dest - GUARD, guard_byte, n + 2 * (size_t)GUARD);
    shmem_barrier_all();
    if (nbi)
        shmem_getmem_nbi(dest, source, n, e->to);
    else
        shmem_getmem(dest, source, n, e->to);
    if (nbi)
        shmem_quiet();
    check_arrived(dest, n, salt_of(n, a, b, e->to), nbi ? "get_nbi" : "get");
    shmem_barrier_all();
}

static void test_bytes(const struct ends *e)
{
    static const size_t sizes[] = {
        0,    1,    2,    3,    4,     5,     7,     8,      9,       15,   16,
        17,   31,   32,   33,   63,    64,    65,    127,    128,     129,  255,
        256,  257,  511,  513,  1000,  1023,  1024,  1025,   4095,    4096, 4097,
        8191, 8192, 8193, 9999, 65535, 65536, 65537, 262147, MAX - 1, MAX};
    static const size_t offsets[][2] = {{0, 0}, {1, 0},  {0, 1},   {3, 5},
                                        {7, 7}, {15, 1}, {32, 33}, {63, 62}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (size_t k = 0; k < sizeof(offsets) / sizeof(offsets[0]); k++) {
            if (sizes[i] >= 65536 && k % 3 != i % 3)
                continue; /* large sizes at some alignments only, to save time */
            put_once(e, sizes[i], offsets[k][0], offsets[k][1], k % 2 == 1);
            get_once(e, sizes[i], offsets[k][0], offsets[k][1], k % 2 == 0);
        }
}

/* The routines by element size in bits, in all forms. */
typedef void (*move_fn)(void *dest, const void *source, size_t n, int pe);
#define MOVE(BITS, OP)                                                                   \
    static void ctx_##OP##BITS(void *d, const void *s, size_t n, int pe)                 \
    {                                                                                    \
        shmem_ctx_##OP##BITS(SHMEM_CTX_DEFAULT, d, s, n, pe);                            \
    }                                                                                    \
    static void ctx_##OP##BITS##_nbi(void *d, const void *s, size_t n, int pe)           \
    {                                                                                    \
        shmem_ctx_##OP##BITS##_nbi(SHMEM_CTX_DEFAULT, d, s, n, pe);                      \
    }
#define MOVES(BITS) MOVE(BITS, put) MOVE(BITS, get)
MOVES(8)
MOVES(16)
MOVES(32)
MOVES(64)
MOVES(128)
MOVES(mem)
#undef MOVES

struct sized {
    const char *name;
    size_t bytes;
    move_fn put[4], get[4];
};
#define ROW(BITS, BYTES)                                                                 \
    {#BITS,                                                                              \
     BYTES,                                                                              \
     {shmem_put##BITS, shmem_put##BITS##_nbi, ctx_put##BITS, ctx_put##BITS##_nbi},       \
     {shmem_get##BITS, shmem_get##BITS##_nbi, ctx_get##BITS, ctx_get##BITS##_nbi}},

static void test_sized(const struct ends *e)
{
    static const struct sized rows[] = {ROW(8, 1) ROW(16, 2) ROW(32, 4) ROW(64, 8)
                                            ROW(128, 16) ROW(mem, 1)};
    enum { N = 13 };
    unsigned char *symmetric = e->symmetric + GUARD, *private = e->private + GUARD;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int form = 0; form < 4; form++) {
            size_t bytes = N * rows[i].bytes;
            memset(symmetric - GUARD, guard_byte, bytes + 2 * (size_t)GUARD);
            memset(private - GUARD, other_byte, bytes + 2 * (size_t)GUARD);
            check_fill(private, bytes, salt_of(i, 1, 1, shmem_my_pe()));
            shmem_barrier_all();
            rows[i].put[form](symmetric, private, N, e->to);
            shmem_barrier_all();
            check_arrived(symmetric, bytes, salt_of(i, 1, 1, e->from), rows[i].name);
            memset(private - GUARD, guard_byte, bytes + 2 * (size_t)GUARD);
            rows[i].get[form](private, symmetric, N, e->to);
            shmem_quiet();
            check_arrived(private, bytes, salt_of(i, 1, 1, shmem_my_pe()), rows[i].name);
            shmem_barrier_all();
        }
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    struct ends e = {.symmetric = check_alloc(ROOM),
                     .private = malloc(ROOM),
                     .to = (me + 1) % npes,
                     .from = (me - 1 + npes) % npes};
    CHECK(e.private != NULL);
    test_bytes(&e);
    test_sized(&e);
    free(e.private);
    shmem_free(e.symmetric);
    shmem_finalize();
    return 0;
}
