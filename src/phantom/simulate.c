/* Simulated scans and volumes. One view or slice is a work item, written by the thread that
 * computes it. */
#include "phantom/simulate.h"

#include "fbp/phantom.h"

#include "geometry/kind.h"
#include "geometry/ranges.h"
#include "phantom/body.h"

#include "base/base.h"
#include "base/threads.h"
#include "base/math.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* a + b c + d c^2 */
struct parabola {
    double a, b, d;
};

/* The ray of pixel (c, r) in world coordinates, step = e[0] + c e[1] + r e[2], in mm. */
struct ray {
    double e[3][3];
};

static void pixel_zero(const struct fbp_view *view, const struct fbp_panel *panel, double p[3])
{
    fbp_axpy(view->d, -((double)panel->n_columns - 1) / 2, view->u, p);
    fbp_axpy(p, -((double)panel->n_rows - 1) / 2, view->v, p);
}

static void ray_of(const struct fbp_view *view, enum fbp_kind kind, const struct fbp_panel *panel,
                   struct ray *out)
{
    const bool source = fbp_kind_of(kind)->has_source;
    double p0[3];

    *out = (struct ray){0};
    pixel_zero(view, panel, p0);
    for (int i = 0; i < 3; i++) {
        out->e[0][i] = source ? p0[i] - view->s[i] : -view->s[i];
        if (source) {
            out->e[1][i] = view->u[i];
            out->e[2][i] = view->v[i];
        }
    }
}

static void shadow_of(const struct fbp_ball *ball, const struct fbp_view *view, enum fbp_kind kind,
                      const struct fbp_panel *panel, struct fbp_shadow *out)
{
    struct ray ray;
    double dx[3], y[3][3] = {{0}};

    ray_of(view, kind, panel, &ray);
    for (int k = 0; k < 3; k++)
        fbp_ball_map(ball, ray.e[k], out->g[k]);
    if (fbp_kind_of(kind)->has_source) { /* every ray passes through the source */
        fbp_axpy(view->s, -1, ball->c, dx);
        fbp_ball_map(ball, dx, y[0]);
        for (int k = 0; k < 3; k++)
            fbp_cross(out->g[k], y[0], out->q[k]);
    } else { /* every ray has the same direction, and passes through its pixel */
        pixel_zero(view, panel, dx);
        fbp_axpy(dx, -1, ball->c, dx);
        fbp_ball_map(ball, dx, y[0]);
        fbp_ball_map(ball, view->u, y[1]);
        fbp_ball_map(ball, view->v, y[2]);
        for (int k = 0; k < 3; k++)
            fbp_cross(out->g[0], y[k], out->q[k]);
    }
    out->density = ball->density;
}

/* |f|^2 along row r, f = f[0] + c f[1] + r f[2]. */
static struct parabola square(const double f[3][3], double r)
{
    double at[3];
    fbp_axpy(f[0], r, f[2], at);
    return (struct parabola){fbp_dot(at, at), 2 * fbp_dot(at, f[1]), fbp_dot(f[1], f[1])};
}

/* Columns [*c0, *c1) where `disc` may be positive.  Opening downwards, that is an interval about
 * its top; otherwise (the ellipsoid reaches the source plane) the whole row. */
static void span(const struct parabola *disc, size_t nc, size_t *c0, size_t *c1)
{
    *c0 = 0;
    *c1 = nc;
    if (!(disc->d < 0))
        return;
    const double top = -disc->b / (2 * disc->d), height = disc->a + disc->b * top / 2;
    if (!(height > 0)) {
        *c1 = 0;
        return;
    }
    const double half = sqrt(height / -disc->d), n = (double)nc;
    *c0 = (size_t)fmin(n, fmax(0, floor(top - half)));
    *c1 = (size_t)fmin(n, fmax(0, ceil(top + half) + 1));
}

