/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nohang_report.c - what a job of nohang.c left on its board.
 *
 *     nohang_report BOARD          print the times of each return, and verify the votes
 *     nohang_report -w BOARD       print what each PE did last
 *
 * Lines of the first form: case, mode, microseconds from the kill to the failure handler,
 * to the return, and to the verified team (-: not recorded); then `kills N`.  Fails if
 * two survivors got different results of a shrink or an agreement.
 */
#include "tests/ft/board.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void report_time(uint64_t from, uint64_t to)
{
    if (from == 0 || to == 0)
        printf(" -");
    else
        printf(" %.1f", to < from ? 0.0 : (double)(to - from) / 1e3);
}

static void report_round(struct board *b, int i)
{
    struct board_round *r = &b->round[i];
    uint64_t killed = atomic_load(&r->killed_ns);

    for (int pe = 0; pe < b->npes; pe++) {
        struct board_pe *p = &b->pe[pe];
        uint64_t returned = atomic_load(&p->returned_ns[i]);
        uint64_t mended = atomic_load(&p->mended_ns[i]);
        if (returned == 0 && mended == 0)
            continue;
        printf("%s", r->name);
        report_time(killed, atomic_load(&p->told_ns[i]));
        report_time(killed, returned);
        report_time(killed, mended);
        puts("");
    }
}

/* True if all PEs that have written vote v of the round have written the same. */
static bool report_vote(struct board *b, int round, int v)
{
    struct board_vote *first = NULL;
    int who = 0;

    for (int pe = 0; pe < b->npes; pe++) {
        struct board_vote *vote = &b->pe[pe].vote[round][v];
        if (atomic_load(&vote->written) == 0)
            continue;
        if (first == NULL) {
            first = vote;
            who = pe;
        } else if (vote->status != first->status || vote->value != first->value) {
            printf("round %d (%s), %s %d: PE %d has status %d, value 0x%llx; PE %d has "
                   "status %d, value 0x%llx\n",
                   round, b->round[round].name, v % 2 == 0 ? "shrink" : "agreement",
                   v / 2, who, (int)first->status, (unsigned long long)first->value, pe,
                   (int)vote->status, (unsigned long long)vote->value);
            return false;
        }
    }
    return true;
}

static void report_doing(struct board *b)
{
    for (int pe = 0; pe < b->npes; pe++)
        printf("PE %d (pid %d): %s; knows of failed PEs 0x%llx\n", pe,
               (int)atomic_load(&b->pe[pe].pid), b->pe[pe].doing,
               (unsigned long long)atomic_load(&b->pe[pe].knows));
    for (int i = 0; i < BOARD_ROUNDS; i++)
        if (b->round[i].name[0] != '\0')
            printf("round %d: %s\n", i, b->round[i].name);
}

int main(int argc, char **argv)
{
    bool where = argc == 3 && strcmp(argv[1], "-w") == 0, equal = true;
    uint32_t kills = 0;

    if (argc != 2 && !where)
        return 2;
    struct board *b = board_open(argv[argc - 1]);
    if (where) {
        report_doing(b);
        return 0;
    }
    for (int i = 0; i < BOARD_ROUNDS; i++) {
        report_round(b, i);
        kills += atomic_load(&b->round[i].kills);
        for (int v = 0; v < BOARD_VOTES; v++)
            equal = report_vote(b, i, v) && equal;
    }
    printf("kills %u\n", kills);
    return equal ? 0 : 1;
}
