/* The public reconstruction calls: validate once, then call down. */
#include "fbp/recon.h"

#include "array/format.h"
#include "array/growing.h"
#include "array/hold.h"
#include "array/spool.h"
#include "backend/partners.h"
#include "base/clock.h"
#include "base/contain.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/sizes.h"
#include "base/stop.h"
#include "base/text.h"
#include "geometry/ranges.h"
#include "plan/devices.h"
#include "plan/estimate.h"
#include "plan/job.h"
#include "plan/params.h"
#include "plan/roi.h"
#include "plan/shares.h"
#include "run/follow.h"
#include "run/run.h"
#include "run/worker.h"
#include "scan/reduce.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct fbp_plan {
    const struct fbp_scan *scan; /* the caller's, completed */
    struct fbp_scan whole_scan;
    struct fbp_recon_params params;
    struct fbp_job_tables tables;
    struct fbp_reduction reduction; /* of stored views to the scan's */
    const struct fbp_backend *backend;
    int devices[FBP_MOST_DEVICES];
    size_t n_devices;
    bool top_down, in_order, follow, unpacks; /* of the projections */
    uint64_t contained_bytes;                 /* of children, while files were looked at */
    uint64_t held_bytes, reader_bytes;
    bool hold; /* views that can only be read in order are kept once they are unpacked … */
    uint64_t hold_bytes;         /* … in so much memory */
    const char *kernel_unpacked; /* that would be taken if they were, with … */
    uint64_t unpacked_needs;     /* … so much memory, if there is too little; else 0 */
    enum fbp_type type;
    struct fbp_work work;
    struct fbp_plan_summary info;
    struct fbp_crew crew; /* of n_devices once the plan is open */
    const char *timeline; /* file that is drawn after a run */
    pid_t process;        /* that made it */
};

static void note(const fbp_plan *p, enum fbp_log_level level, const char *line)
{
    char safe[1200]; /* words of files may be in it */

    if (!p->params.log)
        return;
    fbp_printable(safe, sizeof safe, line, strlen(line), "");
    p->params.log(p->params.user, level, safe);
}

/* The caller's source, or the scan's projections: views as they are stored. */
static fbp_status open_source(const fbp_plan *p, fbp_source **source)
{
    *source = p->params.source;
    if (*source)
        return FBP_OK;
    if (!p->scan->projections)
        return fbp_fail(FBP_ERR_INVALID, "scan: no projections are named: add \"projections\"");
    if (p->params.follow)
        return fbp_source_follow(source, p->scan->projections, &p->scan->raw,
                                 p->params.follow_timeout_s);
    return fbp_source_open(source, p->scan->projections, &p->scan->raw);
}

/* Views as the scan has them, on top of stored ones if they are not those; *out goes first.  In
 * memory, if they are to be read in any order and the file cannot be. */
static fbp_status reduce_source(const fbp_plan *p, fbp_source *stored, fbp_source **out)
{
    *out = stored;
    if (fbp_reduces(&p->reduction))
        FBP_TRY(
            fbp_source_reduce(out, stored, &p->reduction, p->top_down, p->tables.prep.left_out));
    return p->hold ? fbp_source_hold(out, *out, *out != stored) : FBP_OK;
}

static void drop_reduced(fbp_source *stored, fbp_source **out)
{
    if (*out != stored)
        fbp_source_close(out);
}

static void close_source(const fbp_plan *p, fbp_source **source)
{
    if (!p->params.source)
        fbp_source_close(source);
}

static size_t stored_views(const struct fbp_scan *scan)
{
    return scan->stored_views ? scan->stored_views : scan->n_views;
}

static const char *projections_name(const fbp_plan *p)
{
    return p->params.source ? "views" : p->scan->projections;
}

static enum fbp_row_order order_of(const struct fbp_scan *s, const struct fbp_array_info *info)
{
    return s->row_order == FBP_ROWS_AUTO ? info->row_order : s->row_order;
}

/* Are there as many stored views and pixels as the scan says? */
static fbp_status check_size(const fbp_plan *p, const struct fbp_array_info *info)
{
    const struct fbp_panel *panel = &p->reduction.stored;

    if (info->n[0] == panel->n_columns && info->n[1] == panel->n_rows &&
        info->n[2] == stored_views(p->scan))
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: holds %zu views of %zu rows x %zu columns, the scan says %zu of %zu x "
                    "%zu: correct the scan file",
                    projections_name(p), info->n[2], info->n[1], info->n[0], stored_views(p->scan),
                    panel->n_rows, panel->n_columns);
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
        note(p, FBP_LOG_WARNING,
             "projections are integers but neither flat nor i0 is given: they are taken as line "
             "integrals; add \"i0\" or \"flat\" to the scan if they are counts");
}

