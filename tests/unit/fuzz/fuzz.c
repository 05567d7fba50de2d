/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz.c - mutation fuzzing of every parser of text that users, files or other processes
 * write: options, host lists, rank files, Slurm's variables, the bootstrap line, the
 * table of algorithms, fault injection, transport lists, and environment values.
 *
 * Each target starts from valid seeds, to which a deterministic generator applies a few
 * mutations per round.  A parser must return: sanitizers, assertions and signals report
 * the rest.  The input is in a heap block of exactly its length, so that a read beyond it
 * is detected.
 *
 *   fuzz [ROUNDS [TARGET [SEED]]]     a failure names the round's seed on standard error;
 *                                     FUZZ_SHOW=1 shows all messages
 */
#include "config.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pgas/coll/select/select_table.h"
#include "pgas/core/base/env.h"
#include "pgas/transport/avoid.h"
#include "pgas/transport/choice.h"
#include "pgas/transport/test/hook.h"
#include "tools/oshrun/util/error.h"
#include "tools/oshrun/map/hosts.h"
#include "tools/oshrun/map/rank_file.h"
#include "tools/oshrun/daemon/bootstrap.h"
#include "tools/oshrun/front/options.h"

enum { ROUNDS = 3000, INPUT_MAX = 4096, MUTATIONS_MAX = 6, ARGS_MAX = 64, SEEDS_MAX = 8 };

static char file_name[] = "/tmp/fuzz.XXXXXX"; /* for parsers that open a file */

/* ---- targets --------------------------------------------------------------------- */

static void fuzz_host_list(char *text, size_t len)
{
    struct hosts hosts = {0};
    char why[HOSTS_WHY];

    (void)len;
    hosts_from_list(&hosts, text, why);
    hosts_free(&hosts);
}

static void fuzz_slurm(char *text, size_t len)
{
    struct hosts hosts = {0};
    char why[HOSTS_WHY], *tasks = memchr(text, ';', len);

    if (tasks != NULL)
        *tasks++ = '\0';
    hosts_from_slurm(&hosts, text, tasks, tasks, why);
    hosts_free(&hosts);
}

static void write_file(const char *text, size_t len)
{
    FILE *out = fopen(file_name, "w");

    if (out == NULL || fwrite(text, 1, len, out) != len || fclose(out) != 0)
        abort();
}

static void fuzz_host_file(char *text, size_t len)
{
    struct hosts hosts = {0};
    char why[HOSTS_WHY];

    write_file(text, len);
    hosts_from_file(&hosts, file_name, why);
    hosts_free(&hosts);
}

static void fuzz_rank_file(char *text, size_t len)
{
    struct rank_file ranks = {0};
    char why[HOSTS_WHY];

    write_file(text, len);
    if (rank_file_read(&ranks, file_name, 0, why) == 0)
        rank_file_free(&ranks);
}

static void fuzz_bootstrap_line(char *text, size_t len)
{
    struct bootstrap bootstrap;

    (void)len;
    bootstrap_parse(&bootstrap, text);
}

/* One argument per line.  Its messages go to standard error: only with FUZZ_SHOW. */
static void fuzz_options(char *text, size_t len)
{
    struct options options = {0};
    char *argv[ARGS_MAX + 2] = {"oshrun"}, *rest = NULL;
    int n = 1, shown = dup(STDERR_FILENO);

    (void)len;
    if (getenv("FUZZ_SHOW") == NULL)
        dup2(STDOUT_FILENO, STDERR_FILENO);
    for (char *word = strtok_r(text, "\n", &rest); word != NULL && n <= ARGS_MAX;
         word = strtok_r(NULL, "\n", &rest))
        argv[n++] = word;
    options_read(&options, argv);
    options_free(&options);
    dup2(shown, STDERR_FILENO);
    close(shown);
}

