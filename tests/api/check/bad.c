/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bad.c - every parameter of every routine gets values that it must not have, one at a
 * time, under SHMEM_DEBUG=2: each call must end its process within two seconds, with
 * status 1 and a sentence that names routine, argument number, name and value, and must
 * not have changed symmetric memory before.  Each call is made in a child of the PE.
 * The rows come from tests/api/abi/api-1.6.txt by bad.awk, not from the library's own
 * rows.
 */
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SHMEM_NO_GENERICS /* routines are called by their own names */
#include <mpp/shmem.h>
#include <shmemx.h>

#include "tests/api/multi/check.h"

enum {
    ARGS_MAX = 10,
    CASES_MAX = 16,
    TEXT_MAX = 1200,
    LIMIT_MS = 2000,
    FAILURES_MAX = 20,
    GOOD_BYTES = 4096, /* of every array that is right */
};

typedef void (*call_t)(const uint64_t *a);

struct row {
    const char *name;
    size_t size;         /* of an element */
    const char *params;  /* names with a space between */
    const char *classes; /* a letter for each */
    call_t call;
};

/* One function per routine, then the table of them. */
#define ROW(name, size, params, classes, ...)                                            \
    static void call_##name(const uint64_t *a)                                           \
    {                                                                                    \
        (void)a;                                                                         \
        __VA_ARGS__;                                                                     \
    }
