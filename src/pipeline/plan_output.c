/* The output of a plan: fingerprint of the settings and input files that determine its values
 * (fbp_plan_fingerprint(), for --resume), the sink that writes it (fbp_plan_sink_open()), and the
 * slices of a part of the volume (fbp_plan_part(), for --part).
 * Used by: cli/, pipeline/. */
#include "pipeline/plan.h"

#include "array/names.h"
#include "backend/slab.h"
#include "base/base.h"
#include "base/cache.h"
#include "base/system.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The fingerprint includes scale and shift of the output values even if not the device applies them
 * but the host, after adding partial volumes: it must not depend on the number of processes. */
uint64_t fbp_plan_job_fingerprint(const fbp_plan *p)
{
    struct fbp_job_tables tables = p->tables;

    if (p->sum) {
        tables.job.scale = p->sum->scale;
        tables.job.shift = p->sum->shift;
    }
    return fbp_job_fingerprint(&tables, p->backend);
}

fbp_status fbp_plan_fingerprint(const fbp_plan *p, const fbp_source *source, uint64_t *out)
{
    const struct fbp_array_info *info = &source->info;
    const uint64_t layout[] = {
        info->type,        info->big_endian, info->n[0],        info->n[1],
        info->n[2],        p->top_down,      p->scan->raw.type, p->scan->raw.header_bytes,
        p->scan->sinograms};
    const double values[] = {info->scale, info->offset};

    *out = 0;
    if (p->params.input.source || p->follow)
        return FBP_OK;
    uint64_t h = fbp_plan_job_fingerprint(p);
    h = fbp_hash(h, fbp_build(), strlen(fbp_build()));
    for (size_t i = 0; i < p->n_steps; i++)
        h = p->steps[i]->hash(p->steps[i], h);
    h = fbp_hash(h, layout, sizeof layout);
    h = fbp_hash(h, values, sizeof values);
    if (p->params.output.fill) {
        /* all NaNs have the same hash */
        const double value = isnan(p->params.output.fill_value) ? NAN : p->params.output.fill_value;
        h = fbp_hash(h, &value, sizeof value);
    }
    h = fbp_preparation_hash(h, p->scan->preparation);
    h = fbp_beam_hash(h, p->beam);
    if (p->zingers > 0)
        h = fbp_hash(h, &p->zingers, sizeof p->zingers);
    FBP_TRY(fbp_inputs_hash(&h, &source->inputs));
    *out = h ? h : 1;
    return FBP_OK;
}

fbp_status fbp_plan_sink_open(const fbp_plan *p, const fbp_source *source, const char *output,
                              const double *range, const struct fbp_sink_share *joint,
                              fbp_sink **sink)
{
    const struct fbp_sink_share part = {.part = p->params.cluster.part,
                                        .n_parts = p->params.cluster.n_parts};
    const struct fbp_grid *g = &p->info.volume;
    const size_t nz = fbp_box_size(&p->tables.job, 2);
    /* level_bytes below: memory of writing threads [bytes] by the plan; if it does not have the
     * output's path, the memory that it leaves below its limit (1 if none) */
    const uint64_t limit = p->info.memory_limit, planned = p->info.memory_bytes;
    struct fbp_inputs inputs = {0};
    unsigned char *mine = NULL; /* [slice] 1: this process writes the slice */
    uint64_t hash = 0;
    fbp_status st;

    FBP_TRY_GOTO(fbp_scan_inputs(&inputs, p->scan, source));
    FBP_TRY_GOTO(fbp_inputs_add(&inputs, p->tables.region_file));
    FBP_TRY_GOTO(fbp_plan_fingerprint(p, source, &hash));
    const struct fbp_sink_params params = {
        .struct_size = sizeof params,
        .resume = p->params.output.resume && (!p->params.output.auto_range || !range),
        .compress = p->params.output.compress,
        .fingerprint = hash,
        .keep = (const char *const *)inputs.names,
        .n_keep = inputs.n,
        .type = p->params.output.type,
        .range = {range ? range[0] : 0, range ? range[1] : 0},
        .force = p->params.output.force,
        .level_bytes = p->needs.level_bytes ? p->needs.level_bytes
                       : limit > planned    ? limit - planned
                                            : 1};
    struct fbp_array_info info = {.struct_size = sizeof info, .type = FBP_F32, .has_spacing = true};

    for (int i = 0; i < 3; i++) {
        info.n[i] = g->n[i];
        info.spacing_mm[i] = g->voxel_mm[i];
        /* position by the grid of the whole volume: parts then join exactly */
        info.origin_mm[i] = fbp_grid_coordinate(&p->info.whole, i, (double)p->info.box[i][0]);
    }
    info.time_points = p->info.time_points;
    info.n[2] *= info.time_points;
    snprintf(info.history, sizeof info.history, "%s", p->info.prepared);
    snprintf(info.unit, sizeof info.unit, "%s", p->info.unit);
    if (part.n_parts)
        joint = &part;
    if (joint) {
        struct fbp_sink_share own = *joint;
        FBP_TRY_GOTO(fbp_calloc((void **)&mine, info.n[2], 1, "a table of slices"));
        for (size_t i = 0; i < info.n[2]; i++)
            mine[i] = fbp_box_is_own(&p->tables.job, i % nz) && fbp_plan_has_sum(p, i);
        own.mine = mine;
        st = fbp_sink_open_shared(sink, output, &info, &params, &own);
    } else {
        st = (range ? fbp_sink_open : fbp_spool_open)(sink, output, &info, &params);
    }
fail:
    free(mine);

    fbp_inputs_clear(&inputs);
    return st;
}

/* ---- The slices of a part of the volume (--part) ---- */

size_t fbp_plan_own_slices(const fbp_plan *p)
{
    const struct fbp_job *job = &p->tables.job;
    const size_t nz = fbp_box_size(job, 2), volumes = fbp_volumes(job);
    size_t n = 0;

    if (!p->params.cluster.n_parts)
        return nz * volumes;
    for (size_t z = 0; z < nz; z++)
        n += fbp_box_is_own(job, z);
    return n * volumes;
}

fbp_status fbp_plan_part(const fbp_plan *p, size_t part, struct fbp_part *out)
{
    FBP_REQUIRE(p);
    const size_t n_parts = p->params.cluster.n_parts;
    struct fbp_part whole = {.struct_size = sizeof whole};
    struct fbp_job job = p->tables.job;
    const size_t box = fbp_box_first(&job, 2), nz = fbp_box_size(&job, 2);
    size_t first, n;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(part, out));
    if (part < 1 || part > n_parts)
        return FBP_INVALID("part %zu does not exist; the plan has %zu parts, counted from 1", part,
                           n_parts);
    FBP_TRY(fbp_part_share(&job, (struct fbp_part_of){part, n_parts}, job.part.slices));
    fbp_job_slices(&job, &first, &n);
    whole.slices[0] = first - box;
    whole.slices[1] = first + n - box;
    const struct fbp_slab any = fbp_slab_asked(&job, 0, 1);
    whole.updates =
        fbp_wanted_voxels(&job, &any, first, first + n) * fbp_volumes(&job) * job.n_views;
    for (size_t i = 0; p->missing && i < nz * fbp_volumes(&job); i++)
        whole.missing += p->missing[i] && fbp_box_is_own(&job, i % nz);

    FBP_COPY_OUT(part, out, &whole);
    return FBP_OK;
}