/* The chord of every column, added to sum, in units of the ray's step. */
static void add_shadow(const struct fbp_shadow *s, size_t nc, double r, double *restrict sum)
{
    const struct parabola gg = square(s->g, r), qq = square(s->q, r);
    const struct parabola disc = {gg.a - qq.a, gg.b - qq.b, gg.d - qq.d};
    size_t c0, c1;

    span(&disc, nc, &c0, &c1);
    if (c0 >= c1)
        return;
    /* expanded about the middle of the interval, so that nothing large cancels */
    const double c_mid = (double)(c0 + (c1 - c0) / 2); // NOLINT(bugprone-integer-division)
    const double a = disc.a + c_mid * (disc.b + c_mid * disc.d), b = disc.b + 2 * c_mid * disc.d;
    for (size_t c = c0; c < c1; c++) {
        const double x = (double)c, t = x - c_mid;
        const double d = a + t * (b + t * disc.d);
        sum[c] += 2 * s->density * sqrt(d > 0 ? d : 0) / (gg.a + x * (gg.b + x * gg.d));
    }
}

/* out[nc] = line integrals of row r; work[nc]. */
static void shadow_row(const struct fbp_shadow *shadows, size_t n, const struct ray *ray, size_t nc,
                       size_t r, double *work, float *out)
{
    const struct parabola step = square(ray->e, (double)r);

    for (size_t c = 0; c < nc; c++)
        work[c] = 0;
    for (size_t i = 0; i < n; i++)
        add_shadow(&shadows[i], nc, (double)r, work);
    for (size_t c = 0; c < nc; c++) {
        const double x = (double)c;
        out[c] = work[c] == 0 ? 0 : (float)(work[c] * sqrt(step.a + x * (step.b + x * step.d)));
    }
}

void fbp_shadow_rows(const struct fbp_ball *balls, size_t n, const struct fbp_view *view,
                     enum fbp_kind kind, const struct fbp_panel *panel, size_t row0, size_t n_rows,
                     struct fbp_shadow *shadows, double *work, float *out)
{
    const size_t nc = panel->n_columns;
    struct ray ray;

    ray_of(view, kind, panel, &ray);
    for (size_t i = 0; i < n; i++)
        shadow_of(&balls[i], view, kind, panel, &shadows[i]);
    for (size_t r = 0; r < n_rows && !fbp_stopped(); r++)
        shadow_row(shadows, n, &ray, nc, row0 + r, work, out + r * nc);
}

void fbp_shadow_view(const struct fbp_ball *balls, size_t n, const struct fbp_view *view,
                     enum fbp_kind kind, const struct fbp_panel *panel, struct fbp_shadow *shadows,
                     double *work, float *out)
{
    fbp_shadow_rows(balls, n, view, kind, panel, 0, panel->n_rows, shadows, work, out);
}

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static const uint64_t golden = 0x9e3779b97f4a7c15u;

struct fbp_random fbp_random_at(uint64_t seed, uint64_t view, uint64_t pixel)
{
    const uint64_t of_view = mix(mix(seed + golden) + (view + 1) * golden);
    return (struct fbp_random){mix(of_view + (pixel + 1) * golden)};
}

/* Uniform in (0, 1): the middles of 2^53 equal parts. */
static double uniform(struct fbp_random *r)
{
    r->state += golden;
    return ((double)(mix(r->state) >> 12) + .5) * 0x1p-52;
}

/* Inversion: the number of terms of the distribution below u. */
static double small_mean(struct fbp_random *r, double mean)
{
    double p = exp(-mean), u = uniform(r);
    int k = 0;

    while (u > p && k < 1000) {
        u -= p;
        p *= mean / ++k;
    }
    return k;
}

/* Transformed rejection: W. Hormann, "The transformed rejection method for generating Poisson
 * random variables", Insurance: Mathematics and Economics 12 (1993), algorithm PTRS, mean >= 10. */
static double large_mean(struct fbp_random *r, double mean)
{
    const double log_mean = log(mean);
    const double b = .931 + 2.53 * sqrt(mean), a = -.059 + .02483 * b;
    const double inv_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = .9277 - 3.6224 / (b - 2);

    for (;;) {
        const double u = uniform(r) - .5, v = uniform(r), us = .5 - fabs(u);
        const double k = floor((2 * a / us + b) * u + mean + .43);
        int sign;
        if (us >= .07 && v <= v_r)
            return k;
        if (k < 0 || (us < .013 && v > us))
            continue;
        if (log(v * inv_alpha / (a / (us * us) + b)) <=
            k * log_mean - mean - lgamma_r(k + 1, &sign))
            return k;
    }
}

