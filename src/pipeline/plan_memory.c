/* How a plan divides its work: kernel, slabs and batches within the limits of memory. */
#include "array/array.h"
#include "array/device_memory.h"
#include "backend/rows.h"
#include "base/base.h"
#include "base/text.h"
#include "base/threads.h"
#include "pipeline/division.h"
#include "pipeline/job.h"
#include "pipeline/plan.h"
#include "pipeline/worker.h"
#include "scan/file/scan.h"
#include "team/team.h"

#include <stdio.h>
#include <string.h>

/* Slabs for each of several devices that are not of one sort. */
enum { UNEQUAL_SLABS = 6 };

/* A part that is killed loses the slab that it computes.  In the host's memory it has one at a
 * time: of these there are 20 in a volume.  A device also holds one that is fetched, and is slow
 * with slabs of fewer slices. */
enum { SLABS_OF_PARTS = 20, DEVICE_SLABS = 40, DEVICE_SLICES = 32 };

/* Of a run, so that it pays to measure what it depends on. */
static const double LONG_SECONDS = 1;

/* The device with the least free memory, and most of what that is; 0: not known. */
static uint64_t least_free(const fbp_plan *p, size_t *at)
{
    uint64_t least = 0;

    *at = 0;
    for (size_t i = 0; i < p->n_devices; i++) {
        const uint64_t available = fbp_device_free(p->backend, p->devices[i]);
        if (i > 0 && available >= least)
            continue;
        least = available;
        *at = i;
    }
    return p->n_on_card > 1 ? least / p->n_on_card : least;
}

uint64_t fbp_plan_memory_limit(const fbp_plan *p, uint64_t resident)
{
    const uint64_t plan = p->params.memory_bytes, process = fbp_process_limit();
    if (p->target) {
        const uint64_t host = p->target->host_bytes,
                       all = plan && (plan < host || !host) ? plan : host;
        return all ? all : UINT64_MAX;
    }
    const uint64_t sharers = p->params.team ? fbp_team_local_size(p->params.team) : 1;
    const uint64_t limit = resident + (plan ? plan : fbp_available_bytes() / 5 * 4 / sharers);

    if (plan && process)
        return limit < process ? limit : process;
    return process ? process : limit;
}

/* A run opens its files again, before it has its buffers. */
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
                    "memory: opening the scan's files takes %s, of which %s only for a time, the "
                    "limit is %s: raise --memory, or store the views in another format",
                    fbp_bytes_text(needs, sizeof needs, all),
                    fbp_bytes_text(child, sizeof child, p->contained_bytes),
                    fbp_bytes_text(has, sizeof has, limit));
}

/* What the division was chosen by, in full. */
static fbp_status predict(fbp_plan *p, const struct fbp_work_request *rq,
                          const struct fbp_work *work)
{
    const struct fbp_rates rates = fbp_work_rates(rq);

    p->info.predicted = (struct fbp_predicted){0};
    if (rates.update <= 0)
        return FBP_OK;
    return fbp_predict(rq->machine, &rates, rq->job, work, &p->info.predicted);
}

/* Devices of different speed: the faster ones draw more slabs, by what they really do. */
static bool devices_differ(const fbp_plan *p)
{
    struct fbp_device_info first, other;

    if (p->n_devices == 1 || p->target)
        return false;
    for (size_t i = 0; i < p->n_devices; i++) {
        struct fbp_device_info *info = i ? &other : &first;
        *info = (struct fbp_device_info){0};
        p->backend->describe(p->devices[i], info);
        info->text[strcspn(info->text, ",")] = '\0'; /* its name */
        if (i && strcmp(first.text, other.text) != 0)
            return true;
    }
    return false;
}

/* Of a thread that writes: what it converts and packs, and a slice of floats of one of doubles. */
static uint64_t writer_bytes(const fbp_plan *p, const struct fbp_job *job)
{
    const enum fbp_type type = p->params.output_type;
    const size_t slice = fbp_roi_size(job, 0) * fbp_roi_size(job, 1);

    return fbp_sink_thread_bytes(type) + p->needs.writer_bytes +
           (fbp_in_double(job) && type != FBP_F64 ? slice * sizeof(float) : 0);
}

