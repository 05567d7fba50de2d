/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * link_life_test.c - detection of a dead peer on a link; the peer is a bare socket or a
 * process that can be stopped.
 */
#include "config.h"

#include <signal.h>

#include "tests/unit/link_help.h"

enum { SHORT_MS = 240, PERIODS = 3, BUSY_MS = PERIODS * 4 * SHORT_MS };

Test(link_life, idle_links_stay_up, .init = set_up, .fini = tear_down)
{
    struct end a = {0}, b = {0};
    open_both(&a, &b, 4 * SHORT_MS);
    run(PERIODS * 4 * SHORT_MS);
    cr_assert_eq(a.downs + b.downs, 0, "%s%s", a.why, b.why);
    cr_assert_eq(a.frames + b.frames, 0, "pings are not delivered as frames");
    link_free(a.link);
    link_free(b.link);
}

Test(link_life, silence_is_detected, .init = set_up, .fini = tear_down)
{
    struct end a = {0};
    int fd = open_half(&a, SHORT_MS, LINK_AWAKE);
    uint64_t start = now_ms();
    expect_down(&a, "has not answered for 0.2 s (SHMEM_LAUNCH_TIMEOUT sets the time)");
    uint64_t took = now_ms() - start;
    cr_assert(took >= SHORT_MS && took < PATIENT_MS, "%u ms", (unsigned)took);
    size_t pings = drain(fd) / PING_BYTES;
    cr_assert_geq(pings, 1);
    close(fd);
}

/* A peer that sends is alive, even if it sends a large frame in records of one byte. */
Test(link_life, a_slow_sender_lives, .init = set_up, .fini = tear_down)
{
    struct end a = {0};
    int fd = open_half(&a, 2 * SHORT_MS, LINK_AWAKE);
    send_raw(fd, WIRE_OUTPUT, 1000, 0);
    for (int i = 0; i < 4 * PERIODS; i++) {
        send_sealed(fd, "x", 1);
        run(SHORT_MS / 2);
        cr_assert_eq(a.downs, 0, "%s", a.why);
    }
    expect_down(&a, "has not answered for 0.5 s (SHMEM_LAUNCH_TIMEOUT sets the time)");
    close(fd);
}

/* Time in which this process did not run is not counted against the peer. */
Test(link_life, our_own_pause_does_not_count, .init = set_up, .fini = tear_down)
{
    struct end a = {0};
    int fd = open_half(&a, SHORT_MS, LINK_AWAKE);
    run(SHORT_MS / 2);
    sleep_ms(3 * SHORT_MS);
    uint64_t start = now_ms();
    expect_down(&a, "has not answered for 0.2 s (SHMEM_LAUNCH_TIMEOUT sets the time)");
    cr_assert_geq(now_ms() - start, SHORT_MS - 2, "the time limit did not start again");
    close(fd);
}

/* A shorter pause is counted in part only. */
Test(link_life, a_short_pause_of_ours, .init = set_up, .fini = tear_down)
{
    struct end a = {0};
    int fd = open_half(&a, 4 * SHORT_MS, LINK_AWAKE);
    run(2 * SHORT_MS);
    sleep_ms(4 * SHORT_MS - SHORT_MS / 2);
    run(SHORT_MS / 8);
    cr_assert_eq(a.downs, 0, "%s", a.why);
    expect_down(&a, "has not answered for 1.0 s (SHMEM_LAUNCH_TIMEOUT sets the time)");
    close(fd);
}

/* Pings lie unread, but neither side is declared dead. */
Test(link_life, both_pause, .init = set_up, .fini = tear_down)
{
    struct end a = {0}, b = {0};
    open_both(&a, &b, 4 * SHORT_MS);
    for (int i = 0; i < 3; i++) {
        run(SHORT_MS);
        sleep_ms(5 * SHORT_MS);
    }
    run(2 * SHORT_MS);
    cr_assert_eq(a.downs + b.downs, 0, "%s%s", a.why, b.why);
    link_free(a.link);
    link_free(b.link);
}

static void echo(struct end *e, const struct frame *f)
{
    struct frame answer = {
        .type = f->type, .from = f->to, .to = f->from, .data = f->data, .len = f->len};
    if (f->type == WIRE_STOP)
        sleep_ms(BUSY_MS);
    link_send(e->link, &answer);
}

/* A process with a link that echoes all frames, STOP after a long callback, until the
 * connection ends. */
static pid_t start_peer(int fd, int other, enum link_life parent)
{
    pid_t pid = fork_helper();
    if (pid > 0) {
        close(fd);
        return pid;
    }
    struct end e = {.at_frame = echo};
    close(other);
    loop_close(&loop);
    if (loop_open(&loop) != 0)
        _exit(2);
    open_end(&e, fd, 4 * SHORT_MS, parent);
    while (e.downs == 0 && run(PATIENT_MS))
        continue;
    link_free(e.link);
    _exit(strcmp(e.why, "closed the connection") == 0 ? 0 : 1);
}

