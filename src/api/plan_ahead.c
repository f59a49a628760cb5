/* A plan's pass ahead: corrections that take all angles of a row. */
#include "api/plan_team.h"

#include "base/mem.h"
#include "base/text.h"
#include "scan/file/corrections.h"

#include <stdio.h>
#include <string.h>

const struct fbp_prep *fbp_plan_prep(const fbp_plan *p)
{
    return p->ahead.used     ? &p->ahead.prep
           : p->rectify.used ? &p->rectify.measured.prep
                             : &fbp_plan_measured(p)->prep;
}

fbp_status fbp_plan_make_ahead(fbp_plan *p)
{
    FBP_TRY(fbp_ahead_create(&p->ahead, p->scan, p->top_down));
    fbp_ahead_describe(&p->ahead, p->info.prepared, sizeof p->info.prepared);
    if (p->ahead.used && p->params.follow)
        return fbp_fail(
            FBP_ERR_UNSUPPORTED,
            "%s: it takes whole views, or all of them, which does not follow a scan: leave one "
            "of the two out",
            p->ahead.stripes.method ? "rings" : "paganin");
    return FBP_OK;
}

/* Where views are kept, and what that takes. */
static void divide(fbp_plan *p, const char *folder)
{
    struct fbp_ahead *a = &p->ahead;
    const uint64_t resident = fbp_resident_bytes(), limit = fbp_plan_memory_limit(p, resident);
    const uint64_t taken = resident + p->held_bytes;

    fbp_ahead_divide(a, limit > taken ? limit - taken : 0, folder, p->tables.job.n_threads);
    p->info.ahead_bytes = fbp_ahead_kept_bytes(a);
    p->info.ahead_rows = a->as_read ? 0 : a->n_rows;
    p->info.ahead_bands = a->as_read ? 0 : fbp_ahead_bands(a);
    p->info.ahead_in_file = folder != NULL;
}

/* In memory; in a file of this folder; or not at all. */
struct way {
    const char *folder;
    bool as_read;
};

/* As many of each worker as there are views to retrieve phases of, so that none is lost, and
 * retrieved again, before all rows of it are read. */
static int most_readers(const fbp_plan *p)
{
    const int each = p->ahead.n_threads / (int)p->n_devices;

    return p->ahead.as_read ? (each > 1 ? each : 1) : 0;
}

static fbp_status arrange(fbp_plan *p, struct way way)
{
    p->ahead.as_read = way.as_read;
    p->tables.job.unpacks = p->unpacks || way.as_read;
    divide(p, way.folder);
    p->tables.job.most_readers = most_readers(p);
    const uint64_t bytes = fbp_ahead_memory_bytes(&p->ahead);
    p->held_bytes += bytes;
    const fbp_status st = fbp_plan_arrange(p);
    if (st != FBP_OK)
        p->held_bytes -= bytes;
    return st;
}

/* Another way than the one that has been arranged, or that memory does not hold. */
static fbp_status arrange_instead(fbp_plan *p, fbp_status before, struct way way)
{
    fbp_message_clear();
    if (before == FBP_OK)
        p->held_bytes -= fbp_ahead_memory_bytes(&p->ahead);
    return arrange(p, way);
}

static fbp_status explain(const fbp_plan *p)
{
    char kept[32], needs[32], has[32];

    fbp_message_clear();
    return fbp_fail(
        FBP_ERR_NOMEM,
        "%smemory: this reconstruction needs at least %s, as %s of views are kept to remove rings "
        "or retrieve phases; the limit is %s: raise --memory, or name a folder for them with "
        "--scratch",
        p->lack.who, fbp_bytes_up_text(needs, sizeof needs, p->lack.needs),
        fbp_bytes_text(kept, sizeof kept, fbp_ahead_kept_bytes(&p->ahead)),
        fbp_bytes_text(has, sizeof has, p->lack.limit));
}

/* In memory, if the whole volume is computed beside that; else in a file, if there may be one. */
static fbp_status arrange_kept(fbp_plan *p, fbp_status before)
{
    const char *folder = p->params.scratch;
    const fbp_status st = arrange_instead(p, before, (struct way){0});
    double slabs = (double)p->work.n_slabs / (double)p->n_devices;

    if (folder && st == FBP_OK)
        FBP_TRY(fbp_plan_agree_most(p, &slabs));
    if (folder && (st == FBP_ERR_NOMEM || (st == FBP_OK && slabs > 1)))
        return arrange_instead(p, st, (struct way){.folder = folder});
    return st;
}

size_t fbp_plan_retrievals(const fbp_plan *p)
{
    return p->ahead.as_read ? fbp_work_readings(&p->work) : 1;
}

/* Of a team: do all its processes? */
static fbp_status reads_once(const fbp_plan *p, bool *once)
{
    double most = (double)fbp_plan_retrievals(p);

    FBP_TRY(fbp_plan_agree_most(p, &most));
    *once = most <= 1;
    return FBP_OK;
}

/* Phases are retrieved as views are read if these are read once, or if memory does not hold all of
 * them beside the volume; else all are kept.  The processes of a team do the same. */
fbp_status fbp_plan_arrange_ahead(fbp_plan *p)
{
    const bool may_wait = fbp_ahead_may_wait(&p->ahead) && !p->in_order;
    const struct way as_read = {.as_read = true};
    fbp_status st = FBP_ERR_NOMEM;
    bool once = false;

    p->tables.job.unpacks = p->unpacks;
    if (!p->ahead.used)
        return fbp_plan_arrange(p);
    FBP_TRY(fbp_job_arrange(&p->tables.job, p->backend));
    if (!p->rectify.used) /* whose rows are others */
        fbp_ahead_choose_rows(&p->ahead, &p->tables.job);
    if (may_wait)
        st = arrange(p, as_read);
    if (may_wait && st == FBP_OK)
        FBP_TRY(reads_once(p, &once));
    if (may_wait && (st != FBP_OK ? st != FBP_ERR_NOMEM : once))
        return st;
    st = arrange_kept(p, st);
    if (may_wait && st == FBP_ERR_NOMEM)
        return arrange_instead(p, st, as_read);
    return st == FBP_ERR_NOMEM && !p->params.scratch ? explain(p) : st;
}

void fbp_plan_note_ahead(const fbp_plan *p)
{
    char line[300];

    if (fbp_plan_retrievals(p) == 1)
        return;
    snprintf(line, sizeof line,
             "memory does not hold the views beside the volume: they are read, and phases are "
             "retrieved, %zu times, once for each slab: raise --memory, or name a folder for them "
             "with --scratch",
             fbp_plan_retrievals(p));
    fbp_plan_note(p, FBP_LOG_NOTE, line);
}
