/* Making a plan, and what it tells. */
#include "api/plan_team.h"

#include "array/ways.h"
#include "backend/rows.h"
#include "backend/slab.h"
#include "base/contain.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/sizes.h"
#include "base/stop.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"
#include "plan/estimate.h"
#include "plan/params.h"
#include "plan/roi.h"
#include "plan/wanted.h"
#include "scan/file/images.h"

#include <stdio.h>
#include <string.h>

/* What a region wants of the box, and what that saves beside the whole of it. */
static void fill_region(fbp_plan *p)
{
    struct fbp_plan_summary *i = &p->info;
    const struct fbp_job *job = &p->tables.job;
    struct fbp_job whole = *job;
    size_t first, n;

    if (!job->region)
        return;
    whole.region = NULL;
    fbp_roi_slices(&whole, &first, &n);
    const struct fbp_slab all = fbp_slab_asked(&whole, first, n);
    const double updates = (double)fbp_wanted_voxels(&whole, &all, first, first + n) *
                           (double)fbp_work_own_views(job, p->backend->group_views) *
                           (double)fbp_volumes(job);
    const double rows = (double)fbp_work_all(&whole).load_rows;
    fbp_roi_wanted(job, &i->region_slices[0], &i->region_slices[1]);
    i->region_voxels = fbp_region_count(job->region, i->region_slices[0], i->region_slices[1]);
    i->region_saves_updates = 1 - (double)i->updates / updates;
    i->region_saves_rows = rows > 0 ? 1 - (double)fbp_work_all(job).load_rows / rows : 0;
}

/* Of two stages the filter is that of the first. */
static void describe(fbp_plan *p)
{
    struct fbp_plan_summary *i = &p->info;
    const struct fbp_job *first = &fbp_plan_measured(p)->job;

    i->filtered = first->filtered;
    i->fft_length = first->filtered || first->spatial_filter ? 0 : first->filter->n_fft;
    fbp_job_describe(fbp_plan_measured(p), i->weights, sizeof i->weights);
    fbp_plan_describe_stages(p, i->weights, sizeof i->weights);
    if (!p->stages.used)
        return;
    i->n_pictures = p->stages.pictures.n_planes * fbp_frames(first);
    i->picture[0] = p->stages.pictures.n_columns;
    i->picture[1] = p->stages.pictures.n_rows;
    i->picture_updates = fbp_stages_updates(&p->stages);
}

/* Behind the size of the volume, and how often views are read. */
static void fill_bytes(fbp_plan *p)
{
    struct fbp_plan_summary *i = &p->info;
    const size_t *v = i->volume.n;

    i->memory_bytes = p->work.memory_bytes;
    i->device_bytes = p->work.device_bytes;
    if (p->ahead.used)
        i->input_bytes *= fbp_plan_retrievals(p);
    else if (!p->stages.used) /* which read once */
        i->input_bytes = (uint64_t)((double)i->input_bytes * i->view_reads);
    i->output_bytes =
        (uint64_t)v[0] * v[1] * fbp_plan_own_slices(p) * fbp_type_size(p->params.output_type);
}

