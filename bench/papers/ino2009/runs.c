/* Measures a variant of Ino et al. (2009): with all slices if that is short, otherwise with some
 * slices and extrapolated. Called by command.c.
 * Used by: command.c, json.c, tables.c. */
#include "bench/papers/ino2009/text.h"
#include "say.h"

#include <math.h>

enum { EXACT_FETCHES = 4 }; /* fetches of an interpolation by the shader */

/* The fastest of how->runs runs: by its backprojection, or without synchronisation by its total. */
static int measure(const struct s3_how *how, fbp_s3 *s3, const struct fbp_s3_way *way,
                   struct fbp_s3_time *out)
{
    if (fbp_s3_run(s3, way, out) != FBP_OK)
        return cli_fail();
    for (size_t i = 1; i < how->runs; i++) {
        struct fbp_s3_time t;
        if (fbp_s3_run(s3, way, &t) != FBP_OK)
            return cli_fail();
        if (way->synchronised ? t.backproject < out->backproject : t.total < out->total)
            *out = t;
    }
    return 0;
}

/* Number of slices to draw within how->seconds, at least two groups of the variant, because fixed
 * costs are known from two numbers of slices; 0: all. */
static size_t slices_for(const struct s3_how *how, const struct fbp_s3_variant *v,
                         const struct fbp_s3_time *t)
{
    const size_t least = 2 * (v->slices > 4 ? v->slices : 4);
    const double n = how->seconds * (double)t->n_slices / t->backproject;

    if (how->seconds <= 0 || n >= (double)how->size || least >= how->size)
        return 0;
    return n < (double)least ? least : (size_t)n;
}

static int compare(fbp_s3 *s3, double *psnr_db, double *rmse_hu)
{
    struct fbp_s3_error error;

    if (fbp_s3_compare(s3, &error) != FBP_OK)
        return cli_fail();
    *psnr_db = error.psnr_db;
    *rmse_hu = error.rmse_hu;
    return 0;
}

/* Time one group of slices with the views on the device: the fastest of two runs, because the first
 * may compile shaders, and of more runs if they are short. */
static int measure_group(const struct s3_how *how, fbp_s3 *s3, struct fbp_s3_way way,
                         struct fbp_s3_time *out)
{
    enum { LEAST = 2, MOST = 8 };
    double spent = 0;
    int rc = 0;

    way.again = true;
    way.middle = 1;
    for (int i = 0; rc == 0 && (i < LEAST || (i < MOST && spent < how->seconds)); i++) {
        struct fbp_s3_time t;
        rc = measure(how, s3, &way, &t);
        if (rc == 0 && (i == 0 || t.slices_alone < out->slices_alone))
            *out = t;
        spent += rc == 0 ? t.slices_alone : 0;
    }
    return rc;
}

/* Time all slices with the views on the device, extrapolated from one group and from way->middle
 * slices. */
static int measure_whole(const struct s3_how *how, fbp_s3 *s3, const struct fbp_s3_way *way,
                         struct fbp_s3_time *out)
{
    struct fbp_s3_time group;
    int rc = measure_group(how, s3, *way, &group);

    if (rc == 0)
        rc = measure(how, s3, way, out);
    if (rc == 0)
        s3_whole(out, &group, how->size);
    return rc;
}

/* The whole job.  Views are sent and filtered once, with one group of slices; the slices are
 * measured with the views that are then on the device. */
static int measure_job(const struct s3_how *how, fbp_s3 *s3, struct fbp_s3_way *way,
                       struct fbp_s3_time *out)
{
    struct fbp_s3_way with_views = *way;
    struct fbp_s3_time first, group;
    int rc;

    with_views.middle = 1;
    rc = measure(how, s3, &with_views, &first);
    way->again = true;
    if (rc == 0)
        rc = measure_group(how, s3, *way, &group);
    if (rc == 0 && way->synchronised)
        way->middle = slices_for(how, fbp_s3_variant_at(s3, way->variant), &group);
    if (rc == 0)
        rc = measure(how, s3, way, out);
    if (rc != 0)
        return rc;
    s3_whole(out, &group, how->size);
    out->init = first.init;
    out->packing = first.packing;
    out->upload = first.upload;
    out->filter = first.filter;
    out->total = first.total - first.slices_alone + out->slices_alone;
    return 0;
}

/* The synchronised job of Table 2. */
static int measure_usual(const struct s3_how *how, fbp_s3 *s3, struct fbp_s3_way *way,
                         struct s3_result *r)
{
    const int rc = measure_job(how, s3, way, &r->time);

    r->slices = r->time.n_slices;
    return rc == 0 ? compare(s3, &r->psnr_db, &r->rmse_hu) : rc;
}

/* Time the backprojection by another method, with the views on the device, and measure its error.
 */
static int measure_other(const struct s3_how *how, fbp_s3 *s3, const struct fbp_s3_way *way,
                         double *out, double *psnr_db)
{
    struct fbp_s3_time t = {0};
    double rmse_hu;
    const int rc = measure_whole(how, s3, way, &t);

    *out = t.backproject;
    return rc == 0 && psnr_db ? compare(s3, psnr_db, &rmse_hu) : rc;
}

/* Time early fragment kill; the part of the job before the slices takes as long as without it. */
static int measure_kill(const struct s3_how *how, fbp_s3 *s3, struct fbp_s3_way way,
                        struct s3_result *r)
{
    struct fbp_s3_time t;
    int rc;