/* The projections must be what the scan says; tells which way their rows run. */
static fbp_status check_projections(fbp_plan *p)
{
    fbp_source *source = NULL, *reduced = NULL;
    fbp_status st = FBP_OK;

    fbp_reduction_of(p->scan, &p->reduction);
    FBP_TRY(open_source(p, &source));
    const struct fbp_array_info *info = fbp_source_info(source);
    if (info->taken[0])
        note(p, FBP_LOG_NOTE, info->taken);
    FBP_TRY_GOTO(check_size(p, info));
    p->top_down = order_of(p->scan, info) == FBP_ROWS_TOP_DOWN;
    FBP_TRY_GOTO(reduce_source(p, source, &reduced));
    take_facts(p, reduced);
    drop_reduced(source, &reduced);
fail:
    close_source(p, &source);
    return st;
}

/* Does a scan of filtered views leave something of the parameters aside? */
static bool asks_for_filter(const struct fbp_recon_params *p)
{
    return p->filter != FBP_FILTER_RAM_LAK || p->cutoff > 0 || p->cutoff_v > 0 ||
           p->spatial_filter || p->half_width > 0 || p->pad ||
           p->angular_weights != FBP_ANGULAR_DEFAULT;
}

/* It was not held: say what would. */
static void note_kernel(const fbp_plan *p)
{
    char line[400], bytes[32], remedy[120] = "";

    if (!p->unpacked_needs)
        return;
    if (p->unpacked_needs > p->info.memory_limit)
        snprintf(remedy, sizeof remedy, "raise --memory to %s, or ",
                 fbp_bytes_text(bytes, sizeof bytes, p->unpacked_needs));
    snprintf(
        line, sizeof line,
        "%.200s can only be read in order, and memory does not hold its unpacked views: kernel "
        "%s in place of %s, so that values differ in their last digits: %sunpack it",
        projections_name(p), p->tables.job.chosen.kernel, p->kernel_unpacked, remedy);
    note(p, FBP_LOG_NOTE, line);
}

/* Along x and y: the middle of the farther side, from the axis.  That the corners of a square lie
 * outside a round field of view is usual and no reason to warn. */
static double side_reach(const struct fbp_grid *g)
{
    double reach = 0;

    for (int i = 0; i < 2; i++)
        reach = fmax(reach, fmax(fabs(fbp_grid_coordinate(g, i, 0)),
                                 fabs(fbp_grid_coordinate(g, i, (double)g->n[i] - 1))));
    return reach;
}

/* Who asks for more than can be seen, and more than the default volume, is told so. */
static void warn_about_volume(const fbp_plan *p)
{
    const struct fbp_geometry_facts *f = &p->tables.job.facts;
    const struct fbp_grid *g = &p->info.volume;
    const double *z = f->fov_half_height_mm, slack = 0.51 * g->voxel_mm[2];
    const double lo = fbp_grid_coordinate(g, 2, 0),
                 hi = lo + (double)(g->n[2] - 1) * g->voxel_mm[2];
    struct fbp_grid usual;
    char line[300];

    if (fbp_grid_default(fbp_scan_views(p->scan), &usual) != FBP_OK)
        return;
    const double reach = side_reach(g), most = fmax(f->fov_radius_mm, side_reach(&usual));
    const double end = (double)usual.n[2] / 2 * usual.voxel_mm[2];
    const double first = fmin(z[0], usual.centre_mm[2] - end);
    const double last = fmax(z[1], usual.centre_mm[2] + end);
    if (reach > most + 0.51 * fmax(g->voxel_mm[0], g->voxel_mm[1])) {
        snprintf(line, sizeof line,
                 "the volume reaches %.5g mm from the axis, the field of view %.5g mm: values "
                 "beyond it are not right: give a smaller volume, or --mask 0",
                 reach, f->fov_radius_mm);
        note(p, FBP_LOG_WARNING, line);
    }
    if (p->scan->panel.n_rows > 1 && (lo < first - slack || hi > last + slack)) {
        snprintf(line, sizeof line,
                 "the volume has slices from z = %.5g to %.5g mm, but all views see the axis from "
                 "%.5g to %.5g mm: slices beyond are not right: give a smaller volume, or --mask 0",
                 lo, hi, z[0], z[1]);
        note(p, FBP_LOG_WARNING, line);
    }
}

