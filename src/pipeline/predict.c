/* Predicts the time of a run for a given division of the work, by simulating its stages
 * (fbp_predict()), and estimates it by timing a small part of the work (fbp_estimate()).
 *
 * In the simulation, each device passes blocks of slices (steps) through the stages from READ to
 * WRITE. A stage starts a step when its input is ready and an output buffer is free. Stages that
 * run at the same time share links, files and processors.
 * Used by: division.c, plan.c, plan_memory.c, ranks.c. */
#include "backend/device.h"
#include "backend/rows.h"
#include "backend/slab.h"
#include "base/base.h"
#include "base/system.h"
#include "pipeline/division.h"
#include "pipeline/job.h"

#include <math.h>
#include <stdlib.h>

/* Stages of a simulated device, in their order: read views, upload, filter, copy filtered views
 * from another device (SHARE), backproject (BP), fetch slices (DOWN), add partial volumes of other
 * processes (SUM), write. FILTER and BP share the device's processors. */
enum stage { READ, UP, FILTER, SHARE, BP, DOWN, SUM, WRITE, STAGES };

/* AHEAD: greatest number of steps (blocks of slices) in progress on a device. HERE: greatest number
 * of blocks in host memory that are fetched and not written yet. */
enum { AHEAD = 128, HERE = 2 };

static const double AT_ONCE = 1e30; /* rate of a link without a limit [bytes/s] */

/* A step of the simulation: one block of slices of a task (which backprojects a batch of views into
 * a slab). The batch is read and filtered in the first step of its task. */
struct step {
    double amount[STAGES]; /* work in each stage [bytes]; in FILTER and BP: time [s] */
    /* loads: the step reads and filters a batch; spends: it is the last step that uses the buffer
     * of filtered views of its batch; first, last: it is the first or last step of its slab;
     * finished: its slices are complete after it, and are fetched */
    bool loads, spends, first, last, finished;
};

/* State of one device in the simulation. made: number of steps (blocks of slices) made so far;
 * begun[s], done[s]: numbers of steps that stage s has begun and has ended. */
struct lane {
    struct step steps[AHEAD];
    size_t made, begun[STAGES], done[STAGES];
    double left[STAGES], busy[STAGES];
    /* loads[s]: batches that have passed stage s; spent: batches whose buffer is free again */
    size_t loads[STAGES], spent;
    size_t slabs, fetched;  /* numbers of slabs that BP has begun, and of fetched slabs */
    size_t here[STAGES];    /* number of blocks of complete slices that have passed each stage */
    struct fbp_task *tasks; /* tasks of the current slab */
    /* task, block: position of the next step in `tasks`; drawn: number of slabs taken so far */
    size_t n_tasks, task, block, drawn;
};

struct course {
    const struct fbp_machine *machine;
    const struct fbp_rates *rates;
    const struct fbp_job *job;
    const struct fbp_work *work;
    struct lane *lanes;
    size_t next_slab, first_slice, n_slices;
    struct lane **filters; /* [batch] device that filters it (NULL: none yet), for shared batches */
    double now;
};

/* Set *out to a device's next step, which updates slices [z0, z1) of its present task. */
static void fill_step(struct course *c, struct lane *l, size_t z0, size_t z1, struct step *out)
{
    const struct fbp_task *t = &l->tasks[l->task];
    const struct fbp_batch *b = &t->batch;
    const struct fbp_work *w = c->work;
    const double voxels =
        (double)fbp_slab_slice(&t->slab) * (double)(z1 - z0) * (double)fbp_channels(c->job);
    const double cost =
        fbp_cut_cost(&w->cut, c->n_slices, z0 - c->first_slice, z1 - c->first_slice);
    const double with_fixed_cost = 1 + c->rates->slices / (double)(z1 - z0);
    size_t a, e;

    *out = (struct step){.first = t->first && l->block == 0, .finished = t->final};
    const bool ends = !fbp_task_block(t, l->block + 1, &a, &e);
    out->spends = t->loads && ends;
    out->last = t->last && ends;
    if (b->n_rows > 0)
        out->amount[BP] = voxels * ((double)b->n_views * c->rates->update * cost * with_fixed_cost +
                                    c->rates->voxel) +
                          c->rates->call;
    if (t->loads && l->block == 0 && w->shared && c->filters[l->task]) {
        /* another device filters the batch, and this device copies the filtered views */
        out->amount[SHARE] =
            (double)w->filtered_bytes / (double)c->job->n_views * (double)b->n_views;
    } else if (t->loads && l->block == 0) {
        const double samples = (double)b->n_views * (double)c->job->panel.n_columns;
        if (w->shared)
            c->filters[l->task] = l;
        out->loads = true;
        out->amount[UP] = samples * (double)b->load_rows * (double)fbp_raw_size(c->job);
        out->amount[READ] = c->machine->read > 0 ? out->amount[UP] : 0;
        out->amount[FILTER] = samples * (double)b->n_rows * c->rates->filter;
    }
    if (t->final) {
        /* each of n processes that share views adds and writes a part of every block of slices */
        const double n = c->machine->sharers > 1 ? (double)c->machine->sharers : 1;
        out->amount[DOWN] = voxels * (double)fbp_value_size(c->job);
        out->amount[SUM] = c->machine->sum > 0 ? out->amount[DOWN] * (n - 1) / n : 0;
        out->amount[WRITE] = c->machine->write > 0 ? out->amount[DOWN] / n : 0;
    }
}

