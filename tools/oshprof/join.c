/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * join.c - reads a profile and matches the calls of all PEs.
 *
 * The file begins with sites and teams, whose rows are merged over the PEs.  Then a cell
 * is allocated for each call of each PE of each team, and the records fill the cells.
 * Every value from the file is checked before it is used as an index.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tools/oshprof/oshprof.h"

enum { GROW = 2, FIRST = 64, PES_MAX = 1 << 24, CALLS_MAX = 1 << 23 };

/* Merged row to which a row of one PE belongs; for a team, also the index of the PE. */
struct row {
    uint32_t row, member;
};

struct places {
    struct row *at;
    size_t n, space;
};

/* Used while reading the file: merged rows of each PE's sites and teams. */
static struct places *site_of, *team_of_pe;
static struct profile_join *join;
static bool no_memory, invalid;

/* Grows the array for one more element of `size` bytes; false if memory is exhausted. */
static bool join_grow(void **array, size_t n, size_t *space, size_t size)
{
    if (n < *space)
        return true;
    size_t wanted = *space > 0 ? GROW * *space : FIRST;
    void *more = realloc(*array, wanted * size);
    if (more == NULL)
        return false;
    *array = more;
    *space = wanted;
    return true;
}

static void join_note_place(struct places *places, uint32_t row, uint32_t member)
{
    void *at = places->at;

    if (!join_grow(&at, places->n, &places->space, sizeof *places->at)) {
        no_memory = true;
        return;
    }
    places->at = at;
    places->at[places->n++] = (struct row){row, member};
}

/* ---- sites ----------------------------------------------------------------------- */

static size_t sites_capacity, teams_capacity;

static bool join_same_site(const struct profile_site *a, const struct profile_site *b)
{
    return a->address == b->address &&
           strncmp(a->routine, b->routine, sizeof a->routine) == 0 &&
           strncmp(a->module, b->module, sizeof a->module) == 0;
}

static size_t join_find_site(const struct profile_site *site)
{
    size_t i = 0;

    while (i < join->sites && !join_same_site(&join->site[i], site))
        i++;
    return i;
}

static bool join_add_site(const struct profile_site *site)
{
    void *at = join->site;

    if (!join_grow(&at, join->sites, &sites_capacity, sizeof *site))
        return false;
    join->site = at;
    join->site[join->sites++] = *site;
    return true;
}

static void join_sink_sites(int pe, const void *rows, size_t n)
{
    const struct profile_site *site = rows;

    for (size_t i = 0; i < n && !no_memory; i++) {
        size_t row = join_find_site(&site[i]);
        if (row == join->sites && !join_add_site(&site[i]))
            no_memory = true;
        else
            join_note_place(&site_of[pe], (uint32_t)row, 0);
    }
}

/* ---- teams ----------------------------------------------------------------------- */

static struct profile_joined *join_add_team(const struct profile_team *team)
{
    void *at = join->team;

    if (!join_grow(&at, join->teams, &teams_capacity, sizeof *join->team))
        return NULL;
    join->team = at;
    struct profile_joined *t = &join->team[join->teams];
    *t = (struct profile_joined){.team = *team};
    t->member = malloc(team->npes * sizeof *t->member);
    join->teams += t->member != NULL;
    return t->member != NULL ? t : NULL;
}

static struct profile_joined *join_find_team(const struct profile_team *team)
{
    for (size_t i = 0; i < join->teams; i++)
        if (join->team[i].team.id == team->id && join->team[i].team.npes == team->npes)
            return &join->team[i];
    return join_add_team(team);
}

/* Surplus PEs (more than team.npes) are not stored in member[]. */
static void join_add_member(struct profile_joined *t, int pe,
                            const struct profile_team *team)
{
    join_note_place(&team_of_pe[pe], (uint32_t)(t - join->team), t->members);
    if (t->members < t->team.npes)
        t->member[t->members++] = pe;
    t->calls = team->recorded > t->calls ? team->recorded : t->calls;
    t->all = team->calls > t->all ? team->calls : t->all;
}

static void join_sink_teams(int pe, const void *rows, size_t n)
{
    const struct profile_team *team = rows;

    for (size_t i = 0; i < n && !no_memory; i++) {
        if (team[i].npes > join->header.npes || team[i].recorded > CALLS_MAX) {
            invalid = true;
            return;
        }
        struct profile_joined *t = join_find_team(&team[i]);
        if (t != NULL)
            join_add_member(t, pe, &team[i]);
        else
            no_memory = true;
    }
}

