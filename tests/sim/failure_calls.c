/* SPDX-License-Identifier: BSD-3-Clause */
/* failure_calls.c - what the agents of a simulated job know of interrupted calls
 * (failure.c), and what a job knows without its agents. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/pgas.h"
#include "pgas/ft/agent/ft_service.h"
#include "pgas/ft/ft_boot.h"
#include "pgas/ft/protocol/ft_proto_int.h"
#include "tests/sim/job_int.h"

/* Every PE of the node that has the team knows that it is revoked. */
static bool failure_is_revoked(const struct ft_service *s, uint64_t team)
{
    for (uint32_t i = 0; i < s->map->local; i++) {
        struct ft_calls *calls = ft_map_calls(s->map, i);
        uint32_t used = atomic_load(&calls->used);
        for (uint32_t line = 0; line < used; line++)
            if (atomic_load(&calls->line[line].team) == team &&
                !ft_map_is_revoked(s->map, i, line, team))
                return false;
    }
    return true;
}

void failure_check_calls(const struct ft_service *s)
{
    for (const struct ft_commit *c = s->commits; c != NULL; c = c->next) {
        if (c->state != FT_COMMIT_CLOSED && c->state != FT_COMMIT_CONTRIBUTED)
            continue;
        if (c->what.cause == FT_CAUSE_REVOKED ? failure_is_revoked(s, c->what.team)
                                              : ft_map_has_failed(s->map, c->what.cause))
            continue;
        fprintf(stderr, "node %u has closed a call without its cause\n", s->map->node);
        abort();
    }
}

bool failure_is_of_call(const void *frame, size_t len)
{
    enum { CAST_KIND = 16, PAYLOAD_KIND = 17 };
    const unsigned char *bytes = frame;

    return len > PAYLOAD_KIND && bytes[1] == FT_FRAME_CAST &&
           bytes[CAST_KIND] == FT_CAST_PAYLOAD &&
           bytes[PAYLOAD_KIND] >= FT_PAYLOAD_COMMIT_ASK &&
           bytes[PAYLOAD_KIND] <= FT_PAYLOAD_COMMIT_OPEN;
}

bool failure_known(const struct job *job, int at, int pe)
{
    const struct pgas *g = job->instance[at];

    return ft_map_has_failed(node_ft(g->node), (uint32_t)pe);
}

bool ft_boot_on(void)
{
    return strcmp(pgas_self.env.ft, "continue") == 0;
}

void ft_boot_check_settings(void) {}

void ft_boot_publish(const struct boot *b)
{
    (void)b;
}
