/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_service_test.c - the agents of a job decide interrupted calls (ft_service_commit.c):
 * lost frames, successors of agents, outcomes that agents have forgotten, damaged maps.
 */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/boot/node.h"
#include "pgas/ft/agent/ft_service.h"
#include "pgas/ft/protocol/ft_proto_int.h"

enum { NODES = 2, LOCAL = 3, PES = NODES * LOCAL, DEAD = PES - 1, LINE = 5 };
#define MS UINT64_C(1000000)

struct frame {
    struct frame *next;
    uint32_t from, to;
    size_t len;
    unsigned char bytes[];
};

struct agent {
    uint32_t node, incarnation;
    struct ft_service service;
    bool lossy;       /* frames to it are lost */
    bool loses_calls; /* only those about calls are lost */
};

static struct agent agent[NODES];
static struct node *node[NODES];
static struct frame *first, **last = &first;
static uint64_t now;
static unsigned asks; /* frames that repeat or ask a question */

static uint32_t kind_of_call(const struct frame *f)
{
    bool payload =
        f->len > 17 && f->bytes[1] == FT_FRAME_CAST && f->bytes[16] == FT_CAST_PAYLOAD;

    return payload && f->bytes[17] >= FT_PAYLOAD_COMMIT_ASK ? f->bytes[17] : 0;
}

static void on_send(void *host, uint32_t to, uint32_t generation, const void *bytes,
                    size_t len)
{
    const struct agent *a = host;
    struct frame *f = malloc(sizeof *f + len);

    (void)generation;
    *f = (struct frame){.from = a->node, .to = to, .len = len};
    memcpy(f->bytes, bytes, len);
    asks += kind_of_call(f) == FT_PAYLOAD_COMMIT_ASK;
    *last = f;
    last = &f->next;
}

static void on_give_up(void *host, uint32_t failed)
{
    (void)host;
    (void)failed;
}

static const struct ft_service_calls calls = {.send = on_send, .give_up = on_give_up};

static void start_agent(uint32_t i, uint32_t incarnation)
{
    struct agent *a = &agent[i];

    a->node = i;
    cr_assert(ft_service_init(&a->service, node[i], &calls, a));
    a->service.delta_ns = 1000000 * MS;
    a->service.eta_ns = 2 * a->service.delta_ns;
    cr_assert(ft_service_start(&a->service, now, 1, incarnation));
}

static void job_open(void)
{
    now = MS;
    asks = 0;
    for (uint32_t i = 0; i < NODES; i++) {
        size_t at = node_bytes(LOCAL),
               bytes = (at + ft_map_bytes(PES, NODES, LOCAL) + 4095) / 4096 * 4096;
        node[i] = aligned_alloc(4096, bytes);
        memset(node[i], 0, bytes);
        node[i]->npes = LOCAL;
        node[i]->ft_at = at;
        ft_map_init(node_ft(node[i]), PES, NODES, i, LOCAL);
        for (uint32_t pe = 0; pe < PES; pe++)
            ft_map_node_of(node_ft(node[i]))[pe] = pe / LOCAL;
        for (uint32_t k = 0; k < LOCAL; k++)
            ft_map_rank(node_ft(node[i]))[k] = i * LOCAL + k;
    }
    memset(agent, 0, sizeof agent);
    for (uint32_t i = 0; i < NODES; i++)
        start_agent(i, 0);
}

/* Delivers frames until there are none; their receivers are served. */
static void deliver(void)
{
    while (first != NULL) {
        struct frame *f = first;
        struct agent *a = &agent[f->to];
        first = f->next;
        last = first == NULL ? &first : last;
        if (!a->lossy && !(a->loses_calls && kind_of_call(f) != 0)) {
            ft_service_receive(&a->service, now, f->from, 1, f->bytes, f->len);
            ft_service_serve(&a->service, now);
        }
        free(f);
    }
}

static void run(void)
{
    for (uint32_t i = 0; i < NODES; i++)
        ft_service_serve(&agent[i].service, now);
    deliver();
}