static void warn_about(const fbp_plan *p)
{
    char line[600];

    if (fbp_scan_assumed(p->scan, line, sizeof line) > 0)
        note(p, FBP_LOG_WARNING, line);
    if (p->scan->note)
        note(p, FBP_LOG_NOTE, p->scan->note);
    fbp_reduction_describe(&p->reduction, stored_views(p->scan), line, sizeof line);
    if (line[0])
        note(p, FBP_LOG_NOTE, line);
    if (p->tables.prep.n_left_out > 0) {
        snprintf(line, sizeof line, "%zu bad pixels are left out of the means",
                 p->tables.prep.n_left_out);
        note(p, FBP_LOG_NOTE, line);
    }
    warn_about_volume(p);
    for (size_t i = 0;
         !p->tables.job.filtered && fbp_geometry_remark(&p->tables.job.facts, i, line, sizeof line);
         i++)
        note(p, FBP_LOG_WARNING, line);
    if (!p->backend->has_precisions &&
        (p->params.precision == FBP_PRECISION_FAST || p->params.precision == FBP_PRECISION_HALF)) {
        snprintf(line, sizeof line, "%s has one precision, exact: --precision changes nothing",
                 p->backend->name);
        note(p, FBP_LOG_NOTE, line);
    }
    if (p->tables.job.filtered && asks_for_filter(&p->params))
        note(p, FBP_LOG_NOTE,
             "the views are weighted and filtered already: choices of filter and weights change "
             "nothing");
    p->backend->remark(&p->tables.job, line, sizeof line);
    if (line[0])
        note(p, FBP_LOG_NOTE, line);
    if (p->follow && p->work.n_slabs > p->n_devices) {
        snprintf(line, sizeof line,
                 "memory holds %zu of %zu slabs of the volume: only these follow the scan, and "
                 "after the last view the others read it again: raise --memory or --device-memory "
                 "to finish at once",
                 p->n_devices, p->work.n_slabs);
        note(p, FBP_LOG_WARNING, line);
    }
    note_kernel(p);
    if (p->tables.prep.n_bridges > 0) {
        snprintf(line, sizeof line, "%zu bad pixels are bridged from their neighbours",
                 p->tables.prep.n_bridges);
        note(p, FBP_LOG_NOTE, line);
    }
}

/* Most of what is free on each of the devices; 0: not known. */
static uint64_t device_limit(const fbp_plan *p)
{
    uint64_t least = p->params.device_memory_bytes;

    for (size_t i = 0; !p->params.device_memory_bytes && i < p->n_devices; i++) {
        const uint64_t available = fbp_device_free(p->backend, p->devices[i]);
        if (i == 0 || available < least)
            least = available;
    }
    return least;
}

/* Of the resident set, which is `resident` now. */
static uint64_t memory_limit(const fbp_plan *p, uint64_t resident)
{
    const uint64_t plan = p->params.memory_bytes, process = fbp_process_limit();
    const uint64_t limit = resident + (plan ? plan : fbp_available_bytes() / 5 * 4);

    if (plan && process)
        return limit < process ? limit : process;
    return process ? process : limit;
}

/* A run looks at its files again, before it has its buffers. */
static fbp_status count_children(const fbp_plan *p, uint64_t beside, uint64_t limit,
                                 struct fbp_work *work)
{
    const uint64_t all = beside + p->contained_bytes;
    char needs[32], child[32], has[32];

    if (p->contained_bytes == 0 || all <= work->memory_bytes)
        return FBP_OK;
    work->memory_bytes = all;
    if (all <= limit)
        return FBP_OK;
    return fbp_fail(FBP_ERR_NOMEM,
                    "memory: to look at the scan's files takes %s, of which %s in a process of its "
                    "own, the limit is %s: raise --memory, or store the views in another format",
                    fbp_bytes_text(needs, sizeof needs, all),
                    fbp_bytes_text(child, sizeof child, p->contained_bytes),
                    fbp_bytes_text(has, sizeof has, limit));
}

static fbp_status divide(fbp_plan *p, struct fbp_work *work)
{
    const struct fbp_recon_params *params = &p->params;
    const int readers = fbp_worker_movers(p->backend, &p->tables.job);
    const uint64_t source = p->held_bytes + p->n_devices * (uint64_t)readers * p->reader_bytes;
    const uint64_t own = source + fbp_look_bytes(&p->tables.job) +
                         (p->n_devices + 1) * (uint64_t)fbp_ledger_bytes(&p->tables.job) +
                         (params->mask ? fbp_mask_bytes(&p->tables.job) : 0);
    const uint64_t resident = fbp_resident_bytes();
    const struct fbp_work_request request = {
        .job = &p->tables.job,
        .backend = p->backend,
        .n_workers = p->n_devices,
        .base_bytes = resident + own,
        .memory_limit = memory_limit(p, resident),
        .device_limit = device_limit(p),
        .batch_views = params->batch_views,
        .slab_slices = params->slab_slices,
        .follow = p->follow,
        .even = params->no_overlap != 0,
    };

    p->info.memory_limit = request.memory_limit;
    FBP_TRY(fbp_work_divide(&request, work));
    return count_children(p, request.base_bytes, request.memory_limit, work);
}