/* Make the next step (block of slices) of a simulated device; false: there is no work for it at
 * present, no buffer for the next batch is free, or AHEAD steps are in progress. */
static bool make_step(struct course *c, struct lane *l)
{
    size_t z0, z1;

    if (l->made - l->done[WRITE] == AHEAD)
        return false;
    if (c->work->shared && l->loads[READ] - l->loads[UP] == c->work->n_raw)
        return false; /* batches for all devices wait for a device with a free buffer */
    while (l->task == l->n_tasks || !fbp_task_block(&l->tasks[l->task], l->block, &z0, &z1)) {
        l->block = 0;
        if (l->task < l->n_tasks && ++l->task < l->n_tasks)
            continue;
        /* Take the next slab. If filtered views are kept on the device, wait until the
         * backprojection of all steps of the present slab has begun. */
        if (c->next_slab == fbp_work_slabs(c->work, c->job) ||
            (c->work->kept && l->drawn > 0 && l->begun[BP] < l->made))
            return false;
        const struct fbp_slab slab = fbp_work_slab(c->work, c->job, c->next_slab++);
        l->n_tasks = fbp_work_tasks(c->work, c->job, &slab, l->drawn++ == 0, l->tasks);
        l->task = 0;
    }
    fill_step(c, l, z0, z1, &l->steps[l->made++ % AHEAD]);
    l->block++;
    return true;
}

/* Return whether stage s can begin its next step: its input is ready, and a buffer is free. */
static bool may_begin(struct course *c, struct lane *l, enum stage s)
{
    const struct fbp_work *w = c->work;
    const size_t at = l->begun[s];

    if (at > l->done[s] || (s == READ ? at == l->made && !make_step(c, l) : at == l->done[s - 1]))
        return false;
    const struct step *step = &l->steps[at % AHEAD];
    switch (s) {
    case READ:
        return !step->loads || l->loads[READ] - l->loads[UP] < w->n_raw;
    case UP:
        return !step->loads || l->loads[UP] - l->loads[FILTER] < w->n_raw;
    case FILTER:
        return !step->loads || w->kept || l->loads[FILTER] - l->spent < w->n_filtered;
    case SHARE:
        return step->amount[SHARE] <= 0 || c->filters[at]->done[FILTER] > at;
    case BP:
        return !step->first || l->slabs - l->fetched < w->n_volumes;
    case DOWN:
        return !step->finished || l->here[DOWN] - l->here[WRITE] < HERE;
    default:
        return true;
    }
}

static bool is_busy(const struct lane *l, enum stage s)
{
    return l->begun[s] > l->done[s];
}

static void end_step(struct lane *l, enum stage s)
{
    const struct step *step = &l->steps[l->done[s]++ % AHEAD];

    l->loads[s] += step->loads;
    l->here[s] += step->finished;
    if (s == BP)
        l->spent += step->spends;
    if (s == DOWN)
        l->fetched += step->last;
}

/* End all steps of a device whose work is done, except for rounding errors, and begin all steps
 * that can begin. A step without work in a stage passes it at once. */