static void run_after(uint64_t ms)
{
    now += ms * MS;
    run();
}

static void job_close(void)
{
    run();
    for (uint32_t i = 0; i < NODES; i++) {
        ft_service_fini(&agent[i].service);
        free(node[i]);
    }
}

/* The process of the agent dies; its successor does not get the frames about calls. */
static void replace_agent(uint32_t i)
{
    ft_service_fini(&agent[i].service);
    start_agent(i, ++agent[i].incarnation);
    agent[i].loses_calls = true;
    run();
    agent[i].loses_calls = false;
}

static struct ft_calls *calls_of(uint32_t pe)
{
    return ft_map_calls(node_ft(node[pe / LOCAL]), pe % LOCAL);
}

/* The PE has entered call 1 of the team of a line, and may have completed it. */
static struct ft_call *enter(uint32_t pe, uint32_t line, bool completed)
{
    struct ft_call *call = &calls_of(pe)->line[line];

    atomic_store(&call->team, 70 + line);
    atomic_store(&call->begun, 1);
    atomic_store(&call->ended, completed);
    if (atomic_load(&calls_of(pe)->used) <= line)
        atomic_store(&calls_of(pe)->used, line + 1);
    return call;
}

static void ask(uint32_t pe, uint32_t line, uint32_t cause)
{
    struct ft_call *call = enter(pe, line, false);

    call->cause = cause;
    atomic_store(&call->answered, 0);
    atomic_store(&call->asked, 1);
    atomic_fetch_or(&calls_of(pe)->asking[line / 64], UINT64_C(1) << line % 64);
}

/* -1: not answered, else the outcome. */
static int answer(uint32_t pe, uint32_t line)
{
    const struct ft_call *call = &calls_of(pe)->line[line];

    if ((atomic_load(&calls_of(pe)->asking[line / 64]) >> line % 64 & 1) != 0)
        return -1;
    return atomic_load(&call->answered) == 1 ? (int)call->success : -1;
}

static void fail(uint32_t pe)
{
    ft_map_fail(node[pe / LOCAL], &pe, 1);
    run();
}

Test(ft_service, outcomes)
{
    job_open();
    enter(4, LINE, true);
    enter(4, LINE + 1, false);
    enter(3, LINE, false);
    fail(DEAD);
    ask(0, LINE, DEAD);
    ask(1, LINE + 1, DEAD);
    run();
    cr_assert_eq(answer(0, LINE), -1, "PE 3 is in the call");
    cr_assert_eq(answer(1, LINE + 1), -1, "PE 4 is in the call");
    ask(3, LINE, DEAD);
    ask(4, LINE + 1, DEAD);
    run();
    cr_assert_eq(answer(0, LINE), 1);
    cr_assert_eq(answer(3, LINE), 1);
    cr_assert_eq(answer(1, LINE + 1), 0);
    cr_assert_eq(answer(4, LINE + 1), 0);
    job_close();
}

/* Its PE completes the call, so that it never asks. */
Test(ft_service, successor_lost_open)
{
    job_open();
    enter(3, LINE, false);
    fail(DEAD);
    ask(0, LINE, DEAD);
    run();
    replace_agent(1);
    enter(3, LINE, true);
    run();
    cr_assert_eq(answer(0, LINE), -1);
    run_after(200);
    cr_assert_eq(answer(0, LINE), 1);
    job_close();
}

Test(ft_service, successor_lost_outcome)
{
    job_open();
    enter(2, LINE, true);
    fail(DEAD);
    ask(3, LINE, DEAD);
    run();
    cr_assert_eq(answer(3, LINE), 1);
    replace_agent(1);
    ask(3, LINE, DEAD); /* the answer was not stored */
    run();
    cr_assert_eq(answer(3, LINE), 1);
    job_close();
}

/* PE 1 has got the outcome but has not run since, and PE 2 asks, when PE 0 dies with the
 * agent; PE 0 alone had completed the call. */
