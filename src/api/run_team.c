/* A run of several processes: who writes, how far all are, and what all have found. */
#include "api/plan_team.h"

#include "array/sink.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/stop.h"
#include "fbp/callback.h"
#include "plan/roi.h"
#include "team/team.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct fbp_plan_run_team {
    fbp_plan *plan;
    fbp_sink *sink;
    bool apart;      /* each writes its own slices */
    pthread_t taker; /* of rank 0: takes slices of the others, or hears that they have none left */
    bool has_taker;
    atomic_bool taken_all;
    fbp_status taken; /* what became of that, and its message */
    char why[1200];
    void *slices;             /* room for those */
    double told;              /* when rank 0 was told last how far this process is */
    struct fbp_progress last; /* how far it is */
};

/* What a process tells at the end of a run; what its look has seen follows. */
struct found {
    struct fbp_report report;
    uint64_t n; /* voxels that min, max and mean are of */
    struct fbp_prep_counts ahead;
};

uint64_t fbp_plan_team_bytes(const fbp_plan *p, bool first)
{
    const struct fbp_job *job = &fbp_plan_measured(p)->job;
    const size_t size = fbp_team_size(p->params.team);
    const uint64_t slice = (uint64_t)fbp_roi_size(job, 0) * fbp_roi_size(job, 1) * sizeof(double);
    const uint64_t found = sizeof(struct found) + fbp_look_packed(job);
    const uint64_t sent = slice < FBP_TEAM_SENT_BYTES ? FBP_TEAM_SENT_BYTES : slice;
    const uint64_t have = fbp_roi_size(job, 2) * fbp_volumes(job);
    const uint64_t added = fbp_plan_sum_bytes(p);

    if (!p->params.team)
        return 0;
    if (!first)
        return 2 * found + have + added;
    return 2 * size * found + size * have + sent + added;
}

/* Slices of another process, into the output. */
static fbp_status take(struct fbp_plan_run_team *t, size_t from, uint64_t z, uint64_t n)
{
    const fbp_plan *p = t->plan;
    const size_t all = p->info.volume.n[2] * p->info.frames;

    if (!t->slices || n > fbp_plan_team_at_once(p) || z > all || n > all - z)
        return fbp_fail(FBP_ERR_INVALID, "team: rank %zu has slices that are not of this volume",
                        from);
    FBP_TRY(fbp_team_accept(p->params.team, from, t->slices, (size_t)n * fbp_plan_slice_bytes(p)));
    return fbp_in_double(&p->tables.job)
               ? fbp_sink_write_double(t->sink, (size_t)z, (size_t)n, t->slices)
               : fbp_sink_write(t->sink, (size_t)z, (size_t)n, t->slices);
}

static fbp_status take_all(struct fbp_plan_run_team *t)
{
    fbp_team *team = t->plan->params.team;

    for (size_t ends = 0; ends + 1 < fbp_team_size(team);) {
        size_t from;
        uint64_t z, n;
        FBP_TRY(fbp_team_offered(team, &from, &z, &n));
        ends += n == 0;
        if (n > 0)
            FBP_TRY(take(t, from, z, n));
    }
    return FBP_OK;
}

/* Of a thread of its own: a failure ends the run. */
static void *taker_main(void *arg)
{
    struct fbp_plan_run_team *t = arg;
    struct fbp_stop_scope scope = {.flag = &t->plan->stop};

    fbp_message_clear();
    (void)fbp_stop_scope(&scope);
    t->taken = take_all(t);
    (void)fbp_stop_scope(NULL);
    snprintf(t->why, sizeof t->why, "%s", fbp_message());
    atomic_store(&t->taken_all, true);
    if (t->taken != FBP_OK)
        atomic_store(&t->plan->stop, true);
    return NULL;
}

static fbp_status start_taker(struct fbp_plan_run_team *t)
{
    if (fbp_team_rank(t->plan->params.team) > 0)
        return FBP_OK;
    if (!t->apart)
        FBP_TRY(fbp_alloc(&t->slices,
                          fbp_plan_team_at_once(t->plan) * fbp_plan_slice_bytes(t->plan),
                          "slices of others"));
    t->has_taker = pthread_create(&t->taker, NULL, taker_main, t) == 0;
    return t->has_taker ? FBP_OK
                        : fbp_fail(FBP_ERR_NOMEM,
                                   "threads: the system grants no more: close other programs");
}

