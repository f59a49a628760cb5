/* Filter of the OpenGL device (gl_filter()): corrections of raw samples, weights, filter along
 * columns and along rows, storage in the layout of the backprojection kernel. The functions submit
 * commands, which the device's thread runs (queue.h). The same row of two views forms one complex
 * row (a pair). Views form lanes, the symmetric parts of the scan. A call filters as many pairs of
 * each lane as scratch memory and storage blocks hold.
 * Used by: entry.c.
 */
#include "backend/gl/gl.h"

#include "backend/rows.h"
#include "filter/pad.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Parameters of the filter's programs: block `Rows` of rows.glsl (std140). */
struct rows {
    uint32_t n_views, load_rows, n_columns, first_row;
    uint32_t view0, part_views, panel_rows, has_counts;
    uint32_t intensity, has_dark, has_gain, use_bitmap;
    uint32_t weights, cone, means, redundancy;
    uint32_t pad_left, before, n_groups, n_rows;
    uint32_t row0, first, n, row_length;
    uint32_t wide_columns, per_lane, half_width, bound_view;
    uint32_t samples_skip, counts_skip, bound_group, r0;
    uint32_t r_rows, n_bridges, weighted_rows, stride;
    uint32_t group, views_skip, lanes, edge;
    uint32_t fit, ends[2], n_lengths;
    uint32_t first_view, texels, height, span;
    uint32_t radix, exchange, apart, n_hardening;
    float inverse_i0, scale;
    double delta[2], inverse_overlap;
    float lengths[FBP_PAD_LENGTHS];
    float hardening[8];
};

/* Kinds of weights of samples (weights.glsl): NO_WEIGHTS; PRODUCTS: product of a factor per pixel
 * and a factor per view and column; RAY_BY_RAY: computed for each ray. */
enum { NO_WEIGHTS = 0, PRODUCTS, RAY_BY_RAY };

/* State of a batch while it is filtered. */
struct pass {
    struct gl_device *dev;
    const struct fbp_batch *batch;
    /* raw samples of the batch; filtered views, in the kernel's layout or as plain rows */
    struct gl_part raw, out;
    bool plain;    /* true: the output is plain rows [n_views][n_rows][padded.panel.n_columns] */
    size_t floats; /* offset, in raw.buffer, of the raw samples after conversion to float [bytes] */
    size_t view;   /* bytes per view of raw samples as floats */
    /* bytes of output per group of symmetric views or, for plain rows, per view; 0: a texture */
    size_t group;
    uint32_t weights;     /* kind of weights of the job */
    size_t filtered;      /* offset of the filtered rows in scratch memory [bytes] */
    size_t lanes_at_once; /* lanes whose views fit in one storage block together: all, or 1 */
    struct rows rows;
};

/* Threads per work group in most programs. */
enum { THREADS = 64 };

static struct gl_call call_of(const struct pass *p, enum gl_program_id program)
{
    return (struct gl_call){
        .program = program, .parameters = &p->rows, .parameter_bytes = sizeof p->rows};
}

/* Bind a table, or rows in scratch memory, to point i; at: offset in the buffer [bytes]. */
static fbp_status bind_table(const struct pass *p, struct gl_call *c, unsigned i, size_t at,
                             size_t bytes)
{
    size_t skip; /* always 0: tables are aligned */

    return gl_bind(&p->dev->programs, c, i, &p->dev->memory, at, bytes, &skip);
}

static size_t image_bytes(const struct fbp_job *job)
{
    return job->panel.n_rows * job->panel.n_columns * sizeof(float);
}

/* Number of pairs of all lanes in scratch memory, and their bytes. */
static size_t n_pairs(const struct pass *p)
{
    return (size_t)p->rows.per_lane * p->rows.lanes;
}

static size_t complex_bytes(const struct pass *p)
{
    return n_pairs(p) * p->rows.row_length * 2 * sizeof(float);
}

