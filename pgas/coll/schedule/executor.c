/* SPDX-License-Identifier: BSD-3-Clause */
/* executor.c - see executor.h. */
#include "config.h"

#include "pgas/coll/schedule/executor.h"

/* False: the step cannot be executed now. */
static bool executor_step(const struct executor *e)
{
    const struct executor_ops *ops = e->ops;

    switch (e->step.kind) {
    case STEP_SEND:
        return ops->send(e->job, &e->step);
    case STEP_RECV:
        return ops->arrived(e->job, &e->step);
    case STEP_GET:
        return ops->get(e->job, &e->step);
    case STEP_PUT:
        return ops->put(e->job, &e->step);
    case STEP_BARRIER:
        return ops->barrier(e->job, &e->step);
    case STEP_REDUCE:
    case STEP_COPY:
        return ops->compute(e->job, &e->step);
    case STEP_READY:
        if (ops->ready != NULL)
            ops->ready(e->job, &e->step);
        break;
    case STEP_NONE:
        break;
    }
    return true;
}

bool executor_advance(struct executor *e)
{
    for (; schedule_step(&e->schedule, e->next, &e->step); e->next++)
        if (!executor_step(e))
            return false;
    return true;
}

void executor_run(struct executor *e)
{
    while (!executor_advance(e))
        e->ops->await(e->job, &e->step);
}
