/* How a variant of S3 is measured: whole where that is quick, on some slices where it is not. */
#include "bench/papers/ino2009/text.h"
#include "say.h"

#include <math.h>

enum { EXACT_FETCHES = 4 }; /* of an interpolation by the shader */

void s3_whole(struct fbp_s3_time *t, size_t n)
{
    const double times = t->n_slices ? (double)n / (double)t->n_slices : 1;

    t->total += (times - 1) * t->slices_alone;
    t->slices_alone *= times;
    t->backproject *= times;
    t->readback *= times;
    t->unpacking *= times;
}

/* The fastest of several runs in one way, by its backprojection or, not synchronised, in all. */
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

/* So many that their backprojection takes the time there is; 0: all. */
static size_t slices_for(const struct s3_how *how, const struct fbp_s3_time *t)
{
    const double n = how->seconds * (double)t->n_slices / t->backproject;

    return how->seconds > 0 && n < (double)how->size ? (n < 1 ? 1 : (size_t)n) : 0;
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

/* As many slices as there is time for, of views that are there.  A driver may compile when it first
 * draws: what `t` tells at first may be too much, and fewer slices than there is time for are
 * counted again. */
static int measure_slices(const struct s3_how *how, fbp_s3 *s3, struct fbp_s3_way *way,
                          struct fbp_s3_time *t)
{
    enum { TRIES = 3 };

    way->again = true;
    for (int i = 0; i < TRIES; i++) {
        way->middle = slices_for(how, t);
        const int rc = measure(how, s3, way, t);
        if (rc != 0)
            return rc;
        if (t->n_slices == how->size || t->backproject > 0.6 * how->seconds)
            break;
    }
    return 0;
}

/* The usual way: views are sent and filtered once, with a group of slices, which also tells how
 * many slices there is time for; these are added from the views that are then there. */
static int measure_usual(const struct s3_how *how, fbp_s3 *s3, struct fbp_s3_way *way,
                         struct s3_result *r)
{
    struct fbp_s3_time first = {0}, then;
    int rc;

    way->middle = 1;
    rc = measure(how, s3, way, &first);
    if (rc != 0)
        return rc;
    then = first;
    rc = measure_slices(how, s3, way, &then);
    if (rc != 0)
        return rc;
    r->slices = then.n_slices;
    r->time = first;
    r->time.total += then.slices_alone - first.slices_alone;
    r->time.slices_alone = then.slices_alone;
    r->time.backproject = then.backproject;
    r->time.readback = then.readback;
    r->time.unpacking = then.unpacking;
    r->time.passes = then.passes;
    r->time.draws = then.draws;
    r->time.n_slices = then.n_slices;
    s3_whole(&r->time, how->size);
    return compare(s3, &r->psnr_db, &r->rmse_hu);
}

/* Backprojection in another way, of views that are there, and how exact that was. */
static int measure_other(const struct s3_how *how, fbp_s3 *s3, const struct fbp_s3_way *way,
                         double *out, double *psnr_db)
{
    struct fbp_s3_time t;
    double rmse_hu;
    const int rc = measure(how, s3, way, &t);

    if (rc != 0)
        return rc;
    s3_whole(&t, how->size);
    *out = t.backproject;
    return psnr_db ? compare(s3, psnr_db, &rmse_hu) : 0;
}

/* With early fragment kill; the whole job, by what it takes without that before the slices. */
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
        rc = measure(how, s3, &way, &t);
    if (rc != 0)
        return rc;
    s3_whole(&t, how->size);
    r->kill_total = r->before + t.slices_alone;
    return 0;
}

static int measure_packing(const struct s3_how *how, fbp_s3 *s3, struct fbp_s3_way way,
                           struct s3_result *r)
{
    struct fbp_s3_time t;
    int rc;

    if (r->of.views == 1 && r->of.slices == r->of.targets)
        return 0; /* nothing is packed */
    way.again = false;
    way.pack_on_device = way.unpack_on_device = true;
    rc = measure(how, s3, &way, &t);
    if (rc != 0)
        return rc;
    s3_whole(&t, how->size);
    r->packing = t.packing;
    r->unpacking = t.unpacking;
    return 0;
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
    struct fbp_s3_time t;
    int rc;

    way.again = way.synchronised = false;
    rc = measure(how, s3, &way, &t);
    if (rc != 0)
        return rc;
    r->before = t.total - t.slices_alone;
    s3_whole(&t, how->size);
    r->total = t.total;
    return 0;
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