static fbp_status bind_weights(const struct pass *p, struct gl_call *c)
{
    const struct fbp_job *job = p->dev->job;
    const struct gpu_tables *t = &p->dev->tables;
    const bool products = p->rows.weights == PRODUCTS, by_ray = p->rows.weights == RAY_BY_RAY;

    if (products)
        FBP_TRY(bind_table(p, c, 2, t->image, image_bytes(job)));
    if (products || (by_ray && p->rows.redundancy == FBP_PER_RAY))
        FBP_TRY(bind_table(p, c, 3, t->lines, job->n_views * job->panel.n_columns * sizeof(float)));
    return by_ray ? bind_table(p, c, 4, t->rays, job->n_views * sizeof(struct fbp_ray_view))
                  : FBP_OK;
}

/* Bind the samples (float) of views [first, end) of the raw batch to binding point 0. */
static fbp_status bind_samples(struct pass *p, struct gl_call *c, size_t first, size_t end)
{
    size_t skip;

    FBP_TRY(gl_bind(&p->dev->programs, c, 0, p->raw.buffer, p->floats + first * p->view,
                    (end - first) * p->view, &skip));
    p->rows.bound_view = (uint32_t)first;
    p->rows.samples_skip = (uint32_t)(skip / sizeof(float));
    return FBP_OK;
}

/* Number of items of `bytes` bytes in one storage block at any offset; at least 1. */
static size_t fit_block(const struct pass *p, size_t bytes)
{
    const uint64_t room = p->dev->programs.block_bytes - p->dev->programs.alignment;

    return room / bytes > 1 ? (size_t)(room / bytes) : 1;
}

/* Run a program for n items, with per_group items per work group. */
static fbp_status run_groups(struct pass *p, struct gl_call *c, size_t n, size_t per_group)
{
    p->rows.n = (uint32_t)n;
    gl_groups(c, (n + per_group - 1) / per_group);
    return gl_run(&p->dev->programs, c);
}

/* Correct the raw samples of all rows of the batch: convert them to float and, if they are
 * intensities, to line integrals; interpolate samples that are not finite, and bad pixels. */
static fbp_status prepare(struct pass *p)
{
    const struct gpu_tables *t = &p->dev->tables;
    const struct fbp_job *job = p->dev->job;
    const size_t n = p->rows.n_views, step = fit_block(p, p->view), n_bridges = p->rows.n_bridges;

    for (size_t at = 0; at < n; at += step) {
        const size_t end = at + step < n ? at + step : n;
        struct gl_call c = call_of(p, GL_P_PREPARE);
        FBP_TRY(bind_samples(p, &c, at, end));
        if (p->rows.has_counts) {
            /* Bind the uint16 counts of these views, too; the program converts them to float. */
            size_t skip;
            FBP_TRY(gl_bind(&p->dev->programs, &c, 1, p->raw.buffer, p->raw.at + at * p->view / 2,
                            (end - at) * p->view / 2, &skip));
            p->rows.counts_skip = (uint32_t)(skip / sizeof(uint16_t));
        }
        if (p->rows.has_dark)
            FBP_TRY(bind_table(p, &c, 2, t->dark, image_bytes(job)));
        if (p->rows.has_gain)
            FBP_TRY(bind_table(p, &c, 3, t->gain, image_bytes(job)));
        FBP_TRY(bind_table(p, &c, 4, t->counters, 2 * sizeof(uint64_t)));
        FBP_TRY(
            bind_table(p, &c, 5, t->row_bitmap,
                       fbp_row_bitmap_words(job->n_views, job->panel.n_rows) * sizeof(unsigned)));
        FBP_TRY(run_groups(p, &c, (end - at) * p->rows.load_rows, 1));
        if (n_bridges == 0)
            continue;
        c = call_of(p, GL_P_BRIDGE);
        FBP_TRY(bind_samples(p, &c, at, end));
        FBP_TRY(bind_table(p, &c, 1, t->bridges, n_bridges * sizeof(struct gpu_bridge)));
        FBP_TRY(run_groups(p, &c, (end - at) * n_bridges, THREADS));
    }
    return FBP_OK;
}

