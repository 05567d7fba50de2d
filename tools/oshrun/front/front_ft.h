/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * front_ft.h - SHMEM_FT=continue: the job survives the failure of PEs and nodes.
 *
 * Uses daemon.h, loop.h.  Used by front*.c and daemons*.c.
 *
 * The front end records which PEs have failed and how, and tells all daemons.  The status
 * of the job is that of the survivors.
 */
#ifndef OSHRUN_FRONT_FRONT_FT_H
#define OSHRUN_FRONT_FRONT_FT_H

#include "tools/oshrun/daemon/daemon.h"
#include "tools/oshrun/util/loop.h"

#include <stdbool.h>
#include <stdint.h>

struct front;
struct front_pe;

struct front_ft {
    struct front_pe *pe; /* NULL: SHMEM_FT=abort */
    uint32_t failed;
    int first_status; /* that of the first failure would be this one */
    struct loop_timer unfinished, suspects;
};

void front_ft_open(struct front *f);
void front_ft_close(struct front *f);

/* Events, as in front_int.h. */
void front_ft_connected(struct front *f, uint32_t rank);
void front_ft_finalized(struct front *f, uint32_t rank);
void front_ft_ended(struct front *f, const struct daemon_end *end);
/* A node is lost, on which `live` PEs had not ended.  why: as of daemons_lost. */
void front_ft_lost(struct front *f, uint32_t node, uint32_t live, const char *why);
/* The alive map of a node has these PEs as failed. */
void front_ft_reported(struct front *f, uint32_t node, const uint32_t *rank,
                       uint32_t count);

/* At the end of the job: sets the status if no PE has survived. */
void front_ft_finish(struct front *f);
/* Prints which PEs have failed. */
void front_ft_print(struct front *f);

#endif
