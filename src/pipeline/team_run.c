/* A run of several processes (a team; functions fbp_plan_team_…()): which process writes which
 * slices, common progress and report, and sums of partial volumes.
 *
 * Either each process writes its own slices into one output (`apart`), or the other processes send
 * their slices to rank 0, which writes all.
 * Used by: pipeline/. */
#include "array/array.h"
#include "base/base.h"
#include "base/cache.h"
#include "base/system.h"
#include "base/threads.h"
#include "pipeline/job.h"
#include "pipeline/plan.h"
#include "team/team.h"

#include "fbp/callback.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct fbp_plan_run_team {
    fbp_plan *plan;
    const struct fbp_cancel_flag *stop; /* flag that ends the run */
    fbp_sink *sink;
    bool apart; /* each process writes its own slices */
    /* thread of rank 0 that receives slices until every other process has sent its last one */
    pthread_t taker;
    bool has_taker;
    atomic_bool taken_all;
    /* status of the thread `taker`, valid when taken_all is set; its error message is in `why` */
    fbp_status taken;
    char why[1200];
    void *slices;             /* buffer for received slices */
    double told;              /* time when this process last sent its progress to rank 0 [s] */
    struct fbp_progress last; /* progress of this process */
};

/* Results of a process that rank 0 gets at the end of a run, followed by those of its checks. */
struct found {
    struct fbp_report report;
    uint64_t n; /* number of voxels that min, max and mean of the report include */
    struct fbp_prep_counts ahead; /* samples that view steps (corrections of views) repaired */
};

/* Slices that one process adds up in a round of exchange; `first` counts within the round. */
struct segment {
    size_t first, n;
};

struct fbp_plan_sums {
    const fbp_plan *plan;
    float *pieces; /* partial sums of this process's slices that the n_parts - 1 other processes of
                      the slab have sent, `room` floats from each */
    size_t room;   /* number of floats per received segment */
    struct segment of[];
};

static size_t slice_bytes(const fbp_plan *p)
{
    return p->info.volume.n[0] * p->info.volume.n[1] * fbp_value_size(&p->tables.job);
}

/* Greatest number of slices per message to rank 0, at least one. */
static size_t slices_at_once(const fbp_plan *p)
{
    const size_t bytes = slice_bytes(p);

    return bytes < FBP_TEAM_SENT_BYTES ? FBP_TEAM_SENT_BYTES / bytes : 1;
}

/* Return whether this process writes to the output itself, instead of sending slices to rank 0. */
static bool writes_output(const fbp_plan *p, bool apart)
{
    return fbp_team_rank(p->params.cluster.team) == 0 || (apart && !p->ranks.idle);
}

uint64_t fbp_plan_team_bytes(const fbp_plan *p, bool first)
{
    const struct fbp_job *job = &fbp_plan_measured(p)->job;
    const size_t size = fbp_team_size(p->params.cluster.team);
    const uint64_t slice = (uint64_t)fbp_box_slice(job) * sizeof(double);
    const uint64_t found = sizeof(struct found) + fbp_data_check_packed(job);
    const uint64_t sent = slice < FBP_TEAM_SENT_BYTES ? FBP_TEAM_SENT_BYTES : slice;
    const uint64_t have = fbp_box_size(job, 2) * fbp_volumes(job);
    const size_t parts = p->ranks.n_parts;
    uint64_t added = 0; /* bytes of the buffers for partial volumes of other processes */
    size_t first_slice, n;

    if (!p->params.cluster.team)
        return 0;
    if (parts > 1) {
        fbp_job_slices(&p->tables.job, &first_slice, &n);
        const size_t block = fbp_work_block(&p->tables.job, n, parts);
        added = (parts - 1) * (uint64_t)fbp_ranks_segment(parts, block) *
                    fbp_box_slice(&p->tables.job) * sizeof(float) +
                sizeof(struct fbp_plan_sums) + parts * sizeof(struct segment);
    }

    if (!first)
        return 2 * found + have + added;
    return 2 * size * found + size * have + sent + added;
}