/* Kernel and division, of views that are read in order or not. */
static fbp_status arrange(fbp_plan *p, bool in_order)
{
    struct fbp_job *job = &p->tables.job;

    job->in_order = in_order;
    job->turns = 1;
    job->mirrored = false;
    FBP_TRY(fbp_job_arrange(job, p->backend));
    job->raw = p->backend->takes_counts && p->type == FBP_U16 ? FBP_U16 : FBP_F32;
    return divide(p, &p->work);
}

/* A compressed scan gets the kernel of a plain one, and so the same bits, where that takes views in
 * their order, too, or where memory holds all of them. */
static fbp_status arrange_compressed(fbp_plan *p)
{
    struct fbp_job *job = &p->tables.job;

    FBP_TRY(fbp_job_arrange(job, p->backend));
    if (job->turns == 1 && !job->mirrored)
        return arrange(p, true);
    p->kernel_unpacked = job->chosen.kernel;
    p->held_bytes += p->hold_bytes;
    const fbp_status st = arrange(p, false);
    p->hold = st == FBP_OK;
    if (st != FBP_ERR_NOMEM)
        return st;
    p->unpacked_needs = p->work.memory_bytes;
    p->held_bytes -= p->hold_bytes;
    fbp_message_clear();
    return arrange(p, true);
}

static void fill_info(fbp_plan *p)
{
    struct fbp_plan_summary *i = &p->info;
    const struct fbp_job *job = &p->tables.job;
    size_t first, n;

    fbp_roi_layers(job, &first, &n);
    fbp_roi_grid(job, &i->volume);
    i->whole = job->grid;
    const size_t *v = i->volume.n, slices = fbp_layer_slices(job, first, first + n);

    i->backend = p->backend->name;
    i->kernel = job->chosen.kernel;
    i->isa = job->chosen.isa;
    i->n_devices = p->n_devices;
    i->n_threads = job->n_threads;
    memcpy(i->roi, job->roi, sizeof i->roi);
    i->struct_size = sizeof *i;
    i->facts = &job->facts;
    fbp_job_describe(&p->tables, i->weights, sizeof i->weights);
    i->n_slabs = p->work.n_slabs;
    i->slab_slices = fbp_layer_slices(job, first + n - p->work.slab_slices, first + n);
    i->batch_views = p->work.batch_views;
    i->n_batches = p->work.n_batches;
    i->view_reads = p->work.view_reads;
    i->filtered = job->filtered;
    i->fft_length = job->filtered || job->spatial_filter ? 0 : job->filter->n_fft;
    i->memory_bytes = p->work.memory_bytes;
    i->device_bytes = p->work.device_bytes;
    i->input_bytes = (uint64_t)((double)i->input_bytes * p->work.view_reads);
    i->output_bytes = (uint64_t)v[0] * v[1] * v[2] *
                      fbp_type_size(p->params.output_type ? p->params.output_type : FBP_F32);
    i->updates = (uint64_t)job->grid.n[0] * job->grid.n[1] * slices * job->n_views;
    i->follows = p->follow;
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

    FBP_TRY(fbp_go_on());
    FBP_TRY(fbp_check_scan(scan));
    FBP_TRY(fbp_devices_find(params->device ? params->device : "auto", &p->backend, p->devices,
                             &p->n_devices));
    fbp_contained_forget();
    FBP_TRY(check_projections(p));
    FBP_TRY(fbp_job_create(&p->tables, scan, params, p->top_down));
    p->contained_bytes = fbp_contained_bytes();
    p->tables.job.unpacks = p->unpacks;
    FBP_TRY(p->in_order && !p->follow ? arrange_compressed(p) : arrange(p, p->in_order));
    fill_info(p);
    warn_about(p);
    return FBP_OK;
}

