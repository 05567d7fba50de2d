/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model_int.h - internals of the model: model_memory.c has contents, vector clocks and
 * accesses, model.c the steps.
 */
#ifndef TESTS_COLL_SCHEDULE_MODEL_INT_H
#define TESTS_COLL_SCHEDULE_MODEL_INT_H

#include <setjmp.h>

#include "tests/coll/schedule/model.h"

enum { BITS = 64, READINGS = 4096, TAG_GET = -1, TAG_PUT = -2 };

/* An immutable vector clock, shared by a leader and the messages that it has sent. */
struct view {
    int users;
    uint16_t clock[];
};

/* Or a GET: the owner of the memory is its sender, the reader its receiver; or a PUT,
 * which is received in the next barrier. */
struct message {
    struct view *view;         /* of the sender */
    uint16_t clock;            /* of the sender at the SEND */
    uint16_t received;         /* clock of the receiver at the RECV; 0: not yet */
    int sender, receiver, tag; /* TAG_GET, TAG_PUT: no message */
    long arrival;              /* round */
    size_t units;
};

/* A message that reads a unit. */
struct reading {
    const struct message *message;
    struct reading *next;
};

struct readings {
    struct readings *next;
    struct reading reading[READINGS];
};

struct unit {
    uint16_t touched, written; /* clock of the owner's last access, and write */
    long sends; /* a GET, not copied, wrote it after so many SENDs; or -1 */
    const struct message *writer; /* the last message that wrote it */
    struct reading *readings;
};

struct leader {
    int i; /* the next step */
    bool ended;
    bool waits, passed; /* at a BARRIER; all ranks have reached it */
    uint16_t clock;
    struct view *view;
    long time, port; /* rounds: of the last step, and of the end of the last SEND */
    long messages;
    size_t sent;
    int *last_tag;     /* by receiver */
    struct unit *unit; /* data, inbox, source */
    uint64_t *content; /* of each unit, `words` words */
};

struct model {
    const struct model_config *config;
    int nodes;
    size_t data, source, units; /* units of the data; first one of the source; all */
    size_t words;               /* of the content of a unit */
    struct leader *leader;
    struct message **message; /* by receiver and tag */
    int tags;
    struct message **all;
    size_t messages, capacity; /* of all */
    size_t complete;           /* of all, at the last barrier */
    int waiting;               /* ranks at a BARRIER */
    struct readings *readings; /* memory of all readings */
    struct reading *unused;
    jmp_buf wrong;
    char *why;
    size_t why_bytes;
};

/* Ends the proof: the schedule is wrong. */
__attribute__((format(printf, 2, 3))) _Noreturn void model_wrong(struct model *m,
                                                                 const char *format, ...);
void *model_calloc(size_t n, size_t size);

/* Contents. */
bool model_reduces(const struct model *m);
bool model_pulls(const struct model *m);
/* SCAN_CHAIN, REDUCE_ORDERED. */
bool model_chains(const struct model *m);
uint64_t *model_content_of(const struct model *m, int rank, size_t unit);
/* The content that unit `unit` of the data of a rank has at the end, in a schedule
 * without computation; 0: not defined. */
uint64_t model_result_of(const struct model *m, int rank, size_t unit);
void model_fill(struct model *m, int rank);
void model_check_result(struct model *m, int rank);
/* In a schedule with computation: unit `unit` of a rank has the contributions of the
 * ranks of which it is the combination at the end, and of no others. */
void model_check_sum(struct model *m, int rank, size_t unit);
/* Unit k of the region in the memory of any rank. */
size_t model_unit_of(struct model *m, const struct schedule_region *r, size_t k);

/* Vector clocks. */
struct view *model_view_new(const struct model *m);
void model_view_release(struct view *v);
uint16_t model_clock_known(const struct model *m, int rank, int of);
/* The events of the message's sender become known to `rank`. */
void model_view_join(struct model *m, int rank, const struct message *from);

/* Accesses; what: for the message. */
void model_reading_add(struct model *m, struct unit *unit, const struct message *message);
bool model_is_known(const struct model *m, int rank, const struct message *message);
/* `rank` writes the unit of `owner`, or reads it. */
void model_check_order(struct model *m, int rank, int owner, size_t u, bool writes,
                       const char *what);
void model_touch(struct model *m, int rank, size_t u, bool writes, const char *what);

#endif
