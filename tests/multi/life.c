/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * life.c - initialised or not, at each moment of a program; init that is called twice and
 * finalize as often; stdio, malloc and own globals before, between and after.
 */
#include "config.h"

#include "tests/multi/check.h"

static long word;
static int wrong; /* found while no library was there to end the job */

static void expect_initialized(int should, int line)
{
    int is = -1;
    shmem_query_initialized(&is);
    if (is != should) {
        fprintf(stderr, "life.c:%d: initialized is %d, should be %d\n", line, is, should);
        wrong = 1;
    }
}

static void use_memory(void)
{
    char *text = malloc(1 << 20);
    if (text == NULL)
        abort();
    memset(text, 1, 1 << 20);
    free(text);
}

int main(void)
{
    int provided = -1;
    expect_initialized(0, __LINE__);
    use_memory();
    printf("before\n");

    shmem_init();
    expect_initialized(1, __LINE__);
    int me = shmem_my_pe(), npes = shmem_n_pes();
    shmem_query_thread(&provided);
    CHECK(provided >= SHMEM_THREAD_SINGLE && provided <= SHMEM_THREAD_MULTIPLE);
    printf("between\n");
    use_memory();

    shmem_init(); /* the second of two: finalize must come twice too */
    CHECK_EQ(shmem_my_pe(), me);
    shmem_finalize();
    expect_initialized(1, __LINE__);
    shmem_long_atomic_inc(&word, (me + 1) % npes);
    shmem_barrier_all();
    CHECK_EQ(word, 1);

    shmem_finalize();
    expect_initialized(0, __LINE__);
    use_memory();
    word += 1;
    printf("after, word %ld\n", word);
    return wrong != 0 || word != 2;
}
