/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot_map.c - the bootstrap interface (pgas/core/boot/boot.h), which PEs use before they
 * can access each other's memory, on any nodes and under any launcher: each PE prints its
 * position in the node map; all check that the maps agree, that boot_barrier
 * synchronizes, and that boot_get returns what boot_put has published.
 *
 *   boot_map                  prints "PE 3 of 6, node 1 of 3 (n1), local 1 of 2, shared
 *                             team 2/1/2" (start/stride/size; 0+3+4/3 if not strided)
 *   boot_map again            the same twice: disconnects and connects again
 *   boot_map where            without the checks, so it works with a part of a job's PEs
 *   boot_map exit|signal|abort NUMBER PE
 *                             after a barrier, PE ends with that status or signal; the
 *                             others wait until the job is ended
 */
#include "config.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pgas/core/progress/block.h"
#include "pgas/core/boot/boot.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/boot/nodeseg.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/team/team.h"

enum {
    NAME_MAX_LEN = 256,
    BOOT_ID_LEN = 37,
    BLOB_MAX = 8 * 1024, /* length for PE 0; shorter for the others */
    BLOB_STEP = 509,
    DELAY_MS = 100, /* of the PE that is late */
    LEADER_MAX = 64,
    HANG_S = 60,
};

static struct boot b;

static _Noreturn void fail(const char *what, uint32_t pe)
{
    fprintf(stderr, "boot_map: PE %u: %s (PE %u): %s\n", b.rank, what, pe, boot_error());
    boot_abort(1, what);
    _exit(1);
}

static void check(bool ok, const char *what, uint32_t pe)
{
    if (!ok)
        fail(what, pe);
}

static void delay_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* ---- the node map ---------------------------------------------------------------- */

/* SHMEM_TEAM_SHARED as shmem_init creates it: the PEs of the node in ascending order, as
 * start/stride/size if they are strided. */
static void shared_text(char *text, size_t size)
{
    int *list = calloc(b.local_size, sizeof *list);
    int n = 0, start, stride;

    check(list != NULL, "no memory", b.rank);
    for (uint32_t pe = 0; pe < b.size; pe++)
        if (b.node_of[pe] == b.node)
            list[n++] = (int)pe;
    check(n == (int)b.local_size, "local_size is not the node's number of PEs", b.rank);
    if (team_strided(list, n, &start, &stride)) {
        snprintf(text, size, "%d/%d/%d", start, stride, n);
    } else {
        size_t used = 0;
        for (int i = 0; i < n && used < size; i++)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%d", i ? "+" : "", list[i]);
        if (used < size)
            snprintf(text + used, size - used, "/%d", n);
    }
    free(list);
}

static void print_position(void)
{
    char host[NAME_MAX_LEN], shared[NAME_MAX_LEN];

    boot_node_name(&b, b.node, true, host, sizeof host);
    shared_text(shared, sizeof shared);
    printf("PE %u of %u, node %u of %u (%s), local %u of %u, shared team %s\n", b.rank,
           b.size, b.node, b.nnodes, host, b.local_rank, b.local_size, shared);
    fflush(stdout);
}

/* ---- exchange -------------------------------------------------------------------- */

/* Published by each PE, followed by a number of bytes that depends on the PE. */
struct record {
    uint32_t rank, size, node, nnodes, local_rank, local_size, generation;
    int32_t pid;
    uint64_t map; /* hash of node_of */
    char host[NAME_MAX_LEN];
};

static uint64_t hash_map(void)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    for (uint32_t pe = 0; pe < b.size; pe++)
        hash = (hash ^ b.node_of[pe]) * 1099511628211u;
    return hash;
}

static size_t blob_len(uint32_t pe)
{
    size_t less = (size_t)pe * BLOB_STEP % (BLOB_MAX - sizeof(struct record));

    return BLOB_MAX - less;
}

/* All byte values occur, including 0. */
static unsigned char blob_byte(uint32_t pe, size_t i)
{
    return (unsigned char)(i * 7 + pe * 13 + pgas_self.generation);
}

static void make_blob(unsigned char *blob)
{
    struct record me = {.rank = b.rank,
                        .size = b.size,
                        .node = b.node,
                        .nnodes = b.nnodes,
                        .local_rank = b.local_rank,
                        .local_size = b.local_size,
                        .generation = pgas_self.generation,
                        .pid = (int32_t)getpid(),
                        .map = hash_map()};

    boot_node_name(&b, b.node, true, me.host, sizeof me.host);
    memcpy(blob, &me, sizeof me);
    for (size_t i = sizeof me; i < blob_len(b.rank); i++)
        blob[i] = blob_byte(b.rank, i);
}

static void check_record(const struct record *s, uint32_t pe)
{
    char host[NAME_MAX_LEN];

    boot_node_name(&b, b.node_of[pe], true, host, sizeof host);
    check(s->rank == pe && s->size == b.size, "rank or size differ", pe);
    check(s->generation == pgas_self.generation, "data of another generation", pe);
    check(s->map == hash_map() && s->nnodes == b.nnodes, "the node maps differ", pe);
    check(s->node == b.node_of[pe] && strcmp(s->host, host) == 0, "its node differs", pe);
    check(s->local_rank < s->local_size, "its local rank is too large", pe);
    if (s->node != b.node)
        return;
    check(s->local_size == b.local_size, "local sizes differ", pe);
    check(b.local_pes[s->local_rank] == pe, "its local rank differs", pe);
    check(pgas_self.node->pe[s->local_rank].pid == s->pid,
          "it has a different node segment", pe);
}

