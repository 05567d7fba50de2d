/* SPDX-License-Identifier: BSD-3-Clause */
/* hook_test.c - unit tests of the hook transport, on a transport that logs calls. */
#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pgas/transport/test/hook.h"

enum {
    NPES = 4,
    LOG_MAX = 4096,
    FENCE = -1, /* in the log, as a PE */
    TURNS_MAX = 10000,
    WAKE_MS = 20,
    WAIT_MS = 20000,
};

TestSuite(hook, .timeout = 60);

/* ---- the inner transport ---------------------------------------------------------- */

static struct {
    int pe;
    uint64_t offset;
    char first; /* byte of a put */
} posted[LOG_MAX];
static int nposted;
static int eagains; /* number of posts that return -EAGAIN */
static int inner_error, inner_fd = -1, progressed;
static bool slow; /* completion is delayed until slow_done */
static struct transport_completion *slow_done;

static struct transport_net *const fake_net = (void *)&nposted;
static struct transport_ctx *const fake_ctx = (void *)&eagains;

static int fake_open(const struct transport_world *world, struct transport_net **net,
                     char *why)
{
    (void)world;
    (void)why;
    *net = fake_net;
    return 0;
}

static void fake_close(struct transport_net *net)
{
    (void)net;
}

static size_t fake_address(struct transport_net *net, void *to)
{
    (void)net;
    memcpy(to, "fake", 4);
    return 4;
}

static const char *fake_describe(struct transport_net *net)
{
    (void)net;
    return "a list";
}

static struct transport_ctx *fake_ctx_0(struct transport_net *net)
{
    (void)net;
    return fake_ctx;
}

static int fake_ctx_open(struct transport_net *net, struct transport_ctx **ctx)
{
    (void)net;
    *ctx = fake_ctx;
    return 0;
}

static void fake_ctx_close(struct transport_ctx *ctx)
{
    (void)ctx;
}

static int note(const struct transport_symaddr *at, char first,
                struct transport_completion *done)
{
    if (inner_error != 0)
        return inner_error;
    if (eagains > 0) {
        eagains--;
        return -EAGAIN;
    }
    cr_assert_lt(nposted, LOG_MAX);
    posted[nposted].pe = at->pe;
    posted[nposted].offset = at->offset;
    posted[nposted++].first = first;
    if (slow)
        slow_done = done;
    else if (done != NULL)
        done->pending = 0;
    return 0;
}

static int fake_put(struct transport_ctx *ctx, const struct transport_symaddr *to,
                    const void *from, size_t len, struct transport_completion *done)
{
    (void)ctx;
    (void)len;
    return note(to, *(const char *)from, done);
}

static int fake_get(struct transport_ctx *ctx, void *to,
                    const struct transport_symaddr *from, size_t len,
                    struct transport_completion *done)
{
    (void)ctx;
    memset(to, 'g', len);
    return note(from, 0, done);
}

static int fake_amo(struct transport_ctx *ctx, const struct transport_symaddr *at,
                    const struct transport_amo *amo, struct transport_completion *done)
{
    (void)ctx;
    (void)amo;
    return note(at, 0, done);
}

static size_t fake_signal_max(struct transport_net *net)
{
    (void)net;
    return SIZE_MAX;
}

static int fake_put_signal(struct transport_ctx *ctx, const struct transport_symaddr *to,
                           const void *from, size_t len,
                           const struct transport_signal *signal,
                           struct transport_completion *done)
{
    (void)ctx;
    (void)len;
    (void)signal;
    return note(to, *(const char *)from, done);
}

static int fake_fence(struct transport_ctx *ctx)
{
    (void)ctx;
    posted[nposted++].pe = FENCE;
    return 0;
}

static int fake_quiet(struct transport_ctx *ctx)
{
    (void)ctx;
    return 0;
}

static uint64_t fake_pending(struct transport_ctx *ctx, int *pe)
{
    (void)ctx;
    (void)pe;
    return 0;
}