/* Weight views, and filter their detector columns along v, row by row (filtering.columns). */
static fbp_status filter_columns(struct pass *p)
{
    const struct gpu_tables *t = &p->dev->tables;
    const size_t n_views = p->rows.n_views, nc = p->rows.n_columns, fit = fit_block(p, p->view);
    const size_t step = t->views_per_call < fit ? t->views_per_call : fit;

    p->rows.half_width = (uint32_t)p->dev->job->filtering.columns->half_width;
    const size_t blocks = (p->rows.r_rows + GPU_COLUMN_ROWS - 1) / GPU_COLUMN_ROWS;
    for (size_t at = 0; at < n_views; at += step) {
        const size_t end = at + step < n_views ? at + step : n_views, n = end - at;
        const size_t bytes = n * p->rows.r_rows * nc * sizeof(float);
        struct gl_call weigh = call_of(p, GL_P_WEIGH), convolve = call_of(p, GL_P_COLUMNS);
        p->rows.first_view = (uint32_t)at;
        FBP_TRY(bind_samples(p, &weigh, at, end));
        FBP_TRY(bind_weights(p, &weigh));
        FBP_TRY(bind_table(p, &weigh, 5, t->weighted, bytes));
        FBP_TRY(run_groups(p, &weigh, n * p->rows.r_rows, 1));
        FBP_TRY(bind_samples(p, &convolve, at, end));
        FBP_TRY(
            bind_table(p, &convolve, 1, t->taps_v, gpu_column_taps(p->dev->job) * sizeof(float)));
        FBP_TRY(bind_table(p, &convolve, 2, t->weighted, bytes));
        FBP_TRY(run_groups(p, &convolve, n * blocks * ((nc + THREADS - 1) / THREADS), 1));
    }
    return FBP_OK;
}

/* Return the program that filters rows in one launch by transforms of `length` in shared memory. */
static enum gl_program_id fft_of(size_t length)
{
    static const size_t radices[] = {GPU_CHAIN_RADICES};
    int i = 0;

    while (radices[i] * GPU_CHAIN_INNER != length)
        i++;
    return (enum gl_program_id)(GL_P_FFT_2 + i);
}

/* Transform rows, or (back) transform them inversely: one launch per factor (2, 3, 4 or 5) of the
 * length.  Each launch reads rows at offset *at, writes them to offset *other, and swaps both
 * offsets; *at is in the end the offset of the result. */
static fbp_status run_stages(struct pass *p, bool back, size_t *at, size_t *other)
{
    static const uint32_t radices[] = {4, 2, 3, 5};
    const size_t n = n_pairs(p);

    p->rows.span = 1;
    for (size_t i = 0; i < sizeof radices / sizeof *radices; i++)
        while (p->rows.row_length / p->rows.span % radices[i] == 0) {
            const size_t from = *at, apart = p->rows.row_length / radices[i];
            struct gl_call c = call_of(p, GL_P_STAGE);
            p->rows.radix = radices[i];
            p->rows.exchange = back && p->rows.span * radices[i] == p->rows.row_length;
            FBP_TRY(bind_table(p, &c, 0, from, complex_bytes(p)));
            FBP_TRY(bind_table(p, &c, 1, *other, complex_bytes(p)));
            FBP_TRY(run_groups(p, &c, n * ((apart + THREADS - 1) / THREADS), 1));
            *at = *other;
            *other = from;
            p->rows.span *= radices[i];
        }
    return FBP_OK;
}

/* Find the range [*begin, *end) of views of the raw batch that contains the pairs in scratch memory
 * of p->lanes_at_once lanes from `lane` on. */
