/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_temp.c - see ft_temp.h. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "pgas/core/base/pgas.h"
#include "pgas/core/boot/node.h"
#include "pgas/core/core_state.h"
#include "pgas/ft/ft.h"
#include "pgas/ft/ft_temp.h"

#define STATE core_self.ft

/* Before the memory; in the list of its guard. */
struct ft_temp {
    _Alignas(NODE_LINE) struct ft_temp *next;
    struct ft_temp **at; /* what points to it; NULL: no guard */
};

void *ft_temp_alloc(size_t bytes)
{
    struct ft_guard *g = pgas_thread.guard;

    if (bytes > SIZE_MAX - sizeof(struct ft_temp) - NODE_LINE)
        return NULL;
    size_t all = (sizeof(struct ft_temp) + bytes + NODE_LINE - 1) / NODE_LINE * NODE_LINE;
    struct ft_temp *temp = aligned_alloc(NODE_LINE, all);
    if (temp == NULL)
        return NULL;
    *temp = (struct ft_temp){.next = NULL};
    if (g != NULL) {
        temp->at = &g->temps;
        temp->next = g->temps;
        if (temp->next != NULL)
            temp->next->at = &temp->next;
        g->temps = temp;
    }
    return temp + 1;
}

void ft_temp_free(void *memory)
{
    if (memory == NULL)
        return;
    struct ft_temp *temp = (struct ft_temp *)memory - 1;
    if (temp->at != NULL)
        *temp->at = temp->next;
    if (temp->next != NULL)
        temp->next->at = temp->at;
    free(temp);
}

/* Moves all memory of the guard to STATE.kept. */
static void ft_temp_keep_all(struct ft_guard *g)
{
    pthread_mutex_lock(&STATE.lock);
    while (g->temps != NULL) {
        struct ft_temp *temp = g->temps;
        g->temps = temp->next;
        temp->next = STATE.kept;
        STATE.kept = temp;
    }
    pthread_mutex_unlock(&STATE.lock);
}

void ft_temp_free_all(struct ft_guard *g)
{
    if (pgas_self.net != NULL) {
        ft_temp_keep_all(g);
        return;
    }
    while (g->temps != NULL)
        ft_temp_free(g->temps + 1);
}

void ft_temp_fini(void)
{
    while (STATE.kept != NULL) {
        struct ft_temp *temp = STATE.kept;
        STATE.kept = temp->next;
        free(temp);
    }
}
