/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layouts.c - the public layouts: threads pack before shmem_init and after
 * shmem_finalize; a layout that travels to another PE describes the same bytes there;
 * puts and gets between two layouts;
 * invalid arguments are reported and change nothing.
 */
#include "config.h"

#include "tests/api/multi/check.h"

#include <fcntl.h>
#include <pthread.h>
#include <shmemx.h>

enum { ROWS = 37, COLUMNS = 19, THREADS = 8, ROUNDS = 50 };
enum { MESSAGE_MAX = 4096, TEXT = 1024 };

static double matrix[ROWS][COLUMNS];
static size_t length;
static volatile int failures; /* before shmem_init a check cannot end the job */

/* ---- threads, without PEs -------------------------------------------------------- */

/* Packs and unpacks a column in parts; returns the number of errors. */
static int copy_column(int which)
{
    double from[ROWS][COLUMNS], to[ROWS][COLUMNS], packed[ROWS];
    shmemx_layout_t layout;
    const size_t part = 40; /* bytes: not a whole number of rounds */
    int errors = 0;

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            from[i][j] = 100 * i + j, to[i][j] = -1;
    if (shmemx_layout_vector(sizeof(double), sizeof from[0], ROWS, &layout) != 0)
        return 1;
    for (size_t at = 0; at < sizeof packed; at += part) {
        size_t n = sizeof packed - at < part ? sizeof packed - at : part;
        errors += shmemx_pack(layout, &from[0][which], at, (char *)packed + at, n) != 0;
        errors += shmemx_unpack(layout, &to[0][which], at, (char *)packed + at, n) != 0;
    }
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            errors += to[i][j] != (j == which ? from[i][j] : -1);
    shmemx_layout_free(&layout);
    return errors + (layout != SHMEMX_LAYOUT_INVALID);
}

static pthread_barrier_t start;

static void *copy_columns(void *arg)
{
    int errors = 0;

    pthread_barrier_wait(&start); /* all call for the first time at once */
    for (int i = 0; i < ROUNDS; i++)
        errors += copy_column((int)((intptr_t)arg + i) % COLUMNS);
    return (void *)(intptr_t)errors;
}

static void run_threads(void)
{
    pthread_t thread[THREADS];
    void *errors;

    pthread_barrier_init(&start, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, copy_columns, (void *)i) != 0)
            abort();
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], &errors);
        failures += (int)(intptr_t)errors;
    }
    pthread_barrier_destroy(&start);
}

/* ---- a layout for another PE ------------------------------------------------------- */

static shmemx_layout_t two_columns(void)
{
    const ptrdiff_t offset[] = {0, 3 * sizeof(double)};
    shmemx_layout_t one, member[2], both;

    CHECK_EQ(shmemx_layout_vector(sizeof(double), sizeof matrix[0], ROWS, &one), 0);
    member[0] = member[1] = one;
    CHECK_EQ(shmemx_layout_struct(member, offset, 2, &both), 0);
    shmemx_layout_free(&one);
    return both;
}

static void send_layout(void)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), next = (me + 1) % npes;
    static double stream[2 * ROWS], received[2 * ROWS];
    shmemx_layout_t layout = two_columns(), copy;
    ptrdiff_t low, high;

    CHECK_EQ(shmemx_layout_size(layout), sizeof stream);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            matrix[i][j] = 1000 * me + 20 * i + j;
    CHECK_EQ(shmemx_pack(layout, &matrix[0][2], 0, stream, sizeof stream), 0);
    size_t n = shmemx_layout_write(layout, NULL, 0);
    CHECK(n > 0 && n <= MESSAGE_MAX);
    char *wire = check_alloc(n);
    char *mine = malloc(n);
    CHECK_EQ(shmemx_layout_write(layout, mine, n - 1), n);
    CHECK_EQ(shmemx_layout_write(layout, mine, n), n);
    shmem_putmem(received, stream, sizeof stream, next);
    shmem_putmem(wire, mine, n, next);
    shmem_size_p(&length, n, next);
    shmem_barrier_all();

    CHECK_EQ(shmemx_layout_read(wire, length, &copy), 0);
    shmemx_layout_bounds(copy, &low, &high);
    CHECK_EQ(low, 0);
    CHECK_EQ(high, (ROWS - 1) * sizeof matrix[0] + 4 * sizeof(double));
    CHECK_EQ(shmemx_layout_overlaps(copy), 0);
    CHECK_EQ(shmemx_unpack(copy, &matrix[0][7], 0, received, sizeof received), 0);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            int from = (me + npes - 1) % npes;
            double want =
                j == 7 || j == 10 ? 1000 * from + 20 * i + j - 5 : 1000 * me + 20 * i + j;
            CHECK(matrix[i][j] == want);
        }
    shmemx_layout_free(&copy);
    CHECK_EQ(shmemx_layout_read(wire, length - 1, &copy), -1);
    CHECK(copy == SHMEMX_LAYOUT_INVALID);
    shmemx_layout_free(&layout);
    free(mine);
    shmem_free(wire);
}