#include "tests/api/check/bad.def"
#undef ROW
static const struct row rows[] = {
#define ROW(name, size, params, classes, ...) {#name, size, params, classes, call_##name},
#include "tests/api/check/bad.def"
#undef ROW
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* Symmetric, and what is in them must not change: data, and words that are 0. */
static char *heap, *zeros, *freed;
static int me, npes;
static shmem_ctx_t dead_ctx;
static shmem_team_t dead_team;
static int failures;
static long bad_values, outside;
static const char *when; /* the library is not there */

/* One value that a parameter must not have, and what the sentence must say. */
struct bad {
    uint64_t value;
    const char *text; /* part of the sentence */
};

struct bads {
    struct bad item[CASES_MAX];
    int n;
};

static void add(struct bads *b, uint64_t value, const char *text)
{
    b->item[b->n++] = (struct bad){value, text};
}

static uint64_t address(const void *p)
{
    return (uint64_t)(uintptr_t)p;
}

/* ---- values for each class of parameters ----------------------------------------- */

enum {
    /* What arguments are where they are right: no two numbers alike. */
    COUNT = 3,
    DST = 2,
    SST = 5,
    BSIZE = 2,
    VALUE = 0x77,
    /* Bytes that are left alone */
    HEAP_BYTES = GOOD_BYTES * 16,
    PSYNC_BYTES = SHMEM_SYNC_SIZE * sizeof(long),
    ZERO_BYTES = 2 * PSYNC_BYTES,
    HEAP_FILL = 0x5a,
    PRIVATE_FILL = 0x3c,
};

static char private_memory[GOOD_BYTES];
static char *from_malloc; /* no symmetric memory */
static int list_of_pes[COUNT];

static bool has(const struct row *r, char class)
{
    return strchr(r->classes, class) != NULL;
}

/* PEs of the team, or of the active set that is right */
static int members(const struct row *r)
{
    return has(r, 'z') && npes > 2 && me < npes - 1 ? npes - 1 : npes;
}

/* Bytes from the first element to behind the last. */
static size_t extent(const struct row *r, size_t n, const char *param, bool strided)
{
    size_t stride = !strided ? 1 : strcmp(param, "dest") == 0 ? DST : SST;
    size_t block = strstr(r->params, "bsize") != NULL ? BSIZE : 1;

    return ((n - 1) * stride + block) * r->size;
}

/* Bytes that a symmetric parameter needs. */
static size_t length_of(const struct row *r, char class, const char *param)
{
    size_t work = COUNT / 2 + 1 > SHMEM_REDUCE_MIN_WRKDATA_SIZE
                      ? COUNT / 2 + 1
                      : SHMEM_REDUCE_MIN_WRKDATA_SIZE;

    switch (class) {
    case 's':
    case 'V':
        return COUNT * r->size;
    case 'S':
        return extent(r, COUNT, param, true);
    case 'A':
        return extent(r, COUNT * (size_t)members(r), param, has(r, 'd'));
    case 'g':
        return sizeof(long);
    case 'y':
        return PSYNC_BYTES;
    case 'w':
        return work * r->size;
    default:
        return r->size;
    }
}

/* Symmetric memory: none, of this process alone, freed, and one byte or word too short.
 */
static void bad_symmetric(struct bads *b, const struct row *r, char class,
                          const char *param)
{
    bool in_words = strchr("WVgy", class) != NULL;
    size_t word = class == 'g' || class == 'y' ? sizeof(long) : r->size;
    bool zero = class == 'g' || class == 'y';
    const char *end = zero ? zeros + ZERO_BYTES : heap + HEAP_BYTES;
    size_t length = length_of(r, class, param);

    add(b, 0, "are needed there");
    add(b, address(from_malloc), "are not symmetric");
    add(b, address(freed), "has been freed");
    if (length > (in_words ? word : 1))
        add(b, address(end) - length + (in_words ? word : 1),
            "the block of shmem_malloc ends");
    if (in_words && word > 1) {
        add(b, address(zero ? zeros : heap) + 1, "it must be a multiple of");
        add(b, address(zero ? zeros : heap) + word / 2, "it must be a multiple of");
    }
}

static void bad_pe(struct bads *b, const char *text)
{
    add(b, (uint64_t)(int64_t)-1, text);
    add(b, (uint64_t)npes, text);
    add(b, INT32_MAX, text);
    add(b, (uint64_t)(int64_t)INT32_MIN, text);
}

static void bad_count(struct bads *b, size_t size)
{
    if (size > 1) {
        add(b, SIZE_MAX, "overflows size_t");
        add(b, SIZE_MAX / size + 1, "overflows size_t");
    }
}

static void bad_handle(struct bads *b, bool none_is_good, uint64_t dead, const char *what)
{
    if (!none_is_good)
        add(b, 0, "_INVALID");
    add(b, address(heap), what);
    add(b, dead, what);
}

/* Two numbers at most, and what the sentence says about them */
static const struct numbers {
    char class;
    int64_t low, high;
    const char *text;
} numbers[] = {
    {'i', -1, INT32_MIN, "it must not be negative"},
    {'d', 0, -1, "a stride must be at least 1"},
    {'m', 0, 7, "SHMEM_CMP_EQ..SHMEM_CMP_GE"},
    {'o', 2, -1, "SHMEM_SIGNAL_SET"},
    {'a', 0, 24, "it must be a power of two"},
    {'f', 1 << 20, -1, "only bits of SHMEM_CTX_SERIALIZED"},
    {'F', 1 << 20, -1, "only bits of SHMEM_CTX_SESSION_BATCH"},
    {'u', 1 << 20, -1, "only bits of SHMEM_CTX_SESSION_TOTAL_OPS"},
    {'v', 1 << 20, -1, "only bits of SHMEM_TEAM_NUM_CONTEXTS"},
    {'e', -1, 31, "logarithm of a stride"},
};

static void bad_number(struct bads *b, char class)
{
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].class == class) {
            add(b, (uint64_t)numbers[i].low, numbers[i].text);
            add(b, (uint64_t)numbers[i].high, numbers[i].text);
        }
}

static void values_of(const struct row *r, char class, const char *param, struct bads *b)
{
    b->n = 0;
    bad_number(b, class);
    if (strchr("sSAEwWVgy", class) != NULL)
        bad_symmetric(b, r, class, param);
    else if (strchr("lqM", class) != NULL)
        add(b, 0, "elements are needed there");
    else if (class == 'x')
        add(b, 0, "the result is to be stored there");
    else if (strchr("prb", class) != NULL)
        bad_pe(b, " has PEs 0..");
    else if (strchr("nN", class) != NULL)
        bad_count(b, r->size);
    else if (strchr("cC", class) != NULL)
        bad_handle(b, class == 'C', address(dead_ctx), "not a valid context");
    else if (strchr("tT", class) != NULL)
        bad_handle(b, class == 'T', address(dead_team), "not a valid team");
    else if (class == 'h')
        add(b, address(heap) + 64, "begins there"),
            add(b, address(freed), "begins there");
    else if (class == 'z')
        add(b, 0, "it must be 1.."), add(b, (uint64_t)npes + 1, "it must be 1..");
    if (class == 'r')
        add(b, (uint64_t)members(r), " has PEs 0..");
}

