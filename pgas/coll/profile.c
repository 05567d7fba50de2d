/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.c - see profile.h: the records of this PE, and the end.  Uses: core/check,
 * core/clock, core/log, profile_int.
 *
 * A record is taken when a PE comes to a collective and completed when it leaves it. What
 * a call is matched by is its number in its team, which each PE counts: all PEs of a team
 * call its collectives in the same order.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pgas/coll/profile.h"
#include "pgas/coll/profile_int.h"
#include "pgas/core/clock.h"
#include "pgas/core/log.h"
#include "pgas/core/pgas.h"

enum {
    BLOCK = 8192,          /* records */
    RECORDS_MAX = 1 << 20, /* of a PE; */
    ALL_MAX = 1 << 23,     /* and of all, as PE 0 has to hold them */
    BLOCKS_MAX = RECORDS_MAX / BLOCK,
    SUFFIX_MAX = 32,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct profile_record *block[BLOCKS_MAX];
static size_t taken, most; /* records, and how many there may be */
static uint64_t left_out;  /* calls without a record */
static uint64_t began;
static bool on;
static char *file;

/* ---- records --------------------------------------------------------------------- */

static struct profile_record *record_at(size_t i)
{
    return &block[i / BLOCK][i % BLOCK];
}

/* The number of a new record plus 1; 0 if there is no room. */
static size_t take(void)
{
    if (taken == most)
        return 0;
    if (block[taken / BLOCK] == NULL)
        block[taken / BLOCK] = calloc(BLOCK, sizeof **block);
    return block[taken / BLOCK] != NULL ? ++taken : 0;
}

/* What this PE gives: elements as the routine counts them. */
static uint64_t bytes_of(const struct check_call *call)
{
    uint64_t n =
        check_value(call, CHECK_COUNT_INT, check_value(call, CHECK_COUNT_OWN, 0));

    if (check_value(call, CHECK_MEMBERS, 0) != 0)
        return 0;
    return check_value(call, CHECK_COUNT, n) * call->size;
}

/* With the lock. */
static void note(struct check_call *call)
{
    int site = profile_site_of(call->site, call->fn);
    int team = profile_team_of(call);

    if (team < 0 || site < 0)
        return;
    struct profile_team *t = profile_team_at((size_t)team);
    uint64_t number = t->calls++;
    size_t record = take();
    call->watch[0] = profile_mix(t->id, number);
    call->watch[1] = record;
    profile_team_gone(call);
    left_out += record == 0;
    if (record == 0)
        return;
    t->recorded = number + 1;
    *record_at(record - 1) = (struct profile_record){.came = call->came,
                                                     .bytes = bytes_of(call),
                                                     .site = (uint32_t)site,
                                                     .team = (uint32_t)team,
                                                     .call = number};
}

static void enter(struct check_call *call)
{
    pthread_mutex_lock(&lock);
    if (on)
        note(call);
    pthread_mutex_unlock(&lock);
}

static void leave(const struct check_call *call)
{
    uint64_t now = clock_ns();

    pthread_mutex_lock(&lock);
    if (on && call->watch[1] != 0)
        record_at(call->watch[1] - 1)->left = now;
    if (on && call->scope == CHECK_BY_TEAM)
        profile_team_made(call, call->watch[0]);
    pthread_mutex_unlock(&lock);
}

/* ---- the report ------------------------------------------------------------------ */

/* With points in numbers, whatever the program's locale has there. */
static void write_plain(FILE *out, const struct profile_sum *sum,
                        void (*write)(FILE *, const struct profile_sum *))
{
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = plain != (locale_t)0 ? uselocale(plain) : (locale_t)0;

    write(out, sum);
    if (plain == (locale_t)0)
        return;
    uselocale(before);
    freelocale(plain);
}

static bool write_file(const char *name, const struct profile_sum *sum,
                       void (*write)(FILE *, const struct profile_sum *))
{
    errno = 0;
    FILE *out = fopen(name, "w");
    bool good = out != NULL;

    if (good) {
        write_plain(out, sum, write);
        good = ferror(out) == 0;
        good = fclose(out) == 0 && good;
    }
    if (!good)
        log_warn("SHMEM_PROFILE_ARRIVAL: can't write '%s': %s", name, strerror(errno));
    return good;
}

/* `file`, and the same with .html; a later generation has its number before that. */
static void report(const struct profile_sum *sum)
{
    size_t size = strlen(file) + SUFFIX_MAX;
    char *name = malloc(size);
    char number[SUFFIX_MAX] = "";

    if (name == NULL || sum->failed || sum->join->failed) {
        log_warn("SHMEM_PROFILE_ARRIVAL: no memory for the report '%s'", file);
        free(name);
        return;
    }
    if (pgas_self.generation > 1)
        snprintf(number, sizeof number, ".%u", pgas_self.generation);
    snprintf(name, size, "%s%s", file, number);
    if (write_file(name, sum, profile_text)) {
        snprintf(name, size, "%s%s.html", file, number);
        write_file(name, sum, profile_html);
    }
    free(name);
}

/* ---- life ------------------------------------------------------------------------ */

/* The program may change its directory and its environment. */
static char *full_name(const char *name)
{
    char here[PATH_MAX];
    size_t size = strlen(name) + sizeof here + 1;
    char *full = malloc(size);

    if (full == NULL)
        log_die("no memory for the name of a file");
    if (name[0] == '/' || getcwd(here, sizeof here) == NULL)
        snprintf(full, size, "%s", name);
    else
        snprintf(full, size, "%s/%s", here, name);
    return full;
}

void profile_init(void)
{
    static const struct check_watcher watcher = {enter, leave};

    if (pgas_self.env.profile_arrival[0] == '\0')
        return;
    file = full_name(pgas_self.env.profile_arrival);
    most = ALL_MAX / pgas_self.npes;
    most = most < RECORDS_MAX ? most : RECORDS_MAX;
    on = true;
    profile_meet_init();
    check_watch(&watcher);
    began = clock_ns();
}

/* Other threads may still be in a collective if the process is ending: nothing changes
 * from here on. */
static void stop(void)
{
    check_watch(NULL);
    pthread_mutex_lock(&lock);
    on = false;
    pthread_mutex_unlock(&lock);
}

static void forget(void)
{
    for (size_t i = 0; i < BLOCKS_MAX; i++) {
        free(block[i]);
        block[i] = NULL;
    }
    taken = most = 0;
    left_out = 0;
    profile_site_fini();
    profile_team_fini();
    profile_meet_fini();
    free(file);
    file = NULL;
}

static const void *row(size_t i)
{
    return record_at(i);
}

void profile_end(void)
{
    struct profile_join join = {
        .begin = began, .end = clock_ns(), .room = most, .left_out = left_out};
    struct profile_rows records = {.n = taken, .bytes = sizeof **block, .row = row};
    struct profile_sum sum;

    if (file == NULL)
        return;
    stop();
    profile_meet_clocks();
    profile_join(&records, &join);
    profile_sum(&join, &sum);
    if (pgas_self.me == 0)
        report(&sum);
    profile_sum_free(&sum);
    profile_join_free(&join);
    forget();
}
