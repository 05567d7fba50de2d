/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_net_test.c - messages between the PMIx servers of three nodes, without libpmix:
 * requests are made as its upcalls would.
 */
#include "config.h"

#include "tools/oshrun/pmix/pmix_int.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 3, PES = 6, SPOILT = 20000, KEPT = 64 };

struct message {
    struct message *next;
    struct frame f;
    unsigned char data[];
};

/* The answer to a request. */
struct answer {
    int count;
    pmix_status_t status;
    char data[64];
    size_t len, ninfo;
};

static uint32_t ranks[NODES][PES / NODES] = {{0, 3}, {1, 4}, {2, 5}};
static char *no_argv[] = {(char[]){"program"}, NULL};
static struct job_app app = {.npes = PES, .argv = no_argv};
static struct job_node nodes[NODES];
static struct job jobs[NODES];
static struct pmix_host hosts[NODES];
static struct pmix_net *nets[NODES];
static struct loop loop;
static const struct tree tree = {.nnodes = NODES, .fanout = 2};
static struct message *first, **last = &first;
static struct message *kept[KEPT];
static unsigned nkept;
static struct gather *front;

/* ---- the world -------------------------------------------------------------------- */

static struct message *copy_frame(const struct frame *f)
{
    struct message *m = malloc(sizeof *m + f->len);
    cr_assert(m != NULL);
    m->next = NULL;
    m->f = *f;
    if (f->len > 0)
        memcpy(m->data, f->data, f->len);
    m->f.data = m->data;
    return m;
}

static void on_send(void *arg, const struct frame *f)
{
    (void)arg;
    if (nkept < KEPT)
        kept[nkept++] = copy_frame(f);
    *last = copy_frame(f);
    last = &(*last)->next;
}

static void answer_query(const struct frame *f)
{
    struct unpack u = unpack_of(f->data, f->len);
    struct pack p = {0};
    pack_u64(&p, unpack_u64(&u));
    pack_u32(&p, 1);
    pack_u32(&p, 4);
    pack_u32(&p, 1);
    pack_u32(&p, 12345);
    pack_u8(&p, 1);
    pack_u32(&p, 0);
    on_send(NULL, &(struct frame){.type = WIRE_QUERY_ANSWER,
                                  .from = WIRE_FRONT,
                                  .to = f->from,
                                  .data = p.data,
                                  .len = p.len});
    pack_free(&p);
}

/* Deliver all frames; returns how many were rejected. */
static int deliver(void)
{
    int rejected = 0;
    while (first != NULL) {
        struct message *m = first;
        first = m->next;
        if (first == NULL)
            last = &first;
        if (m->f.to == WIRE_FRONT && m->f.type == WIRE_QUERY_ASK)
            answer_query(&m->f);
        else if (m->f.to == WIRE_FRONT)
            rejected += gather_recv(front, &m->f) != 0;
        else if (m->f.to < NODES)
            rejected += pmix_net_recv(nets[m->f.to], &m->f) != 0;
        free(m);
    }
    return rejected;
}

static void setup(void)
{
    static const struct net_out out = {.send = on_send};
    cr_assert_eq(loop_open(&loop), 0);
    front = gather_new(&tree, WIRE_FRONT, &out, NULL, NULL);
    for (uint32_t i = 0; i < NODES; i++)
        nodes[i] = (struct job_node){.name = "vn", .npes = PES / NODES, .rank = ranks[i]};
    for (uint32_t i = 0; i < NODES; i++) {
        jobs[i] = (struct job){.nspace = "job",
                               .npes = PES,
                               .nnodes = NODES,
                               .here = i,
                               .node = nodes,
                               .napps = 1,
                               .app = &app};
        hosts[i] = (struct pmix_host){
            .job = &jobs[i], .nspace = "job", .registration = {.complete = true}};
        nets[i] = pmix_net_new(&hosts[i], &jobs[i], &tree, &out, &loop);
        cr_assert(nets[i] != NULL);
    }
}

static void teardown(void)
{
    for (uint32_t i = 0; i < NODES; i++)
        pmix_net_free(nets[i]);
    gather_free(front);
    loop_close(&loop);
    while (nkept > 0)
        free(kept[--nkept]);
    for (struct message *m = first, *next; m != NULL; m = next) {
        next = m->next;
        free(m);
    }
    first = NULL;
    last = &first;
}

TestSuite(pmix_net, .init = setup, .fini = teardown);

/* ---- requests --------------------------------------------------------------------- */

static void on_modex(pmix_status_t status, const char *data, size_t len, void *arg,
                     pmix_release_cbfunc_t release, void *release_arg)
{
    struct answer *a = arg;
    a->count++;
    a->status = status;
    a->len = len;
    if (len > 0)
        memcpy(a->data, data, len < sizeof a->data ? len : sizeof a->data);
    if (release != NULL)
        release(release_arg);
}

