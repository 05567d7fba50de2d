/* SPDX-License-Identifier: BSD-3-Clause */
/* threads_run.h - for tests of locks: threads that all execute one function. */
#ifndef TESTS_UNIT_THREADS_RUN_H
#define TESTS_UNIT_THREADS_RUN_H

#include <criterion/criterion.h>
#include <pthread.h>

enum { THREADS_RUN_MAX = 8 };

/* Starts n <= THREADS_RUN_MAX threads, and waits for the end of all. */
static inline void threads_run(int n, void *(*function)(void *))
{
    pthread_t threads[THREADS_RUN_MAX];

    cr_assert_leq(n, THREADS_RUN_MAX);
    for (int i = 0; i < n; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, function, NULL), 0);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

#endif
