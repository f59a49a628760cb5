/* Figs. 5 and 6 of Ino et al. (2009): seconds of all variants, and maximum intensity projections
 * of the head. Called by command.c for --pictures.
 * Used by: command.c. */
#include "bench/papers/ino2009/text.h"
#include "picture/draw.h"

#include <math.h>
#include <stdlib.h>

/* Fig. 5: bars of seconds on a logarithmic axis. */

enum { WIDTH = 860, LEFT = 170, RIGHT = 760, TOP = 72, STEP = 24, BAR = 16, BELOW = 56 };

struct page {
    const struct fbp_s3_bar *bars;
    size_t n;
    bool is_paper;
    double lo, hi; /* powers of ten */
};

static double x_of(const struct page *p, double seconds)
{
    return LEFT + (RIGHT - LEFT) * (log10(seconds) - p->lo) / (p->hi - p->lo);
}

static void find_range(struct page *p)
{
    double least = INFINITY, most = 0;

    for (size_t i = 0; i < p->n; i++) {
        least = fmin(least, p->bars[i].seconds);
        most = fmax(most, p->bars[i].seconds);
    }
    p->lo = ceil(log10(least)) - 1;
    p->hi = ceil(log10(most) + 0.02);
}

static double bottom_of(const struct page *p)
{
    return TOP + STEP * (double)p->n;
}

static void draw_axis(FILE *f, const struct page *p)
{
    for (double e = p->lo; e <= p->hi; e++) {
        char words[40];
        const double x = x_of(p, pow(10, e));
        fprintf(f, "<path d=\"M %.1f %d V %.1f\" stroke=\"#e2e8f0\"/>\n", x, TOP - 8, bottom_of(p));
        snprintf(words, sizeof words, "%g s", pow(10, e));
        fbp_svg_text(f, x, bottom_of(p) + 18, "class=\"small\" text-anchor=\"middle\"", words);
    }
}

static void draw_bar(FILE *f, const struct page *p, size_t i)
{
    const struct fbp_s3_bar *b = &p->bars[i];
    const double y = TOP + STEP * (double)i;
    char words[40];

    fbp_svg_text(f, LEFT - 10, y + 12, "class=\"name\" text-anchor=\"end\"", b->name);
    fprintf(f,
            "<rect class=\"bar\" x=\"%d\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"%s\" "
            "stroke=\"#2b6cb0\"><title>%s: %.4g s</title></rect>\n",
            LEFT, y, x_of(p, b->seconds) - LEFT, BAR, b->published ? "#ffffff" : "#2b6cb0", b->name,
            b->seconds);
    snprintf(words, sizeof words, "%.3g", b->seconds);
    fbp_svg_text(f, x_of(p, b->seconds) + 6, y + 12, "class=\"value\"", words);
}

static void draw(FILE *f, const void *user)
{
    const struct page *p = user;

    fbp_svg_text(f, 20, 34, "class=\"head\"",
                 "Fig. 5: seconds of the whole job, without synchronisation");
    if (!p->is_paper)
        fbp_svg_text(f, 20, 52, "class=\"small\"",
                     "Published bars: 512^3 voxels from 360 views. Bars named now: another job.");
    draw_axis(f, p);
    for (size_t i = 0; i < p->n; i++)
        draw_bar(f, p, i);
}

/* Draw Fig. 5 as SVG.  is_paper: the measured job is that of the paper. */
static fbp_status draw_bars(const char *path, bool is_paper, const struct fbp_s3_bar *bars,
                            size_t n)
{
    struct page p = {.bars = bars, .n = n, .is_paper = is_paper};

    find_range(&p);
    return fbp_svg_page(path, WIDTH, (int)bottom_of(&p) + BELOW, draw, &p);
}

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
    return draw_bars(path, job->size == S3_PAPER_SIZE && job->views == S3_PAPER_VIEWS, bars, n) ==
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
