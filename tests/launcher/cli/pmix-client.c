/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix-client.c - a PMIx client that checks the replies of the server of its node.
 *
 * Uses libpmix.  Used by oshrun-pmix.sh, to test the launcher without the library.
 *
 *   pmix-client MODE [ARGUMENT]: see the table at the end.  A PE prints "PE N: good", or
 *   an error message and exits with status 1.
 */
#include "config.h"

#include "tests/launcher/cli/pmix-client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS         1000000ull
#define AT_ONCE_MS 20000u
#define LOCAL_MS   2000u /* time-out of libpmix for data of PEs of the node */
#define TIMEOUT_S  1
#define ROUNDS     12 /* of fences of the same sets */

pmix_proc_t me;
uint32_t npes;
const char *argument;

/* ---- helpers --------------------------------------------------------------------- */

void fail(const char *format, ...)
{
    va_list args;
    char text[512];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "PE %u: WRONG: %s\n", me.rank, text);
    exit(1);
}

void want(pmix_status_t got, pmix_status_t expected, const char *what)
{
    if (got != expected)
        fail("%s: %s (%d), expected %s", what, PMIx_Error_string(got), got,
             PMIx_Error_string(expected));
}

uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / MS;
}

void sleep_ms(uint32_t ms)
{
    const struct timespec t = {ms / 1000, (long)((ms % 1000) * MS)};
    nanosleep(&t, NULL);
}

void until(atomic_int *flag, int value, const char *what)
{
    for (uint64_t end = now_ms() + WAIT_MS; atomic_load(flag) < value; sleep_ms(2))
        if (now_ms() > end)
            fail("%s did not happen (%d of %d)", what, atomic_load(flag), value);
}

pmix_proc_t proc(uint32_t rank)
{
    pmix_proc_t p;
    PMIX_PROC_LOAD(&p, me.nspace, rank);
    return p;
}

void on_op(pmix_status_t status, void *arg)
{
    struct lock *l = arg;
    l->status = status;
    l->when = now_ms();
    atomic_store(&l->done, 1);
}

void barrier(void)
{
    want(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS, "a fence");
}

void put(const char *key, const void *data, size_t len)
{
    pmix_value_t v;
    PMIX_VALUE_CONSTRUCT(&v);
    v.type = PMIX_BYTE_OBJECT;
    v.data.bo = (pmix_byte_object_t){(char *)(uintptr_t)data, len};
    want(PMIx_Put(PMIX_GLOBAL, key, &v), PMIX_SUCCESS, "put");
    want(PMIx_Commit(), PMIX_SUCCESS, "commit");
}

pmix_status_t get_within(uint32_t rank, const char *key, int timeout_s, pmix_value_t **v)
{
    pmix_info_t info;
    const pmix_proc_t p = proc(rank);
    *v = NULL;
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &timeout_s, PMIX_INT);
    pmix_status_t rc = PMIx_Get(&p, key, &info, timeout_s > 0, v);
    PMIX_INFO_DESTRUCT(&info);
    return rc;
}

pmix_value_t *get(uint32_t rank, const char *key)
{
    pmix_value_t *v;
    pmix_status_t rc = get_within(rank, key, 0, &v);
    if (rc != PMIX_SUCCESS)
        fail("get '%s' of PE %d: %s", key, (int)rank, PMIx_Error_string(rc));
    return v;
}

uint32_t get_number(uint32_t rank, const char *key)
{
    pmix_value_t *v = get(rank, key);
    uint32_t number = v->type == PMIX_UINT16 ? v->data.uint16 : v->data.uint32;
    PMIX_VALUE_RELEASE(v);
    return number;
}

void want_text(uint32_t rank, const char *key, const char *text)
{
    pmix_value_t *v = get(rank, key);
    if (v->type != PMIX_STRING || strcmp(v->data.string, text) != 0)
        fail("'%s' of PE %d is '%s', not '%s'", key, (int)rank,
             v->type == PMIX_STRING ? v->data.string : "no string", text);
    PMIX_VALUE_RELEASE(v);
}

/* ---- fences ---------------------------------------------------------------------- */

static void fill(unsigned char *data, size_t len, uint32_t rank, uint32_t round)
{
    for (size_t i = 0; i < len; i++)
        data[i] = (unsigned char)(i * 31 + (i >> 8) + rank * 7 + round * 101);
}

static pmix_status_t fence(const pmix_proc_t *procs, size_t n, bool collect)
{
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    return PMIx_Fence(procs, n, &info, 1);
}