/* ---- puts and gets ----------------------------------------------------------------- */

enum { DEEP = 300, WIDE = 40 }; /* several fragments between nodes */
static double there[DEEP][WIDE];

static double cell(int pe, int i, int j)
{
    return 100000 * pe + 100 * i + j;
}

/* Columns 3 and 4 of this PE become columns 10 and 11 of the next one, in reverse order
 * of rows; the rest of that matrix does not change. */
static void transfer(void)
{
    const size_t pitch = sizeof there[0], block = 2 * sizeof(double);
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int next = (me + 1) % npes, previous = (me + npes - 1) % npes;
    static double here[DEEP][WIDE];
    shmemx_layout_t down, up;
    shmem_ctx_t ctx;

    for (int i = 0; i < DEEP; i++)
        for (int j = 0; j < WIDE; j++)
            here[i][j] = cell(me, i, j), there[i][j] = -1;
    shmem_barrier_all();
    CHECK_EQ(shmemx_layout_vector(block, (ptrdiff_t)pitch, DEEP, &down), 0);
    CHECK_EQ(shmemx_layout_vector(block, -(ptrdiff_t)pitch, DEEP, &up), 0);
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    CHECK_EQ(shmemx_put_layout(&there[0][10], down, &here[DEEP - 1][3], up, next), 0);
    CHECK_EQ(
        shmemx_ctx_put_layout(ctx, &there[DEEP - 1][20], up, &here[0][5], down, next), 0);
    memset(here, 0, sizeof here); /* the source may be reused */
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    for (int i = 0; i < DEEP; i++)
        for (int j = 0; j < WIDE; j++) {
            int row = DEEP - 1 - i;
            double want = j == 10 || j == 11   ? cell(previous, row, j - 7)
                          : j == 20 || j == 21 ? cell(previous, row, j - 15)
                                               : -1;
            CHECK(there[i][j] == want);
        }
    CHECK_EQ(shmemx_get_layout(&here[0][1], down, &there[DEEP - 1][10], up, next), 0);
    CHECK_EQ(
        shmemx_ctx_get_layout(ctx, &here[DEEP - 1][7], up, &there[0][20], down, next), 0);
    for (int i = 0; i < DEEP; i++)
        for (int j = 0; j < WIDE; j++) {
            double want = j == 1 || j == 2   ? cell(me, i, j + 2)
                          : j == 7 || j == 8 ? cell(me, i, j - 2)
                                             : 0;
            CHECK(here[i][j] == want);
        }
    shmem_ctx_destroy(ctx);
    shmemx_layout_free(&down);
    shmemx_layout_free(&up);
}

enum { LONG_SHORT = 9000, LONG = 3 * LONG_SHORT, LONG_AREA = 3 * LONG };
static unsigned char far_bytes[LONG_AREA], near_bytes[LONG_AREA];

/* The long blocks of layout `to` at far_bytes are those of layout `from` at near_bytes.
 */
static bool same_long_blocks(shmemx_layout_t to, shmemx_layout_t from)
{
    static unsigned char a[2 * LONG], b[2 * LONG];

    CHECK_EQ(shmemx_pack(to, far_bytes, 0, a, sizeof a), 0);
    CHECK_EQ(shmemx_pack(from, near_bytes, 0, b, sizeof b), 0);
    return memcmp(a, b, sizeof a) == 0;
}

static size_t count_zeroes(const unsigned char *bytes)
{
    size_t n = 0;

    for (size_t i = 0; i < LONG_AREA; i++)
        n += bytes[i] == 0;
    return n;
}

/* Long blocks, which travel without being packed: 2 blocks of 27000 bytes here are 6 of
 * 9000 bytes there. */
