/* Fits a plan into the limits of memory: chooses the backprojection kernel, where views are kept
 * after ring removal and phase retrieval, and whether filtered rows go to a scratch file. plan.c
 * calls fbp_plan_arrange_steps(), then fbp_plan_consider_rows(). division.c chooses slabs and
 * batches within the limits that this file computes.
 * Used by: bench/predict/predict.c, plan.c, plan_run.c. */
#include "array/array.h"
#include "array/device_memory.h"
#include "backend/rows.h"
#include "base/base.h"
#include "base/text.h"
#include "base/threads.h"
#include "pipeline/division.h"
#include "pipeline/job.h"
#include "pipeline/plan.h"
#include "scan/file/scan.h"
#include "team/team.h"

#include <stdio.h>
#include <string.h>

/* Least number of slabs per device if a plan uses devices of different models. */
enum { UNEQUAL_SLABS = 6 };

/* Division for --part.  A killed process loses the slabs that it has not written.  In host memory
 * it computes one slab at a time, and a volume has about SLABS_OF_PARTS slabs.  A device also
 * fetches one slab while it computes the next, and is slow with thin slabs: a volume has about
 * DEVICE_SLABS slabs, of at least DEVICE_SLICES slices each. */
enum { SLABS_OF_PARTS = 20, DEVICE_SLABS = 40, DEVICE_SLICES = 32 };

/* Least predicted time of a run [s] for which the rates of the devices' links are measured. */
static const double LONG_SECONDS = 1;

/* Limit of the resident set of this process, now `resident` [bytes]; UINT64_MAX: no limit. */
static uint64_t memory_limit(const fbp_plan *p, uint64_t resident)
{
    const uint64_t plan = p->params.memory_bytes, process = fbp_process_limit();
    if (p->target) {
        const uint64_t host = p->target->host_bytes,
                       all = plan && (plan < host || !host) ? plan : host;
        return all ? all : UINT64_MAX;
    }
    const uint64_t sharers =
        p->params.cluster.team ? fbp_team_local_size(p->params.cluster.team) : 1;
    const uint64_t limit = resident + (plan ? plan : fbp_available_bytes() / 5 * 4 / sharers);

    if (plan && process)
        return limit < process ? limit : process;
    return process ? process : limit;
}

/* Return whether the devices are of different models: the faster ones then take more slabs. */
static bool devices_differ(const fbp_plan *p)
{
    struct fbp_device_info first, other;

    if (p->n_devices == 1 || p->target)
        return false;
    for (size_t i = 0; i < p->n_devices; i++) {
        struct fbp_device_info *info = i ? &other : &first;
        *info = (struct fbp_device_info){0};
        p->backend->discovery.describe(p->devices[i], info);
        info->text[strcspn(info->text, ",")] = '\0'; /* keep the device's name only */
        if (i && strcmp(first.text, other.text) != 0)
            return true;
    }
    return false;
}

/* Return the part of memory_limit() that params.memory_bytes does not count [bytes]: the memory
 * that the process used before the plan, if the limit follows from params.memory_bytes. */
static uint64_t uncounted_bytes(const fbp_plan *p, uint64_t resident)
{
    const uint64_t plan = p->params.memory_bytes;

    return plan && memory_limit(p, resident) == resident + plan ? resident : 0;
}

/* Return the least number of slabs per device, even if fewer, larger slabs fit into memory:
 * UNEQUAL_SLABS for devices of different models, because the faster ones take more slabs; with
 * --part, the number that follows from SLABS_OF_PARTS, DEVICE_SLABS and DEVICE_SLICES. */
static size_t slabs_each(const fbp_plan *p)
{
    struct fbp_job whole = p->tables.job;
    size_t each = 1, first, own, all;

    if (p->params.cluster.n_parts) {
        fbp_job_slices(&whole, &first, &own);
        whole.part.slices[0] = whole.part.slices[1] = 0;
        fbp_job_slices(&whole, &first, &all);
        const size_t wanted = all / (p->backend->in_host ? SLABS_OF_PARTS : DEVICE_SLABS);
        const size_t least = p->backend->in_host ? 1 : DEVICE_SLICES;
        const size_t slices = p->n_devices * (wanted > least ? wanted : least);
        each = (own + slices - 1) / slices;
    }
    return p->devices_differ && each < UNEQUAL_SLABS ? UNEQUAL_SLABS : each;
}