/* What processes have found in the output, as rank 0 hears it. */
static fbp_status join_have(const struct fbp_plan_run_team *t, unsigned char *have, size_t n)
{
    fbp_team *team = t->plan->params.team;
    const bool first = fbp_team_rank(team) == 0;
    unsigned char *all = NULL;

    fbp_status st =
        first ? fbp_calloc((void **)&all, fbp_team_size(team), n, "tables of slices") : FBP_OK;
    st = fbp_team_collect(team, "slices", st, have, n, all);
    for (size_t i = 0; st == FBP_OK && have && all && i < fbp_team_size(team) * n; i++)
        have[i % n] |= all[i];
    free(all);
    return st;
}

/* What the output has already, as those know that write into it.  All that share a slab must know
 * the same of it, as they compute what is missing together. */
static fbp_status share_have(struct fbp_plan_run_team *t, fbp_status status)
{
    fbp_team *team = t->plan->params.team;
    const struct fbp_job *job = &t->plan->tables.job;
    const size_t n = fbp_sink_info(t->sink)->n[2], nz = fbp_roi_size(job, 2);
    unsigned char *have = NULL;

    if (status == FBP_OK)
        status = fbp_calloc((void **)&have, n, 1, "a table of slices");
    for (size_t z = 0; have && z < n; z++)
        have[z] = fbp_plan_team_writes(t->plan, t->apart) && fbp_sink_has(t->sink, z, 1);
    if (t->apart && status == FBP_OK)
        status = join_have(t, have, n);
    const fbp_status st = fbp_team_share(team, "output", status, have, n);
    for (size_t z = 0; have && st == FBP_OK && z < n; z++)
        if (have[z] && fbp_roi_is_own(job, z % nz))
            fbp_sink_mark(t->sink, z, 1);
    free(have);
    return st;
}

fbp_status fbp_plan_team_begin(fbp_plan *p, fbp_sink *sink, bool apart,
                               struct fbp_plan_run_team **out)
{
    struct fbp_plan_run_team *t = NULL;
    fbp_status st;

    if (!p->params.team)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&t, 1, sizeof *t, "a team's run"));
    t->plan = p;
    t->sink = sink;
    t->apart = apart;
    *out = t;
    st = start_taker(t);
    FBP_TRY(share_have(t, st));
    fbp_team_stops(p->params.team, &p->stop);
    return FBP_OK;
}

/* What a process tells of its progress. */
enum { DONE, TOTAL, SLABS_DONE, N_SLABS };

int fbp_plan_team_progress(void *user, const struct fbp_progress *now)
{
    struct fbp_plan_run_team *t = user;
    const struct fbp_recon_params *p = &t->plan->params;
    const bool counts = t->plan->ranks.part == 0; /* of those that share a slab, one does */
    const uint64_t own[FBP_TEAM_TOLD] = {
        [DONE] = now->done,
        [TOTAL] = now->total,
        [SLABS_DONE] = counts ? now->slabs_done : 0,
        [N_SLABS] = counts ? now->n_slabs : 0,
    };
    uint64_t all[FBP_TEAM_TOLD];
    struct fbp_progress sum = *now;

    t->last = *now;
    if (fbp_seconds() - t->told > 0.2) {
        fbp_team_tell(p->team, own);
        t->told = fbp_seconds();
    }
    if (fbp_team_rank(p->team) == 0) {
        fbp_team_told(p->team, all);
        sum.done = all[DONE];
        sum.total = all[TOTAL];
        sum.slabs_done = (size_t)all[SLABS_DONE];
        sum.n_slabs = (size_t)all[N_SLABS];
    }
    return p->progress ? p->progress(p->user, &sum) : 0;
}

void fbp_plan_team_log(void *user, enum fbp_log_level level, const char *line)
{
    const struct fbp_plan_run_team *t = user;

    if (t->plan->params.log)
        t->plan->params.log(t->plan->params.user, level, line);
}

/* Rank 0 has computed, and others go on: it tells how far they are, until all slices are there. */
static fbp_status await_slices(struct fbp_plan_run_team *t, const struct fbp_progress *last)
{
    const struct timespec pause = {.tv_nsec = 50000000};

    while (t->has_taker && !atomic_load(&t->taken_all)) {
        nanosleep(&pause, NULL);
        if (fbp_plan_team_progress(t, last) != 0)
            return fbp_fail(FBP_ERR_CANCELLED, "cancelled");
        FBP_TRY(fbp_go_on());
    }
    if (t->taken != FBP_OK)
        fbp_message_adopt(t->why);
    return t->taken;
}

/* All is computed here that was to be: slices that were there were not. */
static struct fbp_progress whole(const struct fbp_plan_run_team *t, const struct fbp_report *report)
{
    return (struct fbp_progress){.struct_size = sizeof(struct fbp_progress),
                                 .done = t->last.total,
                                 .total = t->last.total,
                                 .views_read = t->plan->tables.job.n_views,
                                 .slabs_done = t->last.n_slabs,
                                 .n_slabs = t->last.n_slabs,
                                 .seconds = report->total};
}

