/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim_pe.h - runs the PEs of the suite as fibers of the sim transport.
 * Uses: suite.
 */
#ifndef TESTS_TRANSPORT_SIM_PE_H
#define TESTS_TRANSPORT_SIM_PE_H

#include <stdbool.h>
#include <stdint.h>

/* Sleep in virtual time; called from a fiber. */
void sim_pe_sleep(uint64_t ns);
/* Run fn in npes fibers; returns the status of sim_run and prints it if it is not 0. */
int sim_pe_run(int npes, void (*fn)(int pe, void *arg), void *arg);
/* Kill the PE: operations to it fail, or never complete if `silent`. */
void sim_pe_kill(int pe, bool silent);

#endif
