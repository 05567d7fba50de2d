/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conform.h - shared by the conformance programs: counts of cases and of tested routines,
 * checks that continue after a failure, values of every type with a serial model of the
 * operations, the contexts and teams that the cases use.
 *
 * A program calls cf_case("shmem_...") before it checks the effect of a call of that
 * routine.  Every PE runs and checks every case; PE 0 prints the counts.
 */
#ifndef TESTS_API_CONFORM_CONFORM_H
#define TESTS_API_CONFORM_CONFORM_H

#include "tests/api/multi/check.h"

extern int cf_me, cf_npes;

/* -- start and end of a program, cases -- */
void cf_start(const char *family); /* shmem_init */
void cf_begin(const char *family); /* the same without shmem_init */
void cf_report(void);              /* prints the counts; ends the job if a case failed */
int cf_finish(void);               /* cf_report, shmem_finalize; returns main's status */
void cf_case(const char *routine); /* the routine of the following checks */
void cf_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define cf_check(ok, ...) ((ok) ? (void)0 : cf_fail(__VA_ARGS__))

/* The name of a routine as a string; fn may come from token pasting, but is not
 * macro-expanded. */
#define CF_NAME(fn)     #fn
#define CF_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* -- types and values -- */
enum cf_kind { CF_SINT, CF_UINT, CF_FLT, CF_CPLX };
struct cf_type {
    const char *name;
    size_t size;
    enum cf_kind kind;
};
/* clang-format off */
#define CF_KIND(C)                                                                       \
    _Generic((C)0, float: CF_FLT, double: CF_FLT, long double: CF_FLT,                   \
        float _Complex: CF_CPLX, double _Complex: CF_CPLX,                               \
        default: (long double)(C)-1 == -1.0L ? CF_SINT : CF_UINT)
/* clang-format on */
#define CF_TYPE(N, C)                                                                    \
    {                                                                                    \
#N, sizeof(C), CF_KIND(C)                                                        \
    }

enum { CF_VALUE = 32, CF_EDGES = 8, CF_FILLER = 0xa5 };
enum cf_op { CF_AND, CF_OR, CF_XOR, CF_MAX, CF_MIN, CF_SUM, CF_PROD };

/* Edge value number `which`.  Integers: 0, 1, maximum, minimum (unsigned: top bit), -1
 * (unsigned: maximum - 1), two patterns, 2.  Others: 0, 1, maximum, minimum, -0, -0.5, a
 * subnormal float, 2. */
void cf_edge(const struct cf_type *t, unsigned which, void *value);
/* Integers: all bits random.  Others: a small whole number, so that sums are exact. */
void cf_random(const struct cf_type *t, uint64_t salt, void *value);
bool cf_identical(const struct cf_type *t, const void *a, const void *b); /* bitwise */
bool cf_same(const struct cf_type *t, const void *a, const void *b);
int cf_order(const struct cf_type *t, const void *a, const void *b);
/* acc = acc op x; integers wrap around (two's complement). */
void cf_apply(const struct cf_type *t, enum cf_op op, void *acc, const void *x);
/* The value for a message; up to four texts may be in use. */
const char *cf_text(const struct cf_type *t, const void *value);

/* -- contexts: the default one, a created one, one of a team in reverse order -- */
struct cf_ctx {
    const char *name;
    shmem_ctx_t ctx;
    bool reversed;
};
enum { CF_CTXS = 3 };
extern struct cf_ctx cf_ctxs[CF_CTXS];
void cf_ctxs_open(void);
void cf_ctxs_close(void);
/* The number that PE `pe` has in the context. */
static inline int cf_pe_in(const struct cf_ctx *c, int pe)
{
    return c->reversed ? cf_npes - 1 - pe : pe;
}

/* -- teams: the predefined ones and overlapping splits -- */
struct cf_team {
    const char *name;
    shmem_team_t team;
    int start, stride, size; /* in the world */
};
enum { CF_TEAMS = 8 };
extern struct cf_team cf_teams[CF_TEAMS];
extern int cf_nteams;
void cf_teams_open(void);
void cf_teams_close(void);
/* The rank of this PE in the team, or -1; the PE number of rank `rank` in the world. */
int cf_rank(const struct cf_team *t);
static inline int cf_world(const struct cf_team *t, int rank)
{
    return t->start + rank * t->stride;
}

/* -- neighbours: the PE that a case writes to, and the PE that then writes to this one --
 */
enum cf_to { CF_SELF, CF_RIGHT, CF_LEFT, CF_TOS };
static inline int cf_target(enum cf_to to)
{
    return (cf_me + (to == CF_RIGHT ? 1 : to == CF_LEFT ? cf_npes - 1 : 0)) % cf_npes;
}
static inline int cf_writer(enum cf_to to)
{
    return (cf_me + (to == CF_RIGHT ? cf_npes - 1 : to == CF_LEFT ? 1 : 0)) % cf_npes;
}

#endif