/* So that no slab has more than its share of the slices of all parts. */
static size_t slabs_of_part(const fbp_plan *p)
{
    struct fbp_job whole = p->tables.job;
    size_t first, own, all;

    if (!p->params.n_parts)
        return 1;
    fbp_roi_slices(&whole, &first, &own);
    whole.share[0] = whole.share[1] = 0;
    fbp_roi_slices(&whole, &first, &all);
    const size_t wanted = all / (p->backend->in_host ? SLABS_OF_PARTS : DEVICE_SLABS);
    const size_t least = p->backend->in_host ? 1 : DEVICE_SLICES;
    const size_t slices = p->n_devices * (wanted > least ? wanted : least);
    return (own + slices - 1) / slices;
}

size_t fbp_plan_slabs_each(const fbp_plan *p)
{
    const size_t each = slabs_of_part(p);

    return p->devices_differ && each < UNEQUAL_SLABS ? UNEQUAL_SLABS : each;
}

/* Will the device take views from where they lie in its memory (pipeline/worker.c)?  Not what the host
 * makes of them. */
static bool reads_on_device(const fbp_plan *p)
{
    const fbp_source *source = p->params.source;
    const enum fbp_type raw = p->tables.job.raw;
    const bool made = fbp_reduces(&p->reduction) || p->n_steps > 0 || p->top_down;

    if (p->n_devices > 1 || !source || !fbp_source_device(source) || made)
        return false;
    const struct fbp_array_info *info = fbp_source_info(source);
    const size_t bytes = info->n[0] * info->n[1] * info->n[2] * fbp_type_size(info->type);
    const bool as_it_is =
        raw == FBP_U16 || raw == FBP_F64 ? info->type == raw : info->type == FBP_F32;
    return as_it_is && p->backend->far->owner(fbp_source_samples(source), bytes) == p->devices[0];
}

void fbp_plan_work_request(const fbp_plan *p, const struct fbp_job *job,
                           struct fbp_work_request *out)
{
    const struct fbp_recon_params *params = &p->params;
    const int readers = fbp_work_readers(p->backend, &p->tables.job);
    const uint64_t source = p->held_bytes + p->n_devices * (uint64_t)readers * p->reader_bytes;
    const uint64_t own = source + fbp_data_check_bytes(&fbp_plan_measured(p)->job) +
                         (2 * p->n_devices + 1) * (uint64_t)fbp_row_bitmap_bytes(&p->tables.job) +
                         fbp_mask_bytes(&p->tables.job, params->mask != 0) +
                         fbp_plan_team_bytes(p, fbp_team_rank(params->team) == 0) +
                         p->needs.level_bytes;
    const uint64_t resident = fbp_resident_bytes();
    struct fbp_rates rates = {0};
    if (p->target)
        p->target->rates(p->target, job, &rates);
    *out = (struct fbp_work_request){
        .job = job,
        .backend = p->backend,
        .n_workers = p->n_devices,
        .devices = p->devices,
        .slabs_each = fbp_plan_slabs_each(p),
        .one_slab = p->params.n_parts && p->backend->in_host,
        .base_bytes = resident + own,
        .writer_bytes = writer_bytes(p, job),
        .n_cores = fbp_core_count(),
        .memory_limit = fbp_plan_memory_limit(p, resident),
        .device_limit = p->device_limit,
        .batch_views = params->batch_views,
        .slab_slices = p->slab_slices ? p->slab_slices : params->slab_slices,
        .follow = p->follow,
        .sharers = p->ranks.n_parts,
        .even = params->no_overlap != 0,
        .on_device = reads_on_device(p),
        .rates = rates,
        .machine = p->has_machine || (p->target && p->target->nodes) ? &p->machine
                   : p->target                                       ? &p->target->machine
                                                                     : NULL,
    };
}