/* Return whether the plan's only device can use the caller's views in its own memory without a
 * copy: they must have the type and layout that it needs, and no correction by the host. */
static bool reads_on_device(const fbp_plan *p)
{
    const fbp_source *source = p->params.input.source;
    const enum fbp_type raw = p->tables.job.input.type;
    const bool made =
        fbp_reduces(&p->reduction) || p->beam || p->zingers > 0 || p->n_steps > 0 || p->top_down;

    if (p->n_devices > 1 || !source || !fbp_source_device(source) || made)
        return false;
    const struct fbp_array_info *info = fbp_source_info(source);
    const size_t bytes = info->n[0] * info->n[1] * info->n[2] * fbp_type_size(info->type);
    const bool as_it_is =
        raw == FBP_U16 || raw == FBP_F64 ? info->type == raw : info->type == FBP_F32;
    return as_it_is &&
           p->backend->memory.of_caller->owner(fbp_source_samples(source), bytes) == p->devices[0];
}

void fbp_plan_work_request(const fbp_plan *p, const struct fbp_job *job,
                           struct fbp_work_request *out)
{
    const struct fbp_recon_params *params = &p->params;
    const int readers = fbp_work_readers(p->backend, &p->tables.job);
    const uint64_t source = p->held_bytes + p->n_devices * (uint64_t)readers * p->reader_bytes;
    const uint64_t own = source + fbp_data_check_bytes(&fbp_plan_measured(p)->job) +
                         (2 * p->n_devices + 1) * (uint64_t)fbp_row_bitmap_bytes(&p->tables.job) +
                         fbp_mask_bytes(&p->tables.job, params->output.fill) +
                         fbp_plan_team_bytes(p, fbp_team_rank(params->cluster.team) == 0) +
                         p->needs.level_bytes;
    const uint64_t resident = fbp_resident_bytes();
    *out = (struct fbp_work_request){
        .job = job,
        .backend = p->backend,
        .n_workers = p->n_devices,
        .devices = p->devices,
        .slabs_each = slabs_each(p),
        .one_slab = p->params.cluster.n_parts && p->backend->in_host,
        .base_bytes = resident + own,
        .writer_bytes = p->needs.writer_bytes +
                        (fbp_in_double(job) && params->output.type != FBP_F64
                             ? fbp_box_slice(job) * sizeof(float) /* a double volume is converted */
                             : 0),
        .n_cores = fbp_core_count(),
        .memory_limit = memory_limit(p, resident),
        .uncounted_bytes = uncounted_bytes(p, resident),
        .device_limit = p->device_limit,
        .batch_views = params->tuning.batch_views,
        .slab_slices = p->slab_slices ? p->slab_slices : params->tuning.slab_slices,
        .follow = p->follow,
        .sharers = p->ranks.n_parts,
        .even = params->tuning.no_overlap,
        .on_device = reads_on_device(p),
        .machine = p->has_machine || (p->target && p->target->nodes) ? &p->machine
                   : p->target                                       ? &p->target->machine
                                                                     : NULL,
    };
}

/* Get the needs of the output format: memory of writing threads, at most `room` bytes, and slices
 * per chunk file (0: unknown path, several volumes, or a format without chunks). */
static void take_output(fbp_plan *p, uint64_t room)
{
    struct fbp_job *job = &p->tables.job;
    struct fbp_grid volume;

    fbp_box_grid(job, &volume);
    fbp_output_needs(p->params.output.path, volume.n, p->params.output.type,
                     p->params.output.compress, room, &p->needs);
    job->part.slices_per_file = fbp_volumes(job) == 1 ? p->needs.layer : 0;
}

/* Divide the work into slabs and batches within the limits of memory; device_limit: of each device
 * [bytes]. Predict the times of the stages for the plan's summary. */