/* A value that is right for a class, so that only one argument is wrong. */
static uint64_t good(const struct row *r, char class, const char *name)
{
    static const struct {
        const char *name;
        uint64_t value;
    } number[] = {{"dst", DST},     {"sst", SST},     {"bsize", BSIZE}, {"npes", 1},
                  {"value", VALUE}, {"cond", VALUE},  {"size", 1},      {"n", 1},
                  {"count", 1},     {"signal", VALUE}};

    if (strchr("sSAEWVh", class) != NULL)
        return address(heap) + (strcmp(name, "source") == 0 ? HEAP_BYTES / 2 : 0);
    if (class == 'w')
        return address(heap) + HEAP_BYTES * 3 / 4;
    if (strchr("gy", class) != NULL)
        return address(zeros);
    if (strchr("qM", class) != NULL)
        return address(list_of_pes);
    if (strchr("lx", class) != NULL)
        return address(private_memory);
    if (strchr("cC", class) != NULL)
        return address(SHMEM_CTX_DEFAULT);
    if (strchr("tT", class) != NULL)
        return address(SHMEM_TEAM_WORLD);
    if (class == 'z')
        return (uint64_t)members(r);
    if (class == 'a')
        return GOOD_BYTES;
    for (size_t i = 0; i < sizeof number / sizeof number[0]; i++)
        if (strcmp(name, number[i].name) == 0)
            return number[i].value;
    return strchr("nNi", class) != NULL ? COUNT : class == 'm';
}

/* ---- one call in a child --------------------------------------------------------- */

static void call_in_child(const struct row *r, const uint64_t *a, int out)
{
    dup2(out, STDERR_FILENO);
    r->call(a);
    _exit(0);
}