static int fake_progress(struct transport_ctx *ctx)
{
    (void)ctx;
    progressed++;
    return 0;
}

static int fake_fd(struct transport_ctx *ctx)
{
    (void)ctx;
    return inner_fd;
}

static void fake_lost(struct transport_net *net, int pe, bool node)
{
    (void)net;
    (void)pe;
    (void)node;
}

static int fake_arm(struct transport_ctx *ctx)
{
    (void)ctx;
    return 0;
}

static const struct transport fake = {
    .name = "fake",
    .text = "logs its calls",
    .open = fake_open,
    .close = fake_close,
    .address = fake_address,
    .describe = fake_describe,
    .ctx_0 = fake_ctx_0,
    .ctx_open = fake_ctx_open,
    .ctx_close = fake_ctx_close,
    .put = fake_put,
    .get = fake_get,
    .amo = fake_amo,
    .signal_max = fake_signal_max,
    .put_signal = fake_put_signal,
    .fence = fake_fence,
    .quiet = fake_quiet,
    .pending = fake_pending,
    .progress = fake_progress,
    .fd = fake_fd,
    .lost = fake_lost,
    .arm = fake_arm,
};

/* ---- opening --------------------------------------------------------------------- */

static struct transport_world world;
static int failures, failed_pe;
static char error_text[TRANSPORT_TEXT_MAX];
static const struct transport *const hook = &transport_hook;
static uint64_t time_now;

static void note_failed(const struct transport_world *of, int pe, const char *text)
{
    cr_assert_eq(of, &world);
    failures++;
    failed_pe = pe;
    snprintf(error_text, sizeof error_text, "%s", text);
}

static uint64_t clock_by_hand(void)
{
    return time_now;
}

static struct transport_net *open_hook(const char *faults)
{
    struct transport_net *net;
    char why[TRANSPORT_TEXT_MAX] = "";

    nposted = 0;
    world = (struct transport_world){
        .me = 0, .npes = NPES, .failed = note_failed, .faults = faults};
    hook_wrap(&fake);
    cr_assert_eq(hook->open(&world, &net, why), 0, "%s", why);
    return net;
}

static int put(struct transport_ctx *ctx, int pe, uint64_t offset,
               struct transport_completion *done)
{
    static const char source[] = "s";
    struct transport_symaddr to = {.pe = pe, .segment = SEGMENT_HEAP, .offset = offset};

    return hook->put(ctx, &to, source, 1, done);
}

static void progress_until_empty(struct transport_ctx *ctx)
{
    int turns = 0;

    while (hook->pending(ctx, NULL) > 0 && turns++ < TURNS_MAX)
        hook->progress(ctx);
    cr_assert_eq(hook->pending(ctx, NULL), 0);
}

Test(hook, open_reports_errors)
{
    struct transport_net *net;
    char why[TRANSPORT_TEXT_MAX];

    world = (struct transport_world){.me = 0, .npes = 1, .faults = "nonsense"};
    hook_wrap(&fake);
    cr_assert_eq(hook->open(&world, &net, why), -EINVAL);
    cr_assert(strstr(why, "nonsense"));
    world.faults = "trace=/nowhere/at/all";
    cr_assert_eq(hook->open(&world, &net, why), -ENOENT);
    cr_assert(strstr(why, "/nowhere/at/all"));
}

/* ---- order ----------------------------------------------------------------------- */

/* 3 epochs of operations to 3 PEs.  The offset of each is its epoch * EPOCH + number. */
enum { EPOCHS = 3, EPOCH = 100, EACH = 6, ORDERED = 3 };

static void post_epochs(struct transport_ctx *ctx)
{
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        for (uint64_t i = 0; i < EACH; i++)
            for (int pe = 0; pe < ORDERED; pe++)
                cr_assert_eq(put(ctx, pe, epoch * EPOCH + i, NULL), 0);
        cr_assert_eq(hook->fence(ctx), 0);
    }
}