fbp_status fbp_plan_create(fbp_plan **out, const struct fbp_scan *scan,
                           const struct fbp_recon_params *params)
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
    p->process = getpid();
    p->params = own;
    if (own.output_type != FBP_TYPE_NONE && own.output_type != FBP_F32 &&
        own.output_range[0] == 0 && own.output_range[1] == 0) {
        p->params.output_range[0] = FBP_USUAL_HU_RANGE[0];
        p->params.output_range[1] = FBP_USUAL_HU_RANGE[1];
    }
    struct fbp_stop_scope scope = {.asked = plan_stops, .user = p};
    struct fbp_stop_scope *before = fbp_stop_scope(&scope);
    const fbp_status st = make_plan(p, p->scan);
    (void)fbp_stop_scope(before);
    if (st == FBP_OK)
        *out = p;
    else
        fbp_plan_destroy(&p);
    return st;
}

const struct fbp_plan_summary *fbp_plan_info(const fbp_plan *plan)
{
    return &plan->info;
}

fbp_status fbp_plan_estimate(const fbp_plan *p, double *seconds)
{
    fbp_message_clear();
    FBP_TRY(fbp_own_process(p->process, "plan"));
    return fbp_estimate(&p->tables.job, p->backend, p->devices[0], &p->work, seconds);
}

void fbp_plan_destroy(fbp_plan **plan)
{
    if (!*plan)
        return;
    if ((*plan)->process == getpid()) /* a child has neither its threads nor its devices */
        fbp_crew_close(&(*plan)->crew);
    fbp_job_clear(&(*plan)->tables);
    free(*plan);
    *plan = NULL;
}

/* What the values depend on: of the projections all files, by size and time, and how they are read;
 * 0 if they are not in files, or in some that will have another size and time. */
static fbp_status fingerprint(const fbp_plan *p, const fbp_source *source, uint64_t *out)
{
    const struct fbp_array_info *info = &source->info;
    const uint64_t layout[] = {
        info->type, info->big_endian, info->n[0],        info->n[1],
        info->n[2], p->top_down,      p->scan->raw.type, p->scan->raw.header_bytes};
    const double values[] = {info->scale, info->offset};

    *out = 0;
    if (p->params.source || p->follow)
        return FBP_OK;
    uint64_t h = fbp_job_fingerprint(&p->tables, p->backend);
    h = fbp_hash(h, layout, sizeof layout);
    h = fbp_hash(h, values, sizeof values);
    if (p->params.mask) {
        const double value =
            isnan(p->params.mask_value) ? NAN : p->params.mask_value; /* one of many */
        h = fbp_hash(h, &value, sizeof value);
    }
    FBP_TRY(fbp_inputs_hash(&h, &source->inputs));
    *out = h ? h : 1;
    return FBP_OK;
}

/* The output, whose integers stand for `range`; NULL: that is to be found, and the sink is one for
 * the floats. */
static fbp_status open_sink(const fbp_plan *p, const fbp_source *source, const char *output,
                            const double *range, fbp_sink **sink)
{
    const struct fbp_grid *g = &p->info.volume;
    struct fbp_inputs inputs = {0};
    uint64_t hash = 0;
    fbp_status st;

    FBP_TRY_GOTO(fbp_scan_inputs(&inputs, p->scan, source));
    FBP_TRY_GOTO(fingerprint(p, source, &hash));
    const struct fbp_sink_params params = {.struct_size = sizeof params,
                                           .resume = p->params.resume != 0 &&
                                                     (!p->params.auto_range || !range),
                                           .compress = p->params.compress != 0,
                                           .fingerprint = hash,
                                           .keep = (const char *const *)inputs.names,
                                           .n_keep = inputs.n,
                                           .type = p->params.output_type,
                                           .range = {range ? range[0] : 0, range ? range[1] : 0},
                                           .force = p->params.force != 0};
    struct fbp_array_info info = {.struct_size = sizeof info, .type = FBP_F32, .has_spacing = true};

    for (int i = 0; i < 3; i++) {
        info.n[i] = g->n[i];
        info.spacing_mm[i] = g->voxel_mm[i];
        /* of the whole volume, so that boxes of one volume lie exactly side by side */
        info.origin_mm[i] = fbp_grid_coordinate(&p->info.whole, i, (double)p->info.roi[i][0]);
    }
    snprintf(info.unit, sizeof info.unit, "%s", p->params.mu_water > 0 ? "HU" : "1/mm");
    st = (range ? fbp_sink_open : fbp_spool_open)(sink, output, &info, &params);
fail:
    fbp_inputs_clear(&inputs);
    return st;
}

/* Between slices of the conversion: does the user want to stop? */
static int stops(void *user)
{
    const fbp_plan *p = user;
    const struct fbp_progress now = {.struct_size = sizeof now,
                                     .done = p->info.updates,
                                     .total = p->info.updates,
                                     .views_read = p->tables.job.n_views,
                                     .slabs_done = p->work.n_slabs,
                                     .n_slabs = p->work.n_slabs};

    return p->params.progress ? p->params.progress(p->params.user, &now) : 0;
}