/* What the output asks for, of those that have a name already, with so much memory. */
static void take_output(fbp_plan *p, uint64_t room)
{
    struct fbp_job *job = &p->tables.job;
    struct fbp_grid volume;

    fbp_roi_grid(job, &volume);
    fbp_output_needs(p->params.output, volume.n, p->params.output_type, p->params.compress != 0,
                     room, &p->needs);
    job->same_files = fbp_volumes(job) == 1 ? p->needs.layer : 0;
}

/* With fewer threads for the output, if nothing fits else: a limit that is larger than one that
 * does is never refused. */
static fbp_status divide_request(fbp_plan *p, struct fbp_work_request *rq, struct fbp_work *work)
{
    const uint64_t level_bytes = p->needs.level_bytes;
    const fbp_status st = fbp_work_divide(rq, work);

    if (st != FBP_ERR_NOMEM || level_bytes == 0)
        return st;
    take_output(p, 0);
    if (p->needs.level_bytes == level_bytes)
        return st;
    fbp_message_clear();
    fbp_plan_work_request(p, &p->tables.job, rq);
    return fbp_work_divide(rq, work);
}

static fbp_status divide_within(fbp_plan *p, uint64_t device_limit, struct fbp_work *work)
{
    struct fbp_work_request request;

    p->device_limit = device_limit;
    fbp_plan_work_request(p, &p->tables.job, &request);
    p->info.memory_limit = request.memory_limit < UINT64_MAX ? request.memory_limit : 0;
    FBP_TRY(divide_request(p, &request, work));
    FBP_TRY(predict(p, &request, work));
    return count_children(p, request.base_bytes, request.memory_limit, work);
}

/* The least of the rates of several devices that is known. */
static double least_rate(double a, double b)
{
    return a > 0 && (b <= 0 || a < b) ? a : b;
}

/* Do the limits hold what measuring takes? */
static bool may_measure(const fbp_plan *p)
{
    const uint64_t limit = p->info.memory_limit;
    size_t host, device;

    fbp_links_bytes(p->backend, p->n_devices, &host, &device);
    return (limit == 0 || fbp_resident_bytes() + host <= limit) &&
           (p->device_limit == 0 || device <= p->device_limit);
}

/* What several devices share, as it was measured; for long runs it is measured if it was not. */
static bool learn_machine(fbp_plan *p)
{
    struct fbp_machine *m = &p->machine;
    const bool measure = p->info.predicted.total >= LONG_SECONDS;
    struct fbp_links links;

    if (p->n_devices < 2 || p->target || p->has_machine || p->info.predicted.total <= 0 ||
        !fbp_links_get(p->backend, p->devices, p->n_devices, measure && may_measure(p), &links))
        return false;
    *m = (struct fbp_machine){.up_all = links.together.up,
                              .down_all = links.together.down,
                              .both_all = links.together.both};
    for (size_t i = 0; i < links.n; i++) {
        m->up = least_rate(links.alone[i].up, m->up);
        m->down = least_rate(links.alone[i].down, m->down);
        m->both = least_rate(links.alone[i].both, m->both);
        for (size_t j = 0; j < links.n; j++)
            m->peer = i == j ? m->peer : least_rate(links.peer[i][j], m->peer);
    }
    p->has_machine = true;
    return true;
}

/* Somebody else may use its memory. */
static void leave_out(fbp_plan *p, size_t at, uint64_t available)
{
    char line[200], has[32];

    snprintf(line, sizeof line, "device %s:%d is not used: %s of its memory can be had, too little",
             p->backend->name, p->devices[at], fbp_bytes_text(has, sizeof has, available));
    fbp_plan_note(p, FBP_LOG_WARNING, line);
    fbp_message_clear();
    p->n_devices--;
    for (size_t i = at; i < p->n_devices; i++)
        p->devices[i] = p->devices[i + 1];
    p->devices_differ = devices_differ(p);
}

