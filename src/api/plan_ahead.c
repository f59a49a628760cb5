/* A plan's pass ahead: corrections that take all angles of a row. */
#include "api/plan.h"

#include "base/mem.h"
#include "scan/file/corrections.h"

#include <stdio.h>
#include <string.h>

const struct fbp_prep *fbp_plan_prep(const fbp_plan *p)
{
    return p->ahead.used ? &p->ahead.prep : &fbp_plan_measured(p)->prep;
}

fbp_status fbp_plan_make_ahead(fbp_plan *p)
{
    FBP_TRY(fbp_ahead_create(&p->ahead, p->scan, p->top_down));
    fbp_ahead_describe(&p->ahead, p->info.prepared, sizeof p->info.prepared);
    if (p->ahead.used && p->params.follow)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: it takes whole views, all of them ahead of the rest, which does not "
                        "follow a scan: leave one of the two out",
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
    p->info.ahead_rows = a->n_rows;
    p->info.ahead_bands = fbp_ahead_bands(a);
    p->info.ahead_in_file = folder != NULL;
}

static fbp_status arrange(fbp_plan *p, const char *folder)
{
    divide(p, folder);
    const uint64_t bytes = fbp_ahead_memory_bytes(&p->ahead);
    p->held_bytes += bytes;
    const fbp_status st = fbp_plan_arrange(p);
    if (st != FBP_OK)
        p->held_bytes -= bytes;
    return st;
}

static fbp_status explain(const fbp_plan *p)
{
    char kept[32], has[32];

    fbp_message_clear();
    return fbp_fail(FBP_ERR_NOMEM,
                    "memory: to remove rings or retrieve phases, %s of views are kept in memory, "
                    "and the volume lies "
                    "beside them: more than the limit of %s: raise --memory, or name a folder for "
                    "them with --scratch",
                    fbp_bytes_text(kept, sizeof kept, fbp_ahead_kept_bytes(&p->ahead)),
                    fbp_bytes_text(has, sizeof has, p->info.memory_limit));
}

/* The kernel says which rows are needed: where halves are mirrored, those of both.  In memory, if
 * the whole volume is computed beside that; else in a file, if there may be one. */
fbp_status fbp_plan_arrange_ahead(fbp_plan *p)
{
    const char *folder = p->params.scratch;

    if (!p->ahead.used)
        return fbp_plan_arrange(p);
    FBP_TRY(fbp_job_arrange(&p->tables.job, p->backend));
    fbp_ahead_choose_rows(&p->ahead, &p->tables.job);
    const fbp_status st = arrange(p, NULL);
    if (folder && (st == FBP_ERR_NOMEM || (st == FBP_OK && p->work.n_slabs > p->n_devices))) {
        fbp_message_clear();
        if (st == FBP_OK)
            p->held_bytes -= fbp_ahead_memory_bytes(&p->ahead);
        return arrange(p, folder);
    }
    return st == FBP_ERR_NOMEM ? explain(p) : st;
}