/* All floats are there: the output, by the range that they have. */
static fbp_status convert(fbp_plan *p, const fbp_source *source, const fbp_sink *values,
                          const char *output, const struct fbp_report *report, fbp_sink **out)
{
    const struct fbp_grid *g = &p->info.volume;
    const size_t slice = g->n[0] * g->n[1] * sizeof(float), room = p->info.memory_limit / 8 / slice;
    const size_t threads =
        p->crew.n ? 1 : (size_t)p->tables.job.n_threads; /* whose memory is free */
    double range[2] = {report->min, report->max};

    FBP_TRY(fbp_spool_range(values, range));
    FBP_TRY(open_sink(p, source, output, range, out));
    return fbp_spool_copy(values, *out, room < 1 ? 1 : room < threads ? room : threads, stops, p);
}

static fbp_status check_sink(const fbp_plan *p, const fbp_sink *sink)
{
    const size_t *n = fbp_sink_info(sink)->n, *wanted = p->info.volume.n;

    if (n[0] == wanted[0] && n[1] == wanted[1] && n[2] == wanted[2])
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "output: has %zu x %zu x %zu voxels, the plan's volume %zu x %zu x %zu: see "
                    "fbp_plan_info()",
                    n[0], n[1], n[2], wanted[0], wanted[1], wanted[2]);
}

static fbp_status check_source(const fbp_plan *p, const fbp_source *source)
{
    const struct fbp_array_info *info = fbp_source_info(source);
    const struct fbp_panel *panel = &p->reduction.stored;

    if (info->n[0] == panel->n_columns && info->n[1] == panel->n_rows &&
        info->n[2] == stored_views(p->scan) &&
        (order_of(p->scan, info) == FBP_ROWS_TOP_DOWN) == p->top_down &&
        ((info->type == FBP_U16 && info->scale == 0) || p->tables.job.raw != FBP_U16))
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "views: %zu of %zu rows x %zu columns, %s, are not like those the plan was "
                    "made for: make another plan",
                    info->n[2], info->n[1], info->n[0], fbp_type_name(info->type));
}

/* The run's bars into the file that was asked for. */
static fbp_status draw_timeline(const fbp_plan *p, const fbp_timeline *timeline, double seconds)
{
    const size_t *n = p->info.volume.n;
    char title[200];

    if (!timeline)
        return FBP_OK;
    snprintf(title, sizeof title,
             "%s, kernel %s %s: %zu &#215; %zu &#215; %zu voxels from %zu views, %.1f ms",
             p->info.backend, p->info.kernel, p->info.isa, n[0], n[1], n[2], p->scan->n_views,
             1e3 * seconds);
    return fbp_timeline_svg(timeline, title, p->timeline);
}

/* What the views showed as they passed: an error where there was nothing in any of them. */
static fbp_status tell_look(const fbp_plan *p, fbp_look *look, fbp_source *source,
                            struct fbp_report *report)
{
    char line[800];

    FBP_TRY(fbp_look_sum_up(look, source, p->top_down, projections_name(p), report));
    fbp_look_dead(look, report, line, sizeof line);
    if (line[0])
        note(p, FBP_LOG_WARNING, line);
    fbp_look_exposure(report, p->scan->n_views, line, sizeof line);
    if (line[0])
        note(p, FBP_LOG_WARNING, line);
    const bool padded = p->tables.job.pad;
    fbp_look_truncated(report, p->scan->n_views, padded, line, sizeof line);
    if (line[0])
        note(p, padded ? FBP_LOG_NOTE : FBP_LOG_WARNING, line);
    return FBP_OK;
}

/* What became of the output. */
static void report_output(const fbp_sink *sink, struct fbp_report *report)
{
    const struct fbp_array_info *info = fbp_sink_info(sink);

    report->hash = fbp_sink_hash(sink);
    report->output_clipped = fbp_sink_clipped(sink);
    report->output_scale = info->scale;
    report->output_offset = info->offset;
    if (info->scale != 0) {
        report->output_range[0] = info->offset;
        report->output_range[1] =
            info->offset + info->scale * (info->type == FBP_U8 ? UINT8_MAX : UINT16_MAX);
    }
}

/* output: what the sink's floats are converted to; NULL: the sink is the output. */
static fbp_status run_to(fbp_plan *p, fbp_source *source, fbp_sink *sink, const char *output,
                         struct fbp_report *report, double start)
{
    fbp_sink *converted = NULL;
    fbp_timeline *timeline = NULL;
    fbp_look *look = NULL;
    fbp_mask *mask = NULL;
    fbp_status st = FBP_OK;