/* ---- records --------------------------------------------------------------------- */

static void join_alloc_cells(void)
{
    for (size_t i = 0; i < join->teams && !no_memory; i++) {
        struct profile_joined *t = &join->team[i];
        t->cell = calloc(t->calls * t->team.npes + 1, sizeof *t->cell);
        t->call = calloc(t->calls + 1, sizeof *t->call);
        no_memory = t->cell == NULL || t->call == NULL;
    }
}

/* Time of a PE on the clock of PE 0; the drift between the two samples is linear. */
static uint64_t join_to_clock_of_pe_0(int pe, uint64_t ns)
{
    const struct profile_clock_sample *s = join->clock + 2 * (size_t)join->node_of[pe];
    double span = (double)(s[1].at - s[0].at), part = 0.0;

    if (ns > s[0].at && s[1].at > s[0].at)
        part = ns < s[1].at ? (double)(ns - s[0].at) / span : 1.0;
    double drift = part * (double)(s[1].offset - s[0].offset);
    return ns - (uint64_t)(s[0].offset + (int64_t)drift);
}

uint64_t join_clock_error(const struct profile_join *j)
{
    uint64_t error = 0;

    for (size_t i = 0; i < 2 * (size_t)j->header.nnodes; i++)
        error = j->clock[i].error > error ? j->clock[i].error : error;
    return error;
}

static void join_record(int pe, const struct profile_record *r)
{
    if (r->team >= team_of_pe[pe].n || r->site >= site_of[pe].n) {
        invalid = true;
        return;
    }
    struct row at = team_of_pe[pe].at[r->team];
    struct profile_joined *t = &join->team[at.row];
    if (r->exit == 0 || r->call >= t->calls || at.member >= t->team.npes)
        return;
    struct profile_call *call = &t->call[r->call];
    call->bytes = r->bytes > call->bytes ? r->bytes : call->bytes;
    if (at.member == 0)
        call->site = site_of[pe].at[r->site].row;
    struct profile_cell *cell = &t->cell[r->call * t->team.npes + at.member];
    cell->enter = join_to_clock_of_pe_0(pe, r->enter);
    cell->exit = join_to_clock_of_pe_0(pe, r->exit);
    join->routine_ns[pe] += r->exit - r->enter;
    if ((int64_t)(cell->enter - join->begin) < 0)
        join->begin = cell->enter;
}

static void join_sink_records(int pe, const void *rows, size_t n)
{
    const struct profile_record *r = rows;

    if (join->teams > 0 && join->team[join->teams - 1].cell == NULL)
        join_alloc_cells();
    for (size_t i = 0; i < n && !no_memory && !invalid; i++)
        join_record(pe, &r[i]);
}

/* ---- the other rows -------------------------------------------------------------- */

static void join_sink_node(int pe, const void *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        join->node_of[pe] = ((const uint32_t *)rows)[i];
    invalid = invalid || join->node_of[pe] >= join->header.nnodes;
}

static void join_sink_clock(int pe, const void *rows, size_t n)
{
    (void)pe;
    if (n == 2 * (size_t)join->header.nnodes)
        memcpy(join->clock, rows, n * sizeof *join->clock);
    else
        invalid = true;
}

static void join_sink_lost(int pe, const void *rows, size_t n)
{
    (void)pe;
    for (size_t i = 0; i < n; i++)
        join->lost += ((const uint64_t *)rows)[i];
}

static void join_sink_alpha(int pe, const void *rows, size_t n)
{
    const struct profile_alpha *alpha = rows;

    (void)pe;
    for (size_t i = 0; i < n; i++) {
        if (!alpha[i].same_node || join->header.nnodes == 1)
            join->job = alpha[i];
        if (alpha[i].same_node)
            join->node = alpha[i];
    }
}

/* ---- the file -------------------------------------------------------------------- */

static const struct {
    size_t bytes;
    void (*sink)(int pe, const void *rows, size_t n);
} kinds[PROFILE_CHUNK_END] = {
    [PROFILE_CHUNK_NODE] = {sizeof(uint32_t), join_sink_node},
    [PROFILE_CHUNK_CLOCK] = {sizeof(struct profile_clock_sample), join_sink_clock},
    [PROFILE_CHUNK_LOST] = {sizeof(uint64_t), join_sink_lost},
    [PROFILE_CHUNK_ALPHA] = {sizeof(struct profile_alpha), join_sink_alpha},
    [PROFILE_CHUNK_SITE] = {sizeof(struct profile_site), join_sink_sites},
    [PROFILE_CHUNK_TEAM] = {sizeof(struct profile_team), join_sink_teams},
    [PROFILE_CHUNK_RECORD] = {sizeof(struct profile_record), join_sink_records},
};

