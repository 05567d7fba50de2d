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
    ALL_MAX = 1 << 23, /* of all PEs, which limits the file to 400 MB */
    SUFFIX_MAX = 32,
};

/* ---- records --------------------------------------------------------------------- */

static struct profile_record *profile_record_at(size_t i)
{
    return &PROFILE->block[i / PROFILE_BLOCK][i % PROFILE_BLOCK];
}

/* Index of a new record plus 1; 0: there is no space. */
static size_t profile_record_alloc(void)
{
    if (PROFILE->nrecords == PROFILE->records_max)
        return 0;
    if (PROFILE->block[PROFILE->nrecords / PROFILE_BLOCK] == NULL)
        PROFILE->block[PROFILE->nrecords / PROFILE_BLOCK] =
            calloc(PROFILE_BLOCK, sizeof(struct profile_record));
    return PROFILE->block[PROFILE->nrecords / PROFILE_BLOCK] != NULL ? ++PROFILE->nrecords
                                                                     : 0;
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
    profile_team_destroyed(call);
    PROFILE->lost += record == 0;
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
    pthread_mutex_lock(&PROFILE->lock);
    if (PROFILE->on)
        profile_record_call(call);
    pthread_mutex_unlock(&PROFILE->lock);
}

static void profile_on_exit_call(const struct check_call *call)
{
    uint64_t now = clock_ns();

    pthread_mutex_lock(&PROFILE->lock);
    if (PROFILE->on && call->watch[1] != 0)
        profile_record_at(call->watch[1] - 1)->exit = now;
    if (PROFILE->on && call->scope == CHECK_BY_TEAM)
        profile_team_created(call, call->watch[0]);
    pthread_mutex_unlock(&PROFILE->lock);
}

/* ---- the file -------------------------------------------------------------------- */

static void profile_write_chunk(int pe, const void *rows, size_t n)
{
    struct profile_chunk chunk = {
        .kind = PROFILE->chunk_kind, .pe = (uint32_t)pe, .n = n};

    if (PROFILE->out == NULL)
        return;
    fwrite(&chunk, sizeof chunk, 1, PROFILE->out);
    if (n > 0) /* rows may be NULL if n is 0 */
        fwrite(rows, PROFILE->chunk_row_bytes, n, PROFILE->out);
}

/* Collective: the rows of all PEs become chunks of this kind. */
static void profile_gather_chunks(enum profile_chunk_kind kind, size_t n, size_t bytes,
                                  const void *(*row)(size_t i))
{
    PROFILE->chunk_kind = kind;
    PROFILE->chunk_row_bytes = bytes;
    profile_gather(&(struct profile_rows){n, bytes, row, profile_write_chunk});
}

static void profile_write_own_chunk(enum profile_chunk_kind kind, size_t bytes,
                                    const void *rows, size_t n)
{
    PROFILE->chunk_kind = kind;
    PROFILE->chunk_row_bytes = bytes;
    profile_write_chunk(0, rows, n);
}

static void profile_write_nodes(void)
{
    for (uint32_t pe = 0; pe < pgas_self.npes && PROFILE->out != NULL; pe++) {
        uint32_t node = pgas_self.node_of != NULL ? pgas_self.node_of[pe] : 0;
        PROFILE->chunk_kind = PROFILE_CHUNK_NODE;
        PROFILE->chunk_row_bytes = sizeof node;
        profile_write_chunk((int)pe, &node, 1);
    }
}

static const void *profile_lost_row(size_t i)
{
    (void)i;
    return &PROFILE->lost;
}

static const void *profile_site_row(size_t i)
{
    profile_site_describe(i, &PROFILE->site);
    return &PROFILE->site;
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

static const void *profile_wanted_row(size_t i)
{
    (void)i;
    return PROFILE->wanted;
}

static void profile_merge_wanted(int pe, const void *rows, size_t n)
{
    const bool *row = rows;

    (void)pe;
    for (size_t i = 0; i < PROFILE_BUCKETS * n; i++)
        PROFILE->wanted[i] = PROFILE->wanted[i] || row[i];
}

static const void *profile_alpha_row(size_t i)
{
    return PROFILE->measured[i];
}

/* Mark the buckets to measure: that of each call and the next smaller one, for
 * interpolation; PROFILE_SURE; and PROFILE_LARGEST if a call is larger. */
static void profile_mark_wanted(void)
{
    memset(PROFILE->wanted, 0, sizeof PROFILE->wanted);
    for (size_t i = 0; i < PROFILE->nrecords; i++) {
        int bucket = profile_bucket(profile_record_at(i)->bytes);
        PROFILE->wanted[bucket] = PROFILE->wanted[bucket > 0 ? bucket - 1 : 0] = true;
        PROFILE->wanted[profile_bucket(PROFILE_SURE)] = true;
        if (bucket > profile_bucket(PROFILE_LARGEST))
            PROFILE->wanted[profile_bucket(PROFILE_LARGEST)] = true;
    }
}

static void profile_gather_alpha(void)
{
    size_t n = 0;

    profile_mark_wanted();
    profile_gather(&(struct profile_rows){1, sizeof PROFILE->wanted, profile_wanted_row,
                                          profile_merge_wanted});
    profile_measure(PROFILE->wanted, PROFILE->alpha);
    for (int i = 0; i < PROFILE_ALPHAS; i++)
        if (PROFILE->alpha[i].bytes_max > 0 &&
            (int)PROFILE->alpha[i].first == pgas_self.me)
            PROFILE->measured[n++] = &PROFILE->alpha[i];
    profile_gather_chunks(PROFILE_CHUNK_ALPHA, n, sizeof PROFILE->alpha[0],
                          profile_alpha_row);
}

/* ---- life ------------------------------------------------------------------------ */

/* An absolute path, because the program may change its directory, with PROFILE_SUFFIX;
 * from the second shmem_init on a number precedes the suffix. */
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
    char *command = PROFILE->header.command;
    FILE *f = fopen("/proc/self/cmdline", "re");
    size_t n = f != NULL ? fread(command, 1, sizeof PROFILE->header.command - 1, f) : 0;

    if (f != NULL)
        fclose(f);
    for (size_t i = 0; i + 1 < n; i++)
        command[i] = (char)(command[i] == '\0' ? ' ' : command[i]);
    ssize_t len = readlink("/proc/self/exe", PROFILE->header.program,
                           sizeof PROFILE->header.program - 1);
    PROFILE->header.program[len > 0 ? len : 0] = '\0';
    gethostname(PROFILE->header.host, sizeof PROFILE->header.host - 1);
    PROFILE->header.date = (int64_t)time(NULL);
}