/* True if every operation was posted once, with a fence between two epochs of each PE. */
static void check_epochs(void)
{
    int count = 0;

    for (int pe = 0; pe < ORDERED; pe++) {
        uint64_t epoch = 0;
        bool fenced = true;
        for (int i = 0; i < nposted; i++) {
            if (posted[i].pe == FENCE)
                fenced = true;
            if (posted[i].pe != pe)
                continue;
            uint64_t now = posted[i].offset / EPOCH;
            cr_assert(now == epoch || (now == epoch + 1 && fenced),
                      "PE %d: operation %d is of epoch %d, after %d, fence %d", pe, i,
                      (int)now, (int)epoch, fenced);
            epoch = now;
            fenced = false;
            count++;
        }
    }
    cr_assert_eq(count, EPOCHS * EACH * ORDERED);
}

/* Hash of the order of the posts. */
static uint64_t order_with(const char *faults)
{
    struct transport_net *net = open_hook(faults);
    struct transport_ctx *ctx = hook->ctx_0(net);
    uint64_t order = 0;

    post_epochs(ctx);
    cr_assert_eq(nposted, 0, "nothing is posted before progress");
    int pe = -1;
    cr_assert_eq(hook->pending(ctx, &pe), EPOCHS * EACH * ORDERED);
    cr_assert(pe >= 0 && pe < ORDERED);
    cr_assert_eq(hook->quiet(ctx), -EAGAIN);
    progress_until_empty(ctx);
    cr_assert_eq(hook->quiet(ctx), 0);
    check_epochs();
    for (int i = 0; i < nposted; i++)
        order = order * 1000003 + (uint64_t)(posted[i].pe + 1) + 8 * posted[i].offset;
    hook->close(net);
    return order;
}

Test(hook, reorder_keeps_fences_and_is_the_same_for_a_seed)
{
    uint64_t one = order_with("reorder,seed=1");

    cr_assert_eq(one, order_with("reorder,seed=1"));
    cr_assert_neq(one, order_with("reorder,seed=2"));
    cr_assert_neq(one, order_with("reorder,seed=3"));
}

Test(hook, reorder_mixes_within_an_epoch_and_over_epochs_of_different_pes)
{
    struct transport_net *net = open_hook("reorder,seed=5");
    struct transport_ctx *ctx = hook->ctx_0(net);
    bool within = false, over = false;

    post_epochs(ctx);
    progress_until_empty(ctx);
    for (int i = 0; i < nposted; i++)
        for (int k = i + 1; k < nposted; k++) {
            if (posted[i].pe == FENCE || posted[k].pe == FENCE)
                continue;
            bool after = posted[i].offset > posted[k].offset;
            within = within || (after && posted[i].pe == posted[k].pe);
            over = over || (posted[i].offset / EPOCH > posted[k].offset / EPOCH);
        }
    cr_assert(within, "two operations between fences were reordered");
    cr_assert(over, "operations to one PE passed a fence of another PE");
    hook->close(net);
}

Test(hook, without_faults_all_is_posted_at_once)
{
    struct transport_net *net = open_hook(NULL);
    struct transport_ctx *ctx = hook->ctx_0(net);

    post_epochs(ctx);
    cr_assert_eq(nposted, EPOCHS * EACH * ORDERED + EPOCHS, "one fence each, no more");
    check_epochs();
    cr_assert_eq(hook->pending(ctx, NULL), 0);
    cr_assert_eq(hook->fd(ctx), -1);
    cr_assert(strstr(hook->describe(net), "a list"));
    hook->close(net);
}

Test(hook, blocking_put_may_change_its_source_at_once)
{
    struct transport_net *net = open_hook("reorder");
    struct transport_ctx *ctx = hook->ctx_0(net);
    struct transport_completion done = {.pending = 1};
    struct transport_symaddr to = {.pe = 1};
    char source = 'a';

    cr_assert_eq(hook->put(ctx, &to, &source, 1, &done), 0);
    cr_assert_eq(done.pending, 0);
    cr_assert_eq(nposted, 0);
    source = 'b';
    slow = true; /* the copy must live until the inner one has read it */
    hook->progress(ctx);
    cr_assert_eq(nposted, 1);
    cr_assert_eq(posted[0].first, 'a');
    hook->progress(ctx);
    cr_assert_not_null(slow_done);
    slow_done->pending = 0;
    hook->progress(ctx);
    hook->close(net);
}