Test(ft_service, successor_keeps_an_answer)
{
    job_open();
    fail(DEAD);
    fail(0);
    struct ft_call *told = enter(1, LINE, false);
    atomic_store(&told->asked, 1);
    atomic_store(&told->answered, 1);
    told->success = 1;
    replace_agent(0);
    replace_agent(1);
    ask(2, LINE, DEAD);
    run();
    cr_assert_eq(answer(2, LINE), 1);
    job_close();
}

/* More calls than outcomes are kept, of which a successor asks for all again. */
Test(ft_service, forgotten_outcomes)
{
    enum { CALLS = 150 };

    job_open();
    fail(DEAD);
    for (uint32_t k = 0; k < CALLS; k++) {
        if (k % 2 != 0)
            enter(0, k, true);
        ask(3, k, DEAD);
        run();
        cr_assert_eq(answer(3, k), (int)(k % 2));
    }
    for (int again = 0; again < 2; again++) {
        replace_agent(1);
        for (uint32_t k = 0; k < CALLS; k++)
            ask(3, k, DEAD);
        run();
        for (int i = 0; i < 4; i++)
            run_after(2000);
        for (uint32_t k = 0; k < CALLS; k++)
            cr_assert_eq(answer(3, k), (int)(k % 2), "call %u: %d", k, answer(3, k));
    }
    job_close();
}

/* The coordinator asks after it has forgotten the outcome, and has not been replaced. The
 * other agent knows it from the agreement, or only from its own record. */
Test(ft_service, coordinator_forgot)
{
    uint64_t keys[] = {(70 + LINE) ^ UINT64_C(0x9e3779b97f4a7c15),
                       (71 + LINE) ^ UINT64_C(0x9e3779b97f4a7c15)};

    job_open();
    fail(DEAD);
    for (uint32_t k = 0; k < 2; k++) {
        enter(3, LINE + k, true);
        ask(0, LINE + k, DEAD);
        run();
        cr_assert_eq(answer(0, LINE + k), 1);
        ft_proto_agree_forget(agent[0].service.proto, keys[k]);
    }
    ft_proto_agree_forget(agent[1].service.proto, keys[1]);
    memset(&calls_of(3)->line[LINE + 1], 0, sizeof(struct ft_call)); /* another team */
    ft_service_free_commits(&agent[0].service);
    for (uint32_t k = 0; k < 2; k++)
        ask(0, LINE + k, DEAD);
    run();
    cr_assert_eq(answer(0, LINE), 1);
    cr_assert_eq(answer(0, LINE + 1), 1);
    job_close();
}

/* A call is closed where the failure is not known yet. */
Test(ft_service, closed_with_cause)
{
    job_open();
    agent[1].lossy = true;
    fail(1);
    agent[1].lossy = false;
    cr_assert_not(ft_map_has_failed(node_ft(node[1]), 1));
    uint32_t epoch = atomic_load(&node_ft(node[1])->epoch);
    ask(0, LINE, 1);
    run();
    cr_assert_eq(answer(0, LINE), 0);
    cr_assert(ft_map_has_failed(node_ft(node[1]), 1));
    cr_assert_gt(atomic_load(&node_ft(node[1])->epoch), epoch);
    job_close();
}

/* The agent of the coordinator is replaced and knows no outcome. */
Test(ft_service, forgotten_by_coordinator)
{
    enum { CALLS = 100 };

    job_open();
    fail(DEAD);
    for (uint32_t k = 0; k < CALLS; k++) {
        if (k % 2 != 0)
            enter(3, k, true);
        ask(0, k, DEAD);
        run();
        cr_assert_eq(answer(0, k), (int)(k % 2));
    }
    replace_agent(0);
    for (uint32_t k = 0; k < CALLS; k++)
        ask(0, k, DEAD);
    run();
    for (int i = 0; i < 4; i++)
        run_after(2000);
    for (uint32_t k = 0; k < CALLS; k++)
        cr_assert_eq(answer(0, k), (int)(k % 2), "call %u: %d", k, answer(0, k));
    job_close();
}