/* Among all devices, or those of them that have the memory for it. */
static fbp_status divide(fbp_plan *p, struct fbp_work *work)
{
    for (;;) {
        size_t poorest = 0;
        const uint64_t wanted = p->params.device_memory_bytes;
        const uint64_t has = p->target ? p->target->device_bytes / 10 * 9 : 0;
        const uint64_t limit = wanted ? wanted : has ? has : least_free(p, &poorest);
        fbp_status st = divide_within(p, limit, work);
        if (st == FBP_OK && learn_machine(p))
            st = divide_within(p, limit, work);
        if (st != FBP_ERR_NOMEM || wanted || has || p->n_devices == 1 || limit == 0 ||
            work->device_bytes <= limit)
            return st;
        leave_out(p, poorest, limit);
    }
}

/* The place of one of several processes, or of a rank of a cluster that the plan is made for. */
static fbp_status take_place(fbp_plan *p)
{
    const bool is_rank = p->target && p->target->nodes;
    struct fbp_work_request request;

    if (!p->params.team && !is_rank)
        return FBP_OK;
    p->ranks = (struct fbp_ranks){0};
    p->slab_slices = 0;
    fbp_plan_work_request(p, &p->tables.job, &request);
    return (is_rank ? fbp_plan_take_rank : fbp_plan_take_share)(p, &request);
}

/* Kernel and place, of views that are read in order or not. */
static fbp_status place(fbp_plan *p, bool in_order)
{
    struct fbp_job *job = &p->tables.job;

    job->in_order = in_order;
    job->turns = 1;
    FBP_TRY(fbp_job_arrange(job, p->backend));
    if (p->params.n_parts)
        FBP_TRY(fbp_part_share(job, (struct fbp_part_of){p->params.part, p->params.n_parts},
                               job->share));
    else
        FBP_TRY(take_place(p));
    job->raw = fbp_in_double(job)                               ? FBP_F64
               : p->backend->takes_counts && p->type == FBP_U16 ? FBP_U16
                                                                : FBP_F32;
    return FBP_OK;
}

static fbp_status arrange(fbp_plan *p, bool in_order)
{
    FBP_TRY(place(p, in_order));
    FBP_TRY(fbp_plan_agree_memory(p, divide(p, &p->work)));
    return fbp_plan_agree_division(p, divide);
}

/* A compressed scan gets the kernel of a plain one, and so the same bits, where that takes views in
 * their order, too, or where memory holds all of them: that of each process of a team. */
static fbp_status arrange_compressed(fbp_plan *p)
{
    struct fbp_job *job = &p->tables.job;

    FBP_TRY(fbp_job_arrange(job, p->backend));
    if (job->turns == 1)
        return arrange(p, true);
    p->kernel_unpacked = job->chosen.kernel;
    p->held_bytes += p->hold_bytes;
    FBP_TRY(place(p, false));
    const fbp_status st = fbp_plan_agree_memory(p, divide(p, &p->work));
    p->hold = st == FBP_OK;
    p->unpacked_needs = p->lack.needs;
    if (st == FBP_OK)
        return fbp_plan_agree_division(p, divide);
    if (st != FBP_ERR_NOMEM)
        return st;
    p->held_bytes -= p->hold_bytes;
    fbp_message_clear();
    return arrange(p, true);
}

fbp_status fbp_plan_arrange(fbp_plan *p)
{
    const uint64_t resident = fbp_resident_bytes(), limit = fbp_plan_memory_limit(p, resident);

    take_output(p, limit > resident ? limit - resident : 0);
    p->devices_differ = devices_differ(p);
    return p->in_order && !p->follow ? arrange_compressed(p) : arrange(p, p->in_order);
}

/* ---- Corrected views: in memory, in a file, or as they are read ---- */

/* Where corrected views are kept. */
struct way {
    const char *folder; /* of the scratch file; NULL: in memory */
    bool as_read;       /* nowhere: phases are retrieved as views are read */
};