    FBP_TRY(check_sink(p, sink));
    FBP_TRY(fbp_look_create(&look, &p->tables.job));
    if (p->params.mask)
        FBP_TRY_GOTO(fbp_mask_create(&mask, &p->tables.job, p->params.mask_value));
    if (p->timeline)
        FBP_TRY_GOTO(fbp_timeline_create(&timeline));
    const struct fbp_run_request request = {.job = &p->tables.job,
                                            .backend = p->backend,
                                            .work = &p->work,
                                            .source = source,
                                            .top_down = p->top_down,
                                            .sink = sink,
                                            .devices = p->devices,
                                            .n_devices = p->n_devices,
                                            .crew = p->crew.n ? &p->crew : NULL,
                                            .no_overlap = p->params.no_overlap != 0,
                                            .timeline = timeline,
                                            .look = look,
                                            .mask = mask,
                                            .progress = p->params.progress,
                                            .user = p->params.user};
    FBP_TRY_GOTO(fbp_run(&request, report));
    FBP_TRY_GOTO(fbp_go_on()); /* else the last block may lack something */
    st = fbp_source_unchanged(source);
    if (st != FBP_OK) { /* nobody knows which slices are of which data */
        fbp_sink_forget(sink);
        goto fail;
    }
    st = tell_look(p, look, source, report);
    if (st == FBP_ERR_INVALID) /* slices of nothing are no beginning of a volume */
        fbp_sink_forget(sink);
    if (st != FBP_OK)
        goto fail;
    struct fbp_span finishing = fbp_span_host(timeline);
    const double computed = fbp_seconds();
    if (output)
        FBP_TRY_GOTO(convert(p, source, sink, output, report, &converted));
    FBP_TRY_GOTO(fbp_sink_finish(converted ? converted : sink));
    report->output_after_last_view = fbp_follow_latency(source, fbp_seconds());
    report_output(converted ? converted : sink, report);
    report->finish = fbp_seconds() - computed;
    report->total = fbp_seconds() - start;
    FBP_TRY_GOTO(fbp_span_end(&finishing, FBP_LANE_HOST, 1, "output finished"));
    FBP_TRY_GOTO(draw_timeline(p, timeline, report->total));
fail:
    fbp_sink_close(&converted);
    fbp_timeline_destroy(&timeline);
    fbp_look_destroy(&look);
    fbp_mask_destroy(&mask);
    return st;
}

/* Is there room for a report, if one is wanted?  Zeros, until there is something to tell. */
static fbp_status begin_report(struct fbp_report *report)
{
    if (!report)
        return FBP_OK;
    FBP_TRY(FBP_CHECK(report, report));
    FBP_GIVE(report, report, &(const struct fbp_report){0});
    return FBP_OK;
}

fbp_status fbp_plan_run_to(fbp_plan *p, fbp_source *source, fbp_sink *sink,
                           struct fbp_report *report)
{
    const double start = fbp_seconds();
    struct fbp_report own_report = {0};
    fbp_source *own = NULL, *reduced = NULL;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(begin_report(report));
    FBP_TRY(fbp_own_process(p->process, "plan"));
    if (source)
        FBP_TRY(check_source(p, source));
    else
        FBP_TRY(open_source(p, &own));
    fbp_source *const stored = source ? source : own;
    FBP_TRY_GOTO(reduce_source(p, stored, &reduced));
    FBP_TRY_GOTO(run_to(p, reduced, sink, NULL, &own_report, start));
fail:
    if (report)
        FBP_GIVE(report, report, &own_report);
    drop_reduced(stored, &reduced);
    close_source(p, &own);
    return st;
}

static void say_what_is_left(const fbp_sink *sink, const char *output)
{
    const size_t kept = fbp_sink_kept(sink);

    fbp_message_clear();
    if (kept > 0)
        (void)!fbp_fail(FBP_ERR_CANCELLED,
                        "interrupted: nothing was written as %s, but %zu of %zu slices are kept: "
                        "--resume goes on from there",
                        output, kept, fbp_sink_info(sink)->n[2]);
    else
        (void)!fbp_fail(FBP_ERR_CANCELLED, "interrupted: nothing was written and nothing is kept");
}