static void fuzz_table(char *text, size_t len)
{
    static struct select_table table;
    FILE *in = len > 0 ? fmemopen(text, len, "r") : NULL;

    if (in == NULL)
        return;
    table = (struct select_table){0};
    select_table_read(in, "table", "8 some processor", &table);
    select_table_free(&table);
    fclose(in);
}

static void fuzz_faults(char *text, size_t len)
{
    char why[TRANSPORT_TEXT_MAX];

    (void)len;
    hook_check(text, 1, 4, why);
}

static void fuzz_transports(char *text, size_t len)
{
    static const char *const names[] = {"ofi", "ucx", "tcp"};
    bool wanted[3], avoid[CAPABILITIES];
    size_t bad;

    (void)len;
    choice_read(text, names, 3, wanted, &bad);
    capability_read(text, avoid, &bad);
}

/* The same text as a size, a number, a flag and a level. */
static void fuzz_environment(char *text, size_t len)
{
    static const char *const names[] = {"SHMEM_SYMMETRIC_SIZE", "SHMEM_NET_TIMEOUT",
                                        "SHMEM_INFO", "SHMEM_DEBUG", "SHMEM_ISA"};
    char error[ENV_ERROR_MAX];
    struct env env;
    size_t bytes;

    (void)len;
    env_parse_size(text, &bytes);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        setenv(names[i], text, 1);
        env_load(&env, error);
        unsetenv(names[i]);
    }
}

static const struct target {
    const char *name;
    void (*parse)(char *text, size_t len); /* may change the text; a NUL follows it */
    const char *seed[SEEDS_MAX];
} targets[] = {
    {"host list", fuzz_host_list, {"a:4,b,n[0-3,7]:2,[fe80::1]:4", "n[00-12]:2"}},
    {"slurm", fuzz_slurm, {"n[0-2,5],x;2(x3),1", "a;4", "n[001-010]x;8(x10)"}},
    {"host file",
     fuzz_host_file,
     {"a slots=4 max-slots=8\nb:2\n# comment\n", "n0\nn0\nn1 slots=2\n"}},
    {"rank file",
     fuzz_rank_file,
     {"rank 0=a slot=0-1,4\nrank 1=b\n", "# x\nrank 0=+n0\n"}},
    {"bootstrap line",
     fuzz_bootstrap_line,
     {"oshrun 2 0.1.0 nonce=00112233445566778899aabbccddeeff"
      "00112233445566778899aabbccddeeff at=10.77.0.1:4000,[fe80::1]:4000 "
      "if=10.77.0.0/16 timeout=3000 start=500 window=262144 node=7"}},
    {"options",
     fuzz_options,
     {"-n\n4\n--vnodes\n2\n./hello", "--host\na:4,b\n-x\nA=b\n--bind-to\ncore\n./a\nb",
      "--hostfile\n/dev/null\n--timeout\n5\n-v\n--tag-output\n./a",
      "--map-by\nnode\n--fanout=3\n--if\n10.0.0.0/8\n./a"}},
    {"table of algorithms",
     fuzz_table,
     {SELECT_TABLE_HEADER "\nmachine 8 some processor\n"
                          "allreduce flat bytes 0-1024 pes 2-16 nodes 1-1\n",
      SELECT_TABLE_HEADER "\nmachine 8 some processor\n# x\n"
                          "broadcast knomial bytes 0- pes 2- nodes 2-\n"}},
    {"fault injection",
     fuzz_faults,
     {"seed=7,delay=100us,reorder,eagain=3", "die=1@100,drop=5", "seed=1"}},
    {"transport lists",
     fuzz_transports,
     {"auto", "ofi,ucx", "^ofi", "order,inject,size"}},
    {"environment", fuzz_environment, {"1.5g", "512M", "30", "20kk", "auto"}},
};
enum { TARGETS = sizeof targets / sizeof targets[0] };

/* ---- mutations ------------------------------------------------------------------- */

static uint64_t state;

static uint64_t next_random(uint64_t below) /* xorshift64* */
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (state * 0x2545f4914f6cdd1du >> 32) % below;
}

