/* What several parts ask of a plan. */
#include "pipeline/plan.h"

#include "array/array.h"
#include "array/far.h"
#include "array/file/growing.h"
#include "array/hold.h"
#include "array/ways.h"
#include "backend/rows.h"
#include "backend/slab.h"
#include "base/contain.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/sizes.h"
#include "base/stop.h"
#include "base/text.h"
#include "geometry/kind.h"
#include "geometry/ranges.h"
#include "pipeline/division.h"
#include "pipeline/job.h"
#include "prep/bad_pixels.h"
#include "prep/traces.h"
#include "scan/file/corrections.h"
#include "scan/file/images.h"
#include "scan/file/preparation.h"

#include <stdio.h>
#include <string.h>

const struct fbp_job_tables *fbp_plan_measured(const fbp_plan *p)
{
    return p->stages.used ? &p->stages.first : &p->tables;
}

void fbp_plan_note(const fbp_plan *p, enum fbp_log_level level, const char *line)
{
    char safe[1200]; /* words of files may be in it */

    if (!p->params.log)
        return;
    fbp_printable(safe, sizeof safe, line, strlen(line), "");
    p->params.log(p->params.user, level, safe);
}

size_t fbp_stored_views(const struct fbp_scan *scan)
{
    return scan->stored_views ? scan->stored_views : scan->n_views;
}

const char *fbp_plan_source_name(const fbp_plan *p)
{
    return p->params.source ? "views" : p->scan->projections;
}

/* Making a plan, and what it tells. */

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

/* The views of a plan: opened, reduced, held, and compared with what the scan says. */

/* What is wrong with the steps is said of the scan file, unless that is the file of the rows. */
static fbp_status prepare(const struct fbp_scan *scan, fbp_source **source)
{
    const fbp_status st = fbp_traces_open(source, *source, scan);
    const char *path = scan->path;

    return path && strncmp(path, scan->projections, strlen(path)) != 0 ? fbp_because(path, st) : st;
}

/* The caller's source, or the scan's projections: views as they are stored. */
fbp_status fbp_plan_source_open(const fbp_plan *p, fbp_source **source)
{
    const bool prepared = p->scan->preparation != NULL;

    *source = p->params.source;
    if (*source && !prepared)
        return FBP_OK;
    if (*source)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "scan: prepare: views from memory are taken as they are: prepare them "
                        "before, or name a file");
    if (!p->scan->projections)
        return fbp_fail(FBP_ERR_INVALID, "scan: no projections are named: add \"projections\"");
    if (p->params.follow)
        FBP_TRY(fbp_source_follow(source, p->scan->projections, &p->scan->raw,
                                  p->params.follow_timeout_s));
    else
        FBP_TRY(fbp_source_open(source, p->scan->projections, &p->scan->raw));
    return prepared ? prepare(p->scan, source) : FBP_OK;
}

/* Views as the scan has them, on top of stored ones if they are not those; *out goes first.  In
 * memory, if they are to be read in any order and the file cannot be. */
fbp_status fbp_plan_source_reduce(fbp_plan *p, fbp_source *stored, fbp_source **out)
{
    *out = stored;
    if (fbp_reduces(&p->reduction))
        FBP_TRY(
            fbp_source_reduce(out, stored, &p->reduction, p->top_down, fbp_plan_prep(p)->left_out));
    FBP_TRY(fbp_plan_source_stages(p, stored, out));
    return p->hold ? fbp_source_hold(out, *out, *out != stored) : FBP_OK;
}

void fbp_plan_source_drop(fbp_source *stored, fbp_source **out)
{
    if (*out != stored)
        fbp_source_close(out);
}

void fbp_plan_source_close(const fbp_plan *p, fbp_source **source)
{
    if (!p->params.source)
        fbp_source_close(source);
}

/* Frames are in the order of the file, whatever rows of pictures are. */
static bool is_top_down(const struct fbp_scan *s, const struct fbp_array_info *info)
{
    const enum fbp_row_order order = s->row_order == FBP_ROWS_AUTO ? info->row_order : s->row_order;

    return order == FBP_ROWS_TOP_DOWN && !fbp_kind_of(s->kind)->row_is_frame;
}

/* Are there as many stored views and pixels as the scan says? */
static fbp_status check_size(const fbp_plan *p, const struct fbp_array_info *info)
{
    const struct fbp_panel *panel = &p->reduction.stored;

    if (info->n[0] == panel->n_columns && info->n[1] == panel->n_rows &&
        info->n[2] == fbp_stored_views(p->scan))
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: holds %zu views of %zu rows x %zu columns, the scan says %zu of %zu x "
                    "%zu: correct the scan file",
                    fbp_plan_source_name(p), info->n[2], info->n[1], info->n[0],
                    fbp_stored_views(p->scan), panel->n_rows, panel->n_columns);
}