static void on_info(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                    pmix_release_cbfunc_t release, void *release_arg)
{
    struct answer *a = arg;
    (void)info;
    a->count++;
    a->status = status;
    a->ninfo = n;
    if (release != NULL)
        release(release_arg);
}

/* A fence of all PEs, or of PEs 0 and 1. */
static void fence(uint32_t node, bool all, const char *data, int timeout_s,
                  struct answer *a)
{
    struct pmix_request *r = calloc(1, sizeof *r);
    r->modex = on_modex;
    r->arg = a;
    r->timeout_s = timeout_s;
    pack_string(&r->key, all ? "all" : "two");
    r->data = strdup(data);
    r->len = strlen(data);
    if (!all) {
        r->rank = calloc(2, sizeof *r->rank);
        r->rank[1] = 1;
        r->nranks = 2;
    }
    pmix_collective_post(nets[node], r);
}

static void modex(uint32_t node, uint32_t rank, int timeout_s, struct answer *a)
{
    struct pmix_request *r = calloc(1, sizeof *r);
    r->modex = on_modex;
    r->arg = a;
    r->modex_rank = rank;
    r->timeout_s = timeout_s;
    pmix_modex_post(nets[node], r);
}

static void query(uint32_t node, struct answer *a)
{
    struct pmix_request *r = calloc(1, sizeof *r);
    r->info = on_info;
    r->arg = a;
    r->asked = calloc(1, sizeof *r->asked);
    r->asked[0] = PMIX_ASKED_TABLE;
    r->nasked = 1;
    pmix_query_post(nets[node], r);
}

static void stop_loop(void *arg)
{
    (void)arg;
    loop.stop = true;
}

static void run_for(uint64_t ms)
{
    struct loop_timer t = {.fn = stop_loop};
    loop_after(&loop, &t, ms);
    loop_run(&loop);
    loop.stop = false;
}

/* ---- tests ------------------------------------------------------------------------ */

Test(pmix_net, fences_at_once)
{
    struct answer all[NODES] = {{0}}, two[2] = {{0}};
    fence(0, true, "a", 0, &all[0]);
    fence(0, false, "x", 0, &two[0]);
    fence(1, false, "y", 0, &two[1]);
    fence(2, true, "c", 0, &all[2]);
    cr_assert_eq(deliver(), 0);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(two[i].count, 1);
        cr_assert_eq(two[i].status, PMIX_SUCCESS);
        cr_assert(two[i].len == 2 && memcmp(two[i].data, "xy", 2) == 0);
    }
    cr_assert_eq(all[0].count + all[2].count, 0, "node 1 is missing");
    fence(1, true, "b", 0, &all[1]);
    cr_assert_eq(deliver(), 0);
    for (int i = 0; i < NODES; i++)
        cr_assert(all[i].count == 1 && all[i].len == 3 &&
                  memcmp(all[i].data, "abc", 3) == 0);
}

/* A request that timed out is not answered again by late data. */
Test(pmix_net, timeouts)
{
    struct answer late[NODES] = {{0}}, asked = {0};
    fence(0, true, "a", 1, &late[0]);
    fence(1, true, "b", 0, &late[1]);
    modex(2, 1, 1, &asked); /* node 1 does not answer until then */
    run_for(1200);
    cr_assert(late[0].count == 1 && late[0].status == PMIX_ERR_TIMEOUT);
    cr_assert(asked.count == 1 && asked.status == PMIX_ERR_TIMEOUT);
    fence(2, true, "c", 0, &late[2]);
    cr_assert_eq(deliver(), 0);
    cr_assert(late[0].count == 1 && asked.count == 1, "once only");
    cr_assert(late[1].count == 1 && late[1].status == PMIX_SUCCESS && late[1].len == 3);
    cr_assert(late[2].count == 1 && late[2].status == PMIX_SUCCESS);
}

Test(pmix_net, lost_node)
{
    struct answer all = {0}, again = {0}, two = {0}, asked[2] = {{0}};
    fence(0, true, "a", 0, &all);
    fence(0, false, "x", 0, &two);
    modex(0, 2, 0, &asked[0]);
    modex(0, 1, 0, &asked[1]);
    pmix_net_lost(nets[0], 2);
    cr_assert(all.count == 1 && all.status == PMIX_ERR_LOST_CONNECTION);
    cr_assert(asked[0].count == 1 && asked[0].status == PMIX_ERR_LOST_CONNECTION);
    cr_assert(asked[1].count == 0 && two.count == 0, "they do not need node 2");
    fence(0, true, "a", 0, &again);
    cr_assert(again.count == 1 && again.status == PMIX_ERR_LOST_CONNECTION);
}

