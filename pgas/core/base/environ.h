/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environ.h - sets environment variables for other libraries while the program has
 * threads.
 *
 * libfabric and UCX read some settings only from the environment.  setenv() and
 * unsetenv() modify and may reallocate the array `environ` while other threads read it
 * with getenv().  Therefore constructors add the variables before main(), when the
 * program has no threads of its own (a program that loads this library with dlopen()
 * should have none yet), under a name that nobody reads: its first letter is
 * ENVIRON_HIDDEN.  A later atomic store of that byte shows or hides the variable; the
 * array and the strings do not move.  Uses: nothing.
 */
#ifndef PGAS_CORE_ENVIRON_H
#define PGAS_CORE_ENVIRON_H

enum { ENVIRON_TEXT_MAX = 48 };
#define ENVIRON_HIDDEN '_'

/* Must live as long as the process, because `environ` points to text. */
struct environ_setting {
    char text[ENVIRON_TEXT_MAX]; /* "NAME=value" */
    char first;                  /* the first letter of NAME; 0 before environ_enter() */
};

/* Adds n settings to the environment, hidden.  Only for constructors. */
void environ_enter(struct environ_setting *settings, int n);

/* environ_show shows the settings that the user has not set; environ_hide hides all.
 * Only one thread at a time may call them. */
void environ_show(struct environ_setting *settings, int n);
void environ_hide(struct environ_setting *settings, int n);

#endif