static void transfer_long_blocks(void)
{
    const ptrdiff_t offset[] = {7 * LONG_SHORT, 0,
                                8 * LONG_SHORT, 2 * LONG_SHORT,
                                5 * LONG_SHORT, 4 * LONG_SHORT};
    int npes = shmem_n_pes(), next = (shmem_my_pe() + 1) % npes;
    shmemx_layout_t six, two;

    CHECK_EQ(shmemx_layout_indexed_block(LONG_SHORT, offset, 6, &six), 0);
    CHECK_EQ(shmemx_layout_vector(LONG, 2 * LONG, 2, &two), 0);
    for (size_t i = 0; i < LONG_AREA; i++)
        near_bytes[i] = (unsigned char)(i % 251 + 1), far_bytes[i] = 0;
    shmem_barrier_all();
    CHECK_EQ(shmemx_put_layout(far_bytes, six, near_bytes, two, next), 0);
    shmem_barrier_all();
    CHECK(same_long_blocks(six, two));
    CHECK_EQ(count_zeroes(far_bytes), LONG);
    memset(near_bytes, 0, sizeof near_bytes);
    CHECK_EQ(shmemx_get_layout(near_bytes, two, far_bytes, six, next), 0);
    CHECK(same_long_blocks(six, two));
    CHECK_EQ(count_zeroes(near_bytes), LONG);
    shmemx_layout_free(&six);
    shmemx_layout_free(&two);
}

/* ---- copies between layouts, other constructors ------------------------------------ */

static void check_constructors(void)
{
    const size_t count[] = {3, 2}, bytes[] = {2, 0, 5};
    const ptrdiff_t stride[] = {4, 20}, offset[] = {10, 3, -2};
    unsigned char from[64], to[16], want[12];
    shmemx_layout_t box, dense, parts, blocks;

    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (unsigned char)i;
    CHECK_EQ(shmemx_layout_nested(2, 2, count, stride, &box), 0);
    CHECK_EQ(shmemx_layout_contiguous(12, &dense), 0);
    CHECK_EQ(shmemx_copy_layout(to, dense, from, box), 0);
    for (int k = 0, n = 0; k < 2; k++)
        for (int i = 0; i < 3; i++)
            for (int b = 0; b < 2; b++)
                want[n++] = (unsigned char)(20 * k + 4 * i + b);
    CHECK_EQ(memcmp(to, want, sizeof want), 0);

    CHECK_EQ(shmemx_layout_indexed(bytes, offset, 3, &parts), 0);
    CHECK_EQ(shmemx_layout_size(parts), 7);
    CHECK_EQ(shmemx_pack(parts, from + 8, 1, to, 3), 0);
    CHECK(to[0] == 19 && to[1] == 6 && to[2] == 7);
    CHECK_EQ(shmemx_layout_indexed_block(1, offset, 3, &blocks), 0);
    CHECK_EQ(shmemx_pack(blocks, from + 8, 0, to, 3), 0);
    CHECK(to[0] == 18 && to[1] == 11 && to[2] == 6);
    shmemx_layout_free(&box);
    shmemx_layout_free(&dense);
    shmemx_layout_free(&parts);
    shmemx_layout_free(&blocks);
    shmemx_layout_free(&blocks);
}

/* ---- invalid arguments ------------------------------------------------------------- */

static int saved_stderr, messages;

static void messages_open(void)
{
    FILE *file = tmpfile();

    CHECK(file != NULL);
    messages = dup(fileno(file));
    fclose(file);
    saved_stderr = dup(STDERR_FILENO);
}

/* The last call must have written a message with this text. */
static void check_message(const char *text)
{
    char got[TEXT] = "";

    CHECK(pread(messages, got, sizeof got - 1, 0) >= 0);
    CHECK_EQ(ftruncate(messages, 0), 0);
    CHECK_EQ(lseek(messages, 0, SEEK_SET), 0);
    CHECK_NAMED(strstr(got, text) != NULL, "message '%.100s' lacks '%s'", got, text);
}

