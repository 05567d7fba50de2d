/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info.h - internal interfaces of oshmem_info: output (emit), reports and self-test.
 * Uses: libc only.  Used by: the other files here.
 */
#ifndef OSHMEM_INFO_INFO_H
#define OSHMEM_INFO_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- emit.c: one report, three forms --------------------------------------------- */
enum form { FORM_PAGE, FORM_JSON, FORM_PARSABLE };

#define EMIT_DEPTH_MAX 4

/* Output state of a report.  name[] holds the open sections and items. */
struct emit {
    FILE *out;
    enum form form;
    int depth;
    const char *name[EMIT_DEPTH_MAX];
    bool list[EMIT_DEPTH_MAX];
    bool comma[EMIT_DEPTH_MAX]; /* the next element at this depth needs a comma */
};

void emit_open(struct emit *e, FILE *out, enum form form);
void emit_close(struct emit *e);

/* Begin and end a section, a list of items, an item. */
void emit_section(struct emit *e, const char *name);
void emit_list(struct emit *e, const char *name);
void emit_item(struct emit *e, const char *name);
void emit_end(struct emit *e);

/* One value; NULL is JSON's null and an empty text elsewhere.  label is for the page. */
void emit_text(struct emit *e, const char *key, const char *label, const char *value);
void emit_bool(struct emit *e, const char *key, const char *label, bool value);

/* text as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void emit_json_string(FILE *out, const char *text);

/* ---- report.c: the parts of a report --------------------------------------------- */
void report_package(struct emit *e);
void report_transports(struct emit *e);
void report_config(struct emit *e);
void report_paths(struct emit *e);
void report_env(struct emit *e);

/* algorithms.c: reports the algorithms of the collectives for a team of as many PEs as
 * processors, or of the number set before (false: text is not a number of PEs). */
void report_algorithms(struct emit *e);
bool algorithms_pes(const char *text);

/* The directory that a configure variable (prefix, bindir, libdir, includedir, mandir)
 * names, moved along with this program; false if there is no such variable. */
bool report_path(const char *what, char *dir, size_t len);

/* ---- check.c: the self-test ------------------------------------------------------- */
enum check_status { CHECK_OK, CHECK_WARN, CHECK_FAIL, CHECK_SKIP };

#define CHECK_TEXT_MAX    600
#define CHECK_SUBJECT_MAX 64
#define CHECK_LINE_MAX    (CHECK_SUBJECT_MAX + 2 + CHECK_TEXT_MAX)

struct finding {
    enum check_status status;
    char subject[CHECK_SUBJECT_MAX]; /* a library with its version, or what was chosen */
    char reason[CHECK_TEXT_MAX];
    char remedy[CHECK_TEXT_MAX];
};

/*
 * A check runs in a child process with its own process group and is killed when its time
 * limit expires; dir is an empty private directory that is removed afterwards.
 */
struct check {
    const char *key;
    const char *what;
    void (*run)(struct finding *f, const char *dir);
};

/* Runs the check with that key, with its time limit. */
void check_run(const char *key, struct finding *f);

/* Runs and reports all checks; true if the runtime can work on this machine. */
bool check_all(struct emit *e);

/* "subject: reason", or the reason alone. */
const char *check_line(const struct finding *f, char line[CHECK_LINE_MAX]);

void check_ok(struct finding *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void check_flaw(struct finding *f, enum check_status status, const char *remedy,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Milliseconds that a check may wait for another process. */
#define CHECK_WAIT_MS 5000

/* check_kernel.c */
void check_memfd(struct finding *f, const char *dir);
void check_procfd(struct finding *f, const char *dir);
void check_futex(struct finding *f, const char *dir);
void check_membarrier(struct finding *f, const char *dir);
void check_thp(struct finding *f, const char *dir);
void check_hugetlb(struct finding *f, const char *dir);
/* len bytes of a new memory file, mapped; *fd is the file.  MAP_FAILED, with errno. */
void *check_memory(size_t len, int *fd);
/* check_pmix.c */
void check_pmix(struct finding *f, const char *dir);
/* check_setup.c */
void check_environment(struct finding *f, const char *dir);
void check_oshrun(struct finding *f, const char *dir);
void check_gdb(struct finding *f, const char *dir);
/* check_network.c */
void check_libfabric(struct finding *f, const char *dir);
void check_ucx(struct finding *f, const char *dir);
void check_tcp(struct finding *f, const char *dir);
enum { NETWORKS = 3 }; /* = TRANSPORTS */
bool network_built(const char *transport);
/* Derives from the findings of these checks, in this order, the transport that would be
 * used between nodes. */
void network_choose(const struct finding *const found[NETWORKS], struct finding *f);

/* Path of an executable program: in the directory of this program; first in PATH. */
bool find_beside(const char *name, char *path, size_t len);
bool find_in_path(const char *name, char *path, size_t len);

#endif