/* Receive slices [z, z + n) from process `from`, and write them to the output. */
static fbp_status take(struct fbp_plan_run_team *t, size_t from, uint64_t z, uint64_t n)
{
    const fbp_plan *p = t->plan;
    const size_t all = p->info.volume.n[2] * p->info.time_points;

    if (!t->slices || n > slices_at_once(p) || z > all || n > all - z)
        return FBP_INVALID(
            "team: rank %zu sent slices outside this volume; start all processes with "
            "the same command",
            from);
    FBP_TRY(fbp_team_accept(p->params.cluster.team, from, t->slices, (size_t)n * slice_bytes(p)));
    return fbp_sink_write(t->sink, (size_t)z, (size_t)n, fbp_value_type(&p->tables.job), t->slices);
}

/* Main function of the thread of rank 0 that receives slices, until every other process has sent
 * its last one.  If the thread fails, it stops the run. */
static void *taker_main(void *arg)
{
    struct fbp_plan_run_team *t = arg;
    fbp_team *team = t->plan->params.cluster.team;
    struct fbp_cancel_scope scope = {.flag = t->stop};

    fbp_message_clear();
    (void)fbp_cancel_scope(&scope);
    for (size_t ends = 0; t->taken == FBP_OK && ends + 1 < fbp_team_size(team);) {
        size_t from;
        uint64_t z, n;
        t->taken = fbp_team_next_offer(team, &from, &z, &n);
        if (t->taken == FBP_OK && n > 0)
            t->taken = take(t, from, z, n);
        else
            ends++;
    }
    (void)fbp_cancel_scope(NULL);
    snprintf(t->why, sizeof t->why, "%s", fbp_message());
    atomic_store(&t->taken_all, true);
    if (t->taken != FBP_OK)
        atomic_store(&t->plan->stop, true);
    return NULL;
}

/* Combine the tables [slice] of all writing processes: which slices the output already has. All get
 * the same table, because processes that share a slab compute its missing slices together. */
static fbp_status share_have(struct fbp_plan_run_team *t, fbp_status status)
{
    fbp_team *team = t->plan->params.cluster.team;
    const struct fbp_job *job = &t->plan->tables.job;
    const size_t n = fbp_sink_info(t->sink)->n[2], nz = fbp_box_size(job, 2);
    unsigned char *have = NULL, *all = NULL;

    if (status == FBP_OK)
        status = fbp_calloc((void **)&have, n, 1, "a table of slices");
    for (size_t z = 0; have && z < n; z++)
        have[z] = writes_output(t->plan, t->apart) && fbp_sink_has(t->sink, z, 1);
    if (t->apart && status == FBP_OK) { /* combine the tables of all writing processes on rank 0 */
        if (fbp_team_rank(team) == 0)
            status = fbp_calloc((void **)&all, fbp_team_size(team), n, "tables of slices");
        status = fbp_team_collect(team, "slices", status, have, n, all);
        for (size_t i = 0; status == FBP_OK && all && i < fbp_team_size(team) * n; i++)
            have[i % n] |= all[i];
        free(all);
    }

    const fbp_status st = fbp_team_share(team, "output", status, have, n);
    for (size_t z = 0; have && st == FBP_OK && z < n; z++)
        if (have[z] && fbp_box_is_own(job, z % nz))
            fbp_sink_mark(t->sink, z, 1);
    free(have);
    return st;
}

fbp_status fbp_plan_team_begin(fbp_plan *p, fbp_sink *sink, bool apart,
                               struct fbp_plan_run_team **out)
{
    const bool first = fbp_team_rank(p->params.cluster.team) == 0;
    struct fbp_plan_run_team *t = NULL;
    fbp_status st = FBP_OK;

    if (!p->params.cluster.team)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&t, 1, sizeof *t, "a team's run"));
    t->plan = p;
    t->stop = fbp_cancel_flag();
    t->sink = sink;
    t->apart = apart;
    *out = t;
    if (first && !apart)
        st = fbp_alloc(&t->slices, slices_at_once(p) * slice_bytes(p), "received slices");
    if (first && st == FBP_OK) {
        t->has_taker = pthread_create(&t->taker, NULL, taker_main, t) == 0;
        if (!t->has_taker)
            st = fbp_fail(FBP_ERR_NOMEM,
                          "threads: the system cannot start another thread; close other programs");
    }

    FBP_TRY(share_have(t, st));
    fbp_team_cancel_flag(p->params.cluster.team, &p->stop);
    return FBP_OK;
}