    way.kill = FBP_S3_STENCIL;
    rc = measure_other(how, s3, &way, &r->stencil, NULL);
    way.kill = FBP_S3_DEPTH;
    if (rc == 0)
        rc = measure_other(how, s3, &way, &r->depth, NULL);
    way.kill = r->stencil < r->depth ? FBP_S3_STENCIL : FBP_S3_DEPTH;
    way.synchronised = false;
    if (rc == 0)
        rc = measure_whole(how, s3, &way, &t);
    if (rc == 0)
        r->kill_total = r->before + t.slices_alone;
    return rc;
}

static int measure_packing(const struct s3_how *how, fbp_s3 *s3, struct fbp_s3_way way,
                           struct s3_result *r)
{
    struct fbp_s3_time t = {0};

    if (r->of.views == 1 && r->of.slices == r->of.targets)
        return 0; /* nothing is packed */
    way.again = false;
    way.pack_on_device = way.unpack_on_device = true;
    const int rc = measure_whole(how, s3, &way, &t);
    r->packing = t.packing;
    r->unpacking = t.unpacking;
    return rc;
}

static int measure_ways(const struct s3_how *how, fbp_s3 *s3, const struct fbp_s3_way *usual,
                        struct s3_result *r)
{
    struct fbp_s3_way way = *usual;
    int rc;

    way.sum = FBP_S3_PING_PONG;
    rc = measure_other(how, s3, &way, &r->ping_pong, NULL);
    way = *usual;
    way.exact = true;
    if (way.middle)
        way.middle = (way.middle + EXACT_FETCHES - 1) / EXACT_FETCHES;
    if (rc == 0)
        rc = measure_other(how, s3, &way, &r->exact, &r->exact_psnr_db);
    if (rc == 0)
        rc = measure_kill(how, s3, *usual, r);
    return rc == 0 ? measure_packing(how, s3, *usual, r) : rc;
}

/* The whole job, without waiting between its stages. */
static int measure_total(const struct s3_how *how, fbp_s3 *s3, struct fbp_s3_way way,
                         struct s3_result *r)
{
    struct fbp_s3_time t = {0};

    way.again = way.synchronised = false;
    const int rc = measure_job(how, s3, &way, &t);
    r->before = t.total - t.slices_alone;
    r->total = t.total;
    return rc;
}

const char *s3_texel(const struct s3_result *r)
{
    return r->of.views == 1 ? "R32F" : r->half ? "RGBA16F" : "RGBA32F";
}

static void print_line(const struct s3_how *how, const struct s3_result *r)
{
    const double n = (double)how->size, updates = n * n * n * (double)how->views;

    if (how->silent)
        return;
    printf("%c  %s, %s: ", r->of.letter, r->of.text, s3_texel(r));
    if (r->slices < how->size)
        printf("%zu of %zu slices drawn; ", r->slices, how->size);
    printf("backprojection %.4g s, %.4g GUPS; ", r->time.backproject,
           1e-9 * updates / r->time.backproject);
    if (isfinite(r->total))
        printf("filter %.4g s; total %.4g s; ", r->time.filter, r->total);
    printf("%.1f dB, %.3g HU\n", r->psnr_db, r->rmse_hu);
    fflush(stdout);
}

static void begin(const struct s3_how *how, fbp_s3 *s3, const struct fbp_s3_way *way,
                  struct s3_result *r)
{
    *r = (struct s3_result){.of = *fbp_s3_variant_at(s3, way->variant),
                            .half = way->half,
                            .exact_psnr_db = NAN,
                            .ping_pong = NAN,
                            .exact = NAN,
                            .stencil = NAN,
                            .depth = NAN,
                            .total = NAN,
                            .kill_total = NAN,
                            .packing = NAN,
                            .unpacking = NAN};
    say_note(how->quiet, "variant %c, %s: %s", r->of.letter, s3_texel(r), r->of.text);
    fbp_s3_cost_of(s3, way, &r->cost);
}

static int end(const struct s3_how *how, struct s3_result *r, int rc)
{
    r->done = rc == 0;
    if (r->done)
        print_line(how, r);
    return rc;
}

int s3_measure(const struct s3_how *how, fbp_s3 *s3, size_t variant, struct s3_result *r)
{
    struct fbp_s3_way way = {.variant = variant, .synchronised = true};

    begin(how, s3, &way, r);
    int rc = measure_usual(how, s3, &way, r);
    if (rc == 0)
        rc = measure_total(how, s3, way, r);
    if (rc == 0 && !how->brief)
        rc = measure_ways(how, s3, &way, r);
    return end(how, r, rc);
}

int s3_measure_alone(const struct s3_how *how, fbp_s3 *s3, size_t variant, bool half, bool again,
                     struct s3_result *r)
{
    struct fbp_s3_way way = {
        .variant = variant, .synchronised = true, .half = half, .again = again};

    begin(how, s3, &way, r);
    int rc = measure_usual(how, s3, &way, r);
    if (rc == 0 && !how->brief) {
        struct fbp_s3_way other = way;
        other.sum = FBP_S3_PING_PONG;
        rc = measure_other(how, s3, &other, &r->ping_pong, NULL);
        way.kill = FBP_S3_STENCIL;
        if (rc == 0)
            rc = measure_other(how, s3, &way, &r->stencil, NULL);
    }
    return end(how, r, rc);
}
