/* Opens a session of Ino et al. (2010): devices, kernel, division into boxes, limits of memory;
 * nothing is computed here. Called by command.c.
 * Used by: command.c. */
#include "bench/papers/ino2010/measure.h"

#include "base/base.h"
#include "base/text.h"
#include "base/threads.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"
#include "pipeline/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAPER_LAUNCH = 5, GROUP = 8 };

/* Opening. */

/* All devices of a kind that is named without indices. */
static fbp_status find_devices(fbp_s2 *s, const struct fbp_s2_params *p)
{
    const char *name = p->device ? p->device : "auto";
    char all[40];
    size_t n = 0;

    FBP_TRY(fbp_devices_find(name, &s->backend, s->devices, &n));
    if (!strchr(name, ':') &&
        snprintf(all, sizeof all, "%s:all", s->backend->name) < (int)sizeof all)
        FBP_TRY(fbp_devices_find(all, &s->backend, s->devices, &n));
    s->plan.n_devices = p->most_devices && p->most_devices < n ? p->most_devices : n;
    struct fbp_device_info info = {.struct_size = sizeof info};
    snprintf(info.text, sizeof info.text, "%s", s->backend->summary);
    s->backend->discovery.describe(s->devices[0], &info);
    snprintf(s->plan.device, sizeof s->plan.device, "%.*s", (int)sizeof s->plan.device - 1,
             info.text);
    if (!s->backend->can.filtered_rows)
        return fbp_fail(
            FBP_ERR_UNSUPPORTED,
            "ino2010: device %s cannot copy filtered views to the host: use cpu, cuda or gl",
            s->backend->name);
    return FBP_OK;
}

/* Choose the paper's kernel, or one without symmetric voxels, which would lie in several boxes. */
static fbp_status arrange(fbp_s2 *s, const char *kernel)
{
    static const char *const usual[] = {"s2", "column", "matrix"};
    struct fbp_job *job = &s->tables.job;

    job->selection.requested = kernel;
    for (size_t i = 0; !kernel && i < sizeof usual / sizeof *usual; i++)
        if (s->backend->choose(job, usual[i]))
            return FBP_OK;
    FBP_TRY(fbp_job_arrange(job, s->backend));
    if (!job->selection.boxes || job->selection.symmetric_views > 1)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "ino2010: kernel %s computes symmetric voxels together, which lie in "
                        "several subvolumes: use column or matrix",
                        job->selection.name);
    return FBP_OK;
}

static fbp_status make_jobs(fbp_s2 *s, const struct fbp_s2_params *p)
{
    const size_t half = s->scan->panel.n_columns / 2;

    s->device_limit = p->device_memory_bytes;
    s->params = (struct fbp_recon_params){.struct_size = sizeof s->params,
                                          .device = s->backend->name,
                                          .n_threads = s->n_threads,
                                          .filter = FBP_FILTER_SHEPP_LOGAN,
                                          .filtering.spatial = true,
                                          .filtering.half_width = half > 0 ? half : 1,
                                          .precision = FBP_PRECISION_FAST};
    FBP_TRY(fbp_job_create(&s->tables, s->scan, &s->params, false));
    FBP_TRY(arrange(s, p->kernel));
    const struct fbp_job *job = &s->tables.job;
    s->params.tuning.kernel = job->selection.name;
    if (job->padded.panel.n_columns != job->panel.n_columns)
        return fbp_fail(FBP_ERR_INVALID,
                        "ino2010: a panel with an offset is not supported: centre it");
    fbp_job_of_rows(job, &s->rows_prep, &s->rows);
    return FBP_OK;
}

static void describe_job(fbp_s2 *s)
{
    const struct fbp_job *job = &s->tables.job;
    struct fbp_s2_plan *p = &s->plan;
    const bool papers = strcmp(job->selection.name, "s2") == 0;

    p->backend = s->backend->name;
    p->own_memory = s->backend->can.own_memory;
    p->kernel = job->selection.name;
    p->isa = job->selection.isa;
    p->n_views = job->n_views;
    p->n_columns = job->panel.n_columns;
    p->n_rows = job->panel.n_rows;
    memcpy(p->n, job->grid.n, sizeof p->n);
    p->half_width = s->params.filtering.half_width;
    p->launch_views = papers                                ? PAPER_LAUNCH
                      : s->backend->can.group_views > GROUP ? s->backend->can.group_views
                                                            : GROUP;
}

static uint64_t box_bytes(const void *user, size_t nx, size_t ny)
{
    const fbp_s2 *s = user;
    const struct fbp_slab box = {.nx = nx, .ny = ny, .nz = s->plan.n[2]};

    return s->backend->volume_bytes(&s->rows, &box);
}

/* Bytes of views on a device: two batches of views and filtered rows; two launches of views, raw
 * and in the layout of the kernel. */
static uint64_t device_views(const fbp_s2 *s)
{
    const struct fbp_s2_plan *p = &s->plan;
    const uint64_t view = s2_view_samples(s) * sizeof(float);

    return S2_SLOTS * ((2 * S2_FILTER_VIEWS + p->launch_views) * view +
                       s->backend->filtered_bytes(&s->rows, p->launch_views, p->n_rows));
}

