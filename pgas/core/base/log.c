/* SPDX-License-Identifier: BSD-3-Clause */
/* log.c - see log.h.  Uses: pgas.h, call_site, os. */
#include "config.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "pgas/core/base/call_site.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/core_state.h"
#include "pgas/core/base/os.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/threads/atomic.h"

#define STATE core_self.log

#define LINE_MAX_LEN 1024 /* without the call site */

/* The line is the message, shortened if need be, and the ending. */
static void log_write(const char *format, va_list args, const char *ending)
{
    char line[LINE_MAX_LEN + CALL_SITE_TEXT_MAX];
    int used = pgas_self.npes > 0
                   ? snprintf(line, LINE_MAX_LEN, "pgas: PE %d: ", pgas_self.me)
                   : snprintf(line, LINE_MAX_LEN, "pgas: ");
    int more = vsnprintf(line + used, LINE_MAX_LEN - (size_t)used - 1, format, args);
    size_t len = (size_t)(used + (more > 0 ? more : 0));

    if (len > LINE_MAX_LEN - 2)
        len = LINE_MAX_LEN - 2;
    len += (size_t)snprintf(line + len, sizeof line - len, "%s\n", ending);
    /* One write, so that the lines of several PEs are not interleaved.  A failure cannot
     * be reported. */
    ssize_t written = write(STDERR_FILENO, line, len);
    (void)written;
}

void log_warn(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_write(format, args, "");
    va_end(args);
}

void log_debug(const char *format, ...)
{
    va_list args;

    if (pgas_self.env.debug == 0)
        return;
    va_start(args, format);
    log_write(format, args, "");
    va_end(args);
}

/* Writes the program's output before the message.  Does nothing if another thread holds
 * the stream's lock, because that thread may be blocked in I/O. */
void log_flush(FILE *stream)
{
    if (ftrylockfile(stream) != 0)
        return;
    fflush_unlocked(stream);
    funlockfile(stream);
}

/* Only the first thread that ends the process prints; the others wait for its exit. */
static void log_final(const char *format, va_list args, const char *ending)
{
    if (swap_acq_rel_u32(&STATE.ending, 1) != 0) {
        os_sleep(2 * TIMING_LOST_GRACE);
        os_exit(EXIT_FAILURE);
    }
    log_flush(stdout);
    log_write(format, args, ending);
}

void log_die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_final(format, args, "");
    va_end(args);
    os_exit(EXIT_FAILURE);
}

void log_misuse(const char *format, ...)
{
    char site[CALL_SITE_TEXT_MAX];
    va_list args;

    va_start(args, format);
    log_final(format, args, call_site_text(site));
    va_end(args);
    os_exit(EXIT_FAILURE);
}

void log_lost(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_final(format, args, "");
    va_end(args);
    os_sleep(TIMING_LOST_GRACE);
    os_exit(EXIT_FAILURE);
}

/* Neither flushes stdout nor takes a lock, because the failing thread may hold locks, and
 * the core file of abort() should show the state at the failure. */
void pgas_assert_failed(const char *condition, const char *file, int line,
                        const char *function)
{
    log_warn(
        "%s:%d: %s: assertion failed: %s; this is a defect of pgas, please report it",
        file, line, function, condition);
    abort();
}