static fbp_status arrange_corrections(fbp_plan *p, struct way way)
{
    struct fbp_corrections_step *c = fbp_plan_corrections(p);
    struct fbp_job *job = &p->tables.job;
    const uint64_t resident = fbp_resident_bytes(), limit = fbp_plan_memory_limit(p, resident);
    const uint64_t taken = resident + p->held_bytes;

    c->as_read = way.as_read;
    job->unpacks = p->unpacks || way.as_read;
    fbp_corrections_divide(c, limit > taken ? limit - taken : 0, way.folder, job->n_threads);
    p->info.ahead_bytes = fbp_corrections_kept_bytes(c);
    p->info.ahead_rows = c->as_read ? 0 : c->n_rows;
    p->info.ahead_bands = c->as_read ? 0 : fbp_corrections_bands(c);
    p->info.ahead_in_file = way.folder != NULL;
    /* No more readers than retrieved views that are kept: all rows of a view are read before it is
     * replaced. */
    const int each = c->n_threads / (int)p->n_devices;
    job->most_readers = !c->as_read ? 0 : each > 1 ? each : 1;
    const uint64_t bytes = fbp_corrections_memory_bytes(c);
    p->held_bytes += bytes;
    const fbp_status st = fbp_plan_arrange(p);
    if (st != FBP_OK)
        p->held_bytes -= bytes;
    return st;
}

/* Arrange in another way than the one before, with the status `before`. */
static fbp_status arrange_instead(fbp_plan *p, fbp_status before, struct way way)
{
    fbp_message_clear();
    if (before == FBP_OK)
        p->held_bytes -= fbp_corrections_memory_bytes(fbp_plan_corrections(p));
    return arrange_corrections(p, way);
}

size_t fbp_plan_retrievals(const fbp_plan *p)
{
    const struct fbp_corrections_step *c = fbp_plan_corrections(p);

    return c && c->as_read ? fbp_work_readings(&p->work) : 1;
}

/* Phases are retrieved as views are read if these are read once.  Else all views are kept: in
 * memory, if the whole volume is computed beside that, or in a file, if there may be one.  If
 * memory holds none of that, phases are retrieved each time.  The processes of a team do the same.
 */
fbp_status fbp_plan_arrange_steps(fbp_plan *p)
{
    struct fbp_corrections_step *c = fbp_plan_corrections(p);
    const struct way in_memory = {0}, in_file = {.folder = p->params.scratch};
    const struct way as_read = {.as_read = true};
    fbp_status st = FBP_ERR_NOMEM;

    p->tables.job.unpacks = p->unpacks;
    if (!c)
        return fbp_plan_arrange(p);
    const bool may_wait = fbp_corrections_may_wait(c) && !p->in_order;
    FBP_TRY(fbp_job_arrange(&p->tables.job, p->backend));
    if (p->n_steps == 1) /* else the rows of the job are those of another detector */
        fbp_corrections_choose_rows(c, &p->tables.job);
    if (may_wait) {
        st = arrange_corrections(p, as_read);
        double readings = (double)fbp_plan_retrievals(p);
        if (st == FBP_OK)
            FBP_TRY(fbp_plan_agree_most(p, &readings));
        if (st != FBP_OK ? st != FBP_ERR_NOMEM : readings <= 1)
            return st;
    }
    st = arrange_instead(p, st, in_memory);
    double slabs = (double)p->work.n_slabs / (double)p->n_devices;
    if (in_file.folder && st == FBP_OK)
        FBP_TRY(fbp_plan_agree_most(p, &slabs));
    if (in_file.folder && (st == FBP_ERR_NOMEM || (st == FBP_OK && slabs > 1)))
        st = arrange_instead(p, st, in_file);
    if (may_wait && st == FBP_ERR_NOMEM)
        return arrange_instead(p, st, as_read);
    if (st != FBP_ERR_NOMEM || p->params.scratch)
        return st;
    char kept[32], needs[32], has[32];
    fbp_message_clear();
    return fbp_fail(
        FBP_ERR_NOMEM,
        "%smemory: this reconstruction needs at least %s, as %s of views are kept to remove rings "
        "or retrieve phases; the limit is %s: raise --memory, or name a folder for them with "
        "--scratch",
        p->lack.who, fbp_bytes_up_text(needs, sizeof needs, p->lack.needs),
        fbp_bytes_text(kept, sizeof kept, fbp_corrections_kept_bytes(c)),
        fbp_bytes_text(has, sizeof has, p->lack.limit));
}