/* Repeats after 0.2, 0.4, .. 2 s; after another failure they begin anew. */
Test(ft_service, questions_are_repeated_ever_later)
{
    job_open();
    fail(DEAD);
    agent[0].lossy = true;
    ask(3, LINE, DEAD);
    for (int i = 0; i < 100; i++)
        run_after(100);
    cr_assert_geq(asks, 7);
    cr_assert_leq(asks, 9, "%u questions in 10 s", asks);
    asks = 0;
    fail(4);
    run_after(200);
    cr_assert_geq(asks, 1);
    cr_assert_leq(agent[1].service.due_ns - now, 400 * MS);
    agent[0].lossy = false;
    run_after(400);
    cr_assert_eq(answer(3, LINE), 0);
    job_close();
}

/* A PE that does not leave the call delays the decision; the coordinator answers each
 * question by an OPEN, which does not make the next question come earlier. */
Test(ft_service, opened_calls_are_asked_about_ever_later)
{
    job_open();
    fail(DEAD);
    enter(3, LINE, false);
    ask(4, LINE, DEAD);
    asks = 0;
    for (int i = 0; i < 100; i++)
        run_after(100);
    cr_assert_leq(asks, 30, "%u frames of questions in 10 s", asks);
    job_close();
}

/* PE 4 has written the team into another line, and asks before it crashes: that PE 3 has
 * completed the call must be found.  The later question names the right line. */
Test(ft_service, first_question_in_another_line)
{
    job_open();
    enter(3, LINE, true);
    fail(DEAD);
    agent[0].loses_calls = true; /* the coordinator does not open the call */
    struct ft_call *damaged = &calls_of(4)->line[LINE + 1];
    ask(4, LINE + 1, DEAD);
    atomic_store(&damaged->team, 70 + LINE);
    run();
    cr_assert_eq(answer(4, LINE + 1), -1);
    fail(4);
    agent[0].loses_calls = false;
    ask(0, LINE, DEAD);
    run_after(200);
    cr_assert_eq(answer(0, LINE), 1);
    job_close();
}

/* PE 4 has written the team into another line, and asks from there while it lives: both
 * its line and that of PE 3, which has completed the call, count. */
Test(ft_service, question_of_a_live_pe_in_another_line)
{
    job_open();
    enter(3, LINE, true);
    fail(DEAD);
    struct ft_call *damaged = &calls_of(4)->line[LINE + 1];
    atomic_store(&damaged->team, 70 + LINE);
    ask(4, LINE + 1, DEAD);
    atomic_store(&damaged->team, 70 + LINE);
    run();
    fail(4);
    ask(0, LINE, DEAD);
    run_after(200);
    cr_assert_eq(answer(0, LINE), 1);
    job_close();
}

/* ---- agreements -------------------------------------------------------------------- */

/* The agent of node 1 has no record of its contribution when the decision arrives. */
Test(ft_service, decision_without_record)
{
    job_open();
    for (uint32_t pe = 0; pe < PES; pe++) {
        struct ft_mailbox *box = ft_map_mailbox(node_ft(node[pe / LOCAL]), pe % LOCAL, 0);
        box->request = FT_AGREE;
        box->team = 9;
        box->seq = 1;
        box->maxs = 1;
        box->word[0] = pe;
        ft_map_members(node_ft(node[pe / LOCAL]), pe % LOCAL, 0)[0] = (1 << PES) - 1;
        atomic_store(&box->state, FT_POSTED);
    }
    ft_service_serve(&agent[1].service, now);
    ft_service_free_open(&agent[1].service, true);
    ft_service_serve(&agent[0].service, now);
    deliver();
    for (uint32_t pe = 0; pe < PES; pe++) {
        struct ft_mailbox *box = ft_map_mailbox(node_ft(node[pe / LOCAL]), pe % LOCAL, 0);
        cr_assert_eq(atomic_load(&box->state), FT_DONE, "PE %u", pe);
        cr_assert_eq(box->word[0], PES - 1);
    }
    job_close();
}

/* ---- revocations ------------------------------------------------------------------- */