static void fill_info(fbp_plan *p)
{
    struct fbp_plan_summary *i = &p->info;
    const struct fbp_job *job = &p->tables.job;
    const struct fbp_slab any = fbp_slab_asked(job, 0, 1);
    size_t first, n;

    fbp_roi_slices(job, &first, &n);
    fbp_roi_grid(job, &i->volume);
    i->whole = job->grid;
    fbp_axpy(i->volume.centre_mm, 1, p->tables.centre_mm, i->volume.centre_mm);
    fbp_axpy(i->whole.centre_mm, 1, p->tables.centre_mm, i->whole.centre_mm);

    i->backend = p->backend->name;
    i->kernel = job->chosen.kernel;
    i->isa = job->chosen.isa;
    i->n_devices = p->n_devices;
    i->n_threads = job->n_threads;
    memcpy(i->roi, job->roi, sizeof i->roi);
    i->struct_size = sizeof *i;
    i->facts = &fbp_plan_measured(p)->job.facts;
    describe(p);
    snprintf(i->unit, sizeof i->unit, "%s",
             p->params.mu_water > 0
                 ? "HU"
                 : fbp_value_unit(fbp_plan_measured(p)->job.kind, (enum fbp_unit)p->params.unit));
    i->n_slabs = fbp_work_slabs(&p->work, job);
    i->slab_slices = p->work.slab_slices;
    i->batch_views = p->work.batch_views;
    i->n_batches = p->work.n_batches;
    i->view_reads = p->work.view_reads;
    if (p->rows.used) {
        i->view_reads = p->rows.filtering.view_reads;
        i->scratch_reads = p->work.view_reads;
        i->scratch_bytes = fbp_rows_bytes(job);
    }
    i->frames = fbp_volumes(job);
    fill_bytes(p);
    i->updates = fbp_wanted_voxels(job, &any, first, first + n) * i->frames *
                 fbp_work_own_views(job, p->backend->group_views);
    i->part = p->params.part;
    i->n_parts = p->params.n_parts;
    i->follows = p->follow;
    i->keeps_views = p->work.kept;
    i->shares_views = p->work.shared;
    fill_region(p);
    if (i->predicted.total > 0)
        i->predicted.gups = (double)i->updates / i->predicted.total * 1e-9;
}

/* `auto` is the first kind of devices that has the precision. */
static const char *device_of(const struct fbp_recon_params *params)
{
    const char *device = params->device ? params->device : "auto";

    if (strcmp(device, "auto") != 0 || params->precision != FBP_PRECISION_DOUBLE)
        return device;
    for (size_t i = 0; fbp_backends[i]; i++)
        if (fbp_backends[i]->doubles && !fbp_backends[i]->hidden)
            return fbp_backends[i]->name;
    return device;
}

static fbp_status find_devices(fbp_plan *p)
{
    if (!p->target)
        return fbp_devices_find(device_of(&p->params), &p->backend, p->devices, &p->n_devices);
    p->backend = p->target->backend;
    p->n_devices = p->target->n_devices;
    return FBP_OK;
}

/* One that nobody has asked for by name must not be one that cannot do it. */
static void consider_others(fbp_plan *p)
{
    const struct fbp_backend *before = p->backend;
    char line[800];

    if (p->target || (p->params.device && strcmp(p->params.device, "auto") != 0))
        return;
    fbp_device_capable(fbp_backends, &p->tables.job, &p->backend, &p->devices[0], line,
                       sizeof line);
    if (p->backend == before)
        return;
    p->n_devices = 1;
    fbp_plan_note(p, FBP_LOG_NOTE, line);
}

/* While a plan is made: nothing is done yet, of something. */
static bool plan_stops(void *user)
{
    const fbp_plan *p = user;
    const struct fbp_progress none = {.struct_size = sizeof none, .total = 1};

    return p->params.progress && p->params.progress(p->params.user, &none);
}

static fbp_status make_plan(fbp_plan *p, const struct fbp_scan *scan)
{
    const struct fbp_recon_params *params = &p->params;
    const struct fbp_ways ways = {params->n_parts > 0, params->compress != 0};

    FBP_TRY(fbp_go_on());
    FBP_TRY(fbp_check_scan(scan));
    if (params->output)
        FBP_TRY(fbp_ways_check(params->output, NULL, &ways));
    FBP_TRY(find_devices(p));
    fbp_plan_take_cores(p);
    if (params->scratch && !p->target)
        FBP_TRY(fbp_scratch_check(params->scratch));
    fbp_contained_forget();
    FBP_TRY(fbp_plan_take_source(p));
    FBP_TRY(fbp_plan_make_job(p));
    consider_others(p);
    FBP_TRY(fbp_plan_take_card(p));
    p->contained_bytes = fbp_contained_bytes();
    FBP_TRY(fbp_plan_arrange_ahead(p));
    FBP_TRY(fbp_plan_consider_rows(p));
    fill_info(p);
    fbp_plan_remark(p);
    return FBP_OK;
}

fbp_status fbp_plan_create(fbp_plan **out, const struct fbp_scan *scan,
                           const struct fbp_recon_params *params)
{
    FBP_GIVEN(out);
    return fbp_plan_create_for(out, scan, params, NULL);
}