static void bound_views(const struct pass *p, size_t lane, size_t *begin, size_t *end)
{
    const struct rows *r = &p->rows;
    const size_t last = 2 * ((r->first + r->per_lane - 1) / r->n_rows) + 2;
    const size_t lanes = lane * r->n_groups, others = (p->lanes_at_once - 1) * r->n_groups;

    *begin = lanes + 2 * (r->first / r->n_rows);
    *end = lanes + others + (last < r->n_groups ? last : r->n_groups);
}

/* Binds the input and the output of program c for p->lanes_at_once lanes from `lane` on. */
typedef fbp_status bind_fn(struct pass *p, struct gl_call *c, size_t lane);

/* Run a program for all pairs in scratch memory, p->lanes_at_once lanes per launch; groups: work
 * groups per pair. */
static fbp_status run_lanes(struct pass *p, enum gl_program_id program, bind_fn *bind,
                            size_t groups)
{
    for (size_t lane = 0; lane < p->rows.lanes; lane += p->lanes_at_once) {
        struct gl_call c = call_of(p, program);
        p->rows.before = (uint32_t)(lane * p->rows.per_lane);
        FBP_TRY(bind(p, &c, lane));
        FBP_TRY(run_groups(p, &c, groups * p->lanes_at_once * p->rows.per_lane, 1));
    }
    p->rows.before = 0;
    return FBP_OK;
}

static fbp_status bind_lanes(struct pass *p, struct gl_call *c, size_t lane)
{
    size_t begin, end;

    bound_views(p, lane, &begin, &end);
    FBP_TRY(bind_samples(p, c, begin, end));
    return bind_weights(p, c);
}

static fbp_status bind_ends(struct pass *p, struct gl_call *c, size_t lane)
{
    FBP_TRY(bind_lanes(p, c, lane));
    return bind_table(p, c, 5, p->dev->tables.ends, n_pairs(p) * 4 * sizeof(struct fbp_pad_end));
}

static fbp_status bind_pad(struct pass *p, struct gl_call *c, size_t lane)
{
    FBP_TRY(bind_lanes(p, c, lane));
    return bind_table(p, c, 5, p->dev->tables.rows, complex_bytes(p));
}

static fbp_status bind_fft(struct pass *p, struct gl_call *c, size_t lane)
{
    const struct gpu_tables *t = &p->dev->tables;

    /* A bus copies about a quarter of the bytes of these samples while they are transformed. */
    c->carries =
        p->dev->meter.start > 0 ? 0 : 2 * p->lanes_at_once * p->rows.per_lane * p->rows.n_columns;
    FBP_TRY(bind_pad(p, c, lane));
    FBP_TRY(bind_table(p, c, 1, t->filter, t->fft_length * sizeof(float)));
    return bind_table(p, c, 6, t->twiddles, gpu_chain_twiddles(t->fft_length) * 2 * sizeof(float));
}

static fbp_status bind_plain(struct pass *p, struct gl_call *c, size_t lane)
{
    size_t begin, end, skip;

    bound_views(p, lane, &begin, &end);
    FBP_TRY(gl_bind(&p->dev->programs, c, 1, p->out.buffer, p->out.at + begin * p->group,
                    (end - begin) * p->group, &skip));
    p->rows.bound_view = (uint32_t)begin;
    p->rows.views_skip = (uint32_t)(skip / sizeof(float));
    return bind_table(p, c, 0, p->filtered, complex_bytes(p));
}

/* Returns the program that stores filtered rows in the layout of backprojection kernel k. */
static enum gl_program_id store_of(const struct gpu_kernel *k)
{
    static const enum gl_program_id stores[2][3] = {
        {GL_P_STORE_R32, GL_P_STORE_RG32, GL_P_STORE},
        {GL_P_STORE_R16, GL_P_STORE_RG16, GL_P_STORE_RGBA16}};

    return k->channels ? stores[k->bits == 16][k->channels / 2] : GL_P_STORE;
}