double fbp_poisson(struct fbp_random *r, double mean)
{
    return mean < 10 ? small_mean(r, mean) : large_mean(r, mean);
}

/* Box & Muller 1958, the first of two. */
double fbp_normal(struct fbp_random *r)
{
    const double u = uniform(r), v = uniform(r);

    return sqrt(-2 * log(u)) * cos(2 * FBP_PI * v);
}

/* A smooth wobble of amplitude about 1: sum_k a_k sin(k t + p_k), normalised by sum a_k. */
struct wobble {
    double a[3], phase[3];
};

static double wobble(const struct wobble *w, double t)
{
    double sum = 0, norm = 0;
    for (int k = 0; k < 3; k++) {
        sum += w->a[k] * sin((k + 1) * t + w->phase[k]);
        norm += w->a[k];
    }
    return sum / norm;
}

/* Fixed coefficients, chosen by taste to look like a calibrated C-arm. */
static const struct wobble source_radius = {{1, .5, .2}, {.3, 1.9, 4.0}};
static const struct wobble source_height = {{1, .3, .1}, {2.1, .4, 5.2}};
static const struct wobble focal_length = {{1, .4, .2}, {1.2, 3.3, .7}};
static const struct wobble principal_u = {{1, .4, .1}, {4.4, 2.0, 1.1}};
static const struct wobble principal_v = {{1, .6, .2}, {5.6, .9, 2.7}};
static const struct wobble turn[3] = {
    {{1, .3, .2}, {.8, 4.9, 2.2}},
    {{1, .5, .1}, {3.7, 1.4, .2}},
    {{1, .2, .3}, {2.6, 5.5, 3.1}},
};

enum { REFERENCE_COLUMNS = 1248 };

/* Turn a and b, two axes at right angles, right-handed about their common normal a x b. */
static void turn_pair(double a[3], double b[3], double angle)
{
    const double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++) {
        const double ai = a[i], bi = b[i];
        a[i] = c * ai + s * bi;
        b[i] = c * bi - s * ai;
    }
}

static void c_arm_view(double t, double sod, double sdd, const struct fbp_circle *circle,
                       double share, struct fbp_view *out)
{
    const double deg = FBP_PI / 180, amplitude[3] = {.2 * deg, .3 * deg, .4 * deg};
    double u[3] = {-sin(t), cos(t), 0}, v[3] = {0, 0, 1}, n[3] = {cos(t), sin(t), 0};
    const double radius = sod + 1.5 * wobble(&source_radius, t);
    const double focal = sdd * (1 + 7.0 / 3890 * wobble(&focal_length, t));
    const double *pitch = circle->pitch_mm;
    const double shift_u = 33 * share * pitch[0] * wobble(&principal_u, t) - circle->offset_mm[0];
    const double shift_v = 10 * share * pitch[1] * wobble(&principal_v, t) - circle->offset_mm[1];

    for (int i = 0; i < 3; i++)
        out->s[i] = radius * n[i];
    out->s[2] += -4.1 + 1.5 * wobble(&source_height, t);
    turn_pair(v, n, amplitude[0] * wobble(&turn[0], t));
    turn_pair(n, u, amplitude[1] * wobble(&turn[1], t));
    turn_pair(u, v, amplitude[2] * wobble(&turn[2], t));
    /* the foot of the perpendicular from the source is the principal point */
    for (int i = 0; i < 3; i++) {
        out->d[i] = out->s[i] - focal * n[i] - shift_u * u[i] - shift_v * v[i];
        out->u[i] = pitch[0] * u[i];
        out->v[i] = pitch[1] * v[i];
    }
}

fbp_status fbp_c_arm_views(const struct fbp_circle *given, const struct fbp_panel *panel,
                           struct fbp_view *views)
{
    FBP_GIVEN(panel, views);
    struct fbp_circle own, *const circle = &own;

    fbp_message_clear();
    FBP_TRY(fbp_check_circle(given, &own));
    FBP_TRY(fbp_check_panel("c-arm", panel));
    if (!fbp_kind_of(circle->kind)->has_source)
        return fbp_fail(FBP_ERR_INVALID, "c-arm: only a cone beam: use --kind cone");
    const double share = (double)panel->n_columns / REFERENCE_COLUMNS;
    for (size_t k = 0; k < circle->n_views; k++)
        c_arm_view(circle->angles_rad[k], circle->sod_mm[circle->n_sod > 1 ? k : 0],
                   circle->sdd_mm[circle->n_sdd > 1 ? k : 0], circle, share, &views[k]);
    return FBP_OK;
}