static void exchange(void)
{
    static unsigned char blob[BLOB_MAX];

    make_blob(blob);
    check(boot_put(BOOT_ALL, "test.blob", blob, blob_len(b.rank)) == 0, "put", b.rank);
    check(boot_barrier() == 0, "barrier", b.rank);
    for (uint32_t pe = 0; pe < b.size && b.launched; pe++) {
        struct record s;
        ssize_t len = boot_get(pe, "test.blob", blob, sizeof blob);
        check(len == (ssize_t)blob_len(pe), "get returned another length", pe);
        memcpy(&s, blob, sizeof s);
        check_record(&s, pe);
        for (size_t i = sizeof s; i < blob_len(pe); i++)
            check(blob[i] == blob_byte(pe, i), "get returned other bytes", pe);
    }
    if (b.launched)
        check(boot_get(0, "test.blob", blob, 1) == -1, "get into too little space", 0);
}

/* The first PE of each node publishes a value to its node only, as the name of the node
 * segment is published. */
static void tell_node(void)
{
    char text[LEADER_MAX];
    uint32_t leader = b.local_pes[0];

    snprintf(text, sizeof text, "node %u, generation %u", b.node, pgas_self.generation);
    if (b.local_rank == 0) {
        delay_ms(DELAY_MS);
        check(boot_put(BOOT_NODE, "test.leader", text, strlen(text) + 1) == 0, "put",
              leader);
        return;
    }
    char got[LEADER_MAX] = "";
    check(boot_get(leader, "test.leader", got, sizeof got) > 0, "get", leader);
    check(strcmp(got, text) == 0, "a value of another node or generation", leader);
}

/* ---- barrier --------------------------------------------------------------------- */

struct passed {
    char boot_id[BOOT_ID_LEN]; /* of the kernel: identifies the clock */
    uint64_t enter_ns, leave_ns;
};

static void read_boot_id(char *id)
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");

    if (f == NULL || fgets(id, BOOT_ID_LEN, f) == NULL)
        id[0] = '\0';
    if (f != NULL)
        fclose(f);
}

/* No PE leaves the barrier before PE `late` has entered.  Only times of the same machine
 * are compared. */
static void check_barrier(uint32_t late)
{
    struct passed me = {.enter_ns = 0}, other;
    char key[LEADER_MAX];

    snprintf(key, sizeof key, "test.passed.%u", late);
    read_boot_id(me.boot_id);
    if (b.rank == late)
        delay_ms(DELAY_MS);
    me.enter_ns = clock_ns();
    check(boot_barrier() == 0, "barrier", late);
    me.leave_ns = clock_ns();
    check(boot_put(BOOT_ALL, key, &me, sizeof me) == 0, "put", b.rank);
    check(boot_barrier() == 0, "barrier", late);
    for (uint32_t pe = 0; pe < b.size && b.launched; pe++) {
        check(boot_get(pe, key, &other, sizeof other) == sizeof other, "get", pe);
        if (strcmp(me.boot_id, other.boot_id) == 0)
            check(other.enter_ns <= me.leave_ns,
                  "this PE left a barrier before it entered", pe);
    }
}

static void check_all(void)
{
    tell_node();
    exchange();
    check_barrier(0);
    if (b.size > 1)
        check_barrier(b.size - 1);
}

/* ---- ways to end ----------------------------------------------------------------- */

static int end_by(const char *how, int number, uint32_t pe)
{
    check(boot_barrier() == 0, "barrier", b.rank);
    if (b.rank == pe) {
        if (strcmp(how, "exit") == 0)
            _exit(number);
        if (strcmp(how, "signal") == 0) {
            signal(number, SIG_DFL); /* libraries and sanitizers may handle it */
            raise(number);
        }
        if (strcmp(how, "abort") == 0)
            boot_abort(number, "requested by the test");
    }
    sleep(HANG_S);
    fprintf(stderr, "boot_map: PE %u: the job was not ended\n", b.rank);
    return 1;
}

/* The stages of shmem_init up to the node segment. */
static void join(void)
{
    nodeseg_await_detached();
    boot_connect(&b);
    pgas_self.me = (int)b.rank;
    pgas_self.npes = b.size;
    nodeseg_open(&b);
}

static void part(void)
{
    if (b.local_rank == 0)
        delay_ms(DELAY_MS); /* the others may enter the next generation meanwhile */
    boot_disconnect(&b, false);
    nodeseg_part();
}

static int where(void)
{
    boot_connect(&b);
    print_position();
    boot_disconnect(&b, false);
    return 0;
}

static int check_generations(uint32_t n)
{
    for (pgas_self.generation = 1; pgas_self.generation <= n; pgas_self.generation++) {
        join();
        if (pgas_self.generation == 1)
            print_position();
        check_all();
        part();
    }
    return 0;
}

int main(int argc, char **argv)
{
    char error[ENV_ERROR_MAX];
    const char *how = argc > 1 ? argv[1] : "";

    if (env_load(&pgas_self.env, error) != 0)
        return 2;
    block_init();
    if (argc == 1)
        return check_generations(1);
    if (argc == 2 && strcmp(how, "again") == 0)
        return check_generations(2);
    if (argc == 2 && strcmp(how, "where") == 0)
        return where();
    if (argc != 4)
        return 2;
    pgas_self.generation = 1;
    join();
    return end_by(how, atoi(argv[2]), (uint32_t)atoi(argv[3]));
}