static void change_steps(struct course *c, struct lane *l)
{
    for (enum stage s = READ; s < STAGES; s++)
        if (is_busy(l, s) && l->left[s] <= 1e-9 * l->steps[l->done[s] % AHEAD].amount[s])
            end_step(l, s);

    for (bool again = true; again;) {
        again = false;
        for (enum stage s = READ; s < STAGES; s++) {
            if (!may_begin(c, l, s))
                continue;
            const struct step *step = &l->steps[l->begun[s]++ % AHEAD];
            l->left[s] = step->amount[s];
            if (s == BP)
                l->slabs += step->first;
            if (l->left[s] <= 0)
                end_step(l, s);
            again = true;
        }
    }
}

static double limit(double rate)
{
    return rate > 0 ? rate : AT_ONCE;
}

/* Rate of a device's link, if no other device uses it, for stage s (UP: to the device, DOWN: to the
 * host) [bytes/s]. */
static double own_rate(const struct course *c, const struct lane *l, enum stage s)
{
    const struct fbp_machine *m = c->machine;
    const double known = s == UP ? m->up : m->down;
    const double seconds = s == UP ? c->rates->upload : c->rates->fetch;
    const double alone = known > 0 ? known : seconds > 0 ? 1 / seconds : AT_ONCE;

    return is_busy(l, UP) && is_busy(l, DOWN) ? fmin(alone, limit(m->both)) : alone;
}

/* Return the fraction of its own rate that each device gets if the devices together are limited to
 * the rate `most`; used: sum of their own rates. */
static double part_of(double used, double most)
{
    return used > most ? most / used : 1;
}

/* Number of simulated devices that are busy with stage s. */
static double sharers(const struct course *c, enum stage s)
{
    size_t n = 0;

    for (size_t i = 0; i < c->work->n_workers; i++)
        n += is_busy(&c->lanes[i], s);
    return (double)n;
}

/* Return the fraction of its cores that a process has for computation while one more thread adds
 * partial volumes; that thread gets the same fraction of a core. */
static double part_of_cores(const struct course *c, const struct lane *l)
{
    const double cores = c->machine->sum_cores;

    return cores > 0 && is_busy(l, SUM) && (is_busy(l, FILTER) || is_busy(l, BP))
               ? cores / (cores + 1)
               : 1;
}

/* Fraction of its time that a device has for stage s: if it runs one command at a time, copies and
 * computations get equal fractions; else only computations share it. */
static double part_of_device(const struct course *c, const struct lane *l, enum stage s)
{
    const bool computes = s == FILTER || s == BP, serial = c->rates->serial;
    double n = 0;

    if (computes || (serial && (s == UP || s == DOWN)))
        n = is_busy(l, FILTER) + is_busy(l, BP) + (serial ? is_busy(l, UP) + is_busy(l, DOWN) : 0);
    return n > 1 ? 1 / n : 1;
}

static double rate_of(const struct course *c, const struct lane *l, enum stage s,
                      const double part[STAGES])
{
    switch (s) {
    case SUM:
        return c->machine->sum * part_of_cores(c, l);
    case READ:
        return c->machine->read / sharers(c, s);
    case WRITE:
        return c->machine->write / sharers(c, s);
    case UP:
    case DOWN:
        return own_rate(c, l, s) * part[s] * part_of_device(c, l, s);
    case SHARE:
        return c->machine->peer > 0  ? c->machine->peer
               : c->rates->share > 0 ? 1 / c->rates->share
                                     : AT_ONCE;
    default:
        return part_of_device(c, l, s) * part_of_cores(c, l);
    }
}

/* Advance the simulated time until the next step ends in any stage; false: no stage is busy. */
static bool go_on(struct course *c)
{
    const size_t n = c->work->n_workers;
    const struct fbp_machine *m = c->machine;
    double part[STAGES], used[STAGES] = {0}, next = INFINITY, rates[STAGES];

    /* part[s]: fraction of its own rate that each device has in stage s: links share memory */
    for (size_t i = 0; i < n; i++)
        for (enum stage s = UP; s <= DOWN; s += DOWN - UP)
            used[s] += is_busy(&c->lanes[i], s) ? own_rate(c, &c->lanes[i], s) : 0;
    part[UP] = part_of(used[UP], limit(m->up_all));
    part[DOWN] = part_of(used[DOWN], limit(m->down_all));
    if (used[UP] > 0 && used[DOWN] > 0) {
        const double all =
            part_of(used[UP] * part[UP] + used[DOWN] * part[DOWN], 2 * limit(m->both_all));
        part[UP] *= all;
        part[DOWN] *= all;
    }

    for (size_t i = 0; i < n; i++)
        for (enum stage s = READ; s < STAGES; s++)
            if (is_busy(&c->lanes[i], s))
                next = fmin(next, c->lanes[i].left[s] / rate_of(c, &c->lanes[i], s, part));
    if (!(next < INFINITY))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct lane *l = &c->lanes[i];
        for (enum stage s = READ; s < STAGES; s++)
            rates[s] = is_busy(l, s) ? rate_of(c, l, s, part) : 0;
        for (enum stage s = READ; s < STAGES; s++)
            if (rates[s] > 0) {
                l->busy[s] += c->rates->serial ? next * part_of_device(c, l, s) : next;
                l->left[s] -= rates[s] * next;
            }
    }
    c->now += next;
    return true;
}