/* ---- delay ----------------------------------------------------------------------- */

Test(hook, delayed_operations_keep_their_order)
{
    hook_clock(clock_by_hand);
    struct transport_net *net = open_hook("delay=1000ns,seed=3");
    struct transport_ctx *ctx = hook->ctx_0(net);
    int steps = 0, before = 0;

    time_now = 5000;
    for (uint64_t i = 0; i < 20; i++)
        cr_assert_eq(put(ctx, 1, i, NULL), 0);
    for (; time_now <= 6000; time_now += 10) {
        hook->progress(ctx);
        steps += nposted > before;
        before = nposted;
    }
    cr_assert_eq(nposted, 20, "no delay exceeds the limit");
    cr_assert_gt(steps, 3, "they are posted at different times");
    for (uint64_t i = 0; i < 20; i++)
        cr_assert_eq(posted[i].offset, i, "without reorder the order is kept");
    hook->close(net);
}

static uint64_t alarm_at;
static int alarms;

static void note_alarm(uint64_t at)
{
    alarm_at = at;
    alarms++;
}

Test(hook, alarm_is_set_once_per_time)
{
    hook_clock(clock_by_hand);
    hook_alarm(note_alarm);
    struct transport_net *net = open_hook("delay=1000ns,seed=3,reorder");
    struct transport_ctx *ctx = hook->ctx_0(net);

    time_now = 5000;
    for (uint64_t i = 0; i < 5; i++)
        cr_assert_eq(put(ctx, 1, i, NULL), 0);
    hook->progress(ctx);
    while (hook->pending(ctx, NULL) > 0) {
        int before = alarms;
        hook->progress(ctx);
        cr_assert_eq(alarms, before);
        cr_assert_gt(alarm_at, time_now);
        time_now = alarm_at;
        before = nposted;
        hook->progress(ctx);
        cr_assert_gt(nposted, before, "the delay has expired");
    }
    cr_assert_leq(alarms, 5);
    hook->close(net);
}

Test(hook, sleeper_wakes_for_due_operations)
{
    inner_fd = eventfd(0, EFD_CLOEXEC);
    struct transport_net *net = open_hook("delay=20ms,seed=3");
    struct transport_ctx *ctx = hook->ctx_0(net);
    struct pollfd ready = {.fd = hook->fd(ctx), .events = POLLIN};
    int sleeps = 0;

    cr_assert_neq(ready.fd, inner_fd);
    for (uint64_t i = 0; i < 10; i++)
        cr_assert_eq(put(ctx, 1, i, NULL), 0);
    while (hook->pending(ctx, NULL) > 0) {
        if (hook->arm(ctx) == 0) {
            cr_assert_eq(poll(&ready, 1, WAIT_MS), 1, "no wake-up");
            sleeps++;
        }
        hook->progress(ctx);
    }
    cr_assert_gt(sleeps, 0);
    cr_assert_eq(hook->arm(ctx), 0);
    cr_assert_eq(poll(&ready, 1, WAKE_MS), 0, "no operation is pending");
    const uint64_t one = 1;
    cr_assert_eq(write(inner_fd, &one, sizeof one), (ssize_t)sizeof one);
    cr_assert_eq(poll(&ready, 1, WAIT_MS), 1, "events of the inner transport wake, too");
    hook->close(net);
    close(inner_fd);
}

