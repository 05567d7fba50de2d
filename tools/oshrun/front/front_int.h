/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front_int.h - the inside of the front, for the files it is made of.
 *
 * Used by front.c (start and end), front_events.c (what the nodes tell, and what becomes
 * of the job), front_io.c (input and output) and front_signals.c; nobody else.
 */
#ifndef OSHRUN_FRONT_FRONT_INT_H
#define OSHRUN_FRONT_FRONT_INT_H

#include "tools/oshrun/start/nodes.h"
#include "tools/oshrun/front/out.h"
#include "tools/oshrun/front/timing.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define FRONT_INPUT_MAX     65536
#define FRONT_EXIT_ERROR    1
#define FRONT_EXIT_TIMEOUT  124
#define FRONT_STATUS_SIGNAL 128

struct front {
    const struct options *o;
    struct loop loop;
    struct job job;
    struct plan plan;
    char wdir[PATH_MAX]; /* for PEs on other hosts */
    char **env;          /* the same */
    char input[FRONT_INPUT_MAX];
    struct nodes *nodes;
    struct timing timing;

    struct out out[DAEMON_STREAMS];
    bool *mid_line[DAEMON_STREAMS]; /* per PE: its last output was half a line */

    struct loop_watch signals;
    struct loop_watch input_watch;
    bool input_wanted; /* the daemon has space; perhaps the terminal is not ours now */

    uint32_t ended;
    bool failed; /* status is decided */
    int status;
    bool ending;
    bool timed_out;
    bool unstarted; /* some node could not start its part */
    struct loop_timer timeout, kill_all, give_up, unfinished, suspend;
    uint32_t reports;                   /* that were asked for, and are not complete */
    struct daemon_end first_unfinished; /* why timer unfinished runs */
    bool connected;                     /* some PE has connected to PMIx */
    bool absent;                        /* some PE left without that */
    struct daemon_end first_absent;
};

/* front.c: a line on standard error. */
__attribute__((format(printf, 2, 3))) void front_say(struct front *f, const char *format,
                                                     ...);
const char *front_plural(uint32_t n);

/* front_events.c */
extern const struct nodes_events front_events;
/* The first status counts. */
void front_set_status(struct front *f, int status);
/* sig to all that is left; SIGKILL a moment later. */
void front_end_job(struct front *f, int sig);
/* True if what PEs do now is a consequence.  A failed PE that others do not depend on
 * decides the status only. */
bool front_is_decided(const struct front *f);
void front_open_timers(struct front *f);

/* front_io.c */
void front_on_output(void *f, uint32_t rank, enum daemon_stream s, const char *text,
                     size_t len);
void front_on_input(void *f, bool open);
/* The terminal may be ours, or not, from now on. */
void front_update_input(struct front *f);
/* 0, or -1: no memory. */
int front_open_files(struct front *f);
/* All output that is left is written, or given up. */
void front_close_files(struct front *f);

/* front_signals.c: 0, or -1 with errno. */
int front_watch_signals(struct front *f);

#endif