fbp_status fbp_predict(const struct fbp_machine *machine, const struct fbp_rates *rates,
                       const struct fbp_job *job, const struct fbp_work *w,
                       struct fbp_predicted *out, double *sums)
{
    static const struct fbp_machine nothing_shared = {0};
    struct course c = {
        .machine = machine ? machine : &nothing_shared, .rates = rates, .job = job, .work = w};
    double most[STAGES] = {0};
    fbp_status st = FBP_OK;

    *out = (struct fbp_predicted){0};
    fbp_job_slices(job, &c.first_slice, &c.n_slices);
    FBP_TRY_GOTO(fbp_calloc((void **)&c.lanes, w->n_workers, sizeof *c.lanes, "a prediction"));
    FBP_TRY_GOTO(
        fbp_calloc((void **)&c.filters, w->n_batches, sizeof(struct lane *), "a prediction"));
    for (size_t i = 0; i < w->n_workers; i++)
        FBP_TRY_GOTO(fbp_calloc((void **)&c.lanes[i].tasks, w->n_batches + 1,
                                sizeof *c.lanes[i].tasks, "a prediction"));
    do {
        for (size_t i = 0; i < w->n_workers; i++)
            change_steps(&c, &c.lanes[i]);
    } while (!fbp_stopped() && go_on(&c));

    for (size_t i = 0; i < w->n_workers; i++)
        for (enum stage s = READ; s < STAGES; s++)
            most[s] = fmax(most[s], c.lanes[i].busy[s]);
    if (sums)
        *sums = most[SUM];
    *out = (struct fbp_predicted){.read = most[READ],
                                  .upload = most[UP],
                                  .filter = most[FILTER],
                                  .share = most[SHARE],
                                  .backproject = most[BP],
                                  .fetch = most[DOWN],
                                  .write = most[WRITE],
                                  .total = c.machine->begin + c.now};
fail:
    for (size_t i = 0; c.lanes && i < w->n_workers; i++)
        free(c.lanes[i].tasks);
    free(c.lanes);
    free((void *)c.filters);
    return st;
}

/* Approximate number of updates (voxels x views) that fbp_estimate() times, and least number of
 * slices: kernels for voxel columns are slow with fewer. Devices with memory of their own get the
 * larger number, because starting a kernel takes time. */
enum { SAMPLE_UPDATES = 1 << 28, LARGE_SAMPLE = 1 << 29, SAMPLE_SLICES = 16 };

struct sample {
    fbp_device *dev;
    float *host;
    void *raw, *filtered, *volume;
};

static fbp_status time_sample(const struct fbp_backend *b, const struct fbp_job *job,
                              struct sample *s, const struct fbp_batch *batch,
                              const struct fbp_slab *slab, double *filter, double *backproject)
{
    const size_t n = fbp_raw_samples(job, batch);

    /* a double is filled as two floats */
    for (size_t i = 0; i < n * fbp_value_size(job) / sizeof *s->host; i++)
        s->host[i] = (float)(i * 2654435761u % 1000) * 1e-3f;
    if (b->can.own_memory) {
        FBP_TRY(b->memory.upload(s->dev, s->raw, s->host, n));
        FBP_TRY(fbp_device_settle(b, s->dev, FBP_STAGE_IN));
    }
    const double start = fbp_seconds();
    FBP_TRY(b->filter(s->dev, batch, b->can.own_memory ? s->raw : s->host, s->filtered));
    FBP_TRY(fbp_device_settle(b, s->dev, FBP_STAGE_FILTER));
    *filter = fbp_seconds() - start;
    FBP_TRY(b->clear(s->dev, slab, s->volume));
    FBP_TRY(fbp_device_settle(b, s->dev, FBP_STAGE_BP));
    const double middle = fbp_seconds();
    FBP_TRY(
        b->backproject(s->dev, batch, s->filtered, slab, slab->z0, slab->z0 + slab->nz, s->volume));
    FBP_TRY(fbp_device_settle(b, s->dev, FBP_STAGE_BP));
    *backproject = fbp_seconds() - middle;
    return FBP_OK;
}

