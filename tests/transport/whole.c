/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whole.c - a target that performs a put with signal in software stores words of 1, 2, 4
 * and 8 bytes whole, because a PE may be waiting for one: not by memcpy, which may store
 * a word in parts.
 *
 * Stands between the library and libc, as every transport with two PEs in one process.
 */
#undef _FORTIFY_SOURCE /* declares memcpy inline */
#include "config.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/transport/pair.h"

enum { A, B };
enum { SKIPPED = 77, WORD = 8 };

static struct pair pair;
static unsigned parts; /* copies of at most a word to the memory of B */
/* The compiler would make a call of memmove one of memcpy. */
static void *(*volatile move)(void *, const void *, size_t) = memmove;

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    uintptr_t at = (uintptr_t)to - (uintptr_t)pair.heap[B];

    parts += n <= WORD && at < sizeof pair.heap[B];
    return move(to, from, n);
}

static void put_whole(size_t len)
{
    const uint64_t value = UINT64_C(0x1122334455667788);
    const struct transport_symaddr to = {.pe = B, .offset = 64 * len};
    const struct transport_signal signal = {
        .at = {.pe = B}, .op = TRANSPORT_AMO_ADD, .size = WORD, .operand = 1};
    const uint64_t before = pair.heap[B][0];
    struct transport_completion done = {.pending = 1};

    PAIR_UNTIL(&pair,
               pair.t->put_signal(pair.ctx[A], &to, &value, len, &signal, &done) == 0,
               "the post");
    PAIR_UNTIL(&pair, pair.t->quiet(pair.ctx[A]) == 0, "the put");
    CHECK(pair.heap[B][0] == before + 1, "%s: the signal", pair.t->name);
    CHECK(memcmp((char *)pair.heap[B] + to.offset, &value, len) == 0, "the data");
    CHECK(parts == 0, "%s: a word of %zu bytes is copied by memcpy", pair.t->name, len);
}

static int transport(const struct transport *t)
{
    pair_open(&pair, t, NULL, 5000);
    for (size_t len = 1; len <= WORD; len *= 2)
        put_whole(len);
    pair_close(&pair);
    return 0;
}

int main(void)
{
    int passed = 0, failed = 0, status;

    for (int i = 0; i < TRANSPORTS; i++) {
        pid_t pid = fork();
        if (pid == 0)
            exit(transport(transport_list[i]));
        if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
            return EXIT_FAILURE;
        passed += WEXITSTATUS(status) == 0;
        failed += WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != SKIPPED;
    }
    printf("%d transports passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