static fbp_status divide_within(fbp_plan *p, uint64_t device_limit, struct fbp_work *work)
{
    const uint64_t level_bytes = p->needs.level_bytes;
    struct fbp_work_request request;
    char needs[32], child[32], has[32];

    p->device_limit = device_limit;
    fbp_plan_work_request(p, &p->tables.job, &request);
    p->info.memory_limit = request.memory_limit < UINT64_MAX ? request.memory_limit : 0;
    p->uncounted_bytes = request.uncounted_bytes;
    fbp_status st = fbp_work_divide(&request, work);
    if (st == FBP_ERR_NOMEM && level_bytes > 0) {
        /* Try again with the fewest writing threads: a larger limit of memory allows more threads,
         * but must not fail if a smaller one suffices. */
        take_output(p, 0);
        if (p->needs.level_bytes != level_bytes) {
            fbp_message_clear();
            fbp_plan_work_request(p, &p->tables.job, &request);
            st = fbp_work_divide(&request, work);
        }
    }
    FBP_TRY(st);
    const struct fbp_rates rates = fbp_work_rates(&request);
    p->info.predicted = (struct fbp_predicted){0};
    if (rates.update > 0)
        FBP_TRY(fbp_predict(request.machine, &rates, request.job, work, &p->info.predicted, NULL));

    /* Child processes that open the files of the scan (base/sandbox.h) need memory before buffers
     * are allocated, so only the larger of the two amounts counts. */
    const uint64_t opening = request.base_bytes + p->contained_bytes;
    if (p->contained_bytes == 0 || opening <= work->memory_bytes)
        return FBP_OK;
    work->memory_bytes = opening;
    if (opening <= request.memory_limit)
        return FBP_OK;
    return fbp_fail(FBP_ERR_NOMEM,
                    "memory: opening the files of the scan needs %s, of which %s temporarily, but "
                    "the limit is %s; raise --memory, or store the views in another format",
                    fbp_bytes_text(needs, sizeof needs, opening - p->uncounted_bytes),
                    fbp_bytes_text(child, sizeof child, p->contained_bytes),
                    fbp_bytes_text(has, sizeof has, request.memory_limit - p->uncounted_bytes));
}

/* Set p->machine to the rates of the links of the devices: from the cache, or measured if the
 * predicted time is at least LONG_SECONDS and memory allows it. Returns whether they were set. */
static bool learn_machine(fbp_plan *p)
{
    const struct fbp_link_meter *meter = p->backend->links;
    const uint64_t limit = p->info.memory_limit;

    if (p->n_devices < 2 || !meter || p->target || p->has_machine || p->info.predicted.total <= 0)
        return false;
    const uint64_t needed = fbp_resident_bytes() + p->n_devices * meter->host_bytes;
    const bool may_measure = p->info.predicted.total >= LONG_SECONDS &&
                             (limit == 0 || needed <= limit) &&
                             (p->device_limit == 0 || meter->device_bytes <= p->device_limit);
    p->has_machine = fbp_links_get(p->backend, p->devices, p->n_devices, may_measure, &p->machine);
    return p->has_machine;
}

/* Divide the work among all devices. If their free memory is too small for any division, omit the
 * device with the least (another program may use it), and try again. */
