/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_join.c - PE 0 puts the calls of all PEs side by side.  Uses: profile_int,
 * profile_meet.
 *
 * Sites and teams come first: their rows get a number among those of all PEs.  Then a
 * place is made for each call of each PE of each team, and the records go straight there.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/coll/profile_int.h"
#include "pgas/core/pgas.h"

enum { GROW = 2, FIRST = 64 };

/* Where a row of a PE is among those of all; of a team, also as which of its PEs. */
struct place {
    uint32_t row, member;
};

struct places {
    struct place *at;
    size_t n, room;
};

/* While it is made: the places of each PE's sites and teams. */
static struct places *site_of, *team_of_pe;
static struct profile_join *join;

/* Room for one more of `size` bytes behind n; false without memory. */
static bool grow(void **array, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return true;
    size_t wanted = *room > 0 ? GROW * *room : FIRST;
    void *more = realloc(*array, wanted * size);
    if (more == NULL)
        return false;
    *array = more;
    *room = wanted;
    return true;
}

static void note_place(struct places *places, uint32_t row, uint32_t member)
{
    void *at = places->at;

    if (!grow(&at, places->n, &places->room, sizeof *places->at)) {
        join->failed = true;
        return;
    }
    places->at = at;
    places->at[places->n++] = (struct place){row, member};
}

/* ---- sites ----------------------------------------------------------------------- */

static size_t sites_room, teams_room;

static bool same_site(const struct profile_site *a, const struct profile_site *b)
{
    return a->address == b->address && strcmp(a->routine, b->routine) == 0 &&
           strcmp(a->module, b->module) == 0;
}

static size_t find_site(const struct profile_site *site)
{
    size_t i = 0;

    while (i < join->sites && !same_site(&join->site[i], site))
        i++;
    return i;
}

static bool add_site(const struct profile_site *site)
{
    void *at = join->site;

    if (!grow(&at, join->sites, &sites_room, sizeof *site))
        return false;
    join->site = at;
    join->site[join->sites++] = *site;
    return true;
}

static void sink_sites(int pe, const void *rows, size_t n)
{
    const struct profile_site *site = rows;

    for (size_t i = 0; i < n && !join->failed; i++) {
        size_t row = find_site(&site[i]);
        if (row == join->sites && !add_site(&site[i]))
            join->failed = true;
        else
            note_place(&site_of[pe], (uint32_t)row, 0);
    }
}

static const void *site_row(size_t i)
{
    static struct profile_site site;

    profile_site_name(i, &site);
    return &site;
}

/* ---- teams ----------------------------------------------------------------------- */

static struct profile_joined *add_team(const struct profile_team *team)
{
    void *at = join->team;

    if (!grow(&at, join->teams, &teams_room, sizeof *join->team))
        return NULL;
    join->team = at;
    struct profile_joined *t = &join->team[join->teams];
    *t = (struct profile_joined){.team = *team};
    t->member = malloc(team->npes * sizeof *t->member);
    join->teams += t->member != NULL;
    return t->member != NULL ? t : NULL;
}

static struct profile_joined *find_team(const struct profile_team *team)
{
    for (size_t i = 0; i < join->teams; i++)
        if (join->team[i].team.id == team->id && join->team[i].team.npes == team->npes)
            return &join->team[i];
    return add_team(team);
}

/* A PE of the team; what is one too many (no member that is known) has nowhere to go. */
static void add_member(struct profile_joined *t, int pe, const struct profile_team *team)
{
    note_place(&team_of_pe[pe], (uint32_t)(t - join->team), t->members);
    if (t->members < t->team.npes)
        t->member[t->members++] = pe;
    t->calls = team->recorded > t->calls ? team->recorded : t->calls;
    t->all = team->calls > t->all ? team->calls : t->all;
}

static void sink_teams(int pe, const void *rows, size_t n)
{
    const struct profile_team *team = rows;

    for (size_t i = 0; i < n && !join->failed; i++) {
        struct profile_joined *t = find_team(&team[i]);
        if (t != NULL)
            add_member(t, pe, &team[i]);
        else
            join->failed = true;
    }
}

static const void *team_row(size_t i)
{
    return profile_team_at(i);
}

/* ---- records --------------------------------------------------------------------- */

static void make_cells(void)
{
    for (size_t i = 0; i < join->teams && !join->failed; i++) {
        struct profile_joined *t = &join->team[i];
        t->cell = calloc(t->calls * t->team.npes + 1, sizeof *t->cell);
        t->call = calloc(t->calls + 1, sizeof *t->call);
        join->failed = t->cell == NULL || t->call == NULL;
    }
}

static void sink_record(int pe, const struct profile_record *r)
{
    struct place at = team_of_pe[pe].at[r->team];
    struct profile_joined *t = &join->team[at.row];

    if (r->left == 0 || r->call >= t->calls || at.member >= t->team.npes)
        return;
    struct profile_call *call = &t->call[r->call];
    call->bytes = r->bytes > call->bytes ? r->bytes : call->bytes;
    if (at.member == 0)
        call->site = site_of[pe].at[r->site].row;
    t->cell[r->call * t->team.npes + at.member] =
        (struct profile_cell){profile_clock(pe, r->came), profile_clock(pe, r->left)};
    join->routine_ns[pe] += r->left - r->came;
}

static void sink_records(int pe, const void *rows, size_t n)
{
    const struct profile_record *r = rows;

    for (size_t i = 0; i < n && !join->failed; i++)
        sink_record(pe, &r[i]);
}

/* ---- together -------------------------------------------------------------------- */

static uint64_t own_left_out;

static const void *left_out_row(size_t i)
{
    (void)i;
    return &own_left_out;
}

static void sink_left_out(int pe, const void *rows, size_t n)
{
    (void)pe, (void)n;
    join->left_out += *(const uint64_t *)rows;
}

static void free_places(struct places *places)
{
    for (uint32_t i = 0; places != NULL && i < pgas_self.npes; i++)
        free(places[i].at);
    free(places);
}

static void begin(void)
{
    sites_room = teams_room = 0;
    own_left_out = join->left_out;
    join->left_out = 0;
    site_of = calloc(pgas_self.npes, sizeof *site_of);
    team_of_pe = calloc(pgas_self.npes, sizeof *team_of_pe);
    join->routine_ns = calloc(pgas_self.npes, sizeof *join->routine_ns);
    join->failed = site_of == NULL || team_of_pe == NULL || join->routine_ns == NULL;
}

void profile_join(const struct profile_rows *records, struct profile_join *out)
{
    struct profile_rows mine = *records;

    join = out;
    begin();
    mine.sink = sink_records;
    profile_gather(
        &(struct profile_rows){1, sizeof own_left_out, left_out_row, sink_left_out});
    profile_gather(&(struct profile_rows){profile_sites(), sizeof(struct profile_site),
                                          site_row, sink_sites});
    profile_gather(&(struct profile_rows){profile_teams(), sizeof(struct profile_team),
                                          team_row, sink_teams});
    make_cells();
    profile_gather(&mine);
    free_places(site_of);
    free_places(team_of_pe);
}

void profile_join_free(struct profile_join *j)
{
    for (size_t i = 0; i < j->teams; i++) {
        free(j->team[i].member);
        free(j->team[i].cell);
        free(j->team[i].call);
    }
    free(j->team);
    free(j->site);
    free(j->routine_ns);
}