Test(hook, eagain_of_the_inner_transport_is_retried)
{
    inner_fd = eventfd(0, EFD_CLOEXEC);
    struct transport_net *net = open_hook("reorder");
    struct transport_ctx *ctx = hook->ctx_0(net);
    struct pollfd ready = {.fd = hook->fd(ctx), .events = POLLIN};

    eagains = 3;
    cr_assert_eq(put(ctx, 1, 0, NULL), 0);
    cr_assert_eq(hook->arm(ctx), -EAGAIN, "it is due");
    hook->progress(ctx);
    cr_assert_eq(nposted, 0);
    cr_assert_eq(hook->pending(ctx, NULL), 1);
    cr_assert_eq(hook->arm(ctx), 0, "arm succeeds; the sleep is short");
    cr_assert_eq(poll(&ready, 1, WAIT_MS), 1);
    progress_until_empty(ctx);
    cr_assert_eq(nposted, 1);
    hook->close(net);
    close(inner_fd);
}

Test(hook, too_many_delayed_operations_return_eagain)
{
    struct transport_net *net = open_hook("reorder");
    struct transport_ctx *ctx = hook->ctx_0(net);
    int n = 0;

    while (n < LOG_MAX && put(ctx, 1, 0, NULL) == 0)
        n++;
    cr_assert_lt(n, LOG_MAX);
    cr_assert_eq(hook->pending(ctx, NULL), (uint64_t)n);
    hook->progress(ctx);
    cr_assert_eq(nposted, n);
    cr_assert_eq(put(ctx, 1, 0, NULL), 0);
    hook->close(net);
}

/* ---- ends ------------------------------------------------------------------------ */

Test(hook, eagain_fails_a_share_of_posts_without_sleep)
{
    struct transport_net *net = open_hook("eagain=25,seed=9");
    struct transport_ctx *ctx = hook->ctx_0(net);
    int rejected = 0;

    for (int i = 0; i < 2000; i++) {
        int error = put(ctx, 1, 0, NULL);
        cr_assert(error == 0 || error == -EAGAIN);
        if (error == 0)
            continue;
        rejected++;
        int before = progressed;
        cr_assert_gt(hook->progress(ctx), 0, "progress was made: try again");
        cr_assert_eq(hook->arm(ctx), -EAGAIN);
        cr_assert_eq(hook->arm(ctx), 0);
        hook->progress(ctx);
        cr_assert_eq(progressed, before + 1);
    }
    cr_assert(rejected > 400 && rejected < 600, "%d of 2000", rejected);
    cr_assert_eq(nposted, 2000 - rejected);
    hook->close(net);
}

Test(hook, dropped_operations_never_complete)
{
    struct transport_net *net = open_hook("drop=2@3,reorder");
    struct transport_ctx *ctx = hook->ctx_0(net);
    struct transport_completion done = {.pending = 1};
    int pe = -1;

    cr_assert_eq(put(ctx, 2, 0, NULL), 0);
    cr_assert_eq(put(ctx, 1, 1, NULL), 0);
    cr_assert_eq(put(ctx, 2, 2, &done), 0, "the third");
    cr_assert_eq(put(ctx, 1, 3, NULL), 0);
    for (int i = 0; i < 10; i++)
        hook->progress(ctx);
    cr_assert_eq(nposted, 3);
    for (int i = 0; i < nposted; i++)
        cr_assert_neq(posted[i].offset, 2);
    cr_assert_eq(done.pending, 1);
    cr_assert_eq(hook->pending(ctx, &pe), 1);
    cr_assert_eq(pe, 2);
    cr_assert_eq(hook->quiet(ctx), -EAGAIN);
    cr_assert_eq(failures, 0);
    hook->close(net);
}

