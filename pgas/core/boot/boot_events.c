/* SPDX-License-Identifier: BSD-3-Clause */
/* boot_events.c - the launcher's PMIx events of failed PEs; see boot.h.  Uses: boot_pmix.
 */
#include "config.h"

#include <pthread.h>
#include <string.h>

#include "pgas/core/base/log.h"
#include "pgas/core/boot/boot_pmix.h"
#include "pgas/core/core_state.h"

#define STATE core_self.boot

/* Reports the affected processes that are PEs of this job.  True: there are some.  The
 * lock: boot_events_close waits for a report that has begun. */
static bool boot_events_report(const pmix_info_t *info, size_t n)
{
    bool ours = false;

    pthread_mutex_lock(&STATE.events_lock);
    for (size_t i = 0; i < n && STATE.on_failure != NULL; i++) {
        const pmix_value_t *value = &info[i].value;
        if (strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) != 0 ||
            value->type != PMIX_PROC || value->data.proc == NULL)
            continue;
        const pmix_proc_t *proc = value->data.proc;
        if (strncmp(proc->nspace, boot_nspace(), PMIX_MAX_NSLEN) == 0 &&
            proc->rank < pgas_self.npes) {
            STATE.on_failure(proc->rank);
            ours = true;
        }
    }
    pthread_mutex_unlock(&STATE.events_lock);
    return ours;
}

/* It runs after the other handlers of these codes and before default handlers, those
 * without codes.  These must not run for PEs of this job: that of Open MPI's MPI library
 * ends the job.  If another user of libpmix has the last place, it decides about that,
 * and must get the event. */
static void boot_events_handle(size_t id, pmix_status_t status, const pmix_proc_t *source,
                               pmix_info_t info[], size_t ninfo, pmix_info_t *results,
                               size_t nresults,
                               pmix_event_notification_cbfunc_fn_t complete, void *data)
{
    (void)id, (void)status, (void)source, (void)results, (void)nresults;
    bool ends = boot_events_report(info, ninfo) && STATE.events_last;
    if (complete != NULL)
        complete(ends ? PMIX_EVENT_ACTION_COMPLETE : PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0,
                 NULL, NULL, data);
}

/* Only codes that say that a process has ended abnormally: a lost connection does not.
 * `place`: among the handlers of these codes. */
static pmix_status_t boot_events_register(const char *place)
{
    pmix_status_t codes[] = {PMIX_ERR_PROC_ABORTED, PMIX_ERR_PROC_TERM_WO_SYNC};
    pmix_info_t order;

    PMIX_INFO_LOAD(&order, place, NULL, PMIX_BOOL);
    pmix_status_t rc = PMIx_Register_event_handler(
        codes, sizeof codes / sizeof codes[0], &order, 1, boot_events_handle, NULL, NULL);
    PMIX_INFO_DESTRUCT(&order);
    return rc;
}

void boot_events_open(void (*on_failure)(uint32_t pe))
{
    if (!STATE.connected)
        return;
    STATE.on_failure = on_failure;
    STATE.events_last = true;
    pmix_status_t rc = boot_events_register(PMIX_EVENT_HDLR_LAST_IN_CATEGORY);
    if (rc < 0) { /* the place is occupied; versions of PMIx differ in the error */
        log_debug("PMIx events of failed PEs: this is not the last handler (%s), but "
                  "appended to the others",
                  PMIx_Error_string(rc));
        STATE.events_last = false;
        rc = boot_events_register(PMIX_EVENT_HDLR_APPEND);
    }
    STATE.events = rc >= 0;
    STATE.events_id = rc >= 0 ? (size_t)rc : 0;
    if (rc < 0)
        log_warn(
            "no PMIx events of failed PEs: PMIx_Register_event_handler: %s; failures "
            "are detected by the library alone",
            PMIx_Error_string(rc));
}

void boot_events_close(void)
{
    pthread_mutex_lock(&STATE.events_lock);
    STATE.on_failure = NULL;
    pthread_mutex_unlock(&STATE.events_lock);
}

/* The last PMIx_Finalize of a process forgets its handlers, here and in the server.
 * Deregistration before it costs 40 ms: libpmix sends a message that has no answer, and
 * Nagle's algorithm then holds back the message of PMIx_Finalize until the server's
 * kernel acknowledges that one, which it delays. */
void boot_events_forget(void)
{
    if (STATE.events && PMIx_Initialized())
        PMIx_Deregister_event_handler(STATE.events_id, NULL, NULL);
    STATE.events = false;
}
