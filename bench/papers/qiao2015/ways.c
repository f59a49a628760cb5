/* Ways of doing the job of S4: by plans of the library, and by kernels with the paper's arguments.
 */
#include "bench/papers/qiao2015/measure.h"

#include "base/base.h"
#include "base/system.h"
#include "base/threads.h"
#include "bench/common/modules.h"
#include "pipeline/job.h"

#include <math.h>
#include <stdio.h>

enum { BLOCK = 256, MOST_BLOCK = 1024 };

/* By plans. */

/* A plan, and where its voxels go: the object, or floats that become it. */
struct planned {
    fbp_plan *plan;
    float *floats; /* NULL: the object */
};

/* One run of a plan; its stages apart if it was made so. */
static fbp_status run_plan(struct fbp_s4 *s, const struct planned *p, struct fbp_report *report)
{
    const size_t *n = s->scan.volume.n;
    fbp_sink *sink = NULL;
    fbp_status st;

    *report = (struct fbp_report){.struct_size = sizeof *report};
    FBP_TRY(fbp_sink_memory(&sink, p->floats ? (void *)p->floats : s->object,
                            p->floats ? FBP_F32 : FBP_F64, n));
    st = fbp_plan_run_to(p->plan, NULL, sink, report);
    fbp_sink_close(&sink);
    return st;
}

/* Of a run whose stages are apart.  The pictures of two stages are computed as they are read, from
 * rows that are filtered then: all of that is computing. */
static void take_stages(const struct fbp_report *r, bool two, bool first, struct fbp_s4_time *out)
{
    const double compute = two ? r->total - r->write : r->backproject;

    out->filter = two ? NAN : first ? r->filter : fmin(out->filter, r->filter);
    out->compute = first ? compute : fmin(out->compute, compute);
    out->gather = first ? r->write : fmin(out->gather, r->write);
}

/* The fastest of the runs, after one that does not count. */
static fbp_status time_plan(struct fbp_s4 *s, const struct planned *p, size_t runs, bool apart,
                            struct fbp_s4_time *out)
{
    const bool two = fbp_plan_info(p->plan)->n_pictures > 0;
    struct fbp_report r;

    FBP_TRY(run_plan(s, p, &r));
    for (size_t i = 0; i < runs; i++) {
        FBP_TRY(run_plan(s, p, &r));
        if (apart)
            take_stages(&r, two, i == 0, out);
        else
            out->total = i == 0 ? r.total : fmin(out->total, r.total);
    }
    return FBP_OK;
}

static void describe(const fbp_plan *plan, struct fbp_s4_time *out)
{
    const struct fbp_plan_summary *info = fbp_plan_info(plan);

    snprintf(out->backend, sizeof out->backend, "%s", info->backend);
    snprintf(out->kernel, sizeof out->kernel, "%s", info->kernel);
    snprintf(out->isa, sizeof out->isa, "%s", info->isa);
    out->n_threads = info->n_threads;
}

static fbp_status measure(struct fbp_s4 *s, struct fbp_recon_params *params, float *floats,
                          size_t runs, struct fbp_s4_time *out)
{
    struct planned p = {.floats = floats};
    fbp_status st = FBP_OK;

    for (int apart = 0; apart < 2; apart++) {
        const double begin = fbp_seconds();
        params->tuning.no_overlap = apart;
        FBP_TRY_GOTO(fbp_plan_create(&p.plan, &s->scan, params));
        FBP_TRY_GOTO(fbp_plan_open(p.plan));
        if (!apart)
            out->open = fbp_seconds() - begin;
        FBP_TRY_GOTO(time_plan(s, &p, runs, apart, out));
        describe(p.plan, out);
        fbp_plan_destroy(&p.plan);
    }
    return FBP_OK;
fail:
    fbp_plan_destroy(&p.plan);
    return st;
}

/* Of floats, the object is made of them afterwards. */
static fbp_status run_way(struct fbp_s4 *s, struct fbp_recon_params *p, size_t runs,
                          struct fbp_s4_time *out)
{
    const size_t *n = s->scan.volume.n, voxels = n[0] * n[1] * n[2];
    float *floats = NULL;

    if (p->precision != FBP_PRECISION_DOUBLE)
        FBP_TRY(fbp_alloc((void **)&floats, voxels * sizeof *floats, "an object"));
    const fbp_status st = measure(s, p, floats, runs, out);
    for (size_t i = 0; st == FBP_OK && floats && i < voxels; i++)
        s->object[i] = (double)floats[i];
    fbp_free(floats);
    return st;
}

fbp_status fbp_s4_run(struct fbp_s4 *s, const struct fbp_s4_way *way, struct fbp_s4_time *out)
{
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {s->scan.panel.n_columns, 1, s->scan.n_views},
                                        .type = FBP_F32,
                                        .row_order = FBP_ROWS_BOTTOM_UP};
    struct fbp_recon_params p = {.struct_size = sizeof p,
                                 .device = way->device ? way->device : "cpu",
                                 .precision = way->precision,
                                 .epr.stages = way->stages,
                                 .epr.angles = way->resampled ? s->rings : 0,
                                 .n_threads = s->n_threads};

    fbp_message_clear();
    FBP_TRY(fbp_check_process(s->process, "S4"));
    *out = (struct fbp_s4_time){0};
    s->done = false;
    FBP_TRY(fbp_source_memory(&p.input.source, s->views, &info));
    const fbp_status st = run_way(s, &p, way->runs > 0 ? way->runs : 1, out);
    fbp_source_close(&p.input.source);
    s->done = st == FBP_OK;
    return st;
}