/* Store filtered rows in the kernel's views: a texture, or plain memory. */
static fbp_status store(struct pass *p)
{
    const struct gpu_kernel *k = &p->dev->kernel->gpu;
    const struct gl_buffer *out = p->out.buffer;
    struct gl_call c = call_of(p, out->texture ? store_of(k) : GL_P_STORE);

    if (out->texture) {
        p->rows.texels = out->shape.texels;
        p->rows.height = (uint32_t)out->shape.height;
        p->rows.bound_group = (uint32_t)p->batch->position;
        p->rows.scale = p->dev->half_scale;
        c.image = out->texture;
        c.format = gl_format_of(k);
    } else {
        const size_t begin = 2 * (p->rows.first / p->rows.n_rows);
        const size_t last = 2 * ((p->rows.first + p->rows.per_lane - 1) / p->rows.n_rows) + 2;
        const size_t end = last < p->rows.n_groups ? last : p->rows.n_groups;
        size_t skip;
        FBP_TRY(gl_bind(&p->dev->programs, &c, 1, out, p->out.at + begin * p->group,
                        (end - begin) * p->group, &skip));
        p->rows.bound_group = (uint32_t)begin;
        p->rows.views_skip = (uint32_t)(skip / sizeof(float));
    }
    FBP_TRY(bind_table(p, &c, 0, p->filtered, complex_bytes(p)));
    return run_groups(p, &c, p->rows.per_lane, 1);
}

/* Filter the pairs of all lanes from p->rows.first on, p->rows.per_lane of each. Steps that do not
 * work in place read `rows` or `work`, and write the other. */
static fbp_status filter_pairs(struct pass *p)
{
    const struct gpu_tables *t = &p->dev->tables;
    const struct fbp_pad *pad = p->dev->job->filtering.pad;
    const struct fbp_filter_design *design = p->dev->job->filtering.design;
    size_t at = t->rows, other = t->work; /* offsets: rows; result of the next step */

    p->rows.weights = p->weights;
    if (pad)
        FBP_TRY(run_lanes(p, GL_P_ENDS, bind_ends, 2));
    if (p->dev->job->filtering.columns)
        p->rows.weights = NO_WEIGHTS; /* samples are weighted already */
    /* weight, transform, filter and transform back in one launch, in shared memory
     * (gpu/tables.h) */
    if (t->way == GPU_FILTER_CHAIN)
        FBP_TRY(run_lanes(p, fft_of(t->fft_length), bind_fft, 1));
    else
        FBP_TRY(run_lanes(p, GL_P_PAD, bind_pad, 1));
    const size_t n = n_pairs(p);
    if (t->way == GPU_FILTER_FFT) {
        struct gl_call c = call_of(p, GL_P_MULTIPLY);
        FBP_TRY(run_stages(p, false, &at, &other));
        FBP_TRY(bind_table(p, &c, 0, at, complex_bytes(p)));
        FBP_TRY(bind_table(p, &c, 1, t->filter, (t->row_length / 2 + 1) * sizeof(float)));
        FBP_TRY(run_groups(p, &c, n, 1));
        FBP_TRY(run_stages(p, true, &at, &other));
    }
    for (unsigned i = 0; t->way == GPU_FILTER_SPATIAL && i < design->passes; i++) {
        const size_t pieces = (p->rows.row_length + THREADS - 1) / THREADS, from = at;
        struct gl_call c = call_of(p, t->in_double ? GL_P_CONVOLVE_DOUBLE : GL_P_CONVOLVE);
        p->rows.half_width = (uint32_t)design->half_width;
        FBP_TRY(bind_table(p, &c, 0, from, complex_bytes(p)));
        FBP_TRY(bind_table(p, &c, 1, t->filter,
                           (2 * design->half_width + 1) *
                               (t->in_double ? sizeof(double) : sizeof(float))));
        FBP_TRY(bind_table(p, &c, 2, other, complex_bytes(p)));
        FBP_TRY(run_groups(p, &c, n * pieces, 1));
        at = other;
        other = from;
    }
    if (pad) {
        struct gl_call c = call_of(p, GL_P_ADD_ENDS);
        FBP_TRY(bind_table(p, &c, 0, t->ends, n * 4 * sizeof(struct fbp_pad_end)));
        FBP_TRY(
            bind_table(p, &c, 1, t->pad, sizeof(float) * 2 * pad->rule.n_lengths * pad->n_columns));
        FBP_TRY(bind_table(p, &c, 2, at, complex_bytes(p)));
        FBP_TRY(run_groups(p, &c, n, 1));
    }
    p->filtered = at;
    return p->plain ? run_lanes(p, GL_P_STORE_PLAIN, bind_plain, 1) : store(p);
}

