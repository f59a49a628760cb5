/* The progress bar of a reconstruction on standard error (functions progress_…()): callbacks that
 * the library calls during a run, which draw the bar, print log lines, and cancel the run after
 * Ctrl-C.
 * Used by: bench/papers/okitsu2008/, bench/pipeline/, bench/predict/, bench/rabbitct/, cli/. */
#include "program.h"
#include "recon.h"
#include "say.h"
#include "team.h"

#include "base/system.h"

#include <string.h>
#include <unistd.h>

void progress_start(struct progress *progress, size_t n_views, bool quiet)
{
    *progress =
        (struct progress){.n_views = n_views,
                          .visible = !quiet && (isatty(STDERR_FILENO) || team_has_terminal()),
                          .quiet = quiet};
}

int progress_update(void *user, const struct fbp_progress *now)
{
    enum { BAR = 20 };
    struct progress *progress = user;
    const double t = fbp_seconds();
    const double part = now->total ? (double)now->done / (double)now->total : 0;
    const double rate = now->seconds > 0 ? (double)now->done / now->seconds : 0;
    char bar[BAR + 1] = "....................", eta[24], line[200];

    if (!progress->visible || t - progress->drawn < 0.1)
        return signals_status() != 0;
    memset(bar, '#', (size_t)(part * BAR));
    cli_seconds(eta, sizeof eta, rate > 0 ? (double)(now->total - now->done) / rate : -1);
    if (now->waiting_for)
        snprintf(line, sizeof line, "%3d%% [%s] waiting for view %zu/%zu", (int)(100 * part), bar,
                 now->waiting_for, progress->n_views);
    else
        snprintf(line, sizeof line, "%3d%% [%s] view %zu/%zu, slab %zu/%zu, %.2f GUPS, %s left",
                 (int)(100 * part), bar, now->views_read, progress->n_views, now->slabs_done,
                 now->n_slabs, rate * 1e-9, eta);
    say_bar(line);
    progress->drawn = t;
    return signals_status() != 0;
}

int progress_stop(void *user, const struct fbp_progress *now)
{
    (void)user;
    (void)now;
    return signals_status() != 0;
}

static void erase(struct progress *progress)
{
    if (progress->drawn > 0)
        say_bar("");
    progress->drawn = 0;
}

void progress_log(void *user, enum fbp_log_level level, const char *line)
{
    struct progress *progress = user;

    if (!progress->quiet)
        erase(progress);
    (level == FBP_LOG_WARNING ? say_warning : say_note)(progress->quiet, "%s", line);
}

void progress_end(struct progress *progress)
{
    erase(progress);
    progress->visible = false;
}