/* Counters of a progress message. */
enum { DONE, TOTAL, SLABS_DONE, N_SLABS };

int fbp_plan_team_progress(void *user, const struct fbp_progress *now)
{
    struct fbp_plan_run_team *t = user;
    const struct fbp_recon_params *p = &t->plan->params;
    const bool counts = t->plan->ranks.part == 0; /* one process counts a shared slab */
    const uint64_t own[FBP_TEAM_COUNTERS] = {
        [DONE] = now->done,
        [TOTAL] = now->total,
        [SLABS_DONE] = counts ? now->slabs_done : 0,
        [N_SLABS] = counts ? now->n_slabs : 0,
    };
    uint64_t all[FBP_TEAM_COUNTERS];
    struct fbp_progress sum = *now;

    t->last = *now;
    if (fbp_seconds() - t->told > 0.2) {
        fbp_team_send_progress(p->cluster.team, own);
        t->told = fbp_seconds();
    }
    if (fbp_team_rank(p->cluster.team) == 0) {
        fbp_team_sum_progress(p->cluster.team, all);
        sum.done = all[DONE];
        sum.total = all[TOTAL];
        sum.slabs_done = (size_t)all[SLABS_DONE];
        sum.n_slabs = (size_t)all[N_SLABS];
    }
    return p->callbacks.progress ? p->callbacks.progress(p->callbacks.user, &sum) : 0;
}

/* Called when this process has computed its slices.  Rank 0 reports the progress of the other ranks
 * until all slices have arrived; each other rank announces that no more slices follow.  Slices
 * that the output had before the run are not part of the progress. */
static fbp_status end_of_slices(struct fbp_plan_run_team *t, const struct fbp_report *report)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    const struct fbp_progress all = {.struct_size = sizeof all,
                                     .done = t->last.total,
                                     .total = t->last.total,
                                     .views_read = t->plan->tables.job.n_views,
                                     .slabs_done = t->last.n_slabs,
                                     .n_slabs = t->last.n_slabs,
                                     .seconds = report->total};

    if (fbp_team_rank(t->plan->params.cluster.team) > 0) {
        t->told = 0;
        (void)fbp_plan_team_progress(t, &all);
        return fbp_team_offer(t->plan->params.cluster.team, 0, 0, NULL, 0);
    }
    while (t->has_taker && !atomic_load(&t->taken_all)) {
        nanosleep(&pause, NULL);
        if (fbp_plan_team_progress(t, &all) != 0)
            return fbp_fail(FBP_ERR_CANCELLED, "cancelled");
        FBP_TRY(fbp_check_cancelled());
    }
    if (t->taken != FBP_OK)
        fbp_message_adopt(t->why);
    return t->taken;
}

/* Combine another process's results with those in *to: wall-clock times become the greater of the
 * two; busy times, waiting times and counts are summed; min, max, mean are those of all voxels. */
static void join_reports(struct found *to, const struct found *other)
{
    struct fbp_report *a = &to->report;
    const struct fbp_report *b = &other->report;
    const double updates = a->gups * a->total + b->gups * b->total;

    if (other->n > 0) {
        const double n = (double)to->n, m = (double)other->n;
        a->mean = to->n ? (a->mean * n + b->mean * m) / (n + m) : b->mean;
        a->min = to->n ? fmin(a->min, b->min) : b->min;
        a->max = to->n ? fmax(a->max, b->max) : b->max;
        to->n += other->n;
    }
    a->total = fmax(a->total, b->total);
    a->gups = a->total > 0 ? updates / a->total : 0;
    a->open = fmax(a->open, b->open);
    a->read += b->read;
    a->filter += b->filter;
    a->backproject += b->backproject;
    a->write += b->write;
    a->upload += b->upload;
    a->fetch += b->fetch;
    a->waiting_read += b->waiting_read;
    a->waiting_write += b->waiting_write;
    a->ahead = fmax(a->ahead, b->ahead);
    a->volume_after_last_view = fmax(a->volume_after_last_view, b->volume_after_last_view);
    a->slabs_resumed += b->slabs_resumed;
    a->devices_dropped += b->devices_dropped;
    a->not_finite += b->not_finite;
    a->clipped += b->clipped;
    a->output_clipped += b->output_clipped;
}