/* Text that was read ends within its array. */
static void join_terminate_texts(void)
{
    struct profile_header *h = &join->header;

    h->host[sizeof h->host - 1] = h->program[sizeof h->program - 1] = '\0';
    h->command[sizeof h->command - 1] = '\0';
    for (size_t i = 0; i < join->sites; i++) {
        struct profile_site *s = &join->site[i];
        s->routine[sizeof s->routine - 1] = s->module[sizeof s->module - 1] = '\0';
    }
    for (size_t i = 0; i < join->teams; i++)
        join->team[i].team.name[PROFILE_TEAM_MAX - 1] = '\0';
}

static bool join_read_chunk(FILE *in, const struct profile_chunk *chunk)
{
    size_t bytes = kinds[chunk->kind].bytes;
    void *rows = NULL;

    if (chunk->pe >= join->header.npes || chunk->n > CALLS_MAX)
        return false;
    rows = malloc((size_t)chunk->n * bytes + 1);
    no_memory = no_memory || rows == NULL;
    if (rows != NULL && fread(rows, bytes, (size_t)chunk->n, in) == chunk->n)
        kinds[chunk->kind].sink((int)chunk->pe, rows, (size_t)chunk->n);
    else
        invalid = true;
    free(rows);
    return !no_memory && !invalid;
}

static const char *join_read_header(FILE *in)
{
    struct profile_header *h = &join->header;

    if (fread(h, sizeof *h, 1, in) != 1)
        return "it is empty: the job has not completed shmem_finalize";
    if (h->magic != PROFILE_MAGIC)
        return "it is not an arrival profile";
    if (h->version != PROFILE_VERSION)
        return "it was written by another version of the library";
    if (h->npes == 0 || h->npes > PES_MAX || h->nnodes == 0 || h->nnodes > h->npes)
        return "its header is invalid";
    join->begin = h->begin;
    join->node_of = calloc(h->npes, sizeof *join->node_of);
    join->clock = calloc(2 * (size_t)h->nnodes, sizeof *join->clock);
    join->routine_ns = calloc(h->npes, sizeof *join->routine_ns);
    site_of = calloc(h->npes, sizeof *site_of);
    team_of_pe = calloc(h->npes, sizeof *team_of_pe);
    no_memory = join->node_of == NULL || join->clock == NULL ||
                join->routine_ns == NULL || site_of == NULL || team_of_pe == NULL;
    return no_memory ? "there is not enough memory" : NULL;
}

static void join_free_places(struct places *places)
{
    for (uint32_t i = 0; places != NULL && i < join->header.npes; i++)
        free(places[i].at);
    free(places);
}

static const char *join_read_chunks(FILE *in)
{
    struct profile_chunk chunk;

    while (fread(&chunk, sizeof chunk, 1, in) == 1) {
        if (chunk.kind == PROFILE_CHUNK_END) {
            if (join->teams > 0 && join->team[join->teams - 1].cell == NULL)
                join_alloc_cells();
            return no_memory ? "there is not enough memory" : NULL;
        }
        if (chunk.kind > PROFILE_CHUNK_END || !join_read_chunk(in, &chunk))
            return no_memory ? "there is not enough memory" : "its contents are invalid";
    }
    return "it is incomplete; perhaps the disk was full";
}

const char *join_read(FILE *in, struct profile_join *result)
{
    join = result;
    *join = (struct profile_join){.sites = 0};
    const char *error = join_read_header(in);
    if (error == NULL)
        error = join_read_chunks(in);
    join_free_places(site_of);
    join_free_places(team_of_pe);
    join_terminate_texts();
    join->place = calloc(join->sites + 1, sizeof *join->place);
    for (size_t i = 0; i < join->sites && error == NULL && join->place != NULL; i++)
        place_find(&join->site[i], &join->place[i]);
    return error == NULL && join->place == NULL ? "there is not enough memory" : error;
}

void join_free(struct profile_join *j)
{
    for (size_t i = 0; i < j->teams; i++) {
        free(j->team[i].member);
        free(j->team[i].cell);
        free(j->team[i].call);
    }
    free(j->team);
    free(j->site);
    free(j->place);
    free(j->node_of);
    free(j->clock);
    free(j->routine_ns);
}