/* Filter all pairs of rows; each call filters as many pairs of all lanes as scratch memory and
 * storage blocks hold. */
static fbp_status filter_lanes(struct pass *p)
{
    const size_t lanes = p->rows.lanes, n_rows = p->rows.n_rows;
    const size_t n = (size_t)(p->rows.n_groups + 1) / 2 * n_rows;
    const size_t row = (size_t)p->rows.row_length * 2 * sizeof(float);
    const size_t views = fit_block(p, p->view > p->group ? p->view : p->group);
    const size_t fit = fit_block(p, row), scratch = p->dev->tables.rows_per_call;
    const size_t most = (scratch < fit ? scratch : fit) / lanes, pairs = views / 2;

    p->lanes_at_once = views < p->rows.n_views ? 1 : lanes;
    for (size_t at = 0; at < n; at += p->rows.per_lane) {
        const size_t whole = (at / n_rows + (pairs > 1 ? pairs : 1)) * n_rows;
        size_t end = at + (most > 1 ? most : 1);
        end = end < whole ? end : whole;
        end = end < n ? end : n;
        p->rows.first = (uint32_t)at;
        p->rows.per_lane = (uint32_t)(end - at);
        FBP_TRY(filter_pairs(p));
    }
    return FBP_OK;
}

/* If the output is plain memory, zero the GPU_BORDER rows above and below each group of views. */
static fbp_status store_borders(struct pass *p)
{
    const size_t n = p->rows.n_groups, step = fit_block(p, p->group);

    for (size_t at = 0; at < n; at += step) {
        const size_t some = n - at < step ? n - at : step;
        struct gl_call c = call_of(p, GL_P_BORDER);
        size_t skip;
        FBP_TRY(gl_bind(&p->dev->programs, &c, 0, p->out.buffer, p->out.at + at * p->group,
                        some * p->group, &skip));
        p->rows.views_skip = (uint32_t)(skip / sizeof(float));
        FBP_TRY(run_groups(p, &c, some * 2 * GPU_BORDER, 1));
    }
    return FBP_OK;
}

struct filter_command {
    struct fbp_batch batch;
    struct gl_part raw, out;
    bool plain;
};