static fbp_status divide(fbp_plan *p, struct fbp_work *work)
{
    char text[32];

    for (;;) {
        size_t poorest = 0; /* device with the least free memory */
        uint64_t least = 0; /* usable memory of the device `poorest` [bytes]; 0: not known */
        const uint64_t wanted = p->params.device_memory_bytes;
        const uint64_t has = p->target ? p->target->device_bytes / 10 * 9 : 0;
        for (size_t i = 0; !wanted && !has && i < p->n_devices; i++) {
            const uint64_t available = fbp_device_free(p->backend, p->devices[i]);
            if (i > 0 && available >= least)
                continue;
            least = available;
            poorest = i;
        }
        const uint64_t sharers = p->n_on_card > 1 ? p->n_on_card : 1; /* processes on the device */
        const uint64_t limit = wanted ? wanted : has ? has : least / sharers;
        fbp_status st = divide_within(p, limit, work);
        if (st == FBP_OK && learn_machine(p))
            st = divide_within(p, limit, work);
        if (st != FBP_ERR_NOMEM || wanted || has || p->n_devices == 1 || limit == 0 ||
            work->device_bytes <= limit)
            return st;
        fbp_plan_note(
            p, FBP_LOG_WARNING, "device %s:%d is not used, because only %s of its memory is free",
            p->backend->name, p->devices[poorest], fbp_bytes_text(text, sizeof text, limit));
        fbp_message_clear();
        p->n_devices--;
        for (size_t i = poorest; i < p->n_devices; i++)
            p->devices[i] = p->devices[i + 1];
        p->devices_differ = devices_differ(p);
    }
}

/* Choose the kernel, and the slices and views that this process computes: those of the part given
 * by --part, of its rank in a team, or of one rank of the cluster for which the plan is made.
 * in_order: views can only be read in order. */
static fbp_status place(fbp_plan *p, bool in_order)
{
    const bool is_rank = p->target && p->target->nodes;
    struct fbp_job *job = &p->tables.job;
    struct fbp_work_request request;

    job->input.in_order = in_order;
    job->selection.symmetric_views = 1;
    FBP_TRY(fbp_job_arrange(job, p->backend));
    if (p->params.cluster.n_parts) {
        FBP_TRY(fbp_part_share(
            job, (struct fbp_part_of){p->params.cluster.part, p->params.cluster.n_parts},
            job->part.slices));
    } else if (p->params.cluster.team || is_rank) {
        p->ranks = (struct fbp_ranks){0};
        p->slab_slices = 0;
        fbp_plan_work_request(p, job, &request);
        FBP_TRY((is_rank ? fbp_plan_take_rank : fbp_plan_take_share)(p, &request));
    }
    job->input.type = p->backend->can.counts && p->type == FBP_U16 && !fbp_in_double(job)
                          ? FBP_U16
                          : fbp_value_type(job);
    return FBP_OK;
}

static fbp_status arrange(fbp_plan *p, bool in_order)
{
    FBP_TRY(place(p, in_order));
    FBP_TRY(fbp_plan_agree_memory(p, divide(p, &p->work)));
    return fbp_plan_agree_division(p, divide);
}

/* Choose kernel and division for a compressed scan, whose views can only be read in order. The
 * kernel of an uncompressed scan, which gives the same bits, is used if it can use views in order,
 * or if decompressed views fit into memory (in all processes of a team); else another kernel. */
