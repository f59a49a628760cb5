/* What the programs of the filter are told and given of a batch. */
#include "backend/gl/filter_pass.h"

#include "backend/gpu/gpu_plain.h"
#include "backend/rows.h"

#include <string.h>

static void describe_weights(const struct fbp_job *job, struct gl_rows *r)
{
    struct fbp_rays rays;

    if (job->filtered)
        return;
    gpu_host->weights_rays(job->weights, &rays);
    r->weights = gpu_host->weights_separable(job->weights) ? GL_PRODUCTS : GL_RAY_BY_RAY;
    r->cone = rays.cone;
    r->means = rays.means;
    r->redundancy = rays.redundancy;
    r->delta[0] = rays.delta[0];
    r->delta[1] = rays.delta[1];
    r->inverse_overlap = rays.inverse_overlap;
}

static void describe_pad(const struct fbp_job *job, struct gl_rows *r)
{
    if (!job->pad)
        return;
    r->edge = job->pad->rule.edge;
    r->fit = job->pad->rule.fit;
    r->n_lengths = job->pad->rule.n_lengths;
    r->weighted_rows = job->columns != NULL;
    for (int i = 0; i < 2; i++)
        r->ends[i] = job->pad->rule.ends[i];
    memcpy(r->lengths, job->pad->rule.lengths, sizeof r->lengths);
}

static void describe_layout(const struct fbp_job *job, const struct fbp_batch *b, struct gl_rows *r)
{
    const struct gpu_plain plain = gpu_plain_of(job, b->n_rows);

    r->lanes = (uint32_t)job->turns;
    r->stride = plain.stride;
    r->group = (uint32_t)plain.group;
    r->wide_columns = (uint32_t)job->wide.n_columns;
}

struct gl_rows gl_pass_rows_of(const struct gl_device *dev, const struct fbp_batch *b)
{
    const struct fbp_job *job = dev->job;
    const struct fbp_prep *p = job->prep;
    struct gl_rows r = {.n_views = (uint32_t)b->n_views,
                        .load_rows = (uint32_t)b->load_rows,
                        .n_columns = (uint32_t)job->panel.n_columns,
                        .view0 = (uint32_t)b->view0,
                        .first_row = (uint32_t)b->load_row0,
                        .n_groups = (uint32_t)(b->n_views / job->turns),
                        .part_views = (uint32_t)fbp_part_views(job),
                        .panel_rows = (uint32_t)job->panel.n_rows,
                        .has_counts = job->raw == FBP_U16,
                        .intensity = p->intensity,
                        .has_dark = p->dark != NULL,
                        .has_gain = p->gain != NULL,
                        .use_ledger = dev->counts_once,
                        .pad_left = (uint32_t)job->pad_left,
                        .apart = (uint32_t)job->between + 1,
                        .n_rows = (uint32_t)b->n_rows,
                        .row0 = (uint32_t)b->row0,
                        .row_length = (uint32_t)dev->tables.row_length,
                        .n_bridges = (uint32_t)p->n_bridges,
                        .inverse_i0 = p->inverse_i0};

    r.n_hardening = p->hardening.n;
    memcpy(r.hardening, p->hardening.a, sizeof r.hardening);
    r.pairs = (r.n_groups + 1) / 2;
    describe_weights(job, &r);
    describe_pad(job, &r);
    describe_layout(job, b, &r);
    return r;
}

struct gl_call gl_pass_call_of(const struct gl_pass *p, enum gl_program_id program)
{
    return (struct gl_call){
        .program = program, .parameters = &p->rows, .parameter_bytes = sizeof p->rows};
}

/* A table, where the scan has it. */
fbp_status gl_pass_bind_table(const struct gl_pass *p, struct gl_call *c, unsigned i, bool there,
                              size_t at, size_t bytes)
{
    size_t skip; /* none: tables are aligned */

    return there ? gl_bind(&p->dev->programs, c, i, &p->dev->memory, at, bytes, &skip) : FBP_OK;
}

size_t gl_pass_image_bytes(const struct fbp_job *job)
{
    return job->panel.n_rows * job->panel.n_columns * sizeof(float);
}

fbp_status gl_pass_bind_weights(const struct gl_pass *p, struct gl_call *c)
{
    const struct fbp_job *job = p->dev->job;
    const struct gpu_tables *t = &p->dev->tables;
    const bool products = p->rows.weights == GL_PRODUCTS;
    const bool lines =
        products || (p->rows.weights == GL_RAY_BY_RAY && p->rows.redundancy == FBP_PER_RAY);

    FBP_TRY(gl_pass_bind_table(p, c, 2, products, t->image, gl_pass_image_bytes(job)));
    FBP_TRY(gl_pass_bind_table(p, c, 3, lines, t->lines,
                               job->n_views * job->panel.n_columns * sizeof(float)));
    return gl_pass_bind_table(p, c, 4, p->rows.weights == GL_RAY_BY_RAY, t->rays,
                              job->n_views * sizeof(struct fbp_ray_view));
}

/* Samples of stored views [first, end) as floats. */
fbp_status gl_pass_bind_samples(struct gl_pass *p, struct gl_call *c, size_t first, size_t end)
{
    size_t skip;

    FBP_TRY(gl_bind(&p->dev->programs, c, 0, p->raw.buffer, p->floats + first * p->view,
                    (end - first) * p->view, &skip));
    p->rows.bound_view = (uint32_t)first;
    p->rows.samples_skip = (uint32_t)(skip / sizeof(float));
    return FBP_OK;
}

/* The same as counts, two bytes each. */
fbp_status gl_pass_bind_counts(struct gl_pass *p, struct gl_call *c, size_t first, size_t end)
{
    size_t skip;

    if (!p->rows.has_counts)
        return FBP_OK;
    FBP_TRY(gl_bind(&p->dev->programs, c, 1, p->raw.buffer, p->raw.at + first * p->view / 2,
                    (end - first) * p->view / 2, &skip));
    p->rows.counts_skip = (uint32_t)(skip / sizeof(uint16_t));
    return FBP_OK;
}

/* Pieces of `bytes` that a storage block holds, whatever their alignment; one at least. */
size_t gl_pass_fit_block(const struct gl_pass *p, size_t bytes)
{
    const uint64_t room = p->dev->programs.block_bytes - p->dev->programs.alignment;

    return room / bytes > 1 ? (size_t)(room / bytes) : 1;
}

fbp_status gl_pass_run_groups(struct gl_pass *p, struct gl_call *c, size_t n, size_t a_group)
{
    p->rows.n = (uint32_t)n;
    gl_groups(c, (n + a_group - 1) / a_group);
    return gl_run(&p->dev->programs, c);
}

size_t gl_pass_complex_bytes(const struct gl_pass *p)
{
    return (size_t)p->rows.n * p->rows.row_length * 2 * sizeof(float);
}