/* Whether views are filtered once, into a scratch file, where a volume is computed in many slabs.
 */

/* Seconds a sample, as measured on two cores (docs/performance.md, "Filtered views in a file").
 * Those of a thread are shared by all. */
static const double READ = 0.9e-9, WRITE = 1.2e-9, UNPACK_THREAD = 7.5e-9, FILTER_THREAD = 4.3e-9;

/* To read a sample of the scan, and to filter it. */
static double read_seconds(const struct fbp_job *job)
{
    return READ + (job->unpacks || job->in_order ? UNPACK_THREAD / job->n_threads : 0);
}

static double filter_seconds(const fbp_plan *p)
{
    struct fbp_work_request request;

    fbp_plan_work_request(p, &p->tables.job, &request);
    const struct fbp_rates rates = fbp_work_rates(&request);
    return rates.filter > 0 ? rates.filter : FILTER_THREAD / p->tables.job.n_threads;
}

/* again: rows are read and filtered so many times without a file, as part of all; once: those that
 * the file holds; from: those that are read from it. */
static bool pays(const fbp_plan *p, double again, double once, double from)
{
    const double sample = read_seconds(&p->tables.job) + filter_seconds(p);

    return (again - once) * sample > once * WRITE + from * READ;
}

/* Could a file be used at all? */
static const char *why_not(const fbp_plan *p)
{
    if (fbp_plan_measured(p) != &p->tables)
        return "two stages filter views once, and keep them in memory";
    if (p->tables.job.filtered)
        return "the views are filtered already";
    if (fbp_in_double(&p->tables.job))
        return "it holds rows of float, and these are in double";
    if (!p->backend->gives_rows)
        return "this device does not give filtered rows";
    if (p->follow)
        return "a scan that is still being written is computed as it comes";
    if (p->work.kept)
        return "filtered views are kept on the device";
    if (p->hold)
        return "memory holds the unpacked views";
    if (p->ranks.n_parts > 1)
        return "processes share the views";
    return NULL;
}

static void say_not_used(const fbp_plan *p, const char *why)
{
    char line[200];

    const struct fbp_corrections_step *c = fbp_plan_corrections(p);

    if (!p->params.scratch || (c && c->folder))
        return;
    snprintf(line, sizeof line, "--scratch is not used: %s", why);
    fbp_plan_note(p, FBP_LOG_NOTE, line);
}

/* Rows are read more than once: what would help. */
static void advise(const fbp_plan *p)
{
    char line[300], bytes[32];

    if (p->work.n_slabs <= fbp_plan_slabs_each(p) * p->n_devices)
        return; /* as a part wants it, and not for want of memory */
    snprintf(line, sizeof line,
             "memory holds %zu of %zu slabs at a time, so that rows are read and filtered %.3g "
             "times: raise the limit of memory, or name a folder with %s of room (--scratch)",
             p->n_devices, p->work.n_slabs, p->work.view_reads,
             fbp_bytes_text(bytes, sizeof bytes, fbp_rows_bytes(&p->tables.job)));
    fbp_plan_note(p, FBP_LOG_NOTE, line);
}

/* Whether a plan with a scratch file can be open, too. */
static fbp_status divide_beside(const fbp_plan *p, uint64_t open_bytes, struct fbp_plan_rows *r)
{
    struct fbp_work_request request;

    fbp_plan_work_request(p, &p->tables.job, &request);
    request.base_bytes += open_bytes;
    const fbp_status st = fbp_work_rows(&request, &r->beside);
    r->may_open = st == FBP_OK;
    if (st != FBP_ERR_NOMEM)
        return st;
    fbp_message_clear();
    return FBP_OK;
}

/* Both divisions.  What the first needs of a device is there beside what the second has, as a plan
 * may be open. */
