/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bad.c - passes invalid values to every parameter of every routine, one at a time, with
 * SHMEM_DEBUG=2: each call must end its process within two seconds, with status 1 and a
 * message that names routine, argument number, parameter and value, and must not modify
 * symmetric memory.  Each call is made in a child process of the PE.  bad.awk generates
 * the rows from tests/api/abi/api-1.6.txt, not from the library's tables.
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
    LIMIT_MS = 20000,
    FAILURES_MAX = 20,
    GOOD_BYTES = 4096, /* size of valid arrays */
};

typedef void (*call_t)(const uint64_t *a);

struct row {
    const char *name;
    size_t size;         /* of an element */
    const char *params;  /* names of the parameters, separated by spaces */
    const char *classes; /* one letter per parameter: its class */
    call_t call;
};

/* One function per routine, then the table of routines. */
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

/* Symmetric memory that no call may modify: data, and words that are 0. */
static char *heap, *zeros, *freed;
static int me, npes;
static shmem_ctx_t dead_ctx;
static shmem_team_t dead_team;
static int failures;
static long bad_values, outside;
static const char *when; /* "before shmem_init" or "after shmem_finalize" */

/* An invalid value of a parameter, and text that the message must contain. */
struct bad {
    uint64_t value;
    const char *text; /* part of the message */
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
    /* Valid arguments; distinct where a confusion would matter. */
    COUNT = 3,
    DST = 2,
    SST = 5,
    BSIZE = 2,
    VALUE = 0x77,
    /* Sizes of the memory that must not change, and fill bytes. */
    HEAP_BYTES = GOOD_BYTES * 16,
    PSYNC_BYTES = SHMEM_SYNC_SIZE * sizeof(long),
    ZERO_BYTES = 2 * PSYNC_BYTES,
    HEAP_FILL = 0x5a,
    PRIVATE_FILL = 0x3c,
};

static char private_memory[GOOD_BYTES];
static char *from_malloc; /* not symmetric */
static int list_of_pes[COUNT];

static bool has(const struct row *r, char class)
{
    return strchr(r->classes, class) != NULL;
}

/* Number of PEs of the team, or of the valid active set. */
static int members(const struct row *r)
{
    return has(r, 'z') && npes > 2 && me < npes - 1 ? npes - 1 : npes;
}

/* Bytes from the first element to the end of the last. */
static size_t extent(const struct row *r, size_t n, const char *param, bool strided)
{
    size_t stride = !strided ? 1 : strcmp(param, "dest") == 0 ? DST : SST;
    size_t block = strstr(r->params, "bsize") != NULL ? BSIZE : 1;

    return ((n - 1) * stride + block) * r->size;
}

/* Bytes that the routine accesses at a symmetric parameter. */
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

/* Symmetric memory: NULL, private, freed, one byte or word too short, misaligned. */
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

/* Two invalid numbers, and part of the message about them. */
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

/* A valid value of a class, so that only one argument of a call is invalid. */
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

/* Reads the child's output until it ends or the time is over. */
static void read_output(int in, char *text)
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

/* The child's wait status; kills the child if it does not end in time. */
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
    /* clone bypasses pthread_atfork handlers: the child keeps the identity of the PE. */
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    CHECK(child >= 0);
    if (child == 0)
        call_in_child(r, a, fd[1]);
    close(fd[1]);
    read_output(fd[0], text);
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

static void report_failure(const struct row *r, const char *param, uint64_t value,
                           int status, const char *expected, const char *text)
{
    fprintf(stderr, "%s with %s = 0x%llx: status 0x%x, expected \"%s\", printed: %s\n",
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
        report_failure(r, param, bad->value, status, bad->text, text);
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

/* Routines that may be called before shmem_init and after shmem_finalize. */
static bool anytime(const struct row *r)
{
    return strstr(r->name, "query_") != NULL || strstr(r->name, "info_get") != NULL ||
           strcmp(r->name, "shmem_pcontrol") == 0;
}

/* Selects every `sample`-th row, and the first row of each group of consecutive rows with
 * the same parameters, which are the variants of a routine for different types. */
static bool chosen(int n, int sample)
{
    return n % sample == 0 || strcmp(rows[n].params, rows[n - 1].params) != 0 ||
           strcmp(rows[n].classes, rows[n - 1].classes) != 0;
}

/* Calls try_one for every step-th chosen row, starting with number `first`; returns how
 * many. */
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

/* A routine that needs the library must report that it is not initialized, also without
 * SHMEM_DEBUG. */
static void try_outside(const struct row *r)
{
    const uint64_t nothing[ARGS_MAX] = {0};
    char text[TEXT_MAX], message[CHECK_NAME_MAX];

    if (anytime(r))
        return;
    snprintf(message, sizeof message, "%s: called %s", r->name, when);
    int status = try(r, nothing, text);
    outside++;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 1 || strstr(text, message) == NULL)
        report_failure(r, "nothing", 0, status, message, text);
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
    /* One fork per value is slow, even more with sanitizers. */
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
    printf("PE %d: %ld invalid values of %d routines rejected, %d were not\n", me,
           bad_values - failures, tried, failures);
    shmem_barrier_all();
    CHECK_EQ(failures, 0);
    shmem_finalize();
    when = "after shmem_finalize";
    try_chosen(sample, me, npes, try_outside);
    printf("PE %d: %ld calls without the library rejected\n", me, outside);
    return failures > 0;
}
