/* Compares slices of the last run of Ino et al. (2010) with an ordinary reconstruction and with
 * double precision, and times an ordinary reconstruction. Called by command.c.
 * Used by: command.c. */
#include "bench/papers/ino2010/measure.h"

#include "base/base.h"
#include "base/system.h"
#include "base/threads.h"
#include "bench/common/memory.h"
#include "bench/common/truth.h"
#include "bench/common/views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLICES = 2, BATCH = 40 /* a multiple of launches of 5 (the paper's) and of 8 views */ };

struct slices {
    size_t z0, n, voxels;
    float *ours, *plain;
    float *samples; /* the compared voxels of `ours` */
    struct fbp_bench_truth truth;
};

/* Reconstruct the views of the session by an ordinary plan on the first n devices. */
static fbp_status reconstruct(const fbp_s2 *s, size_t n, struct fbp_recon_params *p, float *out,
                              struct fbp_s2_time *time)
{
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {s->plan.n_columns, s->plan.n_rows, s->plan.n_views},
                                        .type = FBP_F32};
    const double start = fbp_seconds();
    fbp_plan *plan = NULL;
    fbp_sink *sink = NULL;
    fbp_status st = FBP_OK;
    char device[400];
    int at = snprintf(device, sizeof device, "%s", s->backend->name);

    for (size_t i = 0; i < n; i++)
        at +=
            snprintf(device + at, sizeof device - (size_t)at, "%c%d", i ? ',' : ':', s->devices[i]);
    p->device = device;
    FBP_TRY(fbp_source_memory(&p->input.source, s->views, &info));
    FBP_TRY_GOTO(fbp_plan_create(&plan, s->scan, p));
    FBP_TRY_GOTO(fbp_plan_open(plan));
    time->init = fbp_seconds() - start;
    FBP_TRY_GOTO(fbp_bench_sink(plan, out, &sink));
    FBP_TRY_GOTO(fbp_plan_run_to(plan, NULL, sink, NULL));
    time->total = fbp_seconds() - start;
fail:
    fbp_sink_close(&sink);
    fbp_plan_destroy(&plan);
    fbp_source_close(&p->input.source);
    return st;
}

/* The middle slices, whole, on the first device. */
static fbp_status reconstruct_slices(const fbp_s2 *s, const struct slices *c)
{
    struct fbp_recon_params p = s->params;
    struct fbp_s2_time unused;

    p.tuning.batch_views = BATCH;
    p.box[2][0] = c->z0;
    p.box[2][1] = c->z0 + c->n;
    return reconstruct(s, 1, &p, c->plain, &unused);
}

static void compare_plain(const struct slices *c, struct fbp_s2_error *out)
{
    for (size_t i = 0; i < c->voxels; i++) {
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bits are compared */
        out->n_different += memcmp(&c->ours[i], &c->plain[i], sizeof *c->ours) != 0;
        out->plain_max = fmax(out->plain_max, fabs((double)c->ours[i] - (double)c->plain[i]));
    }
}

static fbp_status compare_truth(const fbp_s2 *s, struct slices *c, struct fbp_s2_error *out)
{
    const struct fbp_job *job = &s->tables.job;

    FBP_TRY(fbp_bench_truth_make(&c->truth, job, s->views, c->z0, c->n, s->pool, s->n_threads));
    FBP_TRY(fbp_calloc((void **)&c->samples, c->truth.n, sizeof *c->samples, "samples"));
    fbp_bench_truth_pick(&c->truth, &job->grid, c->z0, c->n, c->ours, c->samples);
    const struct fbp_bench_difference d = fbp_bench_truth_compare(&c->truth, c->samples);
    out->rmse = d.rmse;
    out->max = d.max;
    out->psnr_db = d.psnr_db;
    return FBP_OK;
}

fbp_status fbp_s2_compare(fbp_s2 *s, struct fbp_s2_error *out)
{
    const struct fbp_grid *g = &s->tables.job.grid;
    struct slices c = {.n = g->n[2] < SLICES ? g->n[2] : SLICES};
    fbp_status st = FBP_OK;

    fbp_message_clear();
    if (!s->complete)
        return fbp_fail(FBP_ERR_INVALID,
                        "ino2010: there is no volume to compare: run the job first");
    c.z0 = (g->n[2] - c.n) / 2;
    c.voxels = c.n * g->n[0] * g->n[1];
    *out = (struct fbp_s2_error){.n_slices = c.n, .n_voxels = c.voxels};
    FBP_TRY_GOTO(fbp_alloc((void **)&c.ours, c.voxels * sizeof *c.ours, "slices"));
    FBP_TRY_GOTO(fbp_alloc((void **)&c.plain, c.voxels * sizeof *c.plain, "slices"));
    FBP_TRY_GOTO(s2_volume_get(s, c.z0, c.z0 + c.n, c.ours));
    FBP_TRY_GOTO(
        fbp_bench_project(s->scan, 0.5 * (double)g->n[0] * g->voxel_mm[0], s->n_threads, s->views));
    FBP_TRY_GOTO(reconstruct_slices(s, &c));
    compare_plain(&c, out);
    FBP_TRY_GOTO(compare_truth(s, &c, out));
fail:
    fbp_bench_truth_clear(&c.truth);
    free(c.samples);
    fbp_free(c.plain);
    fbp_free(c.ours);
    return st;
}

fbp_status fbp_s2_reconstruct(fbp_s2 *s, size_t n_devices, struct fbp_s2_time *out)
{
    struct fbp_recon_params p = {.struct_size = sizeof p,
                                 .n_threads = s->n_threads,
                                 .device_memory_bytes = s->device_limit,
                                 .filter = FBP_FILTER_SHEPP_LOGAN,
                                 .precision = FBP_PRECISION_FAST};

    fbp_message_clear();
    *out = (struct fbp_s2_time){.n_devices = n_devices, .init = NAN, .total = NAN};
    if (s->plan.in_file)
        return FBP_OK;
    s->complete = false;
    return reconstruct(s, n_devices, &p, s->volume.voxels, out);
}
