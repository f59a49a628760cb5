/* Figs. 5 and 6 of Ino et al. (2009): seconds of all variants, and maximum intensity projections
 * of the head. Called by command.c for --pictures. */
#include "bench/papers/ino2009/text.h"

#include <math.h>
#include <stdlib.h>

static int draw_fig5(const struct s3_job *job, const char *folder)
{
    static const char *const names[S3_VARIANTS] = {"A, published", "B, published", "C, published",
                                                   "D, published", "E, published"};
    struct fbp_s3_bar bars[2 * S3_VARIANTS + S3_COMPETITORS + 2];
    char path[BENCH_PATH], now[S3_VARIANTS][40];
    double least = INFINITY;
    size_t n = 0;

    for (int i = 0; i < S3_COMPETITORS; i++)
        bars[n++] = s3_competitors[i];
    for (int i = 0; i < S3_VARIANTS; i++)
        bars[n++] = (struct fbp_s3_bar){names[i], s3_published[i].total, true};
    bars[n++] = (struct fbp_s3_bar){"early kill, published", s3_published_kill, true};
    for (int i = 0; i < S3_VARIANTS; i++) {
        const struct s3_result *r = &job->results[i];
        if (!r->done)
            continue;
        snprintf(now[i], sizeof now[i], "%c, now", r->of.letter);
        bars[n++] = (struct fbp_s3_bar){now[i], r->total, false};
        least = fmin(least, r->kill_total);
    }
    if (isfinite(least))
        bars[n++] = (struct fbp_s3_bar){"early kill, now", least, false};
    if (bench_picture(path, folder, "S3-fig5.svg"))
        return 1;
    return fbp_s3_draw(path, job->size == S3_PAPER_SIZE && job->views == S3_PAPER_VIEWS, bars, n) ==
                   FBP_OK
               ? 0
               : cli_fail();
}

/* Write the maximum intensity projection of a volume; an empty window is replaced by the range of
 * most pixels. */
static int draw_projection(const float *voxels, const struct fbp_scan *scan, const char *folder,
                           const char *name, double window[2])
{
    const struct fbp_array_info info = {
        .struct_size = sizeof info,
        .n = {scan->volume.n[0], scan->volume.n[1], scan->volume.n[2]},
        .type = FBP_F32,
        .spacing_mm = {1, 1, 1}};
    fbp_source *source = NULL;
    char path[BENCH_PATH];

    if (bench_picture(path, folder, name))
        return 1;
    fbp_status st = fbp_source_memory(&source, voxels, &info);
    if (st == FBP_OK)
        st = fbp_picture_write("the volume", path,
                               fbp_picture_params(.source = source, .mip = true, .lo = window[0],
                                                  .hi = window[1], .shown = window));
    fbp_source_close(&source);
    return st == FBP_OK ? 0 : cli_fail();
}

/* Store |ours - theirs| in theirs; returns the largest difference. */
static double subtract(const float *ours, float *theirs, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        theirs[i] = fabsf(ours[i] - theirs[i]);
        most = fmax(most, (double)theirs[i]);
    }
    return most;
}

/* All slices, of this variant. */
static int draw_fig6(const struct s3_job *job, fbp_s3 *s3, size_t variant,
                     const struct fbp_scan *scan, const char *folder)
{
    const size_t n = scan->volume.n[0] * scan->volume.n[1] * scan->volume.n[2];
    const struct fbp_s3_way way = {.variant = variant};
    float *theirs = calloc(n, sizeof *theirs);
    double window[2] = {0}; /* both are seen by the same */
    struct fbp_s3_time t;
    int rc;

    if (!theirs)
        return cli_error("out of memory for the volume of the CPU: choose a smaller --size");
    rc = fbp_s3_run(s3, &way, &t) == FBP_OK && fbp_s3_by_cpu(s3, theirs) == FBP_OK ? 0 : cli_fail();
    const float *ours = fbp_s3_volume(s3);
    if (rc == 0)
        rc = draw_projection(ours, scan, folder, "S3-fig6-gl.png", window);
    if (rc == 0)
        rc = draw_projection(theirs, scan, folder, "S3-fig6-cpu.png", window);
    if (rc == 0) {
        const double most = subtract(ours, theirs, n);
        if (!job->silent)
            printf(
                "Fig. 6: the largest difference between device and CPU is %.3g/mm, which is white "
                "in its picture\n",
                most);
        rc = draw_projection(theirs, scan, folder, "S3-fig6-difference.png",
                             (double[2]){0, most > 0 ? most : 1});
    }
    free(theirs);
    return rc;
}

int s3_draw(const struct s3_job *job, fbp_s3 *s3, size_t variant, const struct fbp_scan *scan,
            const char *folder)
{
    const int rc = draw_fig5(job, folder);

    return rc == 0 ? draw_fig6(job, s3, variant, scan, folder) : rc;
}