enum { SLOT = FT_TEAMS + 1 };

/* The PE has the team in the slot. */
static struct ft_team_slot *has_team(uint32_t pe, uint32_t slot, uint64_t team)
{
    struct ft_team_slot *s = ft_map_slot(node_ft(node[pe / LOCAL]), pe % LOCAL, slot);

    atomic_store(&s->team, team);
    return s;
}

static bool is_revoked(uint32_t pe, uint32_t slot, uint64_t team)
{
    return ft_map_is_revoked(node_ft(node[pe / LOCAL]), pe % LOCAL, slot, team);
}

/* The agent of the PE broadcasts it when it is served next. */
static void revoke(uint32_t pe, uint32_t slot, uint64_t team)
{
    struct ft_mailbox *box = ft_map_mailbox(node_ft(node[pe / LOCAL]), pe % LOCAL, 0);

    box->request = FT_REVOKE;
    box->team = team;
    box->slot = slot;
    atomic_store(&box->state, FT_POSTED);
}

/* PE 5 does not look meanwhile. */
Test(ft_service, many_revocations)
{
    enum { TEAMS = 1000 };

    job_open();
    for (uint32_t i = 0; i < TEAMS; i++)
        for (uint32_t pe = 0; pe < PES; pe++)
            has_team(pe, SLOT + i, 1000 + i);
    for (uint32_t i = 0; i < TEAMS; i += 2) {
        revoke(i / 2 % PES, SLOT + i, 1000 + i);
        run();
    }
    for (uint32_t i = 0; i < TEAMS; i++)
        for (uint32_t pe = 0; pe < PES; pe++)
            cr_assert_eq(is_revoked(pe, SLOT + i, 1000 + i), i % 2 == 0, "team %u", i);
    job_close();
}

/* Disjoint teams have the same slot: one revocation does not change the other. */
Test(ft_service, revocations_of_one_slot)
{
    job_open();
    for (uint32_t pe = 0; pe < PES; pe++)
        has_team(pe, SLOT, 100 + pe % 2);
    revoke(0, SLOT, 100);
    run();
    for (uint32_t pe = 0; pe < PES; pe++)
        cr_assert_eq(is_revoked(pe, SLOT, 100 + pe % 2), pe % 2 == 0);
    revoke(3, SLOT, 101);
    run();
    for (uint32_t pe = 0; pe < PES; pe++)
        cr_assert(is_revoked(pe, SLOT, 100 + pe % 2));
    job_close();
}

/* The revocation arrives when the slot has another team, or while the PE stores that. */
Test(ft_service, late_revocation)
{
    job_open();
    for (uint32_t pe = 0; pe < PES; pe++)
        has_team(pe, SLOT, 100);
    revoke(0, SLOT, 100);
    ft_service_serve(&agent[0].service, now); /* the frame is in flight */
    cr_assert(is_revoked(1, SLOT, 100));
    struct ft_team_slot *s = has_team(4, SLOT, 200);
    for (uint32_t pe = 0; pe < PES; pe++)
        has_team(pe, SLOT, 200);
    run();
    atomic_store(&s->revoked, 100); /* by an agent that has read the former team */
    for (uint32_t pe = 0; pe < PES; pe++)
        cr_assert_not(is_revoked(pe, SLOT, 200));
    uint32_t epoch = atomic_load(&node_ft(node[1])->epoch);
    revoke(5, SLOT, 200);
    run();
    for (uint32_t pe = 0; pe < PES; pe++)
        cr_assert(is_revoked(pe, SLOT, 200));
    cr_assert_gt(atomic_load(&node_ft(node[1])->epoch), epoch);
    job_close();
}

/* PE 0 revokes a team before the other PEs have stored its ID: they have a predefined one
 * for certain, SHMEM_TEAM_SHARED on the node of PE 0. */