static fbp_status run_filter(void *device, void *command)
{
    const struct filter_command *f = command;
    const struct fbp_batch *b = &f->batch;
    struct gl_device *dev = device;
    const struct fbp_job *job = dev->job;
    const struct fbp_prep *prep = job->filtering.prep;
    const struct gpu_plain plain = gpu_plain_of(job, b->n_rows);
    const size_t n_samples = fbp_raw_samples(job, b);
    struct pass p = {.dev = dev,
                     .batch = b,
                     .raw = f->raw,
                     .out = f->out,
                     .plain = f->plain,
                     .floats = f->raw.at + fbp_raw_floats(job, n_samples),
                     .view = b->load_rows * job->panel.n_columns * sizeof(float)};
    size_t r0, r1;

    fbp_needed_rows(job, b, &r0, &r1);
    p.rows = (struct rows){.n_views = (uint32_t)b->n_views,
                           .load_rows = (uint32_t)b->load_rows,
                           .n_columns = (uint32_t)job->panel.n_columns,
                           .view0 = (uint32_t)b->view0,
                           .first_row = (uint32_t)b->load_row0,
                           .n_groups = (uint32_t)(b->n_views / job->selection.symmetric_views),
                           .part_views = (uint32_t)fbp_part_views(job),
                           .panel_rows = (uint32_t)job->panel.n_rows,
                           .has_counts = job->input.type == FBP_U16,
                           .intensity = prep->intensity,
                           .has_dark = prep->dark != NULL,
                           .has_gain = prep->gain != NULL,
                           .use_bitmap = dev->counts_once,
                           .pad_left = (uint32_t)job->padded.left,
                           .apart = (uint32_t)job->padded.inserted + 1,
                           .n_rows = (uint32_t)b->n_rows,
                           .row0 = (uint32_t)b->row0,
                           .row_length = (uint32_t)dev->tables.row_length,
                           .n_bridges = (uint32_t)prep->n_bridges,
                           .wide_columns = (uint32_t)job->padded.panel.n_columns,
                           .lanes = (uint32_t)job->selection.symmetric_views,
                           .stride = plain.stride,
                           .group = (uint32_t)plain.group,
                           .r0 = (uint32_t)r0,
                           .r_rows = (uint32_t)(r1 - r0),
                           .n_hardening = prep->hardening.n,
                           .inverse_i0 = prep->inverse_i0};
    memcpy(p.rows.hardening, prep->hardening.a, sizeof p.rows.hardening);
    if (!job->input.filtered) {
        struct fbp_rays rays;
        gpu_host->weights_rays(job->filtering.weights, &rays);
        p.weights = gpu_host->weights_separable(job->filtering.weights) ? PRODUCTS : RAY_BY_RAY;
        p.rows.weights = p.weights;
        p.rows.cone = rays.cone;
        p.rows.means = rays.means;
        p.rows.redundancy = rays.redundancy;
        p.rows.delta[0] = rays.delta[0];
        p.rows.delta[1] = rays.delta[1];
        p.rows.inverse_overlap = rays.inverse_overlap;
    }
    if (job->filtering.pad) {
        const struct fbp_pad_rule *rule = &job->filtering.pad->rule;
        p.rows.edge = rule->edge;
        p.rows.fit = rule->fit;
        p.rows.n_lengths = rule->n_lengths;
        p.rows.weighted_rows = job->filtering.columns != NULL;
        p.rows.ends[0] = rule->ends[0];
        p.rows.ends[1] = rule->ends[1];
        memcpy(p.rows.lengths, rule->lengths, sizeof p.rows.lengths);
    }
    p.group = f->plain                 ? b->n_rows * job->padded.panel.n_columns * sizeof(float)
              : f->out.buffer->texture ? 0
                                       : (size_t)p.rows.group * p.rows.lanes * sizeof(float);

    gl_meter_begin(&dev->meter);
    FBP_TRY(prepare(&p));
    if (job->filtering.columns)
        FBP_TRY(filter_columns(&p));
    FBP_TRY(filter_lanes(&p));
    if (!p.plain && !p.out.buffer->texture)
        FBP_TRY(store_borders(&p));
    gl_meter_end(&dev->meter, (double)n_samples);
    return FBP_OK;
}

static fbp_status submit(struct gl_device *dev, const struct fbp_batch *batch, void *raw,
                         struct gl_part out, bool plain)
{
    const size_t bytes = fbp_raw_device_bytes(dev->job, fbp_raw_samples(dev->job, batch));
    const struct filter_command f = {*batch, gl_part_at(dev, raw, bytes), out, plain};

    return gl_queue_submit(dev->queue, GL_ORDER_FILTER, run_filter, &f, sizeof f);
}

fbp_status gl_filter(fbp_device *device, const struct fbp_batch *batch, void *raw, void *filtered)
{
    struct gl_device *dev = gl_of(device);
    struct gl_part out = gl_part_at(dev, filtered, 1);

    if (batch->n_rows == 0)
        return FBP_OK;
    out.at += gl_views_before(dev->job, batch->position, batch->n_rows);
    return submit(dev, batch, raw, out, false);
}