/* Whole scans and volumes: one view or slice a work item, written by the thread that made it, so
 * that memory is one picture a thread. */

/* What a worker owns. */
struct bench {
    void *picture; /* floats, or doubles if params.in_double */
    double *row;
    double *sums; /* a sample of all frames */
    struct fbp_shadow *shadows;
    struct fbp_spans spans;
};

struct job {
    const struct fbp_phantom *phantom;
    const struct fbp_ball *balls;
    const struct fbp_body *bodies;
    const struct fbp_scan *scan;
    const struct fbp_grid *grid;
    float scale; /* of the voxels */
    struct fbp_simulate_params params;
    fbp_sink *sink;
    struct bench *benches;
    int n_threads;
};

static void add_noise(const struct job *job, size_t view, size_t n, float *p)
{
    const double i0 = job->params.noise_i0, sd = job->params.noise_sd;

    for (size_t i = 0; (i0 > 0 || sd > 0) && i < n && (i % 4096 || !fbp_stopped()); i++) {
        struct fbp_random random = fbp_random_at(job->params.seed, view, i);
        if (i0 > 0)
            p[i] = (float)-log(fmax(fbp_poisson(&random, i0 * exp(-(double)p[i])), 1) / i0);
        if (sd > 0)
            p[i] = (float)((double)p[i] + sd * fbp_normal(&random));
    }
}

static void add_noise_double(const struct job *job, size_t view, size_t n, double *p)
{
    const double sd = job->params.noise_sd;

    for (size_t i = 0; sd > 0 && i < n && (i % 4096 || !fbp_stopped()); i++) {
        struct fbp_random random = fbp_random_at(job->params.seed, view, i);
        p[i] += sd * fbp_normal(&random);
    }
}

/* A view that is complete. */
static fbp_status put_view(struct job *job, size_t k, void *view)
{
    const size_t n = job->scan->panel.n_columns * job->scan->panel.n_rows;

    if (job->params.in_double) {
        add_noise_double(job, k, n, view);
        FBP_TRY(fbp_go_on());
        return fbp_sink_write_double(job->sink, k, 1, view);
    }
    add_noise(job, k, n, view);
    FBP_TRY(fbp_go_on());
    return fbp_sink_write(job->sink, k, 1, view);
}

/* Line integrals. */
static fbp_status project_lines(void *user, size_t k, int worker)
{
    struct job *job = user;
    const struct fbp_scan *scan = job->scan;
    struct bench *b = &job->benches[worker];

    fbp_shadow_view(job->balls, job->phantom->n, &scan->views[k], scan->kind, &scan->panel,
                    b->shadows, b->row, b->picture);
    if (job->phantom->n_shapes > 0)
        FBP_TRY(fbp_bodies_view(job->bodies, job->phantom, &scan->views[k], scan->kind,
                                &scan->panel, &b->spans, b->picture));
    return put_view(job, k, b->picture);
}

/* What body i adds to each frame. */
static void fade(const struct job *job, size_t i, double value, double *sums)
{
    const size_t n = job->scan->panel.n_rows;
    const double life = job->params.decay > 0 ? job->params.decay : (double)n / 2;

    sums[0] += value;
    for (size_t r = 1; r < n; r++)
        sums[r] += value * exp(-(double)r / (life * (double)(i + 1)));
}

/* Plane integrals: sample c of a view is that of n . x = d . n + (c - middle) tau, u = tau n, or
 * the mean of those from half a sample before it to half a sample behind it.  Rows are frames. */