static fbp_status arrange_compressed(fbp_plan *p)
{
    struct fbp_job *job = &p->tables.job;

    FBP_TRY(fbp_job_arrange(job, p->backend));
    if (job->selection.symmetric_views == 1)
        return arrange(p, true);
    p->kernel_unpacked = job->selection.name;
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

/* Choose the kernel and divide the work. */
static fbp_status arrange_job(fbp_plan *p)
{
    const uint64_t resident = fbp_resident_bytes(), limit = memory_limit(p, resident);

    take_output(p, limit > resident ? limit - resident : 0);
    p->devices_differ = devices_differ(p);
    return p->in_order && !p->follow ? arrange_compressed(p) : arrange(p, p->in_order);
}

/* ---- Corrected views: kept in memory, kept in a file, or corrected in each reading ---- */

/* Choose kernel and division of the work, with the views after ring removal and phase retrieval in
 * a scratch file in `folder`, or in memory if folder is NULL; or, if as_read is set, without
 * keeping them: phases are then retrieved each time a view is read. */
static fbp_status arrange_corrections(fbp_plan *p, const char *folder, bool as_read)
{
    struct fbp_corrections_step *c = fbp_plan_corrections(p);
    struct fbp_job *job = &p->tables.job;
    const uint64_t resident = fbp_resident_bytes(), limit = memory_limit(p, resident);
    const uint64_t taken = resident + p->held_bytes;

    c->as_read = as_read;
    job->input.unpacks = p->unpacks || as_read;
    fbp_corrections_divide(c, limit > taken ? limit - taken : 0, folder, job->n_threads);
    p->info.ahead_bytes = fbp_corrections_kept_bytes(c);
    p->info.ahead_rows = c->as_read ? 0 : c->n_rows;
    p->info.ahead_bands = c->as_read     ? 0
                          : c->band_rows ? (c->n_rows + c->band_rows - 1) / c->band_rows
                                         : 1;
    p->info.ahead_in_file = folder != NULL;
    /* Let all devices together use at most as many reading threads as the cache of corrected views
     * has slots, because each reading thread occupies a slot. */
    const int each = c->n_threads / (int)p->n_devices;
    job->input.most_readers = !c->as_read ? 0 : each > 1 ? each : 1;
    const uint64_t bytes = fbp_corrections_memory_bytes(c);
    p->held_bytes += bytes;
    const fbp_status st = arrange_job(p);
    if (st != FBP_OK)
        p->held_bytes -= bytes;
    return st;
}

/* Undo arrange_corrections() with status `before`; call it with another place for the views. */
static fbp_status arrange_instead(fbp_plan *p, fbp_status before, const char *folder, bool as_read)
{
    fbp_message_clear();
    if (before == FBP_OK)
        p->held_bytes -= fbp_corrections_memory_bytes(fbp_plan_corrections(p));
    return arrange_corrections(p, folder, as_read);
}

size_t fbp_plan_retrievals(const fbp_plan *p)
{
    const struct fbp_corrections_step *c = fbp_plan_corrections(p);

    return c && c->as_read ? fbp_work_readings(&p->work) : 1;
}

/* Choose where corrected views are kept.  If each view is read once, phases are retrieved as views
 * are read.  Otherwise all corrected views are kept: in a scratch file if a folder is given and the
 * volume does not fit beside them into memory, else in memory.  If neither is possible, phases are
 * retrieved in every reading.  Phases can be retrieved as views are read only without ring removal,
 * and if views can be read in any order.  All processes of a team choose the same place. */
fbp_status fbp_plan_arrange_steps(fbp_plan *p)
{
    struct fbp_corrections_step *c = fbp_plan_corrections(p);
    const char *scratch = p->params.tuning.scratch;
    fbp_status st = FBP_ERR_NOMEM;

    p->tables.job.input.unpacks = p->unpacks;
    if (!c)
        return arrange_job(p);
    /* true: phases may be retrieved each time a view is read, which is impossible after ring
     * removal, or if views can only be read in order */
    const bool may_wait = c->retrieves && !c->stripes.method && !p->in_order;
    FBP_TRY(fbp_job_arrange(&p->tables.job, p->backend));
    /* keep all rows if another view step follows: the job needs rows of another detector */
    if (p->n_steps == 1)
        fbp_corrections_choose_rows(c, &p->tables.job);
    if (may_wait) {
        st = arrange_corrections(p, NULL, true);
        double readings = (double)fbp_plan_retrievals(p);
        if (st == FBP_OK)
            FBP_TRY(fbp_plan_agree_most(p, &readings));
        if (st != FBP_OK ? st != FBP_ERR_NOMEM : readings <= 1)
            return st;
    }
    st = arrange_instead(p, st, NULL, false);
    double slabs = (double)p->work.n_slabs / (double)p->n_devices;
    if (scratch && st == FBP_OK)
        FBP_TRY(fbp_plan_agree_most(p, &slabs));
    if (scratch && (st == FBP_ERR_NOMEM || (st == FBP_OK && slabs > 1)))
        st = arrange_instead(p, st, scratch, false);
    if (may_wait && st == FBP_ERR_NOMEM)
        return arrange_instead(p, st, NULL, true);
    if (st != FBP_ERR_NOMEM || scratch)
        return st;
    /* the numbers of another rank are those of its own process */
    const uint64_t uncounted = p->lack.who[0] ? 0 : p->uncounted_bytes;
    char kept[32], needs[32], has[32];
    fbp_message_clear();
    return fbp_fail(FBP_ERR_NOMEM,
                    "%smemory: this reconstruction needs at least %s, including %s for views after "
                    "ring removal or phase retrieval, but the limit is %s; raise --memory, or name "
                    "a folder for these views with --scratch",
                    p->lack.who, fbp_bytes_up_text(needs, sizeof needs, p->lack.needs - uncounted),
                    fbp_bytes_text(kept, sizeof kept, fbp_corrections_kept_bytes(c)),
                    fbp_bytes_text(has, sizeof has, p->lack.limit - uncounted));
}

/* ---- Filtered rows in a scratch file, for volumes that are computed in several slabs ---- */

/* Seconds per sample to read and write a file, to decompress and to filter (bench/results/cpu.md,
 * "Filtered views in a file"); the last two are per thread, and n threads take 1/n. */
static const double READ = 0.9e-9, WRITE = 1.2e-9, UNPACK_THREAD = 7.5e-9, FILTER_THREAD = 4.3e-9;

/* Seconds to read one sample of the scan. */
static double read_seconds(const struct fbp_job *job)
{
    return READ + (job->input.unpacks || job->input.in_order ? UNPACK_THREAD / job->n_threads : 0);
}

static double filter_seconds(const fbp_plan *p)
{
    struct fbp_work_request request;

    fbp_plan_work_request(p, &p->tables.job, &request);
    const struct fbp_rates rates = fbp_work_rates(&request);
    return rates.filter > 0 ? rates.filter : FILTER_THREAD / p->tables.job.n_threads;
}

/* Return why filtered views cannot be kept in a scratch file, for a message; NULL: they can. */
static const char *why_not(const fbp_plan *p)
{
    if (fbp_plan_measured(p) != &p->tables)
        return "two stages filter each view only once";
    if (p->tables.job.input.filtered)
        return "the views are already filtered";
    if (fbp_in_double(&p->tables.job))
        return "the file stores float32 rows, but the computation is in double precision";
    if (!p->backend->can.filtered_rows)
        return "this device cannot return filtered rows";
    if (p->follow)
        return "with --follow, views are computed in the order of their arrival";
    if (p->work.kept)
        return "filtered views are kept on the device";
    if (p->hold)
        return "the decompressed views fit into memory";
    if (p->ranks.n_parts > 1)
        return "processes share the views";
    return NULL;
}

static void say_not_used(const fbp_plan *p, const char *why)
{
    const struct fbp_corrections_step *c = fbp_plan_corrections(p);

    if (p->params.tuning.scratch && !(c && c->folder))
        fbp_plan_note(p, FBP_LOG_NOTE, "--scratch is not used: %s", why);
}

/* Divide the work of both phases of a run with a scratch file: filtering into the file
 * (r->filtering), and backprojection from it (r->work). For an open plan, which has the buffers of
 * both phases at the same time, also set r->beside. */
static fbp_status divide_scratch_rows(const fbp_plan *p, struct fbp_plan_rows *r)
{
    struct fbp_work_request request;

    fbp_plan_work_request(p, &p->tables.job, &request);
    FBP_TRY(fbp_work_rows(&request, &r->filtering));
    fbp_plan_work_request(p, &r->job, &request);
    if (request.device_limit > r->filtering.device_bytes)
        request.device_limit -= r->filtering.device_bytes;
    FBP_TRY(fbp_work_divide(&request, &r->work));
    const uint64_t open_bytes = fbp_work_open_bytes(&r->work, &request);

    fbp_plan_work_request(p, &p->tables.job, &request);
    request.base_bytes += open_bytes;
    const fbp_status st = fbp_work_rows(&request, &r->beside);
    r->may_open = st == FBP_OK;
    if (st != FBP_ERR_NOMEM)
        return st;
    fbp_message_clear();
    return FBP_OK;
}

/* Use a scratch file for filtered views, and predict the times: reading and filtering overlap with
 * writing to the file; the backprojection from the file follows. */
static fbp_status take(fbp_plan *p)
{
    const struct fbp_job *job = &p->tables.job;
    struct fbp_plan_rows *r = &p->rows;
    const double rows = r->filtering.view_reads * (double)job->n_views * (double)job->panel.n_rows;
    const double samples = rows * (double)job->panel.n_columns;
    struct fbp_predicted *t = &p->info.predicted;
    struct fbp_work_request request;

    r->used = true;
    p->work = r->work;
    p->work.device_bytes += r->filtering.device_bytes;
    if (p->work.memory_bytes < r->filtering.memory_bytes)
        p->work.memory_bytes = r->filtering.memory_bytes;
    fbp_plan_work_request(p, &r->job, &request);
    struct fbp_rates rates = fbp_work_rates(&request);
    if (rates.update <= 0)
        return FBP_OK; /* the device has no rates */
    rates.filter = 0;  /* rows from the file are already filtered */
    FBP_TRY(fbp_predict(request.machine, &rates, &r->job, &r->work, t, NULL));
    const double read = samples * read_seconds(job), filter = samples * filter_seconds(p);
    const double upload = samples * (double)fbp_raw_size(job) * rates.upload;
    const double all = read + upload + filter, write = samples * WRITE;
    t->read += read;
    t->upload += upload;
    t->filter += filter;
    t->total += all > write ? all : write;
    return FBP_OK;
}

fbp_status fbp_plan_consider_rows(fbp_plan *p)
{
    struct fbp_plan_rows *r = &p->rows;
    const char *reason = why_not(p);
    char text[120];

    if (reason || p->work.view_reads <= 1) {
        say_not_used(p, reason ? reason : "no row is needed more than once");
        return FBP_OK;
    }
    if (!p->params.tuning.scratch && p->work.n_slabs <= slabs_each(p) * p->n_devices)
        return FBP_OK; /* no message, because more memory would not reduce the number of slabs */
    fbp_job_of_rows(&p->tables.job, &r->prep, &r->job);
    const fbp_status st = divide_scratch_rows(p, r);
    if (st == FBP_ERR_NOMEM) {
        fbp_message_clear();
        say_not_used(p, "the memory limit is too low for it");
        return FBP_OK;
    }
    FBP_TRY(st);
    const double sample = read_seconds(&p->tables.job) + filter_seconds(p);
    const double once = r->filtering.view_reads; /* rows relative to all rows of the scan */
    if (!((p->work.view_reads - once) * sample > once * WRITE + r->work.view_reads * READ)) {
        snprintf(text, sizeof text, "reading and filtering rows %.3g times takes less time",
                 p->work.view_reads);
        say_not_used(p, text);
        return FBP_OK;
    }
    if (p->params.tuning.scratch)
        return take(p);
    fbp_plan_note(
        p, FBP_LOG_NOTE,
        "only %zu of %zu slabs (groups of slices) fit into memory, so rows are read and filtered "
        "%.3g times; raise --memory, or name a folder with %s of free space (--scratch)",
        p->n_devices, p->work.n_slabs, p->work.view_reads,
        fbp_bytes_text(text, sizeof text, fbp_rows_bytes(&p->tables.job)));
    return FBP_OK;
}

fbp_status fbp_plan_open_rows(fbp_plan *p)
{
    const struct fbp_plan_rows *r = &p->rows;
    char needs[32], has[32];

    if (!r->used)
        return FBP_OK;
    if (!r->may_open)
        return fbp_fail(
            FBP_ERR_NOMEM,
            "memory: fbp_plan_open() with a scratch file needs at least %s, but the "
            "limit is %s; raise --memory, omit --scratch, or omit fbp_plan_open()",
            fbp_bytes_text(needs, sizeof needs, r->beside.memory_bytes - p->uncounted_bytes),
            fbp_bytes_text(has, sizeof has, p->info.memory_limit - p->uncounted_bytes));
    p->rows.filtering = r->beside;
    if (p->info.memory_bytes < r->beside.memory_bytes)
        p->info.memory_bytes = r->beside.memory_bytes;
    return FBP_OK;
}