static void check_data(const char *key, uint32_t rank, size_t len, uint32_t round)
{
    unsigned char *expected = malloc(len + 1);
    pmix_value_t *v = get(rank, key);
    fill(expected, len, rank, round);
    if (v->type != PMIX_BYTE_OBJECT || v->data.bo.size != len ||
        (len > 0 && memcmp(v->data.bo.bytes, expected, len) != 0))
        fail("data '%s' of PE %u is not what it has put", key, rank);
    PMIX_VALUE_RELEASE(v);
    free(expected);
}

/* All data of all PEs after a fence that collects it; ARGUMENT bytes each.  Then again
 * without collecting, where each get fetches the data. */
static void mode_fence(void)
{
    size_t len = strtoul(argument, NULL, 10);
    unsigned char *data = malloc(len + 1);
    const pmix_proc_t all = proc(PMIX_RANK_WILDCARD);
    for (uint32_t round = 0; round < 2; round++) {
        char key[32];
        snprintf(key, sizeof key, "data.%u", round);
        fill(data, len, me.rank, round);
        put(key, data, len);
        want(fence(&all, 1, round == 0), PMIX_SUCCESS, "fence");
        for (uint32_t r = 0; r < npes; r++)
            check_data(key, (r + me.rank) % npes, len, round);
    }
    free(data);
    barrier();
}

/* No PE leaves a fence before the last one has entered it. */
static void mode_barrier(void)
{
    for (uint32_t late = 0; late < npes; late++) {
        char key[32];
        uint64_t entered, last = 0;
        if (late == me.rank)
            sleep_ms(60);
        snprintf(key, sizeof key, "entered.%u", late);
        entered = now_ms();
        put(key, &entered, sizeof entered);
        want(fence(NULL, 0, late % 2 == 0), PMIX_SUCCESS, "fence");
        uint64_t left = now_ms();
        pmix_value_t *v = get(late, key);
        memcpy(&last, v->data.bo.bytes, sizeof last);
        PMIX_VALUE_RELEASE(v);
        if (left < last)
            fail("left the fence %u ms before PE %u entered it", (unsigned)(last - left),
                 late);
    }
}

size_t make_set(unsigned s, uint32_t rank, pmix_proc_t *procs)
{
    size_t n = 0;
    for (uint32_t r = 0; r < npes; r++) {
        bool in = s == 0 ? r / 2 == rank / 2 : s == 1 ? r % 2 == rank % 2 : r > 0;
        if (in)
            procs[n++] = proc(r);
    }
    return s == 2 && rank == 0 ? 0 : n;
}

/* When this PE entered and left each fence of a set. */
static uint64_t entered[ROUNDS][SETS], left[ROUNDS][SETS];

static void start_fence(const pmix_proc_t *procs, size_t n, bool collect, struct lock *l)
{
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    pmix_status_t rc = PMIX_OPERATION_SUCCEEDED;
    if (n > 0)
        rc = PMIx_Fence_nb(procs, n, &info, 1, on_op, l);
    if (rc == PMIX_OPERATION_SUCCEEDED)
        on_op(PMIX_SUCCESS, l);
    else
        want(rc, PMIX_SUCCESS, "Fence_nb");
}

/* No member of a set has left a fence before another one entered it. */
static void check_times(unsigned set, const pmix_proc_t *procs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t theirs[ROUNDS][SETS];
        pmix_value_t *v = get(procs[i].rank, "entered");
        memcpy(theirs, v->data.bo.bytes, sizeof theirs);
        PMIX_VALUE_RELEASE(v);
        for (unsigned round = 0; round < ROUNDS; round++)
            if (left[round][set] < theirs[round][set])
                fail("left fence %u of set %u before PE %u entered it", round, set,
                     procs[i].rank);
    }
}

/* Overlapping sets at once, repeatedly. */
static void mode_subsets(void)
{
    pmix_proc_t *procs = calloc(npes, sizeof *procs);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct lock lock[SETS] = {{0}};
        for (unsigned i = 0; i < SETS; i++) {
            unsigned s = (i + round + me.rank) % SETS; /* every PE in another order */
            size_t n = make_set(s, me.rank, procs);
            sleep_ms(me.rank % 4 * 3);
            entered[round][s] = now_ms();
            start_fence(procs, n, round % 3 == 0, &lock[s]);
        }
        for (unsigned s = 0; s < SETS; s++) {
            until(&lock[s].done, 1, "a fence of some PEs");
            want(lock[s].status, PMIX_SUCCESS, "a fence of some PEs");
            left[round][s] = lock[s].when;
        }
    }
    put("entered", entered, sizeof entered);
    want(fence(NULL, 0, true), PMIX_SUCCESS, "fence");
    for (unsigned s = 0; s < SETS; s++)
        check_times(s, procs, make_set(s, me.rank, procs));
    free(procs);
    barrier();
}