static fbp_status project_planes(void *user, size_t k, int worker)
{
    struct job *job = user;
    const struct fbp_panel *panel = &job->scan->panel;
    const struct fbp_view *view = &job->scan->views[k];
    const size_t n_bodies = job->phantom->n + job->phantom->n_shapes;
    const struct bench *b = &job->benches[worker];
    double n[3] = {view->u[0], view->u[1], view->u[2]};
    const double tau = fbp_normalise(n), middle = fbp_dot(view->d, n);

    for (size_t c = 0; c < panel->n_columns && !fbp_stopped(); c++) {
        const double t = middle + ((double)c - ((double)panel->n_columns - 1) / 2) * tau;
        double *sums = b->sums;
        memset(sums, 0, panel->n_rows * sizeof *sums);
        for (size_t i = 0; i < n_bodies; i++)
            fade(job, i,
                 job->params.at_centres ? fbp_body_plane(&job->bodies[i], n, t)
                                        : fbp_body_plane_mean(&job->bodies[i], n, t, tau),
                 sums);
        for (size_t r = 0; r < panel->n_rows; r++)
            if (job->params.in_double)
                ((double *)b->picture)[r * panel->n_columns + c] = sums[r];
            else
                ((float *)b->picture)[r * panel->n_columns + c] = (float)sums[r];
    }
    return put_view(job, k, b->picture);
}

/* What an integral is over: what fills a view, and the bodies that it needs. */
static const struct {
    fbp_pool_try_fn *project;
    fbp_status (*bodies)(const struct fbp_phantom *phantom, struct fbp_body **out);
    bool counts; /* are there photons, whose noise is Poisson's? */
} integral_of[FBP_N_INTEGRALS] = {
    [FBP_OVER_LINES] = {project_lines, fbp_bodies_of, true},
    [FBP_OVER_PLANES] = {project_planes, fbp_sections_of, false},
};

static fbp_status fill_slice(void *user, size_t z, int worker)
{
    struct job *job = user;
    float *picture = job->benches[worker].picture;

    FBP_TRY(fbp_phantom_voxels(job->phantom, job->grid, z, z + 1, picture));
    for (size_t i = 0; i < job->grid->n[0] * job->grid->n[1]; i++)
        picture[i] *= job->scale;
    return fbp_sink_write(job->sink, z, 1, picture);
}

static void free_benches(struct job *job)
{
    for (int i = 0; job->benches && i < job->n_threads; i++) {
        fbp_free(job->benches[i].picture);
        free(job->benches[i].row);
        free(job->benches[i].sums);
        free(job->benches[i].shadows);
        fbp_spans_free(&job->benches[i].spans);
    }
    free(job->benches);
}

static fbp_status alloc_benches(struct job *job, const size_t n[3])
{
    size_t pixels, bytes;

    FBP_TRY(fbp_mul(n[0], n[1], "picture", &pixels));
    const size_t size = job->params.in_double ? sizeof(double) : sizeof(float);
    FBP_TRY(fbp_mul(pixels, size, "picture", &bytes));
    FBP_TRY(fbp_calloc((void **)&job->benches, (size_t)job->n_threads, sizeof *job->benches,
                       "workers"));
    for (int i = 0; i < job->n_threads; i++) {
        struct bench *b = &job->benches[i];
        FBP_TRY(fbp_alloc(&b->picture, bytes, "picture"));
        FBP_TRY(fbp_calloc((void **)&b->row, n[0], sizeof *b->row, "row of a view"));
        FBP_TRY(fbp_calloc((void **)&b->sums, n[1], sizeof *b->sums, "a sample of all frames"));
        FBP_TRY(
            fbp_calloc((void **)&b->shadows, job->phantom->n + 1, sizeof *b->shadows, "shadows"));
        FBP_TRY(fbp_spans_alloc(&b->spans, job->phantom->n_shapes));
    }
    return FBP_OK;
}

/* Run fn for every slice of an array described by info, into the job's sink. */
static fbp_status fill(struct job *job, const struct fbp_array_info *info, fbp_pool_try_fn *fn)
{
    fbp_pool *pool = NULL;
    fbp_status st;

    if (job->n_threads <= 0)
        job->n_threads = fbp_core_count();
    if ((size_t)job->n_threads > info->n[2])
        job->n_threads = (int)info->n[2];
    FBP_TRY_GOTO(alloc_benches(job, info->n));
    FBP_TRY_GOTO(fbp_pool_create(&pool, job->n_threads));
    FBP_TRY_GOTO(fbp_pool_try(pool, info->n[2], fn, job));
    st = fbp_sink_finish(job->sink);
fail:
    fbp_pool_destroy(&pool);
    free_benches(job);
    return st;
}