/* Evaluates the call, which must return -1, with standard error in the file. */
#define CHECK_REFUSED(call, text)                                                        \
    do {                                                                                 \
        dup2(messages, STDERR_FILENO);                                                   \
        int refused_status = (call);                                                     \
        dup2(saved_stderr, STDERR_FILENO);                                               \
        CHECK_NAMED(refused_status < 0, "%s returned %d", #call, refused_status);        \
        check_message(text);                                                             \
    } while (0)

static void check_null_arrays(void)
{
    const size_t size[] = {8, 8};
    const ptrdiff_t at[] = {0, 16};
    shmemx_layout_t member[2], layout;

    CHECK_EQ(shmemx_layout_contiguous(8, &member[0]), 0);
    member[1] = layout = member[0];
    CHECK_REFUSED(shmemx_layout_nested(8, 2, NULL, at, &layout),
                  "argument 3 'count' is NULL, but it must be an array of 2 elements");
    CHECK(layout == SHMEMX_LAYOUT_INVALID);
    CHECK_REFUSED(shmemx_layout_nested(8, 2, size, NULL, &layout), "4 'stride' is NULL");
    CHECK_REFUSED(shmemx_layout_indexed_block(8, NULL, 2, &layout), "2 'offset' is NULL");
    CHECK_REFUSED(shmemx_layout_indexed(NULL, at, 2, &layout), "1 'bytes' is NULL");
    CHECK_REFUSED(shmemx_layout_indexed(size, NULL, 2, &layout), "2 'offset' is NULL");
    CHECK_REFUSED(shmemx_layout_struct(NULL, at, 2, &layout), "1 'member' is NULL");
    layout = member[0];
    CHECK_REFUSED(shmemx_layout_struct(member, NULL, 2, &layout), "2 'offset' is NULL");
    CHECK(layout == SHMEMX_LAYOUT_INVALID);
    shmemx_layout_free(&member[0]);

    CHECK_EQ(shmemx_layout_nested(8, 0, NULL, NULL, &layout), 0);
    CHECK_EQ(shmemx_layout_size(layout), 8);
    shmemx_layout_free(&layout);
    CHECK_EQ(shmemx_layout_struct(NULL, NULL, 0, &layout), 0);
    CHECK_EQ(shmemx_layout_size(layout), 0);
    shmemx_layout_free(&layout);
}

static void check_errors(void)
{
    const size_t count[] = {2, 2, 2, 2};
    const ptrdiff_t stride[] = {8, 16, 32, 64};
    char memory[64] = {0}, packed[64];
    shmemx_layout_t layout = SHMEMX_LAYOUT_INVALID, other, bad = SHMEMX_LAYOUT_INVALID;

    memset(packed, 7, sizeof packed);
    CHECK_REFUSED(shmemx_layout_nested(8, 4, count, stride, &layout),
                  "argument 2 'levels' = 4, but it must be 0..3");
    CHECK_REFUSED(shmemx_layout_vector(8, PTRDIFF_MAX, 3, &layout),
                  "exceeds PTRDIFF_MAX");
    CHECK_REFUSED(shmemx_layout_indexed_block(8, stride, (size_t)1 << 40, &layout),
                  "more than 16777216 blocks");
    CHECK_REFUSED(shmemx_layout_struct(&bad, stride, 1, &layout), "its element 0 of 1");
    CHECK(layout == SHMEMX_LAYOUT_INVALID);

    CHECK_EQ(shmemx_layout_vector(8, 4, 4, &layout), 0);
    CHECK_EQ(shmemx_layout_overlaps(layout), 1);
    CHECK_EQ(shmemx_pack(layout, memory, 0, packed + 32, 32), 0);
    CHECK_REFUSED(shmemx_unpack(layout, memory, 0, packed, 32),
                  "shmemx_unpack: argument 'layout' has blocks that overlap");
    CHECK_REFUSED(shmemx_pack(layout, memory, 30, packed, 3),
                  "packed stream of the layout has 32 bytes");
    CHECK_EQ(shmemx_layout_contiguous(31, &other), 0);
    CHECK_REFUSED(shmemx_copy_layout(packed, other, memory, layout),
                  "has 31 bytes and that of 'source_layout' 32");
    CHECK_REFUSED(shmemx_put_layout(packed, other, memory, layout, 0),
                  "has 31 bytes and that of 'source_layout' 32");
    shmemx_layout_free(&other);
    CHECK_EQ(shmemx_layout_contiguous(32, &other), 0);
    CHECK_REFUSED(shmemx_get_layout(memory, layout, packed, other, 0),
                  "argument 'dest_layout' has blocks that overlap");
    CHECK_REFUSED(shmemx_copy_layout(memory, layout, packed, other),
                  "argument 'dest_layout' has blocks that overlap");
    CHECK_EQ(check_find_other(memory, sizeof memory, 0), sizeof memory);
    CHECK_EQ(check_find_other(packed, 32, 7), 32);
    shmemx_layout_free(&layout);
    shmemx_layout_free(&other);
}

int main(void)
{
    run_threads();
    shmem_init();
    CHECK_EQ(failures, 0);
    send_layout();
    transfer();
    transfer_long_blocks();
    check_constructors();
    messages_open();
    check_null_arrays();
    check_errors();
    run_threads();
    CHECK_EQ(failures, 0);
    shmem_finalize();
    run_threads();
    return failures != 0;
}