Test(pmix_net, data_of_unknown_pes)
{
    struct answer own = {0}, other = {0};
    modex(0, 3, 0, &own); /* of this node: libpmix would know */
    cr_assert(own.count == 1 && own.status == PMIX_ERR_NOT_FOUND);
    modex(0, 1, 0, &other);
    deliver(); /* there is no libpmix there */
    cr_assert(other.count == 1 && other.status != PMIX_SUCCESS);
}

/* libpmix is not asked before the registration of the job is complete. */
Test(pmix_net, data_before_the_registration)
{
    struct answer a = {0};
    hosts[1].registration.complete = false;
    modex(0, 1, 0, &a);
    cr_assert_eq(deliver(), 0);
    cr_assert_eq(a.count, 0);
    hosts[1].registration.complete = true;
    pmix_modex_registered(nets[1]);
    cr_assert_eq(deliver(), 0);
    cr_assert_eq(a.count, 1);
}

Test(pmix_net, query_of_the_table)
{
    struct answer a = {0};
    query(1, &a);
    cr_assert_eq(deliver(), 0);
    cr_assert(a.count == 1 && a.status == PMIX_SUCCESS && a.ninfo == 1);
}

static void take_spoilt(const struct frame *f)
{
    struct message *m = copy_frame(f);
    for (int k = rand() % 4; f->len > 0 && k > 0; k--)
        m->data[(size_t)rand() % f->len] = (unsigned char)rand();
    if (rand() % 4 == 0)
        m->f.len = (size_t)rand() % (f->len + 1);
    if (rand() % 8 == 0)
        m->f.type = (enum wire_type)(rand() % WIRE_TYPES);
    if (rand() % 8 == 0)
        m->f.from = (uint32_t)rand() % NODES;
    pmix_net_recv(nets[m->f.to < NODES ? m->f.to : 1], &m->f);
    free(m);
}

/* Every frame is accepted or rejected, and no request is answered twice. */
Test(pmix_net, survives_corrupted_frames)
{
    static struct answer a[SPOILT];
    const char text[] = "an event";
    struct pack event = {0};
    unsigned n = 0;
    srand(1);
    pack_u32(&event, (uint32_t)PMIX_EXTERNAL_ERR_BASE);
    pack_u8(&event, PMIX_RANGE_GLOBAL);
    pack_string(&event, "job");
    pack_u32(&event, 1);
    pack_u32(&event, 1);
    pack_bytes(&event, text, sizeof text);
    on_send(NULL, &(struct frame){.type = WIRE_EVENT,
                                  .from = 0,
                                  .to = WIRE_ALL,
                                  .data = event.data,
                                  .len = event.len});
    pack_free(&event);
    for (unsigned i = 0; i < SPOILT; i++) {
        if (nkept > 0)
            take_spoilt(&kept[(unsigned)rand() % nkept]->f);
        switch (rand() % 32) {
        case 0:
            fence((uint32_t)rand() % NODES, true, "piece", 0, &a[n++]);
            break;
        case 1:
            modex(0, 1 + (uint32_t)rand() % 2, 0, &a[n++]);
            break;
        case 2:
            query((uint32_t)rand() % NODES, &a[n++]);
            break;
        case 3:
            deliver();
            break;
        }
    }
    for (unsigned i = 0; i < n; i++)
        cr_assert_leq(a[i].count, 1);
}

/* ---- failed PEs ------------------------------------------------------------------- */

static bool absent_from(uint32_t node, const uint32_t *member, uint32_t count,
                        const bool *failed)
{
    struct pack key = {0};
    pack_u8(&key, 'f');
    pack_string(&key, count % 2 == 0 ? NULL : "group");
    for (uint32_t i = 0; i < count; i++)
        pack_u32(&key, member[i]);
    const struct job_node n = {.npes = PES / NODES, .rank = ranks[node]};
    bool absent = pmix_net_is_absent(key.data, key.len, &n, failed);
    pack_free(&key);
    return absent;
}

Test(pmix_net, a_node_is_absent_if_its_members_have_failed)
{
    const bool failed[PES] = {[1] = true, [2] = true, [5] = true};
    const uint32_t some[] = {0, 1, 3}, others[] = {3, 4};
    cr_assert(!absent_from(0, NULL, 0, failed));
    cr_assert(!absent_from(1, NULL, 0, failed), "PE 4 lives");
    cr_assert(absent_from(2, NULL, 0, failed));
    cr_assert(!absent_from(0, some, 3, failed));
    cr_assert(absent_from(1, some, 3, failed), "PE 4 is no member");
    cr_assert(!absent_from(1, others, 2, failed));
}