/* ... at path. */
static fbp_status run(struct job *job, const struct fbp_array_info *info, const char *path,
                      fbp_pool_try_fn *fn)
{
    FBP_TRY(fbp_sink_open(
        &job->sink, path, info,
        &(struct fbp_sink_params){.struct_size = sizeof(struct fbp_sink_params),
                                  .type = job->params.in_double ? FBP_F64 : FBP_F32}));
    const fbp_status st = fill(job, info, fn);
    fbp_sink_close(&job->sink);
    return st;
}

static void projections_info(const struct fbp_scan *scan, struct fbp_array_info *info)
{
    const struct fbp_panel *p = &scan->panel;
    const double u = fbp_norm(scan->views[0].u), v = fbp_norm(scan->views[0].v);
    const double pitch[2] = {u, v > 0 ? v : 1}; /* rows of plane integrals are no places */

    *info = (struct fbp_array_info){
        .struct_size = sizeof *info,
        .n = {p->n_columns, p->n_rows, scan->n_views},
        .type = FBP_F32,
        .has_spacing = true,
        .spacing_mm = {pitch[0], pitch[1], 1},
        .origin_mm = {-((double)p->n_columns - 1) / 2 * pitch[0],
                      -((double)p->n_rows - 1) / 2 * pitch[1], 0},
        .row_order = FBP_ROWS_BOTTOM_UP,
    };
}

static fbp_status check_double(const struct fbp_simulate_params *p, enum fbp_kind kind)
{
    FBP_TRY(fbp_check_choice("phantom: in_double", (long)p->in_double, 1));
    if (p->in_double && fbp_kind_of(kind)->integral != FBP_OVER_PLANES)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "phantom: float64 is for plane integrals (kind planes), views of kind %s "
                        "are float32",
                        fbp_kind_of(kind)->name);
    return FBP_OK;
}

static fbp_status check_params(const struct fbp_simulate_params *p, enum fbp_kind kind)
{
    FBP_TRY(check_double(p, kind));
    FBP_TRY(fbp_check_optional(&fbp_range_noise, "phantom: noise_i0", p->noise_i0));
    FBP_TRY(fbp_check_optional(&fbp_range_noise_sd, "phantom: noise_sd", p->noise_sd));
    FBP_TRY(fbp_check_range(&fbp_range_threads, "phantom: n_threads", p->n_threads));
    FBP_TRY(fbp_check_optional(&fbp_range_decay, "phantom: decay", p->decay));
    if (p->noise_i0 > 0 && !integral_of[fbp_kind_of(kind)->integral].counts)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "phantom: kind %s counts no photons: give its noise as a standard "
                        "deviation (--noise-sd)",
                        fbp_kind_of(kind)->name);
    return FBP_OK;
}

/* Views of a scan that was checked, to path or, where that is NULL, to `memory`. */
static fbp_status simulate(struct job *job, const char *path, void *memory)
{
    const enum fbp_integral integral = fbp_kind_of(job->scan->kind)->integral;
    struct fbp_array_info info;
    struct fbp_ball *balls = NULL;
    struct fbp_body *bodies = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_balls_of(job->phantom, &balls));
    FBP_TRY_GOTO(integral_of[integral].bodies(job->phantom, &bodies));
    projections_info(job->scan, &info);
    job->balls = balls;
    job->bodies = bodies;
    job->n_threads = job->params.n_threads;
    if (job->params.sink) {
        job->sink = job->params.sink;
        st = fill(job, &info, integral_of[integral].project);
    } else if (path) {
        st = run(job, &info, path, integral_of[integral].project);
    } else {
        FBP_TRY_GOTO(job->params.in_double ? fbp_sink_memory_double(&job->sink, memory, info.n)
                                           : fbp_sink_memory(&job->sink, memory, info.n));
        st = fill(job, &info, integral_of[integral].project);
        fbp_sink_close(&job->sink);
    }
fail:
    free(balls);
    free(bodies);
    return st;
}