/* By kernels with the paper's arguments. */

static fbp_status find_kernels(const struct fbp_s4_kernels **out)
{
    const struct fbp_backend *backend;
    int devices[FBP_MOST_DEVICES];
    size_t n = 0;

    FBP_TRY(fbp_devices_listed("cuda", &backend, devices, &n));
    *out = bench_device_of(backend)->s4;
    if (!*out)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "S4: %s has no kernels with the paper's arguments",
                        backend->name);
    return FBP_OK;
}

static struct fbp_s4_arguments arguments_of(const struct fbp_s4 *s)
{
    const size_t q = s->scan.n_views;

    return (struct fbp_s4_arguments){.projection = s->filtered,
                                     .gx = s->gx,
                                     .gy = s->gx + q,
                                     .gz = s->gx + 2 * q,
                                     .d_object = s->d,
                                     .d_proj = s->d,
                                     .n = (int)s->scan.volume.n[0],
                                     .q = (int)q,
                                     .s = (int)s->scan.panel.n_columns};
}

/* Refuse what the kernels with the paper's launch cannot compute, and replace a block of 0 by the
 * usual one. */
static fbp_status check_launch(const struct fbp_s4_arguments *a, enum fbp_s4_kernel kernel,
                               unsigned *block)
{
    const bool own_launch = kernel != FBP_S4_REGISTERS;

    if (own_launch && a->s % 2)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "S4: the paper's kernel needs an even number of samples, got %d: it halves "
                        "the number without a remainder, which shifts t by half a sample",
                        a->s);
    if (own_launch && a->n > MOST_BLOCK)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "S4: the paper's kernel takes at most %d voxels per side, got %d",
                        MOST_BLOCK, a->n);
    if (*block == 0)
        *block = own_launch ? (unsigned)a->n : BLOCK;
    if (*block > MOST_BLOCK || (own_launch && *block != (unsigned)a->n))
        return fbp_fail(FBP_ERR_UNSUPPORTED, "S4: no blocks of %u threads", *block);
    return FBP_OK;
}

static fbp_status launch_all(struct fbp_s4 *s, const struct fbp_s4_kernels *k,
                             enum fbp_s4_kernel kernel, unsigned block, size_t runs,
                             struct fbp_s4_launch *out)
{
    const struct fbp_s4_arguments a = arguments_of(s);
    struct fbp_s4_launch one;

    for (size_t i = 0; i < runs; i++) {
        FBP_TRY(k->run(0, &a, kernel, block, s->object, &one));
        if (i == 0)
            *out = one;
        out->send = fmin(out->send, one.send);
        out->compute = fmin(out->compute, one.compute);
        out->gather = fmin(out->gather, one.gather);
        out->launch = fmin(out->launch, one.launch);
        out->gather_launched = fmin(out->gather_launched, one.gather_launched);
        out->copied = fmin(out->copied, one.copied);
    }
    return FBP_OK;
}

fbp_status fbp_s4_launch(struct fbp_s4 *s, enum fbp_s4_kernel kernel, unsigned block, size_t runs,
                         struct fbp_s4_launch *out)
{
    const struct fbp_s4_arguments a = arguments_of(s);
    const struct fbp_s4_kernels *k;

    fbp_message_clear();
    FBP_TRY(fbp_check_process(s->process, "S4"));
    FBP_TRY(check_launch(&a, kernel, &block));
    FBP_TRY(find_kernels(&k));
    s->done = false;
    FBP_TRY(launch_all(s, k, kernel, block, runs > 0 ? runs : 1, out));
    s->done = true;
    return FBP_OK;
}

fbp_status fbp_s4_occupancy(struct fbp_s4 *s, enum fbp_s4_kernel kernel, unsigned block,
                            struct fbp_s4_occupancy *out)
{
    const struct fbp_s4_arguments a = arguments_of(s);
    const struct fbp_s4_kernels *k;
    struct fbp_s4_gpu gpu;

    fbp_message_clear();
    FBP_TRY(fbp_check_process(s->process, "S4"));
    FBP_TRY(check_launch(&a, kernel, &block));
    FBP_TRY(find_kernels(&k));
    FBP_TRY(k->describe(0, &gpu));
    *out = (struct fbp_s4_occupancy){0};
    FBP_TRY(k->occupancy(0, &a, kernel, block, out));
    out->paper_threads = fbp_s4_paper_threads(&gpu, block);
    return FBP_OK;
}

fbp_status fbp_s4_gpu(struct fbp_s4_gpu *out)
{
    const struct fbp_s4_kernels *k;

    fbp_message_clear();
    FBP_TRY(find_kernels(&k));
    return k->describe(0, out);
}
