/* A plan of one of several processes that compute a volume. */
#include "api/plan_team.h"

#include "array/array.h"
#include "backend/slab.h"
#include "base/mem.h"
#include "base/sizes.h"
#include "plan/cut.h"
#include "plan/roi.h"
#include "plan/wanted.h"

#include <stdio.h>
#include <string.h>

static void mark_own(const fbp_plan *p, unsigned char *mine, size_t n)
{
    const struct fbp_job *job = &p->tables.job;

    for (size_t i = 0; i < n; i++)
        mine[i] = fbp_roi_is_own(job, i % fbp_roi_size(job, 2)) && fbp_plan_has_sum(p, i);
}

size_t fbp_plan_own_slices(const fbp_plan *p)
{
    const struct fbp_job *job = &p->tables.job;
    const size_t nz = fbp_roi_size(job, 2), volumes = fbp_volumes(job);
    size_t n = 0;

    if (!p->params.n_parts)
        return nz * volumes;
    for (size_t z = 0; z < nz; z++)
        n += fbp_roi_is_own(job, z);
    return n * volumes;
}

fbp_status fbp_plan_joint_open(const fbp_plan *p, fbp_sink **sink, const char *output,
                               const struct fbp_array_info *info,
                               const struct fbp_sink_params *params,
                               const struct fbp_sink_joint *joint)
{
    struct fbp_sink_joint own = *joint;
    unsigned char *mine = NULL;

    FBP_TRY(fbp_calloc((void **)&mine, info->n[2], 1, "a table of slices"));
    mark_own(p, mine, info->n[2]);
    own.mine = mine;
    const fbp_status st = fbp_sink_open_joint(sink, output, info, params, &own);
    free(mine);
    return st;
}

/* Slices of all frames that are not there. */
static size_t count_missing(const fbp_plan *p, const struct fbp_job *job)
{
    const size_t nz = fbp_roi_size(job, 2), all = nz * fbp_volumes(job);
    size_t n = 0;

    for (size_t i = 0; p->missing && i < all; i++)
        n += p->missing[i] && fbp_roi_is_own(job, i % nz);
    return n;
}

fbp_status fbp_plan_part(const fbp_plan *p, size_t part, struct fbp_part *out)
{
    FBP_GIVEN(p);
    const size_t n_parts = p->params.n_parts;
    struct fbp_part whole = {.struct_size = sizeof whole};
    struct fbp_job job = p->tables.job;
    const size_t box = fbp_roi_first(&job, 2);
    size_t first, n;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(part, out));
    if (part < 1 || part > n_parts)
        return fbp_fail(FBP_ERR_INVALID, "part %zu: the plan has %zu parts", part, n_parts);
    FBP_TRY(fbp_part_share(&job, (struct fbp_part_of){part, n_parts}, job.share));
    fbp_roi_slices(&job, &first, &n);
    whole.slices[0] = first - box;
    whole.slices[1] = first + n - box;
    const struct fbp_slab any = fbp_slab_asked(&job, 0, 1);
    whole.updates =
        fbp_wanted_voxels(&job, &any, first, first + n) * fbp_volumes(&job) * job.n_views;
    whole.missing = count_missing(p, &job);
    FBP_GIVE(part, out, &whole);
    return FBP_OK;
}

enum { NAMED = 12 };

/* "part 6" or "parts 3, 5, 9", as many as a line holds; "": those of another number of parts. */
static void name_missing(const fbp_plan *p, char *line, size_t n)
{
    char list[200] = "";
    size_t used = 0, count = 0;

    for (size_t k = 1; k <= p->params.n_parts && count <= NAMED; k++) {
        struct fbp_part part = {.struct_size = sizeof part};
        if (fbp_plan_part(p, k, &part) != FBP_OK || part.missing == 0)
            continue;
        if (count++ < NAMED)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%zu", used ? ", " : "", k);
    }
    snprintf(line, n, "part%s %s%s", count == 1 ? "" : "s", list, count > NAMED ? " ..." : "");
}

fbp_status fbp_plan_part_done(fbp_plan *p, const fbp_sink *sink, struct fbp_report *report)
{
    const size_t n = fbp_sink_info(sink)->n[2];
    char parts[300], line[500];

    report->slices_missing = fbp_sink_missing(sink);
    free(p->missing);
    p->missing = NULL;
    if (report->slices_missing == 0)
        return FBP_OK;
    FBP_TRY(fbp_calloc((void **)&p->missing, n, 1, "a table of slices"));
    for (size_t z = 0; z < n; z++)
        p->missing[z] = !fbp_sink_has(sink, z, 1);
    name_missing(p, parts, sizeof parts);
    snprintf(line, sizeof line,
             "%zu of %zu slices are not there yet: %s of %zu: the last part that is done gives the "
             "output its name; one that was killed has to be run again",
             report->slices_missing, n, parts, p->params.n_parts);
    fbp_plan_note(p, FBP_LOG_NOTE, line);
    return FBP_OK;
}