/* What the child says until it ends or the time is over. */
static void listen(int in, char *text)
{
    struct pollfd fd = {.fd = in, .events = POLLIN};
    size_t used = 0;

    while (used < TEXT_MAX - 1 && poll(&fd, 1, LIMIT_MS) > 0) {
        ssize_t n = read(in, text + used, TEXT_MAX - 1 - used);
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    text[used] = '\0';
}

/* Its wait status; a child that has not ended in time is killed. */
static int end_of(pid_t child)
{
    int status;

    for (int ms = 0; ms < LIMIT_MS; ms++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        check_sleep_us(ms < 10 ? 100 : 1000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return status;
}

static int try(const struct row *r, const uint64_t *a, char *text)
{
    int fd[2];

    CHECK(pipe(fd) == 0);
    /* A fork that the library does not see: the child takes itself for the PE. */
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    CHECK(child >= 0);
    if (child == 0)
        call_in_child(r, a, fd[1]);
    close(fd[1]);
    listen(fd[0], text);
    close(fd[0]);
    return end_of(child);
}

/* ---- the table ------------------------------------------------------------------- */

static void param_name(const struct row *r, int i, char *name)
{
    const char *at = r->params;

    for (; i > 0; i--)
        at = strchr(at, ' ') + 1;
    snprintf(name, CHECK_NAME_MAX, "%.*s", (int)strcspn(at, " "), at);
}

static void complain(const struct row *r, const char *param, uint64_t value, int status,
                     const char *expected, const char *text)
{
    fprintf(stderr, "%s with %s = 0x%llx: status 0x%x, expected \"%s\", said: %s\n",
            r->name, param, (unsigned long long)value, (unsigned)status, expected, text);
    if (++failures == FAILURES_MAX)
        exit(1);
}

static void try_value(const struct row *r, int i, const struct bad *bad)
{
    uint64_t a[ARGS_MAX];
    char name[CHECK_NAME_MAX], param[CHECK_NAME_MAX], start[CHECK_NAME_MAX * 2 + 64];
    char text[TEXT_MAX];

    for (int k = 0; r->classes[k] != '\0'; k++) {
        param_name(r, k, name);
        a[k] = k == i ? bad->value : good(r, r->classes[k], name);
    }
    param_name(r, i, param);
    snprintf(start, sizeof start, "%s: argument %d '%s' = ", r->name, i + 1, param);
    int status = try(r, a, text);
    bad_values++;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 1 || strstr(text, start) == NULL ||
        strstr(text, bad->text) == NULL)
        complain(r, param, bad->value, status, bad->text, text);
}

static void try_row(const struct row *r)
{
    struct bads bads;

    for (int i = 0; r->classes[i] != '\0'; i++) {
        char name[CHECK_NAME_MAX];
        param_name(r, i, name);
        values_of(r, r->classes[i], name, &bads);
        for (int k = 0; k < bads.n; k++)
            try_value(r, i, &bads.item[k]);
    }
}

/* Routines that may be called at any time */
static bool anytime(const struct row *r)
{
    return strstr(r->name, "query_") != NULL || strstr(r->name, "info_get") != NULL ||
           strcmp(r->name, "shmem_pcontrol") == 0;
}

/* The short form tries every routine that has no types, and of a family of types the
 * first one and every `sample`-th row: neighbours in the table with the same parameters.
 */
static bool chosen(int n, int sample)
{
    return n % sample == 0 || strcmp(rows[n].params, rows[n - 1].params) != 0 ||
           strcmp(rows[n].classes, rows[n - 1].classes) != 0;
}

/* Of the chosen rows those that are this PE's share: a function for each. */
static int try_chosen(int sample, int first, int step,
                      void (*try_one)(const struct row *))
{
    int seen = 0, tried = 0;

    for (int n = 0; n < ROWS; n++)
        if (chosen(n, sample) && seen++ % step == first) {
            try_one(&rows[n]);
            tried++;
        }
    return tried;
}

/* All but those that may be called at any time must say that the library is not there,
 * SHMEM_DEBUG or not. */
static void try_outside(const struct row *r)
{
    const uint64_t nothing[ARGS_MAX] = {0};
    char text[TEXT_MAX], sentence[CHECK_NAME_MAX];

    if (anytime(r))
        return;
    snprintf(sentence, sizeof sentence, "%s: called %s", r->name, when);
    int status = try(r, nothing, text);
    outside++;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 1 || strstr(text, sentence) == NULL)
        complain(r, "nothing", 0, status, sentence, text);
}

static void set_up(void)
{
    from_malloc = malloc(GOOD_BYTES);
    memset(private_memory, PRIVATE_FILL, sizeof private_memory);
    heap = check_alloc(HEAP_BYTES);
    memset(heap, HEAP_FILL, HEAP_BYTES);
    zeros = check_alloc(ZERO_BYTES);
    memset(zeros, 0, ZERO_BYTES);
    freed = check_alloc(GOOD_BYTES);
    shmem_free(freed);
    CHECK_EQ(shmem_ctx_create(0, &dead_ctx), 0);
    shmem_ctx_destroy(dead_ctx);
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &dead_team),
             0);
    shmem_team_destroy(dead_team);
    shmem_barrier_all();
}

int main(void)
{
    /* A fork for each value is slow, with sanitizers more so. */
    const char *sanitized = getenv("SANITIZED");
    int sample = getenv("PGAS_TEST_LONG") != NULL            ? 1
                 : sanitized != NULL && sanitized[0] != '\0' ? 24
                                                             : 12;

    setenv("SHMEM_DEBUG", "2", 1);
    setenv("SHMEM_SYMMETRIC_SIZE", "2m", 1);
    when = "before shmem_init";
    try_chosen(sample, 0, 1, try_outside);
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    set_up();
    int tried = try_chosen(sample, me, npes, try_row);
    CHECK_NAMED(check_find_other(heap, HEAP_BYTES, HEAP_FILL) == HEAP_BYTES &&
                    check_find_other(zeros, ZERO_BYTES, 0) == ZERO_BYTES,
                "a call with a bad argument has changed symmetric memory");
    shmem_barrier_all();
    printf("PE %d: %ld bad values of %d routines refused, %d were not\n", me,
           bad_values - failures, tried, failures);
    shmem_barrier_all();
    CHECK_EQ(failures, 0);
    shmem_finalize();
    when = "after shmem_finalize";
    try_chosen(sample, me, npes, try_outside);
    printf("PE %d: %ld calls outside were refused\n", me, outside);
    return failures > 0;
}