/* Combine the results of all processes into the report and the checks of rank 0. View steps count
 * the same repaired samples again for each slab of the grid of ranks, so only the slab with the
 * largest count is used (slabs that the output had before the run have read nothing). */
static void join_all(const struct fbp_plan_run_team *t, const char *all, size_t bytes,
                     fbp_data_check *look, struct fbp_report *report)
{
    struct fbp_prep_counts slab = {0}, most = {0};
    struct found sum = {.n = 0}, one;

    for (size_t r = 0; r < fbp_team_size(t->plan->params.cluster.team); r++) {
        memcpy(&one, all + r * bytes, sizeof one);
        if (r % t->plan->ranks.n_parts == 0)
            slab = (struct fbp_prep_counts){0};
        fbp_prep_counts_add(&slab, &one.ahead);
        if (slab.not_finite + slab.clipped > most.not_finite + most.clipped)
            most = slab;
        if (r == 0) {
            sum = one;
            continue;
        }
        join_reports(&sum, &one);
        fbp_data_check_join(look, all + r * bytes + sizeof one);
    }
    *report = sum.report;
    report->not_finite += most.not_finite;
    report->clipped += most.clipped;
}

fbp_status fbp_plan_team_computed(struct fbp_plan_run_team *t, fbp_status status,
                                  fbp_data_check *look, uint64_t n_found,
                                  const struct fbp_prep_counts *ahead, struct fbp_report *report)
{
    fbp_team *team = t->plan->params.cluster.team;
    struct found found = {.report = *report, .n = n_found, .ahead = *ahead};
    const size_t bytes = sizeof found + fbp_data_check_packed(&fbp_plan_measured(t->plan)->job);
    const bool first = fbp_team_rank(team) == 0;
    char *mine = NULL, *all = NULL;

    if (status == FBP_OK)
        status = end_of_slices(t, report);
    if (status == FBP_OK)
        status = fbp_calloc((void **)&mine, 1, bytes, "results of processes");
    if (status == FBP_OK && first)
        status = fbp_calloc((void **)&all, fbp_team_size(team), bytes, "results of processes");
    if (t->plan->ranks.part > 0) /* only the first process of a slab counts resumed slabs */
        found.report.slabs_resumed = 0;
    if (!first && writes_output(t->plan, t->apart)) /* rank 0 adds its own count later */
        found.report.output_clipped = fbp_sink_clipped(t->sink);
    if (status == FBP_OK) {
        memcpy(mine, &found, sizeof found);
        fbp_data_check_pack(look, mine + sizeof found);
    }
    /* the thread `taker` has failed, and thereby ended the run: return its status */
    if (atomic_load(&t->taken_all) && t->taken != FBP_OK && t->taken != FBP_ERR_CANCELLED) {
        fbp_message_clear();
        fbp_message_adopt(t->why);
        status = t->taken;
    }
    const fbp_status st = fbp_team_collect(team, "computed", status, mine, mine ? bytes : 0, all);
    if (st == FBP_OK && all)
        join_all(t, all, bytes, look, report);
    free(mine);
    free(all);
    return st;
}

fbp_status fbp_plan_team_written(struct fbp_plan_run_team *t, fbp_status status)
{
    if (!t || !t->apart)
        return status;
    fbp_team *team = t->plan->params.cluster.team;
    const bool first = fbp_team_rank(team) == 0;
    fbp_status st = fbp_team_meet(team, "checked", status);
    if (st == FBP_ERR_INVALID) /* rank 0 found that no view has data */
        fbp_sink_forget(t->sink);
    FBP_TRY(st);
    if (!first && writes_output(t->plan, true))
        st = fbp_sink_finish(t->sink);
    return fbp_team_meet(team, "written", st);
}

void fbp_plan_team_end(struct fbp_plan_run_team **run)
{
    struct fbp_plan_run_team *t = *run;

    if (!t)
        return;
    fbp_team_cancel_flag(t->plan->params.cluster.team, NULL);
    if (t->has_taker) /* the thread has ended, or ends because a barrier has failed */
        pthread_join(t->taker, NULL);
    fbp_free(t->slices);
    free(t);
    *run = NULL;
}