static void expect_echo(struct end *e, enum wire_type type)
{
    size_t frames = e->frames;
    e->stop_at = frames + 1;
    send_one(e->link, type, 33);
    while (e->frames == frames) {
        cr_assert(run(PATIENT_MS));
        cr_assert_eq(e->downs, 0, "%s", e->why);
    }
}

static pid_t open_with_peer(struct end *e, enum link_life peer, enum link_life parent)
{
    int fd[2];
    make_pair(fd);
    pid_t pid = start_peer(fd[1], fd[0], parent);
    open_end(e, fd[0], 4 * SHORT_MS, peer);
    expect_echo(e, WIRE_EVENT);
    return pid;
}

/* Its heartbeat thread sends pings. */
Test(link_life, a_daemon_in_a_long_callback_is_alive, .init = set_up, .fini = tear_down)
{
    struct end a = {0};
    pid_t pid = open_with_peer(&a, LINK_AWAKE, LINK_AWAKE);
    uint64_t start = now_ms();
    expect_echo(&a, WIRE_STOP);
    cr_assert_geq(now_ms() - start, BUSY_MS - 2);
    link_free(a.link);
    cr_assert_eq(exit_status(pid), 0);
}

static void pause_reading(struct end *e, const struct frame *f)
{
    (void)e, (void)f;
    sleep_ms(3 * SHORT_MS / 2);
}

/* The receiver pauses, so that part of a frame is in the queue when a PING is due, and
 * the heartbeat thread writes, too. */
Test(link_life, pings_stay_out_of_frames, .init = set_up, .fini = tear_down)
{
    enum { FRAMES = 8 };
    struct end a = {0}, b = {.stop_at = FRAMES, .at_frame = pause_reading};
    open_both(&a, &b, 4 * SHORT_MS);
    for (size_t i = 0; i < FRAMES; i++)
        send_one(a.link, WIRE_OUTPUT, 4 * MIB + i);
    cr_assert(run(PATIENT_MS));
    cr_assert_eq(b.frames, FRAMES);
    cr_assert_eq(a.downs + b.downs, 0, "%s%s", a.why, b.why);
    link_free(a.link);
    link_free(b.link);
}

Test(link_life, a_stopped_daemon_is_down, .init = set_up, .fini = tear_down)
{
    struct end a = {0};
    pid_t pid = open_with_peer(&a, LINK_AWAKE, LINK_AWAKE);
    uint64_t start = now_ms();
    kill(pid, SIGSTOP);
    expect_down(&a, "has not answered for 1.0 s (SHMEM_LAUNCH_TIMEOUT sets the time)");
    cr_assert_geq(now_ms() - start, 3 * SHORT_MS);
    kill(pid, SIGCONT);
    exit_status(pid);
}

/* The front end is stopped by Ctrl-Z, and more data is queued for it than its buffers
 * hold. When it continues, it declares no peer dead. */
Test(link_life, a_stopped_front_is_waited_for, .init = set_up, .fini = tear_down)
{
    enum { FRAMES = 24 };
    struct end a = {0};
    pid_t pid = open_with_peer(&a, LINK_MAY_STOP, LINK_AWAKE);
    kill(pid, SIGSTOP);
    a.stop_at = a.frames + FRAMES;
    for (int i = 0; i < FRAMES; i++)
        send_one(a.link, WIRE_OUTPUT, MIB);
    cr_assert_not(run(PERIODS * 4 * SHORT_MS), "%s", a.why);
    cr_assert_gt(link_queued(a.link), MIB);
    kill(pid, SIGCONT);
    cr_assert(run(PATIENT_MS));
    cr_assert_eq(a.downs, 0, "%s", a.why);
    cr_assert_eq(a.frames, a.stop_at);
    run(2 * 4 * SHORT_MS);
    expect_echo(&a, WIRE_EVENT);
    link_free(a.link);
    cr_assert_eq(exit_status(pid), 0);
}

/* Pings do not accumulate while the receiver is stopped. */
Test(link_life, a_stopped_front_gets_few_pings, .init = set_up, .fini = tear_down)
{
    struct end a = {0};
    int fd = open_half(&a, SHORT_MS, LINK_MAY_STOP);
    run(2 * PERIODS * SHORT_MS);
    cr_assert_eq(a.downs, 0, "%s", a.why);
    cr_assert_leq(drain(fd) / PING_BYTES, 10);
    send_raw(fd, WIRE_STOP, 0, 0);
    run(PERIODS * SHORT_MS);
    cr_assert_geq(drain(fd) / PING_BYTES, 1, "it is awake again");
    close(fd);
    link_free(a.link);
}