Test(hook, failed_operations_report_errors)
{
    struct transport_net *net = open_hook("fail=2@2");
    struct transport_ctx *ctx = hook->ctx_0(net);
    struct transport_completion done = {.pending = 1}, other = {.pending = 1};

    cr_assert_eq(put(ctx, 2, 0, NULL), 0);
    cr_assert_eq(put(ctx, 2, 1, &done), 0, "the first fails after it was posted");
    cr_assert_eq(hook->pending(ctx, NULL), 1);
    cr_assert_eq(hook->arm(ctx), -EAGAIN);
    cr_assert_gt(hook->progress(ctx), 0);
    cr_assert_eq(done.pending, 0);
    cr_assert_eq(done.error, -EHOSTDOWN);
    cr_assert_eq(failures, 1);
    cr_assert_eq(failed_pe, 2);
    cr_assert(strstr(error_text, "fail=2@2"), "%s", error_text);
    cr_assert_eq(put(ctx, 2, 2, &other), -EHOSTDOWN, "the others at once");
    cr_assert(other.pending == 1 && other.error == 0, "a rejected one is not changed");
    cr_assert_eq(failures, 1, "reported once");
    cr_assert_eq(put(ctx, 1, 3, NULL), 0);
    cr_assert_eq(nposted, 2);
    cr_assert_eq(hook->pending(ctx, NULL), 0);
    cr_assert_eq(hook->quiet(ctx), 0);
    hook->close(net);
}

Test(hook, delayed_operations_that_fail_complete)
{
    struct transport_net *net = open_hook("reorder");
    struct transport_ctx *ctx = hook->ctx_0(net);
    struct transport_completion done = {.pending = 1};
    struct transport_symaddr at = {.pe = 1};
    char to;

    cr_assert_eq(hook->get(ctx, &to, &at, 1, &done), 0);
    cr_assert_eq(put(ctx, 1, 0, NULL), 0);
    inner_error = -EIO;
    hook->progress(ctx);
    inner_error = 0;
    cr_assert(done.pending == 0 && done.error == -EIO);
    cr_assert_eq(failures, 1, "a blocking put has no other way to report");
    cr_assert_eq(hook->pending(ctx, NULL), 0);
    hook->close(net);
}

/* ---- trace and kill -------------------------------------------------------------- */

/* The lines of a file; it is removed. */
static int read_lines(const char *path, char line[][128], int max)
{
    FILE *f = fopen(path, "r");
    int n = 0;

    cr_assert_not_null(f, "%s", path);
    while (n < max && fgets(line[n], sizeof line[n], f) != NULL)
        n++;
    fclose(f);
    unlink(path);
    return n;
}

Test(hook, trace_has_a_line_per_operation)
{
    char path[64], faults[128], line[8][128], to[8] = "";
    snprintf(path, sizeof path, "/tmp/hook_test.%d", (int)getpid());
    snprintf(faults, sizeof faults, "trace=%s.%%p", path);
    snprintf(path, sizeof path, "/tmp/hook_test.%d.0", (int)getpid());
    hook_clock(clock_by_hand);
    time_now = 77;
    struct transport_net *net = open_hook(faults);
    struct transport_ctx *ctx = hook->ctx_0(net), *other;
    struct transport_symaddr at = {.pe = 3, .segment = SEGMENT_DATA, .offset = 16};
    struct transport_amo add = {.op = TRANSPORT_AMO_ADD, .size = 8};

    cr_assert_eq(hook->ctx_open(net, &other), 0);
    put(ctx, 1, 5, NULL);
    hook->get(other, to, &at, 7, NULL);
    hook->amo(ctx, &at, &add, NULL);
    hook->ctx_close(other);
    hook->close(net);
    cr_assert_eq(read_lines(path, line, 8), 3);
    cr_assert_str_eq(line[0], "77 0 0 put 1 heap 5 1\n");
    cr_assert_str_eq(line[1], "77 0 1 get 3 data 16 7\n");
    cr_assert_str_eq(line[2], "77 0 0 add 3 data 16 8\n");
}

Test(hook, kill_ends_the_process_at_its_operation)
{
    char path[64], faults[128], line[8][128];
    int status;

    snprintf(path, sizeof path, "/tmp/hook_test.%d", (int)getpid());
    snprintf(faults, sizeof faults, "kill=3@1,kill=3,trace=%s", path);
    pid_t child = fork();
    if (child == 0) {
        struct transport_ctx *ctx = hook->ctx_0(open_hook(faults));
        for (uint64_t i = 0; i < 5; i++)
            put(ctx, 1, i, NULL);
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status %x", status);
    cr_assert_eq(read_lines(path, line, 8), 3, "the last line is the one that ended it");
}