fbp_status gl_filter_rows(fbp_device *device, const struct fbp_batch *batch, void *raw, float *rows)
{
    struct gl_device *dev = gl_of(device);

    return batch->n_rows > 0 ? submit(dev, batch, raw, gl_part_at(dev, rows, 1), true) : FBP_OK;
}

/* Command that copies a struct fbp_row_bitmap to the device: the bit of a row is set while its
 * repairs are not counted. n_words 0: no bitmap, repairs are always counted. */
struct bitmap_command {
    size_t n_words;
    unsigned words[];
};

static fbp_status run_set_bitmap(void *device, void *command)
{
    struct gl_device *dev = device;
    const struct bitmap_command *e = command;
    const struct gl_part to = {.buffer = &dev->memory,
                               .at = dev->tables.row_bitmap,
                               .bytes = e->n_words * sizeof *e->words};

    dev->counts_once = e->n_words > 0;
    return e->n_words > 0 ? gl_write(&to, e->words) : FBP_OK;
}

fbp_status gl_set_bitmap(fbp_device *device, const struct fbp_row_bitmap *bitmap)
{
    const size_t n = bitmap->bits ? fbp_row_bitmap_words(bitmap->n_views, bitmap->n_rows) : 0;
    const size_t bytes = sizeof(struct bitmap_command) + n * sizeof(unsigned);
    struct bitmap_command *e = malloc(bytes);

    if (!e)
        return gl_fail_nomem(bytes);
    e->n_words = n;
    if (n > 0)
        memcpy(e->words, bitmap->bits, n * sizeof *e->words);
    const fbp_status st =
        gl_queue_submit(gl_of(device)->queue, GL_ORDER_FILTER, run_set_bitmap, e, bytes);
    free(e);
    return st;
}

fbp_status gl_counts(fbp_device *device, struct fbp_prep_counts *out)
{
    struct gl_device *dev = gl_of(device);
    uint64_t counters[2] = {0, 0};

    FBP_TRY(gl_access_memory(dev, dev->tables.counters, counters, sizeof counters, false));
    *out = (struct fbp_prep_counts){.not_finite = counters[0], .clipped = counters[1]};
    return FBP_OK;
}

static fbp_status put(void *user, size_t at, const void *data, size_t bytes)
{
    struct gl_device *dev = user;
    const struct gl_part to = {.buffer = &dev->memory, .at = at, .bytes = bytes};

    return gl_write(&to, data);
}

fbp_status gl_filter_open(struct gl_device *dev)
{
    FBP_TRY(gpu_tables_write(dev->job, &dev->tables, put, dev));
    FBP_TRY(gl_programs_need(&dev->programs, store_of(&dev->kernel->gpu), 0));
    if (dev->tables.way == GPU_FILTER_CHAIN) {
        /* A software renderer may have less shared memory than the hardware for which the filter
         * was planned (row_bytes() in kernel.c), and then cannot filter long rows. */
        const size_t bytes = gpu_chain_row_bytes(dev->tables.fft_length) + GL_ROW_RESERVE;
        if (bytes > (size_t)dev->renderer->shared_bytes)
            return gpu_host->fail(FBP_ERR_UNSUPPORTED,
                                  "gl: %s: rows of %zu columns need %zu bytes of work-group "
                                  "memory, but the limit is %d; use another renderer, or --spatial",
                                  dev->renderer->name, dev->job->padded.panel.n_columns, bytes,
                                  dev->renderer->shared_bytes);
        FBP_TRY(gl_programs_need(&dev->programs, fft_of(dev->tables.fft_length), 0));
    } else {
        FBP_TRY(gl_programs_need(&dev->programs, GL_P_PAD, 0));
    }
    return gl_programs_need(&dev->programs, GL_P_PREPARE, 0);
}
