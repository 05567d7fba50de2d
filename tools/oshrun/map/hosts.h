/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hosts.h - the hosts of a job: from --host, from a host file, from Slurm's variables.
 *
 * Pure but for hosts_from_file, which reads a file.  Used by map.c, plan.c, launcher.c.
 */
#ifndef OSHRUN_MAP_HOSTS_H
#define OSHRUN_MAP_HOSTS_H

#include <stddef.h>
#include <stdint.h>

#define HOSTS_WHY       256              /* bytes of an error message */
#define HOSTS_MAX       65536            /* of one job */
#define HOSTS_SLOTS_MAX 1000000          /* of one host */
#define HOSTS_NAMED_MAX (16 * HOSTS_MAX) /* entries, if a host is named per PE */
#define HOSTS_NONE      UINT32_MAX

struct host {
    char *name;     /* letters, digits, and . _ - : @ % only: safe in a command line */
    uint32_t slots; /* PEs meant for it; 0: not given */
    uint32_t max;   /* upper limit of PEs (max-slots); 0: none */
};

/* All zero: no hosts. */
struct hosts {
    struct host *host;
    uint32_t count;
    uint32_t capacity; /* in host[] */
    uint32_t *cell;    /* hash table: index in host[] + 1; 0 = free */
    uint32_t cells;    /* a power of 2, over count * 2 */
    uint32_t named;    /* calls of hosts_add */
};

/*
 * The readers return 0, or -1 with an error message in why ("a name is missing after
 * 'a:4,'", "hostfile hosts.txt, line 3: 'slots=many': ..."); h is then empty.  A host
 * that is named again gets the sum of the slots, where an entry without slots counts as
 * one slot, so that a file may name a host once per PE.  Hosts are in the order of their
 * first occurrence.  An IPv6 address is written in brackets and stored without them.
 */

/* "a:4,b,n[0-3,7]:2,[fe80::1]:4" */
int hosts_from_list(struct hosts *h, const char *text, char why[HOSTS_WHY]);

/* A line: "name", "name:4", "name slots=4", "name slots=4 max-slots=8"; also
 * "name[0-3] slots=2", "user@name"; # begins a comment.  "-" reads standard input. */
int hosts_from_file(struct hosts *h, const char *path, char why[HOSTS_WHY]);

/* SLURM_JOB_NODELIST "n[0-2,5],x" and SLURM_TASKS_PER_NODE "2(x3),1".  tasks = NULL: cpus
 * = SLURM_JOB_CPUS_PER_NODE "8(x3)" is used; if both are NULL, no slots are given. */
int hosts_from_slurm(struct hosts *h, const char *nodelist, const char *tasks,
                     const char *cpus, char why[HOSTS_WHY]);

/* Adds a host, or slots to a host that exists.  The name is copied.  0, or -1 with an
 * error message in why. */
int hosts_add(struct hosts *h, const struct host *more, char why[HOSTS_WHY]);

/* The index of a name, or HOSTS_NONE. */
uint32_t hosts_find(const struct hosts *h, const char *name);

void hosts_free(struct hosts *h);

#endif