/* A fence that the last PE does not join in time. */
static void mode_fence_timeout(void)
{
    int s = TIMEOUT_S;
    pmix_info_t info;
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &s, PMIX_INT);
    barrier();
    if (me.rank == npes - 1) {
        sleep_ms(TIMEOUT_S * 1000 + 4000);
        return;
    }
    uint64_t begin = now_ms();
    want(PMIx_Fence(NULL, 0, &info, 1), PMIX_ERR_TIMEOUT, "a fence with a timeout");
    if (now_ms() - begin > TIMEOUT_S * 1000 + AT_ONCE_MS)
        fail("the timeout took %u ms", (unsigned)(now_ms() - begin));
}

/* ---- data of one PE -------------------------------------------------------------- */

/* Without a fence: PE 0 puts late, and all others wait for its data. */
static void mode_late(void)
{
    unsigned char data[1000];
    pmix_value_t *v;
    fill(data, sizeof data, me.rank, 5);
    if (me.rank == 0)
        sleep_ms(500);
    put("late", data, sizeof data);
    for (uint32_t r = 0; r < npes; r++)
        check_data("late", r, sizeof data, 5);
    barrier();
    uint64_t begin = now_ms();
    pmix_status_t rc = get_within((me.rank + 1) % npes, "never", TIMEOUT_S, &v);
    if (rc == PMIX_SUCCESS)
        fail("got data that no PE has put");
    if (now_ms() - begin > TIMEOUT_S * 1000 + AT_ONCE_MS)
        fail("the timeout took %u ms", (unsigned)(now_ms() - begin));
    begin = now_ms();
    if (get_within(npes + 5, "late", 0, &v) == PMIX_SUCCESS)
        fail("there was data of a PE that does not exist");
    if (now_ms() - begin > LOCAL_MS + AT_ONCE_MS)
        fail("that took %u ms", (unsigned)(now_ms() - begin));
    barrier();
}

/* PE 0 exits without having put data, the last PE after it has put data. */
static void mode_ended(void)
{
    unsigned char data[100];
    pmix_value_t *v;
    uint32_t last = npes - 1;
    fill(data, sizeof data, me.rank, 6);
    if (me.rank == last)
        put("will", data, sizeof data);
    barrier();
    if (me.rank == 0 || me.rank == last) {
        if (me.rank == 0)
            sleep_ms(300); /* the gets begin while it lives */
        return;
    }
    uint64_t begin = now_ms();
    if (me.rank % 2 == 0)
        sleep_ms(1000);
    if (get_within(0, "will", 0, &v) == PMIX_SUCCESS)
        fail("PE 0 had put nothing");
    if (now_ms() - begin > 1000 + LOCAL_MS + AT_ONCE_MS)
        fail("it took %u ms to see that PE 0 has ended", (unsigned)(now_ms() - begin));
    check_data("will", last, sizeof data, 6);
}

/* ---- main ------------------------------------------------------------------------ */

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } mode[] = {{"fence", mode_fence},     {"barrier", mode_barrier},
                {"subsets", mode_subsets}, {"fence-timeout", mode_fence_timeout},
                {"late", mode_late},       {"ended", mode_ended},
                {"map", mode_map},         {"apps", mode_apps},
                {"event", mode_event},     {"query", mode_query},
                {"control", mode_control}, {"end", mode_end},
                {"spawn", mode_spawn},     {"abort-some", mode_abort_some},
                {"unknown", mode_unknown}, {"group", mode_group},
                {"connect", mode_connect}};
    const char *name = argc > 1 ? argv[1] : "";
    argument = argc > 2 ? argv[2] : "0";
    pmix_status_t rc = PMIx_Init(&me, NULL, 0);
    if (rc != PMIX_SUCCESS)
        fail("PMIx_Init: %s", PMIx_Error_string(rc));
    npes = get_number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    for (size_t i = 0; i < sizeof mode / sizeof mode[0]; i++)
        if (strcmp(name, mode[i].name) == 0) {
            mode[i].run();
            want(PMIx_Finalize(NULL, 0), PMIX_SUCCESS, "finalize");
            printf("PE %u: good\n", me.rank);
            return 0;
        }
    fail("there is no mode '%s'", name);
}