/* Bytes and words to which parsers of numbers and lists react. */
static size_t splice(char *text, size_t len)
{
    static const char *const words[] = {"0",          "-1",
                                        "4294967296", "18446744073709551616",
                                        ":",          ",",
                                        "=",          "[",
                                        "]",          "-",
                                        "\n",         " ",
                                        "#",          "99999999999999999999",
                                        "1e9",        "(x",
                                        ")",          "^",
                                        "%s",         "\xff"};
    const char *word = words[next_random(sizeof words / sizeof words[0])];
    size_t n = strlen(word), at = next_random(len + 1);

    if (len + n > INPUT_MAX)
        return len;
    memmove(text + at + n, text + at, len - at);
    memcpy(text + at, word, n);
    return len + n;
}

static size_t mutate(char *text, size_t len)
{
    size_t at = next_random(len + 1), n = next_random(8) + 1;

    switch (next_random(5)) {
    case 0: /* another byte, never NUL: these are texts */
        if (at < len)
            text[at] = (char)(next_random(255) + 1);
        return len;
    case 1: /* without some bytes */
        n = n < len - at ? n : len - at;
        memmove(text + at, text + at + n, len - at - n);
        return len - n;
    case 2: /* a part twice */
        n = n * 16 < len - at ? n * 16 : len - at;
        if (len + n > INPUT_MAX)
            return len;
        memmove(text + at + n, text + at, len - at);
        return len + n;
    case 3: /* cut */
        return at;
    default:
        return splice(text, len);
    }
}

static void fuzz_round(const struct target *t, uint64_t seed)
{
    static char text[INPUT_MAX + 1];
    int seeds = 0;

    state = (seed + 1) * 0x9e3779b97f4a7c15u;
    while (seeds < SEEDS_MAX && t->seed[seeds] != NULL)
        seeds++;
    const char *start = t->seed[next_random((uint64_t)seeds)];
    size_t len = strlen(start);
    memcpy(text, start, len);
    for (uint64_t n = next_random(MUTATIONS_MAX + 1); n > 0; n--)
        len = mutate(text, len);
    char *exact = malloc(len + 1);
    if (exact == NULL)
        abort();
    memcpy(exact, text, len);
    exact[len] = '\0';
    t->parse(exact, len);
    free(exact);
}

/* ---- driver ---------------------------------------------------------------------- */

static char where[256]; /* what is tried now, for on_signal */

static void on_signal(int sig)
{
    ssize_t written = write(STDERR_FILENO, where, strlen(where));

    (void)written;
    unlink(file_name);
    signal(sig, SIG_DFL);
    raise(sig);
}

static void ignore_message(const char *error_text)
{
    (void)error_text;
}

int main(int argc, char **argv)
{
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : ROUNDS;
    const char *only = argc > 2 ? argv[2] : NULL;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    int file = mkstemp(file_name);

    if (file < 0)
        return EXIT_FAILURE;
    close(file);
    signal(SIGSEGV, on_signal);
    signal(SIGABRT, on_signal);
    signal(SIGALRM, on_signal);
    error_redirect(ignore_message);
    if (freopen("/dev/null", "w", stdout) == NULL) /* --help */
        return EXIT_FAILURE;
    if (getenv("PGAS_TEST_LONG") != NULL && argc < 2)
        rounds *= 100;
    for (int i = 0; i < TARGETS; i++) {
        if (only != NULL && strcmp(only, targets[i].name) != 0)
            continue;
        for (uint64_t seed = first; seed < first + rounds; seed++) {
            snprintf(where, sizeof where, "fuzz: failed: fuzz 1 '%s' %llu\n",
                     targets[i].name, (unsigned long long)seed);
            alarm(20); /* a parser that does not return */
            fuzz_round(&targets[i], seed);
        }
        fprintf(stderr, "fuzz: %s: %llu rounds\n", targets[i].name,
                (unsigned long long)rounds);
    }
    unlink(file_name);
    return EXIT_SUCCESS;
}