fbp_status fbp_plan_run(fbp_plan *p, const char *output, struct fbp_report *report)
{
    const double start = fbp_seconds();
    const bool found = p->params.auto_range != 0; /* the range of the output, once it is there */
    struct fbp_report own_report = {0};
    fbp_source *source = NULL, *reduced = NULL;
    fbp_sink *sink = NULL;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(begin_report(report));
    FBP_TRY(fbp_own_process(p->process, "plan"));
    FBP_TRY_GOTO(open_source(p, &source));
    FBP_TRY_GOTO(check_source(p, source));
    FBP_TRY_GOTO(reduce_source(p, source, &reduced));
    FBP_TRY_GOTO(open_sink(p, reduced, output, found ? NULL : p->params.output_range, &sink));
    if (p->follow) /* devices shall be ready when the first view is */
        FBP_TRY_GOTO(fbp_plan_open(p));
    FBP_TRY_GOTO(run_to(p, reduced, sink, found ? output : NULL, &own_report, start));
    if (found)
        fbp_spool_discard(&sink);
fail:
    if (st == FBP_ERR_CANCELLED)
        say_what_is_left(sink, output);
    fbp_sink_close(&sink);
    drop_reduced(source, &reduced);
    close_source(p, &source);
    if (report)
        FBP_GIVE(report, report, &own_report);
    return st;
}

void fbp_plan_timeline(fbp_plan *p, const char *path)
{
    p->timeline = path;
}

fbp_status fbp_plan_open(fbp_plan *p)
{
    fbp_message_clear();
    FBP_TRY(fbp_own_process(p->process, "plan"));
    if (p->crew.n)
        return FBP_OK;
    return fbp_crew_open(&p->crew, p->backend, &p->tables.job, &p->work, p->devices, p->n_devices);
}

fbp_status fbp_plan_alloc(fbp_plan *p, size_t bytes, void **out)
{
    *out = NULL;
    FBP_TRY(fbp_plan_open(p));
    return fbp_crew_alloc(&p->crew, bytes, out);
}

void fbp_plan_release(fbp_plan *p, void *memory)
{
    if (memory && p->process == getpid())
        fbp_crew_release(&p->crew, memory);
}

fbp_status fbp_reconstruct(const struct fbp_scan *given, const struct fbp_recon_params *params,
                           const float *views, float *volume, struct fbp_report *report)
{
    const double start = fbp_seconds();
    struct fbp_scan whole, *const scan = &whole;
    struct fbp_recon_params p;
    struct fbp_reduction reduction;
    fbp_plan *plan = NULL;
    fbp_sink *sink = NULL;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(FBP_TAKE(scan, scan, given));
    FBP_TRY(fbp_take_params(&p, params));
    fbp_reduction_of(scan, &reduction);
    const struct fbp_array_info info = {
        .struct_size = sizeof info,
        .n = {reduction.stored.n_columns, reduction.stored.n_rows, stored_views(scan)},
        .type = FBP_F32,
        .row_order = scan->row_order};
    p.source = NULL;
    FBP_TRY_GOTO(fbp_source_memory(&p.source, views, &info));
    FBP_TRY_GOTO(fbp_plan_create(&plan, scan, &p));
    FBP_TRY_GOTO(fbp_sink_memory(&sink, volume, fbp_plan_info(plan)->volume.n));
    FBP_TRY_GOTO(fbp_plan_run_to(plan, NULL, sink, report));
    if (report) /* one of its first fields, which every release has */
        report->total = fbp_seconds() - start;
fail:
    fbp_sink_close(&sink);
    fbp_plan_destroy(&plan);
    fbp_source_close(&p.source);
    return st;
}

static void describe_device(const struct fbp_backend *backend, int i, int count, const char *why,
                            struct fbp_device_info *out)
{
    struct fbp_device_info own = {.struct_size = sizeof own};

    snprintf(own.name, sizeof own.name, count > 1 ? "%s:%d" : "%s", backend->name, i);
    snprintf(own.text, sizeof own.text, "%s", backend->summary);
    snprintf(own.reason, sizeof own.reason, "%s", why);
    if (count > 0)
        backend->describe(i, &own);
    FBP_GIVE(device_info, out, &own);
}

size_t fbp_devices(struct fbp_device_info *out, size_t n)
{
    size_t found = 0;

    fbp_message_clear();
    if (n > 0 && FBP_CHECK(device_info, out) != FBP_OK)
        return 0;
    for (const struct fbp_backend *const *b = fbp_backends; *b; b++) {
        const struct fbp_backend *backend = *b;
        char why[sizeof out->reason] = "";
        if (backend->for_tests)
            continue;
        const int count = fbp_backend_count(&backend, why, sizeof why);
        for (int i = 0; i < (count > 0 ? count : 1); i++, found++) {
            if (found >= n)
                continue;
            struct fbp_device_info *d = fbp_listed(out, found);
            d->struct_size = out->struct_size;
            describe_device(backend, i, count, why, d);
        }
    }
    return found;
}
