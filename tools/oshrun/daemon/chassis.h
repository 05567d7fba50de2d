/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chassis.h - the chassis of this host as a failure domain: hosts in one chassis share
 * power and cooling.
 *
 * hwloc reads the serial number and the asset tag of the chassis from the firmware (DMI).
 * Most virtual machines, and many real ones, have a placeholder there that is equal on
 * unrelated hosts, so a value counts only if it looks like a number of one chassis.  A
 * wrong answer changes the order of the heartbeat ring, never its results.
 * Uses no other file.  Used by: daemon_ft.c.
 */
#ifndef OSHRUN_DAEMON_CHASSIS_H
#define OSHRUN_DAEMON_CHASSIS_H

#include <stdbool.h>
#include <stddef.h>

#define CHASSIS_TEXT 256

/* True if the value names one chassis; NULL does not. */
bool chassis_is_real(const char *value);

/* Stores a text that is equal on the hosts of one chassis and different from every name
 * of a host.  False: the chassis is unknown. */
bool chassis_name(const char *vendor, const char *serial, const char *asset_tag,
                  char *text, size_t size);

#endif
