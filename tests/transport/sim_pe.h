/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim_pe.h - the PEs of the suite as fibers of the sim transport.
 * Uses: suite.
 */
#ifndef TESTS_TRANSPORT_SIM_PE_H
#define TESTS_TRANSPORT_SIM_PE_H

#include <stdbool.h>
#include <stdint.h>

/* Inside a fiber: let virtual time pass. */
void sim_pe_sleep(uint64_t ns);
/* Run fn in npes fibers; what sim_run gives, with a line to stderr if it is not 0. */
int sim_pe_run(int npes, void (*fn)(int pe, void *arg), void *arg);
/* The PE is dead from now on. */
void sim_pe_kill(int pe, bool silent);

#endif