/* What reading them takes, and what they are. */
static void take_facts(fbp_plan *p, const fbp_source *source)
{
    const struct fbp_array_info *info = fbp_source_info(source);
    const uint64_t bytes =
        (uint64_t)info->n[0] * info->n[1] * info->n[2] * fbp_type_size(info->type);
    const enum fbp_type stored = source->below ? source->stored_type : info->type;

    p->in_order = fbp_source_in_order(source);
    p->unpacks = fbp_source_unpacks(source);
    p->held_bytes = fbp_source_bytes(source, 0);
    p->reader_bytes = fbp_source_bytes(source, 1) - p->held_bytes;
    p->hold_bytes = fbp_hold_bytes(source);
    p->follow = fbp_source_grows(source);
    p->type = info->scale != 0 ? FBP_F32 : info->type; /* scaled numbers are no counts */
    p->info.input_bytes = source->below ? source->stored_bytes : bytes;
    if (info->scale == 0 && stored != FBP_F32 && stored != FBP_F64 &&
        !fbp_scan_is_intensity(p->scan))
        fbp_plan_note(
            p, FBP_LOG_WARNING,
            "projections are integers but neither flat nor i0 is given: they are taken as line "
            "integrals; add \"i0\" or \"flat\" to the scan if they are counts");
}

/* What is done with rows before they are filtered: steps of a spectrometer's, or corrections. */
static fbp_status describe_preparation(fbp_plan *p)
{
    struct fbp_corrections c;

    fbp_preparation_describe(p->scan->preparation, p->info.prepared, sizeof p->info.prepared);
    if (p->info.prepared[0])
        return FBP_OK;
    FBP_TRY(fbp_corrections_of(p->scan, &c));
    fbp_corrections_describe(&c, p->info.prepared, sizeof p->info.prepared);
    return FBP_OK;
}

/* The projections must be what the scan says; tells which way their rows run. */
fbp_status fbp_plan_take_source(fbp_plan *p)
{
    fbp_source *source = NULL, *reduced = NULL;
    fbp_status st = FBP_OK;

    fbp_reduction_of(p->scan, &p->reduction);
    FBP_TRY(fbp_plan_source_open(p, &source));
    const struct fbp_array_info *info = fbp_source_info(source);
    if (info->taken[0])
        fbp_plan_note(p, FBP_LOG_NOTE, info->taken);
    if (info->missing[0])
        fbp_plan_note(p, FBP_LOG_WARNING, info->missing);
    FBP_TRY_GOTO(describe_preparation(p));
    FBP_TRY_GOTO(check_size(p, info));
    p->top_down = is_top_down(p->scan, info);
    if (p->scan->find_bad_pixels && p->params.follow) {
        st = fbp_fail(FBP_ERR_UNSUPPORTED, "bad_pixels: auto reads the whole scan first, so it "
                                           "excludes --follow: remove one of the two");
        goto fail;
    }
    FBP_TRY_GOTO(fbp_bad_pixels_find(&p->whole_scan, source, p->top_down, &p->images));
    FBP_TRY_GOTO(fbp_plan_make_stages(p));
    FBP_TRY_GOTO(fbp_plan_source_reduce(p, source, &reduced));
    take_facts(p, reduced);
    fbp_plan_source_drop(source, &reduced);
fail:
    fbp_plan_source_close(p, &source);
    return st;
}

fbp_status fbp_plan_check_source(const fbp_plan *p, const fbp_source *source)
{
    const struct fbp_array_info *info = fbp_source_info(source);
    const struct fbp_panel *panel = &p->reduction.stored;

    if (info->n[0] == panel->n_columns && info->n[1] == panel->n_rows &&
        info->n[2] == fbp_stored_views(p->scan) && is_top_down(p->scan, info) == p->top_down &&
        ((info->type == FBP_U16 && info->scale == 0) || p->tables.job.raw != FBP_U16))
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "views: %zu of %zu rows x %zu columns, %s, are not like those the plan was "
                    "made for: make another plan",
                    info->n[2], info->n[1], info->n[0], fbp_type_name(info->type));
}

static int gives_up(void *user, size_t n_there)
{
    (void)user, (void)n_there;
    return fbp_go_on() != FBP_OK;
}

fbp_status fbp_plan_source_await(const fbp_plan *p, fbp_source *stored)
{
    FBP_TRY(fbp_far_settle(fbp_source_far(stored)));
    return p->follow
               ? FBP_OK
               : fbp_source_await(stored, fbp_source_info(stored)->n[2], gives_up, NULL, NULL);
}

/* A plan of two stages: the job that is divided and run is that of the pictures, and what is read
 * is a source of them. */

/* The scan that is filtered: what was measured, corrected, or resampled. */
static const struct fbp_scan *filtered_scan(const fbp_plan *p)
{
    return p->rectify.used  ? &p->rectify.scan
           : p->ahead.used  ? &p->ahead.scan
           : p->angles.used ? &p->angles.scan
                            : p->scan;
}

static fbp_status make_rectify(fbp_plan *p)
{
    FBP_TRY(fbp_rectify_create(&p->rectify, filtered_scan(p), &p->params.volume, p->top_down));
    fbp_rectify_describe(&p->rectify, p->info.prepared, sizeof p->info.prepared);
    if (p->rectify.warning[0])
        fbp_plan_note(p, FBP_LOG_WARNING, p->rectify.warning);
    return FBP_OK;
}