/* What the caller gives, checked; to path or to memory. */
static fbp_status simulate_given(const struct fbp_phantom *phantom, const struct fbp_scan *given,
                                 const struct fbp_simulate_params *params, const char *path,
                                 void *memory)
{
    struct fbp_scan whole, *const scan = &whole;
    struct job job = {.phantom = phantom, .scan = scan};

    fbp_message_clear();
    FBP_TRY(FBP_TAKE(scan, scan, given));
    FBP_TRY(FBP_TAKE(simulate_params, &job.params, params));
    FBP_TRY(fbp_because("phantom", fbp_check_scan(scan)));
    FBP_TRY(check_params(&job.params, scan->kind));
    if ((path != NULL) + (memory != NULL) + (job.params.sink != NULL) != 1)
        return fbp_fail(FBP_ERR_INVALID,
                        "phantom: views go to a path, into memory or to a sink: give one of them");
    return simulate(&job, path, memory);
}

fbp_status fbp_phantom_simulate(const struct fbp_phantom *phantom, const struct fbp_scan *scan,
                                const char *path, const struct fbp_simulate_params *params)
{
    FBP_GIVEN(phantom);
    return simulate_given(phantom, scan, params, path, NULL);
}

fbp_status fbp_phantom_simulate_memory(const struct fbp_phantom *phantom,
                                       const struct fbp_scan *scan, void *samples,
                                       const struct fbp_simulate_params *params)
{
    FBP_GIVEN(phantom);
    return simulate_given(phantom, scan, params, NULL, samples);
}

fbp_status fbp_phantom_views(const struct fbp_phantom *phantom, const struct fbp_scan *scan,
                             int n_threads, float *out)
{
    struct job job = {.phantom = phantom, .scan = scan, .params.n_threads = n_threads};

    return simulate(&job, NULL, out);
}

fbp_status fbp_phantom_project(const struct fbp_phantom *phantom, const struct fbp_scan *scan,
                               const char *path, double noise_i0, uint64_t seed, int n_threads)
{
    FBP_GIVEN(phantom);
    return fbp_phantom_simulate(
        phantom, scan, path,
        &(struct fbp_simulate_params){.struct_size = sizeof(struct fbp_simulate_params),
                                      .noise_i0 = noise_i0,
                                      .seed = seed,
                                      .n_threads = n_threads});
}

static fbp_status write_volume(const struct fbp_phantom *phantom, const struct fbp_grid *grid,
                               enum fbp_kind kind, enum fbp_unit unit, const char *path,
                               int n_threads)
{
    struct fbp_array_info info = {.struct_size = sizeof info,
                                  .type = FBP_F32,
                                  .has_spacing = true,
                                  .row_order = FBP_ROWS_BOTTOM_UP};

    FBP_TRY(fbp_because("phantom", fbp_check_grid(grid)));
    FBP_TRY(fbp_check_range(&fbp_range_threads, "phantom: n_threads", n_threads));
    snprintf(info.unit, sizeof info.unit, "%s", fbp_value_unit(kind, unit));
    for (int i = 0; i < 3; i++) {
        info.n[i] = grid->n[i];
        info.spacing_mm[i] = grid->voxel_mm[i];
        info.origin_mm[i] = fbp_grid_coordinate(grid, i, 0);
    }
    struct job job = {.phantom = phantom,
                      .grid = grid,
                      .scale = (float)fbp_value_scale(kind, unit),
                      .n_threads = n_threads};
    return run(&job, &info, path, fill_slice);
}

fbp_status fbp_phantom_volume(const struct fbp_phantom *phantom, const struct fbp_grid *grid,
                              const char *path, int n_threads)
{
    FBP_GIVEN(phantom, grid, path);
    fbp_message_clear();
    return write_volume(phantom, grid, FBP_CONE, FBP_UNIT_MM, path, n_threads);
}

fbp_status fbp_phantom_truth(const struct fbp_phantom *phantom, const struct fbp_scan *given,
                             enum fbp_unit unit, const char *path, int n_threads)
{
    FBP_GIVEN(phantom, path);
    struct fbp_scan scan;

    fbp_message_clear();
    FBP_TRY(FBP_TAKE(scan, &scan, given));
    FBP_TRY(fbp_check_kind("scan.kind", scan.kind));
    FBP_TRY(fbp_check_choice("phantom: unit", (long)unit, FBP_UNIT_CM));
    return write_volume(phantom, &scan.volume, scan.kind, unit, path, n_threads);
}
