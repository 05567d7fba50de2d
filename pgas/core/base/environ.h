/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environ.h - variables that other libraries read, set while the program has threads.
 *
 * setenv() and unsetenv() move and change the array `environ`, which other threads may
 * read at the same time with getenv().  libfabric and UCX read some settings from the
 * environment only.  So their variables are entered before main(), by constructors, when
 * the program cannot have threads of its own (a program that loads this library by
 * dlopen() should not have any yet), under a name that nobody reads: the first letter is
 * ENVIRON_HIDDEN.  Later that one byte is stored (an atomic access) to show or hide the
 * variable; the array and the strings stay where they are.  Uses: nothing.
 */
#ifndef PGAS_CORE_ENVIRON_H
#define PGAS_CORE_ENVIRON_H

enum { ENVIRON_TEXT_MAX = 48 };
#define ENVIRON_HIDDEN '_'

/* Lives as long as the process: `environ` points to text. */
struct environ_setting {
    char text[ENVIRON_TEXT_MAX]; /* "NAME=value" */
    char first;                  /* the first letter of NAME; 0 before environ_enter() */
};

/* Enter n settings, hidden.  For constructors alone. */
void environ_enter(struct environ_setting *settings, int n);

/* Show those that the user has not set / hide them.  By one thread at a time. */
void environ_show(struct environ_setting *settings, int n);
void environ_hide(struct environ_setting *settings, int n);

#endif