Test(ft_service, early_revocation)
{
    job_open();
    for (uint32_t slot = 0; slot <= FT_SLOTS_PREDEFINED; slot++) {
        has_team(0, slot, 100 + slot);
        revoke(0, slot, 100 + slot);
        run();
        for (uint32_t pe = 1; pe < PES; pe++) {
            has_team(pe, slot, 100 + slot);
            bool has = slot == FT_SLOT_WORLD || (slot == FT_SLOT_SHARED && pe < LOCAL);
            cr_assert_eq(is_revoked(pe, slot, 100 + slot), has, "PE %u, slot %u", pe,
                         slot);
        }
    }
    job_close();
}

/* SHMEM_TEAM_SHARED of several nodes has one slot, but is another team on each. */
Test(ft_service, revocations_of_shared)
{
    job_open();
    for (uint32_t pe = 0; pe < PES; pe++)
        has_team(pe, FT_SLOT_SHARED, 100 + pe / LOCAL);
    for (uint32_t pe = 0; pe < PES; pe += LOCAL) {
        revoke(pe, FT_SLOT_SHARED, 100 + pe / LOCAL);
        run();
        for (uint32_t other = 0; other < PES; other++)
            cr_assert_eq(is_revoked(other, FT_SLOT_SHARED, 100 + other / LOCAL),
                         other / LOCAL <= pe / LOCAL, "PE %u", other);
    }
    job_close();
}

/* A call is closed where the revocation is not known yet. */
Test(ft_service, closed_with_revocation)
{
    job_open();
    for (uint32_t pe = 0; pe < PES; pe++) {
        has_team(pe, LINE, 70 + LINE);
        enter(pe, LINE, false);
        if (pe < LOCAL)
            cr_assert(ft_map_revoke(node_ft(node[0]), pe, LINE, 70 + LINE, false));
    }
    ask(0, LINE, FT_CAUSE_REVOKED);
    run();
    for (uint32_t pe = 0; pe < PES; pe++)
        cr_assert(is_revoked(pe, LINE, 70 + LINE), "PE %u", pe);
    for (uint32_t pe = 1; pe < PES; pe++)
        ask(pe, LINE, FT_CAUSE_REVOKED);
    run();
    for (uint32_t pe = 0; pe < PES; pe++)
        cr_assert_eq(answer(pe, LINE), 0);
    job_close();
}

/* Slots that do not exist, and teams that the PEs do not have. */
Test(ft_service, damaged_revocation)
{
    job_open();
    has_team(1, SLOT, 100);
    revoke(0, FT_TEAM_SLOTS, 100);
    revoke(1, UINT32_MAX, 100);
    revoke(2, SLOT, 0);
    run();
    revoke(0, SLOT, 101);
    run();
    cr_assert_not(is_revoked(1, SLOT, 100));
    cr_assert_eq(atomic_load(&ft_map_slot(node_ft(node[0]), 1, SLOT)->revoked), 0);
    job_close();
}

/* What a PE that crashes has left is no reason to consider another one failed. */
Test(ft_service, damaged_lines)
{
    const uint32_t causes[] = {1, PES, PES + 1, UINT32_MAX - 1, FT_CAUSE_REVOKED};

    job_open();
    fail(DEAD);
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        ask(3, (uint32_t)i, causes[i]);
    ask(3, FT_TEAMS - 1, 2);
    atomic_store(&calls_of(3)->used, UINT32_MAX);
    run();
    atomic_store(&calls_of(4)->used, UINT32_MAX / 2);
    memset((void *)calls_of(4)->asking, 0xff, sizeof calls_of(4)->asking);
    ft_map_rank(node_ft(node[1]))[1] = UINT32_MAX;
    ft_map_node_of(node_ft(node[1]))[4] = UINT32_MAX;
    run();
    replace_agent(1);
    for (uint32_t pe = 0; pe < PES; pe++)
        cr_assert_eq(ft_map_has_failed(node_ft(node[0]), pe), pe == DEAD);
    cr_assert_eq(atomic_load(&ft_map_slot(node_ft(node[0]), 0, 4)->revoked), 0);
    ask(2, LINE + 10, DEAD);
    run();
    cr_assert_eq(answer(2, LINE + 10), 0);
    job_close();
}
