/* The progress bar of a reconstruction on standard error (functions progress_…()): callbacks that
 * the library calls during a run, which draw the bar, print log lines, and cancel the run after
 * Ctrl-C; progress_left() estimates the remaining time.
 * Used by: bench/papers/okitsu2008/, bench/pipeline/, bench/predict/, bench/rabbitct/, cli/. */
#include "program.h"
#include "recon.h"
#include "say.h"
#include "team.h"

#include "base/math.h"
#include "base/system.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

void progress_start(struct progress *progress, size_t n_views, bool quiet)
{
    *progress =
        (struct progress){.n_views = n_views,
                          .visible = !quiet && (isatty(STDERR_FILENO) || team_has_terminal()),
                          .quiet = quiet};
}

/* The mean of the last paces without an eighth of them at either end. */
static double typical_pace(const struct progress_rate *r)
{
    enum { MOST = sizeof r->pace / sizeof *r->pace };
    const size_t n = r->n_parts < MOST ? r->n_parts : MOST, spared = n / 8;
    double sorted[MOST], sum = 0;

    memcpy(sorted, r->pace, sizeof sorted);
    fbp_sort(sorted, n);
    for (size_t i = spared; i < n - spared; i++)
        sum += sorted[i];
    return sum / (double)(n - 2 * spared);
}

double progress_left(struct progress_rate *r, double share, double seconds)
{
    const double least_part = 0.01, least_measured = 1; /* share; [s] */

    if (seconds < r->seconds)
        *r = (struct progress_rate){0};
    if (share > 0 && (r->from_seconds <= 0 || share < r->share)) { /* less: a device has failed */
        r->from_share = share;
        r->from_seconds = seconds;
    } else if (share - r->from_share >= least_part && r->from_seconds > 0) {
        const double duration = seconds - r->from_seconds;
        r->pace[r->n_parts++ % (sizeof r->pace / sizeof *r->pace)] =
            duration / (share - r->from_share);
        r->measured += duration;
        r->from_share = share;
        r->from_seconds = seconds;
    }

    const double passed = seconds - r->seconds, last = r->left;
    r->share = share;
    r->seconds = seconds;
    if (r->measured < least_measured)
        return -1;
    r->left = (1 - share) * typical_pace(r);
    if (last > 0) {
        const double slow = fmax(1, fmin(r->measured, last / 30)); /* [s] */
        r->left += exp(-passed / slow) * (fmax(0, last - passed) - r->left);
    }
    return r->left;
}

int progress_update(void *user, const struct fbp_progress *now)
{
    enum { BAR = 20 };
    struct progress *progress = user;
    const double t = fbp_seconds();
    const double part = now->total ? (double)now->done / (double)now->total : 0;
    const double gups = now->seconds > 0 ? 1e-9 * (double)now->done / now->seconds : 0;
    const double left = progress_left(&progress->rate, part, now->seconds);
    char bar[BAR + 1] = "....................", begin[40], eta[24], line[sizeof progress->line];

    if (!progress->visible || t - progress->drawn < 0.1)
        return signals_status() != 0;
    memset(bar, '#', (size_t)(part * BAR));
    snprintf(begin, sizeof begin, "%3d%% [%s]", (int)(100 * part), bar);
    cli_seconds(eta, sizeof eta, left);
    if (now->n_slabs == 0 && now->views_read == 0)
        snprintf(line, sizeof line, "preparing");
    else if (now->n_slabs == 0)
        snprintf(line, sizeof line, "preparing, view %zu/%zu", now->views_read, progress->n_views);
    else if (now->waiting_for)
        snprintf(line, sizeof line, "%s waiting for view %zu/%zu", begin, now->waiting_for,
                 progress->n_views);
    else if (now->done == now->total)
        snprintf(line, sizeof line, "%s writing the volume", begin);
    else
        snprintf(line, sizeof line, "%s view %zu/%zu, slab %zu/%zu, %.2f GUPS%s%s%s", begin,
                 now->views_read, progress->n_views, now->slabs_done, now->n_slabs, gups,
                 left < 0 ? "" : ", ", left < 0 ? "" : eta, left < 0 ? "" : " left");
    if (strcmp(line, progress->line) != 0)
        say_bar(line);
    memcpy(progress->line, line, sizeof line);
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
    progress->line[0] = '\0';
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