/* ---- Output of a team ----
 *
 * Each process writes its own slices into the output if all see the same file system and the format
 * stores slices at fixed positions.  Otherwise rank 0 writes all slices. */

/* Callback of the sink of a rank that does not write itself: send slices to rank 0. */
static int send_slices(const fbp_plan *p, size_t z0, size_t nz, const void *slices, char *why,
                       size_t n_why)
{
    if (fbp_team_offer(p->params.cluster.team, z0, nz, slices, nz * slice_bytes(p)) == FBP_OK)
        return 0;
    snprintf(why, n_why, "%s", fbp_message());
    fbp_message_clear();
    return 1;
}

static int send_floats(void *user, size_t z0, size_t nz, const float *slices, char *why,
                       size_t n_why)
{
    return send_slices(user, z0, nz, slices, why, n_why);
}

static int send_doubles(void *user, size_t z0, size_t nz, const double *slices, char *why,
                        size_t n_why)
{
    return send_slices(user, z0, nz, slices, why, n_why);
}

fbp_status fbp_plan_team_sink(const fbp_plan *p, fbp_sink **out)
{
    const bool doubles = fbp_in_double(&p->tables.job);
    const struct fbp_sink_functions functions = {.struct_size = sizeof functions,
                                                 .write = doubles ? NULL : send_floats,
                                                 .write_double = doubles ? send_doubles : NULL,
                                                 .user = (void *)(uintptr_t)p,
                                                 .at_once = slices_at_once(p),
                                                 .concurrent = 1};
    const size_t *v = p->info.volume.n, n[3] = {v[0], v[1], p->info.time_points * v[2]};

    return fbp_sink_callback(out, &functions, n);
}

/* Hashes of the input and the output, which must be equal in all processes of a team. */
struct files {
    /* hash of the plan, of the release of fbp, and of the names, sizes and times of the input
     * files; 0: the views are not in files, or are still being measured */
    uint64_t inputs;
    uint64_t output; /* hash of the output's name */
};

fbp_status fbp_plan_team_compare(const fbp_plan *p, const fbp_source *source, const char *output)
{
    fbp_team *team = p->params.cluster.team;
    const size_t size = fbp_team_size(team);
    struct files mine = {.output = fbp_hash(0, output, strlen(output))}, *all = NULL;
    char name[100];

    if (!team)
        return FBP_OK;
    fbp_status st = fbp_plan_fingerprint(p, source, &mine.inputs);
    if (st == FBP_OK)
        st = fbp_calloc((void **)&all, size, sizeof *all, "a team");
    st = fbp_team_gather(team, "inputs", st, &mine, sizeof mine, all);
    for (size_t r = 1; all && r < size && st == FBP_OK; r++) {
        (void)fbp_team_name(team, r, name, sizeof name);
        if (all[r].inputs != all[0].inputs)
            st = FBP_INVALID("%s reads other files than rank 0, or copies with other modification "
                             "times, or is another build of fbp; give all processes the same files "
                             "(copy them by cp -p) and the same build",
                             name);
        else if (all[r].output != all[0].output)
            st = FBP_INVALID(
                "%s has another output than rank 0; start all processes with the same command",
                name);
    }
    free(all);
    return st;
}

/* Open the sink of this process.
 * joint: all ranks write the output.  Rank 0 prepares it, discarding or resuming an earlier output
 *        as requested, and publishes it.  Not joint: only this process writes the output. */
static fbp_status open_sink(const fbp_plan *p, const fbp_source *source, const char *output,
                            bool joint, fbp_sink **sink)
{
    const struct fbp_ranks *r = &p->ranks;
    const bool first = fbp_team_rank(p->params.cluster.team) == 0;
    const struct fbp_sink_share share = {.part = r->slab * r->n_parts + r->part + 1,
                                         .n_parts = r->n_slabs * r->n_parts,
                                         .first = first,
                                         .led = !first};
    const bool finds_range = !joint && p->params.output.auto_range;

    return fbp_plan_sink_open(p, source, output, finds_range ? NULL : p->params.output.range,
                              joint ? &share : NULL, sink);
}

/* Message of rank 0 to all ranks: whether they write one output jointly, and the file by which each
 * rank tests that it sees the same file system. */