fbp_status fbp_plan_create_for(fbp_plan **out, const struct fbp_scan *scan,
                               const struct fbp_recon_params *params,
                               const struct fbp_plan_target *target)
{
    struct fbp_recon_params own;
    struct fbp_scan whole;
    fbp_plan *p = NULL;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(fbp_take_params(&own, params));
    FBP_TRY(FBP_TAKE(scan, &whole, scan));
    FBP_TRY(fbp_calloc((void **)&p, 1, sizeof *p, "plan"));
    p->whole_scan = whole;
    p->scan = &p->whole_scan;
    p->target = target;
    p->process = getpid();
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->idle, NULL);
    p->params = own;
    if (own.output_type == FBP_TYPE_NONE)
        p->params.output_type = own.precision == FBP_PRECISION_DOUBLE ? FBP_F64 : FBP_F32;
    if ((own.output_type == FBP_U8 || own.output_type == FBP_U16) && own.output_range[0] == 0 &&
        own.output_range[1] == 0) {
        p->params.output_range[0] = FBP_USUAL_HU_RANGE[0];
        p->params.output_range[1] = FBP_USUAL_HU_RANGE[1];
    }
    struct fbp_stop_scope scope = {.asked = plan_stops, .user = p};
    struct fbp_stop_scope *before = fbp_stop_scope(&scope);
    const fbp_status st = fbp_plan_agree(p, make_plan(p, p->scan));
    (void)fbp_stop_scope(before);
    if (st == FBP_OK)
        *out = p;
    else
        fbp_plan_destroy(&p);
    return st;
}

const struct fbp_plan_summary *fbp_plan_info(const fbp_plan *plan)
{
    FBP_GIVEN_ELSE(NULL, plan);
    return &plan->info;
}

fbp_status fbp_plan_estimate(const fbp_plan *p, double *seconds)
{
    FBP_GIVEN(p, seconds);
    fbp_message_clear();
    FBP_TRY(fbp_own_process(p->process, "plan"));
    double first = 0;
    if (p->stages.used)
        FBP_TRY(fbp_pictures_estimate(&p->stages, &first));
    if (p->ahead.used)
        FBP_TRY(fbp_ahead_estimate(&p->ahead, fbp_plan_retrievals(p), &first));
    first += fbp_rectify_seconds(&p->rectify) * (double)p->tables.job.n_views * p->info.view_reads /
             p->tables.job.n_threads;
    FBP_TRY(fbp_estimate(&p->tables.job, p->backend, p->devices[0], &p->work, p->info.view_reads,
                         seconds));
    *seconds += first;
    return FBP_OK;
}

/* Until no other thread runs the plan; false: this thread works for its run, which would wait, too.
 */
static bool await_runs(fbp_plan *p)
{
    if (p->process != getpid()) /* a child has no runs */
        return true;
    if (fbp_stop_flag() == &p->stop) {
        fbp_message_clear();
        (void)!fbp_fail(FBP_ERR_INVALID,
                        "plan: fbp_plan_destroy() was called by a callback of the plan's own run, "
                        "and did nothing: call fbp_plan_stop() there, and destroy the plan when "
                        "the run has returned");
        return false;
    }
    pthread_mutex_lock(&p->lock);
    while (p->n_runs > 0)
        pthread_cond_wait(&p->idle, &p->lock);
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->idle);
    return true;
}

void fbp_plan_destroy(fbp_plan **plan)
{
    FBP_GIVEN_ELSE(, plan);
    if (!*plan || !await_runs(*plan))
        return;
    if ((*plan)->process == getpid()) /* a child has neither its threads nor its devices */
        fbp_workers_close(&(*plan)->workers);
    if ((*plan)->process == getpid())
        fbp_pictures_close(&(*plan)->pictures);
    fbp_job_clear(&(*plan)->tables);
    fbp_stages_clear(&(*plan)->stages);
    fbp_angles_clear(&(*plan)->angles);
    fbp_rectify_clear(&(*plan)->rectify);
    fbp_ahead_clear(&(*plan)->ahead);
    fbp_plan_forget_sums(*plan);
    fbp_images_free((*plan)->images);
    free((*plan)->missing);
    free(*plan);
    *plan = NULL;
}