static FILE *profile_open_file(const char *mode)
{
    FILE *f = fopen(PROFILE->file, mode);

    if (f == NULL)
        log_die(
            "SHMEM_PROFILE_ARRIVAL: cannot write '%s': %s; name a file in a directory "
            "that exists and is writable on the node of PE 0",
            PROFILE->file, strerror(errno));
    return f;
}

static void profile_alloc_state(void)
{
    if (PROFILE != NULL)
        return;
    PROFILE = calloc(1, sizeof *PROFILE);
    if (PROFILE == NULL)
        log_die("no memory for the arrival profile");
    pthread_mutex_init(&PROFILE->lock, NULL);
}

void profile_init(void)
{
    static const struct check_watcher watcher = {profile_on_enter, profile_on_exit_call};

    if (pgas_self.env.profile_arrival[0] == '\0')
        return;
    profile_alloc_state();
    PROFILE->file = profile_make_file_name(pgas_self.env.profile_arrival);
    PROFILE->records_max = ALL_MAX / pgas_self.npes;
    PROFILE->records_max = PROFILE->records_max < PROFILE_RECORDS_MAX
                               ? PROFILE->records_max
                               : PROFILE_RECORDS_MAX;
    PROFILE->header = (struct profile_header){.magic = PROFILE_MAGIC,
                                              .version = PROFILE_VERSION,
                                              .npes = pgas_self.npes,
                                              .nnodes = pgas_self.nnodes,
                                              .records_max = PROFILE->records_max};
    if (pgas_self.me == 0) {
        profile_describe_job();
        /* Report an unwritable file now, not at the end of the job. */
        fclose(profile_open_file("we"));
    }
    PROFILE->on = true;
    profile_gather_init();
    check_watch(&watcher);
    PROFILE->header.begin = clock_ns();
}

/* After this call no record changes, although other threads may be in a collective if the
 * process is exiting. */
static void profile_stop_recording(void)
{
    check_watch(NULL);
    pthread_mutex_lock(&PROFILE->lock);
    PROFILE->on = false;
    pthread_mutex_unlock(&PROFILE->lock);
}

static void profile_free_records(void)
{
    for (size_t i = 0; i < PROFILE_BLOCKS_MAX; i++) {
        free(PROFILE->block[i]);
        PROFILE->block[i] = NULL;
    }
    PROFILE->nrecords = PROFILE->records_max = 0;
    PROFILE->lost = 0;
    profile_site_fini();
    profile_team_fini();
    profile_gather_fini();
    free(PROFILE->file);
    PROFILE->file = NULL;
}

static void profile_close_file(void)
{
    const char *report = getenv(PROFILE_BY_OSHRUN);

    profile_write_own_chunk(PROFILE_CHUNK_END, 0, NULL, 0);
    bool failed = ferror(PROFILE->out) != 0;
    failed = fclose(PROFILE->out) != 0 || failed;
    PROFILE->out = NULL;
    if (failed)
        log_warn("SHMEM_PROFILE_ARRIVAL: cannot write '%s': %s", PROFILE->file,
                 strerror(errno));
    else if (report == NULL || strcmp(report, pgas_self.env.profile_arrival) != 0)
        log_warn(
            "the arrival profile is in '%s'; 'oshprof report' with this file shows it",
            PROFILE->file);
}

void profile_end(void)
{
    if (PROFILE == NULL || PROFILE->file == NULL)
        return;
    profile_stop_recording();
    PROFILE->header.end = clock_ns();
    const struct profile_clock_sample *samples = profile_gather_clocks();
    if (pgas_self.me == 0) {
        PROFILE->out = profile_open_file("we");
        fwrite(&PROFILE->header, sizeof PROFILE->header, 1, PROFILE->out);
    }
    profile_write_nodes();
    profile_write_own_chunk(PROFILE_CHUNK_CLOCK, sizeof *samples, samples,
                            2 * (size_t)pgas_self.nnodes);
    profile_gather_chunks(PROFILE_CHUNK_LOST, 1, sizeof PROFILE->lost, profile_lost_row);
    profile_gather_alpha();
    profile_gather_chunks(PROFILE_CHUNK_SITE, profile_sites(),
                          sizeof(struct profile_site), profile_site_row);
    profile_gather_chunks(PROFILE_CHUNK_TEAM, profile_teams(),
                          sizeof(struct profile_team), profile_team_row);
    profile_gather_chunks(PROFILE_CHUNK_RECORD, PROFILE->nrecords,
                          sizeof(struct profile_record), profile_record_row);
    if (pgas_self.me == 0)
        profile_close_file();
    profile_free_records();
}