struct opened {
    bool joint;
    struct fbp_sink_probe token;
};

/* Find out whether all ranks see the output on the file system of rank 0 (*apart).  If not, rank 0
 * logs a note that names one of the ranks that do not. */
static fbp_status look(const fbp_plan *p, const char *output, const struct opened *opened,
                       bool *apart)
{
    fbp_team *team = p->params.cluster.team;
    const unsigned char mine = !opened->token.path[0] || fbp_sink_sees_probe(&opened->token);
    const size_t size = fbp_team_size(team);
    char name[100], first[100], more[40] = "does";
    /* number of ranks that do not see the file of rank 0; the first of them */
    size_t blind = 0, at = size;
    unsigned char *all = NULL;

    fbp_status st = fbp_calloc((void **)&all, size, 1, "a team");
    st = fbp_team_gather(team, "file system", st, &mine, 1, all);
    for (size_t r = size; st == FBP_OK && r-- > 0;) {
        at = all[r] ? at : r;
        blind += !all[r];
    }
    free(all);
    *apart = st == FBP_OK && blind == 0;
    if (st != FBP_OK || *apart || fbp_team_rank(team) > 0)
        return st;
    if (blind > 1)
        snprintf(more, sizeof more, "and %zu more do", blind - 1);
    fbp_plan_note(p, FBP_LOG_NOTE,
                  "%s %s not see the temporary file of %.200s, which %s has created on another "
                  "file system, so rank 0 writes the slices of all processes",
                  fbp_team_name(team, at, name, sizeof name), more, output,
                  fbp_team_name(team, 0, first, sizeof first));
    return FBP_OK;
}

fbp_status fbp_plan_team_open(const fbp_plan *p, const fbp_source *source, const char *output,
                              fbp_sink **sink, bool *apart)
{
    fbp_team *team = p->params.cluster.team;
    const bool first = fbp_team_rank(team) == 0;
    struct opened opened = {.joint = false};
    uint64_t fingerprint = 0;
    fbp_status st = FBP_OK;

    *apart = false;
    if (!team)
        return open_sink(p, source, output, false, sink);
    FBP_TRY(fbp_plan_team_compare(p, source, output));
    if (first)
        st = fbp_plan_fingerprint(p, source, &fingerprint);
    if (first && st == FBP_OK) {
        /* Rank 0 opens an output that all ranks write, unless the format must be written from start
         * to end, the output is hash: or already complete, the views have no fingerprint, or the
         * range of integers is not known yet. */
        st = FBP_ERR_UNSUPPORTED;
        if (fingerprint && !p->params.output.auto_range)
            st = open_sink(p, source, output, true, sink);
        if (st == FBP_ERR_UNSUPPORTED) {
            fbp_message_clear();
            st = open_sink(p, source, output, false, sink);
        } else if (st == FBP_OK) {
            fbp_sink_probe(*sink, &opened.token);
            opened.joint = opened.token.path[0] || strcmp(output, "null:") == 0;
        }
    }
    FBP_TRY(fbp_team_share(team, "opened", st, &opened, sizeof opened));
    if (opened.joint)
        FBP_TRY(look(p, output, &opened, apart));
    if (!first && !writes_output(p, *apart))
        return fbp_plan_team_sink(p, sink);
    if (!first)
        return open_sink(p, source, output, true, sink);
    if (!opened.joint || *apart)
        return FBP_OK;
    fbp_sink_close(sink); /* reopen the output for rank 0 alone, which writes all slices */
    return open_sink(p, source, output, false, sink);
}

/* ---- Sums of partial volumes ----
 *
 * Each process that shares the views of a slab owns some of the slab's slices.  It receives their
 * partial sums from the other processes and adds them in the order of processes, so that bits do
 * not depend on timing. */

/* Number of the process that adds up the partial sums of slice z, among those of the slab. */
static size_t owner(const fbp_plan *p, size_t z)
{
    const struct fbp_job *job = &p->tables.job;

    return fbp_ranks_owner(job, p->ranks.n_parts, p->work.block_slices, z % fbp_box_size(job, 2));
}

