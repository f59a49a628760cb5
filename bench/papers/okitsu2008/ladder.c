/* Measures Table 4 of Okitsu et al. (2008): the same job by the kernel of each step. Called by
 * command.c.
 * Used by: accounts.c, command.c. */
#include "bench/papers/okitsu2008/text.h"

#include "bench/common/modules.h"

#include <math.h>
#include <string.h>

struct recon_args s0_arguments(const struct s0_session *s, const struct s0_case *kind, bool apart)
{
    struct recon_args r = {
        RECON_ARGS,
        .p = *fbp_recon_params(.device = s->a->device, .n_threads = s->a->threads,
                               .memory_bytes = s->a->memory, .filter = FBP_FILTER_SHEPP_LOGAN,
                               .tuning.no_overlap = apart, .callbacks.progress = progress_update,
                               .callbacks.user = s->progress),
        .scan = kind->matrices ? s->place->matrices : s->place->scan,
    };

    if (kind->spatial)
        r.p.filtering.half_width = s->a->size / 2, r.p.filtering.spatial = true;
    r.p.tuning.kernel = kind->kernel;
    r.p.tuning.batch_views = kind->batch;
    return r;
}

/* Views per batch: a multiple of the views per launch for all I and J (but I = J = 4), and of the
 * groups of the device. */
enum { BATCH = 120 };

const struct s0_step s0_steps[S0_STEPS] = {
    {"naive", "s0-naive", 436.7, 1, 1},
    {"#1 coalescing", "s0-1", 27.0, 1, 1},
    {"#2 global access reduction", "s0-2", 15.6, 3, 1},
    {"#3 local access reduction", "s0-3", 13.5, 3, 1},
    {"#4 local access elimination", "s0-4", 5.7, 3, 1},
    {"proposed: latency hiding", "s0", 4.3, 3, 2},
    {"also merged: one access for J", "s0-merged", NAN, 3, 2},
};

static const struct s0_step without[S0_WITHOUT] = {
    {"without #1", "s0-without-1", NAN, 3, 2},    {"without #2 (I = 1)", "s0-i1-j2", NAN, 1, 2},
    {"without #3", "s0-without-3", NAN, 3, 2},    {"without #4", "s0-without-4", NAN, 3, 2},
    {"without J (J = 1)", "s0-i3-j1", NAN, 3, 1},
};

#define SWEEP(i)                                                            \
    {                                                                       \
        {"", "s0-i" #i "-j1", NAN, i, 1}, {"", "s0-i" #i "-j2", NAN, i, 2}, \
        {                                                                   \
            "", "s0-i" #i "-j4", NAN, i, 4                                  \
        }                                                                   \
    }
static const struct s0_step sweep[S0_SWEEP_I][S0_SWEEP_J] = {SWEEP(1), SWEEP(2), SWEEP(3),
                                                             SWEEP(4), SWEEP(5), SWEEP(6)};

/* Run one kernel into `output` (NULL: only make the plan); sets backend and isa of the ladder, and
 * the report. */
static int run_kernel(const struct s0_session *s, const char *kernel, enum fbp_precision precision,
                      const char *output, struct s0_ladder *ladder, struct fbp_report *report)
{
    const struct s0_case kind = {.spatial = true, .kernel = kernel, .batch = BATCH};
    struct recon_args r = s0_arguments(s, &kind, true);
    struct fbp_scan scan = {.struct_size = sizeof scan};
    fbp_plan *plan;

    r.p.precision = precision;
    int rc = recon_prepare(&r, &scan, &plan);
    if (rc == 0 && output) {
        const fbp_status st = fbp_plan_run(plan, output, report);
        progress_end(s->progress);
        rc = st == FBP_OK ? 0 : st == FBP_ERR_CANCELLED ? cli_error("interrupted") : cli_fail();
        ladder->backend = fbp_plan_info(plan)->backend;
        ladder->isa = fbp_plan_info(plan)->isa;
    }
    fbp_plan_destroy(&plan);
    fbp_scan_clear(&scan);
    return rc;
}

/* Time a step: the fastest run after the first one, whose volume is compared. */
static int time_step(const struct s0_session *s, const struct s0_step *step, const char *exact,
                     struct s0_ladder *ladder, struct s0_time *out)
{
    const double updates = pow((double)s->a->size, 3) * (double)s->a->views;
    struct fbp_comparison c = {.struct_size = sizeof c, .psnr_db = NAN};
    struct fbp_report r = {.struct_size = sizeof r};

    *out = (struct s0_time){.of = step, .filter = INFINITY, .backproject = INFINITY};
    int rc = run_kernel(s, step->kernel, FBP_PRECISION_FAST,
                        exact ? s->place->volume : "null:", ladder, &r);
    if (rc == 0 && exact && fbp_array_compare(s->place->volume, exact, 0, &c) != FBP_OK)
        rc = cli_fail();
    for (size_t i = 0; rc == 0 && i < s->a->runs; i++) {
        rc = run_kernel(s, step->kernel, FBP_PRECISION_FAST, "null:", ladder, &r);
        out->filter = fmin(out->filter, r.filter - r.upload);
        out->backproject = fmin(out->backproject, r.backproject);
    }
    out->psnr_db = c.psnr_db;
    out->gups = 1e-9 * updates / out->backproject;
    return rc;
}

static int run_sweep(const struct s0_session *s, const char *exact, struct s0_ladder *out)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < S0_WITHOUT; i++)
        rc = time_step(s, &without[i], exact, out, &out->without[i]);
    for (int i = 0; i < S0_SWEEP_I; i++)
        for (int j = 0; rc == 0 && j < S0_SWEEP_J; j++)
            rc = time_step(s, &sweep[i][j], NULL, out, &out->sweep[i][j]);
    out->swept = true;
    return rc;
}

int s0_run_ladder(const struct s0_session *s, struct s0_ladder *out)
{
    char exact[440];
    struct fbp_report r = {.struct_size = sizeof r};
    const struct fbp_backend *backend;

    *out =
        (struct s0_ladder){.size = s->a->size, .views = s->a->views, .half_width = s->a->size / 2};
    if (snprintf(exact, sizeof exact, "%s/exact.mha", s->place->dir) >= (int)sizeof exact)
        return cli_error("--dir: the path %.80s… is too long: choose another folder",
                         s->place->dir);
    int rc = run_kernel(s, "s0", FBP_PRECISION_FAST, NULL, out, &r); /* is there one? */
    if (rc == 0)
        rc = run_kernel(s, "column", FBP_PRECISION_EXACT, exact, out, &r);
    for (int i = 0; rc == 0 && i < S0_STEPS; i++)
        rc = time_step(s, &s0_steps[i], exact, out, &out->steps[i]);
    if (rc == 0 && s->a->sweep)
        rc = run_sweep(s, exact, out);
    if (rc == 0 && (fbp_bench_limits(s->a->device, &out->limits) != FBP_OK ||
                    fbp_bench_device(s->a->device, &backend) != FBP_OK ||
                    bench_device_of(backend)->s0_code(0, &out->filter_code, &out->proposed_code)))
        rc = cli_fail();
    return rc;
}