static fbp_status divide(fbp_s2 *s, const struct fbp_s2_params *p)
{
    struct s2_needs needs = {.n = {s->plan.n[0], s->plan.n[1], s->plan.n[2]},
                             .n_devices = s->plan.n_devices,
                             .wanted = p->subvolumes,
                             .in_file = s->plan.in_file,
                             .device_limit = s->plan.device_limit,
                             .fixed_bytes = s->backend->fixed_bytes(&s->tables.job) +
                                            s->backend->fixed_bytes(&s->rows),
                             .views_bytes = device_views(s),
                             .box_bytes = box_bytes,
                             .user = s};

    return s2_divide(&needs, &s->plan);
}

/* Bytes of host memory: all views, slices that are being copied, and the buffers of devices without
 * memory of their own. */
static uint64_t host_needs(const fbp_s2 *s)
{
    const struct fbp_s2_plan *p = &s->plan;
    const uint64_t slice = p->box[0] * p->box[1] * sizeof(float), box = p->n[2] * slice;
    const uint64_t fit = slice > S2_STAGE_BYTES ? slice : S2_STAGE_BYTES;
    const uint64_t stage = box < fit ? box : fit;

    return p->views_bytes +
           p->n_devices * (S2_SLOTS * stage + (s->backend->in_host ? p->device_bytes : 0));
}

/* Keep the volume in memory if it fits; otherwise put it into a file, and divide it again. */
static fbp_status fit_host(fbp_s2 *s, const struct fbp_s2_params *p)
{
    struct fbp_s2_plan *plan = &s->plan;
    char needs[32], has[32];

    plan->host_limit = p->memory_bytes ? p->memory_bytes : fbp_available_bytes() / 5 * 4;
    FBP_TRY(divide(s, p));
    if (host_needs(s) + plan->volume_bytes > plan->host_limit) {
        plan->in_file = true;
        FBP_TRY(divide(s, p));
    }
    plan->host_bytes = host_needs(s) + (plan->in_file ? 0 : plan->volume_bytes);
    if (plan->host_bytes <= plan->host_limit)
        return FBP_OK;
    return fbp_fail(FBP_ERR_NOMEM,
                    "ino2010: all filtered views and the buffers take %s of the host's memory, %s "
                    "may be used: raise --memory, or use fewer or smaller views",
                    fbp_bytes_text(needs, sizeof needs, plan->host_bytes),
                    fbp_bytes_text(has, sizeof has, plan->host_limit));
}

static fbp_status decide(fbp_s2 *s, const struct fbp_s2_params *p)
{
    struct fbp_s2_plan *plan = &s->plan;
    size_t bytes;

    if (p->subvolumes > plan->n[0] * plan->n[1])
        return fbp_fail(FBP_ERR_INVALID,
                        "ino2010: %zu subvolumes are more than the %zu x %zu columns of the "
                        "volume: choose a smaller number",
                        p->subvolumes, plan->n[0], plan->n[1]);
    if (snprintf(s->folder, sizeof s->folder, "%s", p->folder ? p->folder : "/tmp") >=
        (int)sizeof s->folder)
        return fbp_fail(FBP_ERR_INVALID,
                        "ino2010: the path %.60s… is too long: choose another --dir", p->folder);
    FBP_TRY(fbp_mul(s2_view_samples(s) * sizeof(float), plan->n_views, "views", &bytes));
    plan->views_bytes = bytes;
    FBP_TRY(fbp_mul(plan->n[0] * plan->n[1] * sizeof(float), plan->n[2], "a volume", &bytes));
    plan->volume_bytes = bytes;
    plan->device_limit = fbp_device_free(s->backend, s->devices[0]);
    if (p->device_memory_bytes &&
        (!plan->device_limit || p->device_memory_bytes < plan->device_limit))
        plan->device_limit = p->device_memory_bytes;
    return fit_host(s, p);
}

fbp_status fbp_s2_open(fbp_s2 **out, const struct fbp_scan *scan, const struct fbp_s2_params *p)
{
    fbp_s2 *s = NULL;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(fbp_check_scan(scan));
    FBP_TRY(fbp_check_range(&fbp_range_threads, "ino2010: n_threads", p->n_threads));
    if (!fbp_kind_has_source(scan->kind) || scan->filtered)
        return fbp_fail(FBP_ERR_INVALID,
                        "ino2010: expected a cone-beam scan of unfiltered views: use such a scan");
    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a benchmark"));
    s->scan = scan;
    s->volume.fd = -1;
    s->n_threads = p->n_threads > 0 ? p->n_threads : fbp_core_count();
    FBP_TRY_GOTO(find_devices(s, p));
    FBP_TRY_GOTO(make_jobs(s, p));
    describe_job(s);
    FBP_TRY_GOTO(decide(s, p));
    *out = s;
    return FBP_OK;
fail:
    fbp_s2_close(&s);
    return st;
}

void fbp_s2_close(fbp_s2 **s2)
{
    fbp_s2 *s = *s2;

    if (!s)
        return;
    s2_volume_close(s);
    if (s->keeper) {
        fbp_host_put(s->backend, s->keeper, s->views);
        s->backend->close(&s->keeper);
    }
    fbp_pool_destroy(&s->pool);
    fbp_job_clear(&s->tables);
    free(s);
    *s2 = NULL;
}

const struct fbp_s2_plan *fbp_s2_about(const fbp_s2 *s)
{
    return &s->plan;
}