fbp_status fbp_estimate(const struct fbp_job *job, const struct fbp_backend *b, int device,
                        const struct fbp_work *work, double filtered_times, double *seconds)
{
    const bool own = b->can.own_memory;
    struct fbp_slab slab = fbp_slab_asked(job, 0, 1);
    const size_t wanted = own ? LARGE_SAMPLE : SAMPLE_UPDATES;
    const size_t updates = fbp_slab_slice(&slab) * work->group_views;
    size_t first, n;

    /* Choose slices in the middle of the volume that give about `wanted` updates with the smallest
     * batch. */
    fbp_job_slices(job, &first, &n);
    slab.nz = wanted / updates > SAMPLE_SLICES ? wanted / updates : SAMPLE_SLICES;
    if (slab.nz > work->slab_slices)
        slab.nz = work->slab_slices;
    slab.z0 = first + (n - slab.nz) / 2;
    struct fbp_batch batch = fbp_work_batch(work, job, &slab, 0);
    if (batch.n_views > work->group_views)
        batch.n_views = work->group_views;
    const size_t raw_bytes = fbp_raw_samples(job, &batch) * fbp_value_size(job);
    const struct fbp_buffer raw = {FBP_FOR_RAW,
                                   fbp_raw_device_bytes(job, fbp_raw_samples(job, &batch)),
                                   batch.n_views, batch.load_rows};
    const struct fbp_buffer filtered = {FBP_FOR_FILTERED,
                                        b->filtered_bytes(job, batch.n_views, batch.n_rows),
                                        batch.n_views, batch.n_rows};
    const struct fbp_buffer volume = {FBP_FOR_VOLUME, b->volume_bytes(job, &slab), 0, 0};
    struct sample s = {0};
    double filter = 0, backproject = 0;
    fbp_status st = FBP_OK;

    *seconds = 0;
    if (batch.n_rows == 0)
        return FBP_OK;
    FBP_TRY_GOTO(b->open(&s.dev, device, job));
    FBP_TRY_GOTO(fbp_alloc((void **)&s.host, raw_bytes, "a sample of the work"));
    if (own)
        FBP_TRY_GOTO(b->memory.alloc(s.dev, &raw, &s.raw));
    FBP_TRY_GOTO(b->memory.alloc(s.dev, &filtered, &s.filtered));
    FBP_TRY_GOTO(b->memory.alloc(s.dev, &volume, &s.volume));
    if (own) /* the first pass, which loads the device's code, does not count */
        FBP_TRY_GOTO(time_sample(b, job, &s, &batch, &slab, &filter, &backproject));
    FBP_TRY_GOTO(time_sample(b, job, &s, &batch, &slab, &filter, &backproject));

    const double rows = filtered_times * (double)job->n_views * (double)job->panel.n_rows;
    const double sampled = (double)batch.n_views;
    const uint64_t voxels = fbp_wanted_voxels(job, &slab, slab.z0, slab.z0 + slab.nz);
    const double times =
        job->requested.region && voxels
            ? (double)fbp_wanted_voxels(job, &slab, first, first + n) / (double)voxels
            : (double)n / (double)slab.nz;
    *seconds = (filter * rows / (sampled * (double)batch.n_rows) +
                backproject * times * (double)job->n_views / sampled) *
               (double)fbp_time_points(job) / (double)work->n_workers;
fail:
    if (s.dev) {
        fbp_device_put(b, s.dev, FBP_FOR_RAW, s.raw);
        fbp_device_put(b, s.dev, FBP_FOR_FILTERED, s.filtered);
        fbp_device_put(b, s.dev, FBP_FOR_VOLUME, s.volume);
        b->close(&s.dev);
    }
    fbp_free(s.host);
    return st;
}
