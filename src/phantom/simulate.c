/* Simulates scans of phantoms (fbp_phantom_simulate()) and writes their voxel means as volumes
 * (fbp_phantom_volume(); both public); also generates random numbers for noise, and the geometry
 * of a C-arm. Each thread computes and writes one view or slice at a time, so the memory is one
 * image per thread.
 * Used by: bench/common/jobs.c, bench/common/views.c, bench/rabbitct/make_command.c,
 * cli/cmd_simulate.c. */
#include "phantom/shapes.h"

#include "geometry/kind.h"
#include "geometry/ranges.h"

#include "base/math.h"
#include "base/threads.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Random numbers that depend only on seed, view and pixel, not on the number of threads. */

/* Output function of splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
 * generators", 2014. */
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

/* Draw a uniform variate: the centre of one of 2^52 equal intervals of (0, 1). */
static double uniform(struct fbp_random *r)
{
    r->state += golden;
    return ((double)(mix(r->state) >> 12) + .5) * 0x1p-52;
}

double fbp_poisson(struct fbp_random *r, double mean)
{
    if (mean < 10) { /* inversion: k is the number of probabilities P(0), P(1), ... whose sum is
                        less than u */
        double p = exp(-mean), u = uniform(r);
        int k = 0;
        while (u > p && k < 1000) {
            u -= p;
            p *= mean / ++k;
        }
        return k;
    }
    /* Transformed rejection: W. Hormann, "The transformed rejection method for generating Poisson
     * random variables", Insurance: Mathematics and Economics 12 (1993), algorithm PTRS. */
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

/* Box & Muller 1958: the first of the method's two variates. */
double fbp_normal(struct fbp_random *r)
{
    const double u = uniform(r), v = uniform(r);

    return sqrt(-2 * log(u)) * cos(2 * FBP_PI * v);
}

/* C-arm geometries. */

/* Coefficients of a smooth deviation at angle t of the source, at most 1 in magnitude: sum_k a_k
 * sin(k t + phase_k) / sum_k a_k, k = 1, 2, 3. */
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

/* Deviations of source and detector from a circle, with coefficients that were chosen by hand to
 * resemble a calibrated C-arm. */
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

fbp_status fbp_c_arm_views(const struct fbp_circle *given, const struct fbp_panel *panel,
                           struct fbp_view *views)
{
    FBP_REQUIRE(panel, views);
    const double deg = FBP_PI / 180, amplitude[3] = {.2 * deg, .3 * deg, .4 * deg};
    struct fbp_circle own, *const circle = &own;

    fbp_message_clear();
    FBP_TRY(fbp_check_circle(given, &own));
    FBP_TRY(fbp_check_panel("c-arm", panel));
    if (!fbp_kind_of(circle->kind)->has_source)
        return FBP_INVALID("c-arm: this trajectory needs a cone beam; use --kind cone");
    const double share = (double)panel->n_columns / REFERENCE_COLUMNS, *pitch = circle->pitch_mm;
    for (size_t k = 0; k < circle->n_views; k++) {
        const double t = circle->angles_rad[k];
        double u[3] = {-sin(t), cos(t), 0}, v[3] = {0, 0, 1}, n[3] = {cos(t), sin(t), 0};
        const double radius =
            circle->sod_mm[circle->n_sod > 1 ? k : 0] + 1.5 * wobble(&source_radius, t);
        const double focal =
            circle->sdd_mm[circle->n_sdd > 1 ? k : 0] * (1 + 7.0 / 3890 * wobble(&focal_length, t));
        const double shift_u =
            33 * share * pitch[0] * wobble(&principal_u, t) - circle->offset_mm[0];
        const double shift_v =
            10 * share * pitch[1] * wobble(&principal_v, t) - circle->offset_mm[1];
        struct fbp_view *out = &views[k];
        for (int i = 0; i < 3; i++)
            out->s[i] = radius * n[i];
        out->s[2] += -4.1 + 1.5 * wobble(&source_height, t);
        fbp_turn_pair(v, n, amplitude[0] * wobble(&turn[0], t));
        fbp_turn_pair(n, u, amplitude[1] * wobble(&turn[1], t));
        fbp_turn_pair(u, v, amplitude[2] * wobble(&turn[2], t));
        /* s - focal n is the principal point: the foot of the perpendicular from source to panel */
        for (int i = 0; i < 3; i++) {
            out->d[i] = out->s[i] - focal * n[i] - shift_u * u[i] - shift_v * v[i];
            out->u[i] = pitch[0] * u[i];
            out->v[i] = pitch[1] * v[i];
        }
    }
    return FBP_OK;
}

/* Buffers of one thread. */
struct bench {
    void *image;  /* floats, or doubles if params.in_double */
    double *row;  /* [n_columns] scratch of fbp_shadow_rows() */
    double *sums; /* [n_rows] plane integrals: one sample at all time points */
    struct fbp_shadow *shadows;
    struct fbp_spans spans;
};

struct job {
    const struct fbp_phantom *phantom;
    const struct fbp_ball *balls;
    const struct fbp_body *bodies;
    const struct fbp_scan *scan;
    const struct fbp_grid *grid;
    float scale; /* factor of voxel values */
    struct fbp_simulate_params params;
    fbp_sink *sink;
    struct bench *benches;
    int n_threads;
};

/* Add noise to view k if the parameters request it, and write the view to the sink. */
static fbp_status put_view(struct job *job, size_t k, void *view)
{
    const size_t n = job->scan->panel.n_columns * job->scan->panel.n_rows;
    const double i0 = job->params.noise_i0, sd = job->params.noise_sd;
    const bool in_double = job->params.in_double;
    double *const d = view;
    float *const p = view;

    for (size_t i = 0; (i0 > 0 || sd > 0) && i < n && (i % 4096 || !fbp_stopped()); i++) {
        struct fbp_random random = fbp_random_at(job->params.seed, k, i);
        if (in_double) { /* plane integrals: no photon noise */
            d[i] += sd * fbp_normal(&random);
            continue;
        }
        if (i0 > 0)
            p[i] = (float)-log(fmax(fbp_poisson(&random, i0 * exp(-(double)p[i])), 1) / i0);
        if (sd > 0)
            p[i] = (float)((double)p[i] + sd * fbp_normal(&random));
    }
    FBP_TRY(fbp_check_cancelled());
    return fbp_sink_write(job->sink, k, 1, in_double ? FBP_F64 : FBP_F32, view);
}

/* Work item: the line integrals of view k. */
static fbp_status project_lines(void *user, size_t k, int worker)
{
    struct job *job = user;
    const struct fbp_scan *scan = job->scan;
    struct bench *b = &job->benches[worker];

    fbp_shadow_rows(job->balls, job->phantom->n, &scan->views[k], scan->kind, &scan->panel, 0,
                    scan->panel.n_rows, b->shadows, b->row, b->image);
    if (job->phantom->n_shapes > 0)
        FBP_TRY(fbp_bodies_view(job->bodies, job->phantom, &scan->views[k], scan->kind,
                                &scan->panel, &b->spans, b->image));
    return put_view(job, k, b->image);
}

/* Compute the plane integrals of view k. With u = tau n, sample c belongs to the plane n . x = d .
 * n + (c - (n_columns - 1) / 2) tau. Its value is the integral over this plane if params.at_centres
 * is set, else the mean of the integrals over planes within tau / 2. Row r is time point r of a
 * decaying signal. */
static fbp_status project_planes(void *user, size_t k, int worker)
{
    struct job *job = user;
    const struct fbp_panel *panel = &job->scan->panel;
    const struct fbp_view *view = &job->scan->views[k];
    const size_t n_bodies = job->phantom->n + job->phantom->n_shapes;
    const struct bench *b = &job->benches[worker];
    const double life = job->params.decay > 0 ? job->params.decay : (double)panel->n_rows / 2;
    double n[3] = {view->u[0], view->u[1], view->u[2]};
    const double tau = fbp_normalise(n), middle = fbp_dot(view->d, n);

    for (size_t c = 0; c < panel->n_columns && !fbp_stopped(); c++) {
        const double t = middle + ((double)c - ((double)panel->n_columns - 1) / 2) * tau;
        double *sums = b->sums;
        memset(sums, 0, panel->n_rows * sizeof *sums);
        for (size_t i = 0; i < n_bodies; i++) {
            const double value = job->params.at_centres
                                     ? fbp_body_plane(&job->bodies[i], n, t)
                                     : fbp_body_plane_mean(&job->bodies[i], n, t, tau);
            sums[0] += value;
            for (size_t r = 1; r < panel->n_rows; r++) /* each body decays at a different rate */
                sums[r] += value * exp(-(double)r / (life * (double)(i + 1)));
        }
        for (size_t r = 0; r < panel->n_rows; r++)
            if (job->params.in_double)
                ((double *)b->image)[r * panel->n_columns + c] = sums[r];
            else
                ((float *)b->image)[r * panel->n_columns + c] = (float)sums[r];
    }
    return put_view(job, k, b->image);
}

/* Functions per kind of integral (over lines, over planes): `project` computes and writes a view,
 * `bodies` converts the phantom's shapes. */
static const struct {
    fbp_pool_try_fn *project;
    fbp_status (*bodies)(const struct fbp_phantom *phantom, struct fbp_body **out);
    bool counts; /* true: samples come from photon counts, and may have Poisson noise */
} integral_of[FBP_N_INTEGRALS] = {
    [FBP_OVER_LINES] = {project_lines, fbp_bodies_of, true},
    [FBP_OVER_PLANES] = {project_planes, fbp_sections_of, false},
};

/* Work item: slice z of a volume. */
static fbp_status fill_slice(void *user, size_t z, int worker)
{
    struct job *job = user;
    float *image = job->benches[worker].image;

    FBP_TRY(fbp_phantom_voxels(job->phantom, job->grid, z, z + 1, image));
    for (size_t i = 0; i < job->grid->n[0] * job->grid->n[1]; i++)
        image[i] *= job->scale;
    return fbp_sink_write(job->sink, z, 1, FBP_F32, image);
}

/* Call fn once per view or slice of the array that info describes, in threads, and finish
 * job->sink, to which fn writes them. */
static fbp_status fill(struct job *job, const struct fbp_array_info *info, fbp_pool_try_fn *fn)
{
    const size_t size = job->params.in_double ? sizeof(double) : sizeof(float), *n = info->n;
    size_t pixels, bytes;
    fbp_pool *pool = NULL;
    fbp_status st;

    if (job->n_threads <= 0)
        job->n_threads = fbp_core_count();
    if ((size_t)job->n_threads > n[2])
        job->n_threads = (int)n[2];
    FBP_TRY_GOTO(fbp_mul(n[0], n[1], "picture", &pixels));
    FBP_TRY_GOTO(fbp_mul(pixels, size, "picture", &bytes));
    FBP_TRY_GOTO(fbp_calloc((void **)&job->benches, (size_t)job->n_threads, sizeof *job->benches,
                            "workers"));
    for (int i = 0; i < job->n_threads; i++) {
        struct bench *b = &job->benches[i];
        FBP_TRY_GOTO(fbp_alloc(&b->image, bytes, "picture"));
        FBP_TRY_GOTO(fbp_calloc((void **)&b->row, n[0], sizeof *b->row, "row of a view"));
        FBP_TRY_GOTO(
            fbp_calloc((void **)&b->sums, n[1], sizeof *b->sums, "a sample of all frames"));
        FBP_TRY_GOTO(
            fbp_calloc((void **)&b->shadows, job->phantom->n + 1, sizeof *b->shadows, "shadows"));
        FBP_TRY_GOTO(fbp_spans_alloc(&b->spans, job->phantom->n_shapes));
    }
    FBP_TRY_GOTO(fbp_pool_create(&pool, job->n_threads));
    FBP_TRY_GOTO(fbp_pool_try(pool, n[2], fn, job));
    st = fbp_sink_finish(job->sink);
fail:
    fbp_pool_destroy(&pool);
    for (int i = 0; job->benches && i < job->n_threads; i++) {
        fbp_free(job->benches[i].image);
        free(job->benches[i].row);
        free(job->benches[i].sums);
        free(job->benches[i].shadows);
        fbp_spans_free(&job->benches[i].spans);
    }
    free(job->benches);
    return st;
}

/* Call fill() with a new file as the sink. */
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

/* Simulate the views of a checked scan; write them to params.sink if set, else to a file if `path`
 * is set, else to `memory`. */
static fbp_status simulate(struct job *job, const char *path, void *memory)
{
    const enum fbp_integral integral = fbp_kind_of(job->scan->kind)->integral;
    const struct fbp_panel *p = &job->scan->panel;
    const double u = fbp_norm(job->scan->views[0].u), v = fbp_norm(job->scan->views[0].v);
    const double pitch[2] = {u, v > 0 ? v : 1}; /* v = 0 for plane integrals */
    const struct fbp_array_info info = {
        .struct_size = sizeof info,
        .n = {p->n_columns, p->n_rows, job->scan->n_views},
        .type = FBP_F32,
        .has_spacing = true,
        .spacing_mm = {pitch[0], pitch[1], 1},
        .origin_mm = {-((double)p->n_columns - 1) / 2 * pitch[0],
                      -((double)p->n_rows - 1) / 2 * pitch[1], 0},
        .row_order = FBP_ROWS_BOTTOM_UP,
    };
    struct fbp_ball *balls = NULL;
    struct fbp_body *bodies = NULL;
    fbp_status st;

    FBP_TRY_GOTO(fbp_balls_of(job->phantom, &balls));
    FBP_TRY_GOTO(integral_of[integral].bodies(job->phantom, &bodies));
    job->balls = balls;
    job->bodies = bodies;
    job->n_threads = job->params.n_threads;
    if (job->params.sink) {
        job->sink = job->params.sink;
        st = fill(job, &info, integral_of[integral].project);
    } else if (path) {
        st = run(job, &info, path, integral_of[integral].project);
    } else {
        FBP_TRY_GOTO(
            fbp_sink_memory(&job->sink, memory, job->params.in_double ? FBP_F64 : FBP_F32, info.n));
        st = fill(job, &info, integral_of[integral].project);
        fbp_sink_close(&job->sink);
    }
fail:
    free(balls);
    free(bodies);
    return st;
}

fbp_status fbp_phantom_simulate(const struct fbp_phantom *phantom, const struct fbp_scan *given,
                                const char *path, const struct fbp_simulate_params *params)
{
    FBP_REQUIRE(phantom);
    struct fbp_scan whole, *const scan = &whole;
    struct job job = {.phantom = phantom, .scan = scan};

    fbp_message_clear();
    FBP_TRY(FBP_COPY_IN(scan, scan, given));
    FBP_TRY(FBP_COPY_IN(simulate_params, &job.params, params));
    FBP_TRY(fbp_error_context("phantom", fbp_check_scan(scan)));
    const struct fbp_simulate_params *p = &job.params;
    const char *kind = fbp_kind_of(scan->kind)->name;
    const enum fbp_integral integral = fbp_kind_of(scan->kind)->integral;
    FBP_TRY(fbp_check_choice("phantom: in_double", (long)p->in_double, 1));
    if (p->in_double && integral != FBP_OVER_PLANES)
        return FBP_UNSUPPORTED(
            "phantom: float64 is for plane integrals (kind planes) only; use float32 "
            "for views of kind %s",
            kind);
    FBP_TRY(fbp_check_optional(&fbp_range_noise, "phantom: noise_i0", p->noise_i0));
    FBP_TRY(fbp_check_optional(&fbp_range_noise_sd, "phantom: noise_sd", p->noise_sd));
    FBP_TRY(fbp_check_range(&fbp_range_threads, "phantom: n_threads", p->n_threads));
    FBP_TRY(fbp_check_optional(&fbp_range_decay, "phantom: decay", p->decay));
    if (p->noise_i0 > 0 && !integral_of[integral].counts)
        return FBP_UNSUPPORTED(
            "phantom: scans of kind %s have no photon counts; give the noise as a "
            "standard deviation (--noise-sd)",
            kind);
    if ((path != NULL) + (p->samples != NULL) + (p->sink != NULL) != 1)
        return FBP_INVALID("phantom: found several outputs for the views, or none; "
                           "give one of path, memory and sink");
    return simulate(&job, path, p->samples);
}

fbp_status fbp_phantom_volume(const struct fbp_phantom *phantom, const struct fbp_grid *grid,
                              enum fbp_kind kind, enum fbp_unit unit, const char *path,
                              int n_threads)
{
    FBP_REQUIRE(phantom, grid, path);
    struct fbp_array_info info = {.struct_size = sizeof info,
                                  .type = FBP_F32,
                                  .has_spacing = true,
                                  .row_order = FBP_ROWS_BOTTOM_UP};

    fbp_message_clear();
    FBP_TRY(fbp_check_kind("phantom: kind", kind));
    FBP_TRY(fbp_check_choice("phantom: unit", (long)unit, FBP_UNIT_CM));
    FBP_TRY(fbp_error_context("phantom", fbp_check_grid(grid)));
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
