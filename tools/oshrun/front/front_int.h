/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front_int.h - internals of the front end.
 *
 * Used by front.c (start and end), front_events.c (events of the daemons, end of the
 * job), front_ft.c (failures that the job survives), front_io.c (input and output),
 * front_merge.c and front_sites.c (messages of the library), front_report.c,
 * front_signals.c, and by daemons*.c, which call front_on_*.
 */
#ifndef OSHRUN_FRONT_FRONT_INT_H
#define OSHRUN_FRONT_FRONT_INT_H

#include "tools/oshrun/map/plan.h"
#include "tools/oshrun/start/daemons.h"
#include "tools/oshrun/front/front_ft.h"
#include "tools/oshrun/front/out.h"
#include "tools/oshrun/front/timing.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define FRONT_INPUT_MAX     65536
#define FRONT_EXIT_ERROR    1
#define FRONT_EXIT_TIMEOUT  124
#define FRONT_STATUS_SIGNAL 128

/* Texts of the daemons for one report. */
struct front_report {
    struct front_report_text *text;
    size_t count, capacity;
    bool running, again; /* again: requested while it was running */
};

/* The argument of callbacks of struct out. */
struct front_stream {
    struct front *front;
    enum daemon_stream which;
};

/* Messages of the library that wait for equal ones of other PEs, and messages of oshrun
 * behind them. */
struct front_merge {
    struct front_line *first, *last;
    uint32_t count;
    size_t bytes;
    uint64_t lines;    /* so far */
    uint64_t *last_of; /* per PE: the number of its last line */
    bool *mid_line;    /* per PE: its received standard error ends within a line */
    struct loop_timer timer;
};

/* Call sites in messages of the library. */
struct front_sites {
    struct front_site *first;
    uint32_t count, running;
    const char *tool; /* name of the program that finds lines; NULL: none */
    char path[PATH_MAX];
    bool gdb; /* the tool is gdb */
};

struct front {
    const struct options *o;
    struct loop loop;
    struct job job;
    struct plan plan;
    char **env; /* for PEs on other hosts */
    char input[FRONT_INPUT_MAX];
    struct daemons *daemons;
    struct timing timing;
    int reaper_fd; /* for child_start */
    struct rlimit files;

    struct out out[DAEMON_STREAMS];
    struct front_stream stream[DAEMON_STREAMS];
    bool *mid_line[DAEMON_STREAMS]; /* per PE, with tags: its printed output ends within a
                                       line */
    struct front_merge merge;       /* of standard error */
    struct front_sites sites;

    struct loop_watch signals;
    struct loop_watch input_watch;
    bool input_wanted; /* the daemon has space; the terminal may not be ours */

    uint32_t ended;
    bool failed; /* status is set */
    int status;
    bool ending;
    bool timed_out;
    bool unstarted; /* a node failed to start its PEs */
    struct loop_timer timeout, kill_all, give_up, unfinished, suspend;
    struct front_report report;
    struct daemon_end first_unfinished; /* the PE that started timer `unfinished` */
    bool connected;                     /* a PE has connected to PMIx */
    bool absent;                        /* a PE exited without connecting */
    struct daemon_end first_absent;
    struct front_ft ft;
};

/* front.c: writes a line to standard error. */
__attribute__((format(printf, 2, 3))) void front_say(struct front *f, const char *format,
                                                     ...);
const char *front_plural(uint32_t n);

/* front_events.c.  Events of the daemons may call daemons_*, except daemons_stop. */
void front_on_connected(struct front *f, uint32_t rank); /* to PMIx */
void front_on_finalized(struct front *f, uint32_t rank);
void front_on_ended(struct front *f, const struct daemon_end *end);
void front_on_aborted(struct front *f, uint32_t rank, int status, const char *text);
void front_on_reported(struct front *f);
/* The PEs cannot be started; the reason was reported.  No event follows. */
void front_on_failed(struct front *f, int status);
/* A node is lost, on which `own` PEs had not ended; `pes` includes those of the nodes
 * that were connected through it. */
void front_on_lost(struct front *f, uint32_t own, uint32_t pes, const char *error_text);
/* True if the job is being terminated, so that further failures are consequences.  A
 * failed PE that others do not depend on only sets the status. */
bool front_is_decided(const struct front *f);
/* Only the first call sets the status. */
void front_set_status(struct front *f, int status);
/* Sends sig to all remaining PEs, and SIGKILL after a delay. */
void front_end_job(struct front *f, int sig);
void front_open_timers(struct front *f);

/* front_io.c */
/* Writes output of a PE, with tags if requested. */
void front_write(struct front *f, uint32_t rank, enum daemon_stream s, const char *text,
                 size_t len);
void front_on_output(struct front *f, uint32_t rank, enum daemon_stream s,
                     const char *text, size_t len);
/* Space for input; open = false: no PE reads it any more. */
void front_on_input(struct front *f, bool open);
/* Call when the foreground process group of the terminal may have changed. */
void front_update_input(struct front *f);
void front_open_files(struct front *f);
/* Writes pending output, for a limited time. */
void front_close_files(struct front *f);

/* front_merge.c: standard error of a PE, where equal messages of the library become one
 * line.  A message is printed after at most a tenth of a second, or a few seconds if its
 * call site is slow to be found. */
void front_merge_open(struct front *f);
void front_merge_put(struct front *f, uint32_t rank, const char *text, size_t len);
/* A line of oshrun itself. */
void front_merge_say(struct front *f, const char *line, size_t len);
/* Prints the messages that are due. */
void front_merge_continue(struct front *f);
/* Prints all messages. */
void front_merge_close(struct front *f);

/* front_sites.c: function, file and line of call sites. */
/* The call site in a message of the library, which belongs to f; NULL: none.  *len: the
 * length of the message before it. */
struct front_site *front_site_find(struct front *f, const char *message, size_t *len);
/* True while a tool searches for it. */
bool front_site_pending(const struct front_site *s);
/* Waits for the tool, at most until end_ns.  Blocks. */
void front_site_wait(struct front_site *s, uint64_t end_ns);
/* "function (file:line)"; NULL: not known. */
const char *front_site_text(const struct front_site *s);
void front_sites_free(struct front *f);

/* front_report.c: prints where the PEs are, with -v also states and stacks; if a report
 * is being made, then another one after it. */
void front_report_request(struct front *f);
void front_report_add(struct front *f, enum daemon_line line, const uint32_t *rank,
                      uint32_t count, const char *text);
/* The report is complete: prints it.  False: another one is being made. */
bool front_report_end(struct front *f);
void front_report_free(struct front_report *r);

/* front_signals.c: 0, or -1 with errno. */
int front_watch_signals(struct front *f);

#endif