static fbp_status make_angles(fbp_plan *p)
{
    if (p->params.angles == 0)
        return FBP_OK;
    if (p->params.follow)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "angles: resampling needs all views at once, and does not follow a scan: "
                        "leave one of the two out");
    return fbp_angles_create(&p->angles, p->scan, p->params.angles, p->params.ring_interpolation);
}

fbp_status fbp_plan_make_stages(fbp_plan *p)
{
    FBP_TRY(fbp_plan_make_ahead(p));
    FBP_TRY(make_angles(p));
    FBP_TRY(make_rectify(p));
    if (p->params.stages < 2)
        return FBP_OK;
    return fbp_stages_create(&p->stages, filtered_scan(p), &p->params, p->backend, p->top_down);
}

fbp_status fbp_plan_make_job(fbp_plan *p)
{
    struct fbp_recon_params second = p->params;

    if (!p->stages.used)
        return fbp_job_create(&p->tables, filtered_scan(p), &p->params, p->top_down);
    second.volume = (struct fbp_grid){0}; /* the scan of the pictures has it */
    second.interpolation = FBP_INTERPOLATION_LINEAR;
    second.periodic = 0;
    second.unit = FBP_UNIT_MM; /* it is that of what was measured, not of the pictures */
    FBP_TRY(fbp_job_create(&p->tables, &p->stages.scan, &second, false));
    p->tables.job.scale = p->stages.first.job.scale;
    p->tables.job.second = true;
    p->tables.job.series = fbp_frames(&p->stages.first.job);
    p->tables.job.rows_are_slices = p->stages.planes.pole == 2;
    return FBP_OK;
}

fbp_status fbp_plan_source_stages(fbp_plan *p, const fbp_source *stored, fbp_source **source)
{
    p->mended = (struct fbp_prep_counts){0};
    p->ahead_done = (struct fbp_ahead_done){0};
    if (p->ahead.as_read)
        FBP_TRY(fbp_source_retrieved(source, &p->ahead, *source, *source != stored,
                                     &p->ahead_done.mended));
    else if (p->ahead.used)
        FBP_TRY(
            fbp_source_corrected(source, &p->ahead, *source, *source != stored, &p->ahead_done));
    if (p->rectify.used)
        FBP_TRY(fbp_source_rectified(source, &p->rectify, *source, *source != stored,
                                     p->ahead.used ? NULL : &p->ahead_done.mended));
    if (p->angles.used)
        FBP_TRY(fbp_source_resampled(source, &p->angles, *source, *source != stored, &p->mended));
    if (p->stages.used)
        FBP_TRY(fbp_source_pictures(source, p->pictures, &p->stages, *source, *source != stored));
    return FBP_OK;
}

void fbp_plan_describe_stages(const fbp_plan *p, char *line, size_t n)
{
    const size_t used = strlen(line);

    if (p->angles.used)
        snprintf(line + used, n - used, "; rings and their weights resampled to %zu angles (%s)",
                 p->angles.n, fbp_ring_interpolation_name(p->angles.how));
    if (p->stages.used)
        fbp_stages_describe(&p->stages, line + strlen(line), n - strlen(line));
}

fbp_status fbp_plan_open_stages(fbp_plan *p)
{
    return p->stages.used && !p->pictures ? fbp_pictures_open(&p->pictures, &p->stages) : FBP_OK;
}

void fbp_plan_stages_look(const fbp_plan *p, fbp_look *look)
{
    if (p->pictures)
        fbp_pictures_look(p->pictures, look);
}

/* Of those that share a slab, the first one counts what each of them prepares: all views, but where
 * views are prepared as they are read. */
fbp_status fbp_plan_count_ahead(const fbp_plan *p, struct fbp_prep_counts *out)
{
    *out = (struct fbp_prep_counts){0};
    if (p->ranks.idle)
        return FBP_OK;
    if (p->pictures && p->ranks.part == 0)
        FBP_TRY(fbp_pictures_counts(p->pictures, out));
    if (p->ahead.as_read || (p->rectify.used && !p->ahead.used) || p->ranks.part == 0) {
        out->not_finite += p->ahead_done.mended.not_finite;
        out->clipped += p->ahead_done.mended.clipped;
    }
    if (p->ranks.part == 0)
        out->not_finite += p->mended.not_finite;
    return FBP_OK;
}

fbp_status fbp_plan_report_stages(const fbp_plan *p, struct fbp_report *report)
{
    struct fbp_prep_counts counts = {0};

    if (p->pictures) /* which are read by the second stage, as they are */
        report->not_finite = report->clipped = 0;
    if (!p->params.team) /* whose processes find that out at the end */
        FBP_TRY(fbp_plan_count_ahead(p, &counts));
    report->not_finite += counts.not_finite;
    report->clipped += counts.clipped;
    report->ahead = p->ahead_done.seconds;
    if (p->ahead_done.no_rings)
        fbp_plan_note(p, FBP_LOG_NOTE, "rings: no rings were found: the views are left unchanged");
    return FBP_OK;
}
