/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.c - see profile.h: the records of this PE, and the file.  Uses: core/check,
 * core/clock, core/log, profile_int.
 *
 * A record is made when the PE enters a collective and completed when it returns.  Calls
 * of different PEs are matched by their sequence number in the team, which each PE
 * counts: all PEs of a team call its collectives in the same order.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pgas/profile/profile.h"
#include "pgas/profile/profile_int.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"

enum {
    BLOCK = 8192,          /* records */
    RECORDS_MAX = 1 << 20, /* of a PE */
    ALL_MAX = 1 << 23,     /* of all PEs, which limits the file to 400 MB */
    BLOCKS_MAX = RECORDS_MAX / BLOCK,
    SUFFIX_MAX = 32,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct profile_record *block[BLOCKS_MAX];
static size_t nrecords, records_max;
static uint64_t lost; /* calls without a record */
static bool on;
static char *file;
static struct profile_header header; /* of PE 0 */

/* ---- records --------------------------------------------------------------------- */

static struct profile_record *profile_record_at(size_t i)
{
    return &block[i / BLOCK][i % BLOCK];
}

/* Index of a new record plus 1; 0: there is no space. */
static size_t profile_record_alloc(void)
{
    if (nrecords == records_max)
        return 0;
    if (block[nrecords / BLOCK] == NULL)
        block[nrecords / BLOCK] = calloc(BLOCK, sizeof **block);
    return block[nrecords / BLOCK] != NULL ? ++nrecords : 0;
}

/* Bytes that this PE contributes. */
static uint64_t profile_bytes_of(const struct check_call *call)
{
    uint64_t n =
        check_value(call, CHECK_COUNT_INT, check_value(call, CHECK_COUNT_OWN, 0));

    if (check_value(call, CHECK_MEMBERS, 0) != 0)
        return 0;
    return check_value(call, CHECK_COUNT, n) * call->size;
}

/* The caller holds the lock. */
static void profile_record_call(struct check_call *call)
{
    int site = profile_site_of(call->site, call->fn);
    int team = profile_team_of(call);

    if (team < 0 || site < 0)
        return;
    struct profile_team *t = profile_team_at((size_t)team);
    uint64_t number = t->calls++;
    size_t record = profile_record_alloc();
    call->watch[0] = profile_mix(t->id, number);
    call->watch[1] = record;
    profile_team_gone(call);
    lost += record == 0;
    if (record == 0)
        return;
    t->recorded = number + 1;
    *profile_record_at(record - 1) =
        (struct profile_record){.enter = call->came,
                                .bytes = profile_bytes_of(call),
                                .site = (uint32_t)site,
                                .team = (uint32_t)team,
                                .call = number};
}

static void profile_on_enter(struct check_call *call)
{
    pthread_mutex_lock(&lock);
    if (on)
        profile_record_call(call);
    pthread_mutex_unlock(&lock);
}

static void profile_on_exit_call(const struct check_call *call)
{
    uint64_t now = clock_ns();

    pthread_mutex_lock(&lock);
    if (on && call->watch[1] != 0)
        profile_record_at(call->watch[1] - 1)->exit = now;
    if (on && call->scope == CHECK_BY_TEAM)
        profile_team_made(call, call->watch[0]);
    pthread_mutex_unlock(&lock);
}

/* ---- the file -------------------------------------------------------------------- */

static FILE *out; /* of PE 0 */
static enum profile_chunk_kind chunk_kind;
static size_t chunk_row_bytes;

static void profile_write_chunk(int pe, const void *rows, size_t n)
{
    struct profile_chunk chunk = {.kind = chunk_kind, .pe = (uint32_t)pe, .n = n};

    if (out == NULL)
        return;
    fwrite(&chunk, sizeof chunk, 1, out);
    if (n > 0) /* rows may be NULL otherwise */
        fwrite(rows, chunk_row_bytes, n, out);
}

/* Collective: the rows of all PEs become chunks of this kind. */
static void profile_gather_chunks(enum profile_chunk_kind kind, size_t n, size_t bytes,
                                  const void *(*row)(size_t i))
{
    chunk_kind = kind;
    chunk_row_bytes = bytes;
    profile_gather(&(struct profile_rows){n, bytes, row, profile_write_chunk});
}

static void profile_write_own_chunk(enum profile_chunk_kind kind, size_t bytes,
                                    const void *rows, size_t n)
{
    chunk_kind = kind;
    chunk_row_bytes = bytes;
    profile_write_chunk(0, rows, n);
}

static void profile_write_nodes(void)
{
    for (uint32_t pe = 0; pe < pgas_self.npes && out != NULL; pe++) {
        uint32_t node = pgas_self.node_of != NULL ? pgas_self.node_of[pe] : 0;
        chunk_kind = PROFILE_CHUNK_NODE;
        chunk_row_bytes = sizeof node;
        profile_write_chunk((int)pe, &node, 1);
    }
}

static const void *profile_lost_row(size_t i)
{
    (void)i;
    return &lost;
}

static const void *profile_site_row(size_t i)
{
    static struct profile_site site;

    profile_site_describe(i, &site);
    return &site;
}

static const void *profile_team_row(size_t i)
{
    return profile_team_at(i);
}

static const void *profile_record_row(size_t i)
{
    return profile_record_at(i);
}

/* ---- message times --------------------------------------------------------------- */

static bool wanted[PROFILE_BUCKETS]; /* sizes of calls; on PE 0 of all PEs */
static struct profile_alpha alpha[PROFILE_ALPHAS], *measured[PROFILE_ALPHAS];

static const void *profile_wanted_row(size_t i)
{
    (void)i;
    return wanted;
}

static void profile_merge_wanted(int pe, const void *rows, size_t n)
{
    const bool *row = rows;

    (void)pe;
    for (size_t i = 0; i < PROFILE_BUCKETS * n; i++)
        wanted[i] = wanted[i] || row[i];
}

static const void *profile_alpha_row(size_t i)
{
    return measured[i];
}

/* Sizes between two buckets are interpolated: mark the next smaller bucket too, and for
 * larger sizes the largest bucket that is measured. */
static void profile_mark_wanted(void)
{
    memset(wanted, 0, sizeof wanted);
    for (size_t i = 0; i < nrecords; i++) {
        int bucket = profile_bucket(profile_record_at(i)->bytes);
        wanted[bucket] = wanted[bucket > 0 ? bucket - 1 : 0] = true;
        wanted[profile_bucket(PROFILE_SURE)] = true;
        if (bucket > profile_bucket(PROFILE_LARGEST))
            wanted[profile_bucket(PROFILE_LARGEST)] = true;
    }
}

static void profile_gather_alpha(void)
{
    size_t n = 0;

    profile_mark_wanted();
    profile_gather(&(struct profile_rows){1, sizeof wanted, profile_wanted_row,
                                          profile_merge_wanted});
    profile_measure(wanted, alpha);
    for (int i = 0; i < PROFILE_ALPHAS; i++)
        if (alpha[i].bytes_max > 0 && (int)alpha[i].first == pgas_self.me)
            measured[n++] = &alpha[i];
    profile_gather_chunks(PROFILE_CHUNK_ALPHA, n, sizeof alpha[0], profile_alpha_row);
}

/* ---- life ------------------------------------------------------------------------ */

/* Absolute, as the program may change its directory; with PROFILE_SUFFIX, and from the
 * second shmem_init on with a number before it. */
static char *profile_make_file_name(const char *name)
{
    char cwd[PATH_MAX], number[SUFFIX_MAX] = "";
    size_t len = profile_base_length(name), size = len + sizeof cwd + 2 * SUFFIX_MAX;
    char *full = malloc(size);

    if (full == NULL)
        log_die("no memory for the name of a file");
    if (pgas_self.generation > 1)
        snprintf(number, sizeof number, ".%u", pgas_self.generation);
    bool relative = name[0] != '/' && getcwd(cwd, sizeof cwd) != NULL;
    snprintf(full, size, "%s%s%.*s%s" PROFILE_SUFFIX, relative ? cwd : "",
             relative ? "/" : "", (int)len, name, number);
    return full;
}

static void profile_describe_job(void)
{
    char *command = header.command;
    FILE *f = fopen("/proc/self/cmdline", "re");
    size_t n = f != NULL ? fread(command, 1, sizeof header.command - 1, f) : 0;

    if (f != NULL)
        fclose(f);
    for (size_t i = 0; i + 1 < n; i++)
        command[i] = (char)(command[i] == '\0' ? ' ' : command[i]);
    ssize_t len = readlink("/proc/self/exe", header.program, sizeof header.program - 1);
    header.program[len > 0 ? len : 0] = '\0';
    gethostname(header.host, sizeof header.host - 1);
    header.date = (int64_t)time(NULL);
}

static FILE *profile_open_file(const char *mode)
{
    FILE *f = fopen(file, mode);

    if (f == NULL)
        log_die("SHMEM_PROFILE_ARRIVAL: can't write '%s': %s; name a file in a directory "
                "that exists and is writable on the node of PE 0",
                file, strerror(errno));
    return f;
}

void profile_init(void)
{
    static const struct check_watcher watcher = {profile_on_enter, profile_on_exit_call};

    if (pgas_self.env.profile_arrival[0] == '\0')
        return;
    file = profile_make_file_name(pgas_self.env.profile_arrival);
    records_max = ALL_MAX / pgas_self.npes;
    records_max = records_max < RECORDS_MAX ? records_max : RECORDS_MAX;
    header = (struct profile_header){.magic = PROFILE_MAGIC,
                                     .version = PROFILE_VERSION,
                                     .npes = pgas_self.npes,
                                     .nnodes = pgas_self.nnodes,
                                     .records_max = records_max};
    if (pgas_self.me == 0) {
        profile_describe_job();
        fclose(profile_open_file("we")); /* an error is found now, not after hours */
    }
    on = true;
    profile_gather_init();
    check_watch(&watcher);
    header.begin = clock_ns();
}

/* Other threads may still be in a collective if the process is ending: no record changes
 * from here on. */
static void profile_stop_recording(void)
{
    check_watch(NULL);
    pthread_mutex_lock(&lock);
    on = false;
    pthread_mutex_unlock(&lock);
}

static void profile_free_records(void)
{
    for (size_t i = 0; i < BLOCKS_MAX; i++) {
        free(block[i]);
        block[i] = NULL;
    }
    nrecords = records_max = 0;
    lost = 0;
    profile_site_fini();
    profile_team_fini();
    profile_gather_fini();
    free(file);
    file = NULL;
}

static void profile_close_file(void)
{
    const char *report = getenv(PROFILE_BY_OSHRUN);

    profile_write_own_chunk(PROFILE_CHUNK_END, 0, NULL, 0);
    bool failed = ferror(out) != 0;
    failed = fclose(out) != 0 || failed;
    out = NULL;
    if (failed)
        log_warn("SHMEM_PROFILE_ARRIVAL: can't write '%s': %s", file, strerror(errno));
    else if (report == NULL || strcmp(report, pgas_self.env.profile_arrival) != 0)
        log_warn(
            "the arrival profile is in '%s'; 'oshprof report' with this file shows it",
            file);
}

void profile_end(void)
{
    if (file == NULL)
        return;
    profile_stop_recording();
    header.end = clock_ns();
    const struct profile_clock_sample *samples = profile_gather_clocks();
    if (pgas_self.me == 0) {
        out = profile_open_file("we");
        fwrite(&header, sizeof header, 1, out);
    }
    profile_write_nodes();
    profile_write_own_chunk(PROFILE_CHUNK_CLOCK, sizeof *samples, samples,
                            2 * (size_t)pgas_self.nnodes);
    profile_gather_chunks(PROFILE_CHUNK_LOST, 1, sizeof lost, profile_lost_row);
    profile_gather_alpha();
    profile_gather_chunks(PROFILE_CHUNK_SITE, profile_sites(),
                          sizeof(struct profile_site), profile_site_row);
    profile_gather_chunks(PROFILE_CHUNK_TEAM, profile_teams(),
                          sizeof(struct profile_team), profile_team_row);
    profile_gather_chunks(PROFILE_CHUNK_RECORD, nrecords, sizeof **block,
                          profile_record_row);
    if (pgas_self.me == 0)
        profile_close_file();
    profile_free_records();
}