static fbp_status divide_scratch_rows(const fbp_plan *p, struct fbp_plan_rows *r)
{
    struct fbp_work_request request;

    fbp_plan_work_request(p, &p->tables.job, &request);
    FBP_TRY(fbp_work_rows(&request, &r->filtering));
    fbp_plan_work_request(p, &r->job, &request);
    if (request.device_limit > r->filtering.device_bytes)
        request.device_limit -= r->filtering.device_bytes;
    FBP_TRY(fbp_work_divide(&request, &r->work));
    return divide_beside(p, fbp_work_open_bytes(&r->work, &request), r);
}

/* Rows into the file, while others are written, and then a run from there. */
static fbp_status predict_scratch_rows(fbp_plan *p)
{
    const struct fbp_job *job = &p->tables.job;
    const struct fbp_plan_rows *r = &p->rows;
    const double rows = r->filtering.view_reads * (double)job->n_views * (double)job->panel.n_rows;
    const double samples = rows * (double)job->panel.n_columns;
    struct fbp_predicted *t = &p->info.predicted;
    struct fbp_work_request request;

    fbp_plan_work_request(p, &r->job, &request);
    struct fbp_rates rates = fbp_work_rates(&request);
    if (rates.update <= 0)
        return FBP_OK; /* nothing is predicted */
    rates.filter = 0;  /* rows from the file are only laid out */
    FBP_TRY(fbp_predict(request.machine, &rates, &r->job, &r->work, t));
    const double read = samples * read_seconds(job), filter = samples * filter_seconds(p);
    const double upload = samples * (double)fbp_raw_size(job) * rates.upload;
    const double all = read + upload + filter, write = samples * WRITE;
    t->read += read;
    t->upload += upload;
    t->filter += filter;
    t->total += all > write ? all : write;
    return FBP_OK;
}

static fbp_status take(fbp_plan *p)
{
    struct fbp_plan_rows *r = &p->rows;

    r->used = true;
    p->work = r->work;
    p->work.device_bytes += r->filtering.device_bytes;
    if (p->work.memory_bytes < r->filtering.memory_bytes)
        p->work.memory_bytes = r->filtering.memory_bytes;
    return predict_scratch_rows(p);
}

fbp_status fbp_plan_consider_rows(fbp_plan *p)
{
    struct fbp_plan_rows *r = &p->rows;
    const char *reason = why_not(p);
    char line[120];

    if (reason || p->work.view_reads <= 1) {
        say_not_used(p, reason ? reason : "no row is read more than once");
        return FBP_OK;
    }
    fbp_job_of_rows(&p->tables.job, &r->prep, &r->job);
    const fbp_status st = divide_scratch_rows(p, r);
    if (st == FBP_ERR_NOMEM) {
        fbp_message_clear();
        say_not_used(p, "memory does not hold what it takes");
        return FBP_OK;
    }
    FBP_TRY(st);
    if (!pays(p, p->work.view_reads, r->filtering.view_reads, r->work.view_reads)) {
        snprintf(line, sizeof line, "to read and filter rows %.3g times takes less time",
                 p->work.view_reads);
        say_not_used(p, line);
        return FBP_OK;
    }
    if (p->params.scratch)
        return take(p);
    advise(p);
    return FBP_OK;
}

fbp_status fbp_plan_open_rows(fbp_plan *p)
{
    const struct fbp_plan_rows *r = &p->rows;
    char needs[32], has[32];

    if (!r->used)
        return FBP_OK;
    if (!r->may_open)
        return fbp_fail(FBP_ERR_NOMEM,
                        "memory: while views are filtered into the scratch file, a plan that is "
                        "open needs at least %s, the limit is %s: raise --memory, leave --scratch "
                        "out, or run the plan without opening it",
                        fbp_bytes_text(needs, sizeof needs, r->beside.memory_bytes),
                        fbp_bytes_text(has, sizeof has, p->info.memory_limit));
    p->rows.filtering = r->beside;
    if (p->info.memory_bytes < r->beside.memory_bytes)
        p->info.memory_bytes = r->beside.memory_bytes;
    return FBP_OK;
}

const struct fbp_job *fbp_plan_run_job(const fbp_plan *p)
{
    return p->rows.used ? &p->rows.job : &p->tables.job;
}