bool fbp_plan_has_sum(const fbp_plan *p, size_t z)
{
    return p->ranks.n_parts < 2 || owner(p, z) == p->ranks.part;
}

/* Callback `has` of struct fbp_sum. */
static bool has(void *user, size_t z)
{
    const struct fbp_plan_sums *s = user;

    return fbp_plan_has_sum(s->plan, z);
}

/* Buffer for partial sums of this process's slices from process `part` of those of its slab. */
static float *piece_of(const struct fbp_plan_sums *s, size_t part)
{
    return s->pieces + (part - (part > s->plan->ranks.part)) * s->room;
}

/* Callback `add` of struct fbp_sum: add the partial volumes of all processes that share a slab.
 * They add the same blocks of slices in the same order, and request data before they send any: a
 * process waits only for processes that are behind it, so no deadlock is possible. */
static fbp_status add(void *user, size_t z, size_t n, float *x)
{
    struct fbp_plan_sums *s = user;
    const fbp_plan *p = s->plan;
    const struct fbp_ranks *r = &p->ranks;
    fbp_team *team = p->params.cluster.team;
    const size_t slice = fbp_box_slice(&p->tables.job), rank0 = r->slab * r->n_parts;
    const size_t most = fbp_ranks_segment(r->n_parts, p->work.block_slices);
    const struct segment *own = &s->of[r->part];

    s->room = most * slice;
    if (!s->pieces)
        FBP_TRY(fbp_alloc((void **)&s->pieces, (r->n_parts - 1) * s->room * sizeof *s->pieces,
                          "blocks of partial volumes"));
    for (size_t at = 0, some; at < n; at += some) {
        float *const round = x + at * slice;

        /* find the slices of this round: a contiguous segment, or none, for each process */
        memset(s->of, 0, r->n_parts * sizeof *s->of);
        for (some = 0; some < n - at; some++) {
            struct segment *of = &s->of[owner(p, z + at + some)];
            if (of->n == most || (of->n > 0 && of->first + of->n != some))
                break;
            of->first = of->n == 0 ? some : of->first;
            of->n++;
        }

        /* Request the other processes' partial sums of this process's slices, and send each of them
         * the partial sums of its slices.  Each process begins with its successor, because
         * otherwise all would send to the same process first. */
        for (size_t i = 1; own->n > 0 && i < r->n_parts; i++) {
            const size_t part = (r->part + i) % r->n_parts;
            FBP_TRY(fbp_team_request_piece(team, rank0 + part, piece_of(s, part),
                                           own->n * slice * sizeof(float)));
        }
        for (size_t i = 1; i < r->n_parts; i++) {
            const size_t part = (r->part + i) % r->n_parts;
            const struct segment *of = &s->of[part];
            if (of->n > 0)
                FBP_TRY(fbp_team_send_piece(team, rank0 + part, round + of->first * slice,
                                            of->n * slice * sizeof *x));
        }

        /* add the partial sums of all processes, always in the order of processes */
        float *const mine = round + own->first * slice;
        float *const sum = r->part == 0 ? mine : piece_of(s, 0);
        for (size_t part = 0; own->n > 0 && part < r->n_parts; part++) {
            const float *const one = part == r->part ? mine : piece_of(s, part);
            if (part != r->part)
                FBP_TRY(fbp_team_wait_piece(team, rank0 + part));
            for (size_t i = 0; part > 0 && i < own->n * slice; i++)
                sum[i] += one[i];
        }
        if (own->n > 0 && sum != mine)
            memcpy(mine, sum, own->n * slice * sizeof *mine);
    }
    return FBP_OK;
}

fbp_status fbp_plan_share_views(fbp_plan *p)
{
    const size_t n = p->ranks.n_parts;

    if (n < 2)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&p->sums, 1, sizeof *p->sums + n * sizeof *p->sums->of, "sums"));
    p->sums->plan = p;
    p->team_sum = (struct fbp_sum){.add = add, .has = has, .user = p->sums, .in_order = true};
    fbp_sum_take(&p->team_sum, &p->tables.job);
    p->sum = &p->team_sum;
    return FBP_OK;
}

void fbp_plan_forget_sums(fbp_plan *p)
{
    if (p->sums)
        fbp_free(p->sums->pieces);
    free(p->sums);
    p->sums = NULL;
}