static fbp_status end_of_slices(struct fbp_plan_run_team *t, const struct fbp_report *report)
{
    const struct fbp_progress all = whole(t, report);

    if (fbp_team_rank(t->plan->params.team) == 0)
        return await_slices(t, &all);
    t->told = 0;
    (void)fbp_plan_team_progress(t, &all);
    return fbp_team_offer(t->plan->params.team, 0, 0, NULL, 0);
}

/* Times are those of the slowest, work is that of all. */
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

static struct fbp_prep_counts add_counts(struct fbp_prep_counts a, struct fbp_prep_counts b)
{
    return (struct fbp_prep_counts){.not_finite = a.not_finite + b.not_finite,
                                    .clipped = a.clipped + b.clipped};
}

/* What was mended in whole views: by those of the slab that has most, as slabs that were there
 * before the run have read nothing. */
static void join_ahead(const struct fbp_plan_run_team *t, const char *all, size_t bytes,
                       struct fbp_report *report)
{
    const size_t n_parts = t->plan->ranks.n_parts;
    struct fbp_prep_counts slab = {0}, most = {0};
    struct found one;

    for (size_t r = 0; r < fbp_team_size(t->plan->params.team); r++) {
        memcpy(&one, all + r * bytes, sizeof one);
        slab = r % n_parts == 0 ? one.ahead : add_counts(slab, one.ahead);
        if (slab.not_finite + slab.clipped > most.not_finite + most.clipped)
            most = slab;
    }
    report->not_finite += most.not_finite;
    report->clipped += most.clipped;
}

/* What all have found, into what rank 0 has. */
static void join_all(const struct fbp_plan_run_team *t, const char *all, size_t bytes,
                     fbp_look *look, struct fbp_report *report)
{
    struct found sum, other;

    memcpy(&sum, all, sizeof sum);
    for (size_t r = 1; r < fbp_team_size(t->plan->params.team); r++) {
        memcpy(&other, all + r * bytes, sizeof other);
        join_reports(&sum, &other);
        fbp_look_join(look, all + r * bytes + sizeof other);
    }
    join_ahead(t, all, bytes, &sum.report);
    *report = sum.report;
}

fbp_status fbp_plan_team_computed(struct fbp_plan_run_team *t, fbp_status status, fbp_look *look,
                                  uint64_t n_found, const struct fbp_prep_counts *ahead,
                                  struct fbp_report *report)
{
    fbp_team *team = t->plan->params.team;
    struct found found = {.report = *report, .n = n_found, .ahead = *ahead};
    const size_t bytes = sizeof found + fbp_look_packed(&fbp_plan_measured(t->plan)->job);
    const bool first = fbp_team_rank(team) == 0;
    char *mine = NULL, *all = NULL;

    if (status == FBP_OK)
        status = end_of_slices(t, report);
    if (status == FBP_OK)
        status = fbp_calloc((void **)&mine, 1, bytes, "what was found");
    if (status == FBP_OK && first)
        status = fbp_calloc((void **)&all, fbp_team_size(team), bytes, "what was found");
    if (t->plan->ranks.part > 0) /* the first of those that share a slab counts it */
        found.report.slabs_resumed = 0;
    if (!first && fbp_plan_team_writes(t->plan, t->apart)) /* rank 0 will say what it has clipped */
        found.report.output_clipped = fbp_sink_clipped(t->sink);
    if (status == FBP_OK) {
        memcpy(mine, &found, sizeof found);
        fbp_look_pack(look, mine + sizeof found);
    }
    if (atomic_load(&t->taken_all) && t->taken != FBP_OK &&
        t->taken != FBP_ERR_CANCELLED) { /* that is what ended the run */
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
    fbp_team *team = t->plan->params.team;
    const bool first = fbp_team_rank(team) == 0;
    fbp_status st = fbp_team_meet(team, "checked", status);
    if (st == FBP_ERR_INVALID) /* slices of nothing, says rank 0 */
        fbp_sink_forget(t->sink);
    FBP_TRY(st);
    if (!first && fbp_plan_team_writes(t->plan, true))
        st = fbp_sink_finish(t->sink);
    return fbp_team_meet(team, "written", st);
}

void fbp_plan_team_end(struct fbp_plan_run_team **run)
{
    struct fbp_plan_run_team *t = *run;

    if (!t)
        return;
    fbp_team_stops(t->plan->params.team, NULL);
    if (t->has_taker) /* it has ended, or a meeting has failed, which ends it */
        pthread_join(t->taker, NULL);
    fbp_free(t->slices);
    free(t);
    *run = NULL;
}
