#include "backend/cpu/cpu.h"
#include "backend/rows.h"

#include "base/base.h"
#include "base/threads.h"

#include <string.h>

struct filter_loop {
    struct cpu_device *dev;
    const struct fbp_batch *batch;
    float *raw, *filtered;
    float *rows; /* plain ones are wanted instead; or NULL */
    size_t row_items;
    bool prepared; /* bad pixels need whole views first, so a pass of its own has done that */
    bool weighted; /* as the filter along columns does */
};

/* Lines of one row that an item takes, an even number: those that share a sample of the kernel's
 * layout, or else those of two views. */
static size_t item_lines(const struct fbp_job *job)
{
    return job->turns > 1 ? job->turns : 2;
}

static size_t item_groups(const struct fbp_job *job)
{
    return item_lines(job) / job->turns;
}

/* Row `row` of a view of the scan times its weights; out may be in. */
static void weigh(const struct cpu_device *dev, struct cpu_scratch *s, size_t view, size_t row,
                  const float *in, float *out)
{
    const size_t nc = dev->job->panel.n_columns;

    if (dev->image) {
        dev->line.weigh(in, dev->image + row * nc, dev->lines + view * nc, nc, out);
        return;
    }
    fbp_weights_row(dev->job->weights, view, row, s->weights);
    for (size_t c = 0; c < nc; c++)
        out[c] = in[c] * (float)s->weights[c];
}

/* n samples at the beginning of a row to where they belong in it, zeros between them. */
static void spread(float *row, size_t n, size_t between)
{
    for (size_t c = n; c-- > 1;) { /* none is overwritten before it has moved */
        const float value = row[c];
        memset(row + (between + 1) * (c - 1) + 1, 0, between * sizeof *row);
        row[(between + 1) * c] = value;
    }
}

/* Row `row` of view k (of the batch), prepared and weighted, zeros on both sides of it. */
static void weigh_row(const struct filter_loop *l, struct cpu_scratch *s, size_t k, size_t row,
                      float *out)
{
    const struct cpu_device *dev = l->dev;
    const struct fbp_job *job = dev->job;
    const size_t nc = job->panel.n_columns, left = job->pad_left;
    float *in = fbp_raw_row(job, l->batch, l->raw, k, row);

    if (!l->prepared)
        fbp_prepare_row(job, &dev->ledger, fbp_batch_view(job, l->batch, k), row, in, &s->counts);
    memset(out, 0, left * sizeof *out);
    memset(out + left + nc, 0, (job->wide.n_columns - left - nc) * sizeof *out);
    if (l->weighted)
        memcpy(out + left, in, nc * sizeof *out);
    else
        weigh(dev, s, fbp_batch_view(job, l->batch, k), row, in, out + left);
    if (job->between)
        spread(out + left, nc, job->between);
}

/* How row `row` of a view of the scan, weighted, goes on beyond the panel. */
static void find_ends(const struct filter_loop *l, struct cpu_scratch *s, size_t view, size_t row,
                      const float *line, struct fbp_pad_end ends[2])
{
    const struct cpu_device *dev = l->dev;
    const size_t nc = dev->job->panel.n_columns;
    const float *image = dev->image + row * nc, *lines = dev->lines + view * nc;

    if (!dev->image)
        fbp_weights_row(dev->job->weights, view, row, s->weights);
    for (size_t c = 0; c < nc; c++)
        s->ends[c] = dev->image ? image[c] * lines[c] : (float)s->weights[c];
    fbp_pad_ends(&dev->job->pad->rule, line + dev->job->pad_left, s->ends, ends);
}

/* Row `row` of one lane of a group; zeros beyond the last group. */
static void weigh_lane(const struct filter_loop *l, struct cpu_scratch *s, size_t group,
                       size_t lane, size_t row, float *out, struct fbp_pad_end ends[2])
{
    const struct fbp_job *job = l->dev->job;
    const size_t n_groups = l->batch->n_views / job->turns, k = group + lane * n_groups;

    ends[0] = ends[1] = (struct fbp_pad_end){0, 0, 0};
    if (group >= n_groups) {
        memset(out, 0, job->wide.n_columns * sizeof *out);
        return;
    }
    weigh_row(l, s, k, row, out);
    if (job->pad)
        find_ends(l, s, fbp_batch_view(job, l->batch, k), row, out, ends);
}

/* Rows [first, first + n) of a group to their place among plain rows. */
static void copy_group(const struct filter_loop *l, size_t group, size_t first, size_t n,
                       const float *rows)
{
    const struct fbp_job *job = l->dev->job;
    const struct fbp_batch *b = l->batch;
    const size_t nc = job->wide.n_columns, n_groups = b->n_views / job->turns;

    for (size_t lane = 0; lane < job->turns; lane++)
        memcpy(l->rows + ((lane * n_groups + group) * b->n_rows + first) * nc,
               rows + lane * CPU_ROWS * nc, n * nc * sizeof *rows);
}

static void store_group(const struct filter_loop *l, size_t group, size_t first, size_t n,
                        const float *rows)
{
    const struct cpu_kernel *kernel = l->dev->kernel;
    const size_t n_rows = l->batch->n_rows;

    if (l->rows)
        copy_group(l, group, first, n, rows);
    else
        kernel->store(l->dev, n_rows, first, n, rows,
                      l->filtered + group * kernel->group_size(l->dev->job, n_rows));
}

/*
 * CPU_ROWS rows of a group of views, or of views 2i and 2i + 1 where a group is one view.  Pairs of
 * rows share a transform: batches start at a multiple of group_views, so that a row has the same
 * partner however the work is divided.  An odd last view is paired with zeros.
 */
static void filter_rows(void *user, size_t item, int worker)
{
    const struct filter_loop *l = user;
    const struct fbp_job *job = l->dev->job;
    const struct fbp_batch *b = l->batch;
    struct cpu_scratch *s = &l->dev->scratch[worker];
    const size_t nc = job->wide.n_columns, lanes = job->turns;
    const size_t n_lines = item_lines(job), n_groups = b->n_views / job->turns;
    const size_t group = item / l->row_items * item_groups(job);
    const size_t first = item % l->row_items * CPU_ROWS;
    const size_t n = first + CPU_ROWS < b->n_rows ? CPU_ROWS : b->n_rows - first;
    struct fbp_pad_end ends[CPU_FILTER_LINES][2];
    float *lines[CPU_FILTER_LINES];

    for (size_t i = 0; i < n; i++)
        for (size_t v = 0; v < n_lines; v++) {
            lines[i * n_lines + v] = s->rows + (v * CPU_ROWS + i) * nc;
            weigh_lane(l, s, group + v / lanes, v % lanes, b->row0 + first + i,
                       lines[i * n_lines + v], ends[i * n_lines + v]);
        }
    if (!job->filtered)
        cpu_convolve(&l->dev->convolution, s->work, lines, n * n_lines);
    for (size_t i = 0; job->pad && i < n * n_lines; i++)
        fbp_pad_apply(job->pad, ends[i], lines[i]);
    for (size_t g = group; g < n_groups && g < group + item_groups(job); g++)
        store_group(l, g, first, n, s->rows + (g - group) * lanes * CPU_ROWS * nc);
}

/* Rows that the filter along columns takes are weighted, too. */
static void prepare_view(void *user, size_t k, int worker)
{
    const struct filter_loop *l = user;
    const struct fbp_job *job = l->dev->job;
    struct cpu_scratch *s = &l->dev->scratch[worker];
    size_t r0, r1;

    fbp_prepare_view(job, l->batch, l->raw, k, &l->dev->ledger, &s->counts);
    if (!job->columns)
        return;
    fbp_needed_rows(job, l->batch, &r0, &r1);
    for (size_t r = r0; r < r1; r++) {
        float *row = fbp_raw_row(job, l->batch, l->raw, k, r);
        weigh(l->dev, s, fbp_batch_view(job, l->batch, k), r, row, row);
    }
}

/* CPU_COLUMNS columns of a view. */
static void filter_columns(void *user, size_t item, int worker)
{
    const struct filter_loop *l = user;
    const struct cpu_device *dev = l->dev;
    const struct fbp_job *job = dev->job;
    const size_t pieces = (job->panel.n_columns + CPU_COLUMNS - 1) / CPU_COLUMNS;
    size_t r0, r1;

    fbp_needed_rows(job, l->batch, &r0, &r1);
    cpu_filter_columns(job, &dev->line, dev->taps_v, dev->scratch[worker].columns,
                       fbp_raw_row(job, l->batch, l->raw, item / pieces, r0), r1 - r0,
                       item % pieces * CPU_COLUMNS);
}

static void prepare(struct filter_loop *loop)
{
    const struct fbp_job *job = loop->dev->job;
    const size_t views = loop->batch->n_views;
    const size_t pieces = (job->panel.n_columns + CPU_COLUMNS - 1) / CPU_COLUMNS;

    if (loop->prepared)
        fbp_pool_for(loop->dev->pool, views, prepare_view, loop);
    if (job->columns)
        fbp_pool_for(loop->dev->pool, views * pieces, filter_columns, loop);
}

/* Into the kernel's layout, or as plain rows: the other one is NULL. */
static fbp_status filter(fbp_device *device, const struct fbp_batch *batch, void *raw,
                         void *filtered, float *rows)
{
    struct cpu_device *dev = (struct cpu_device *)(void *)device;
    struct filter_loop loop = {.dev = dev,
                               .batch = batch,
                               .raw = raw,
                               .filtered = filtered,
                               .rows = rows,
                               .row_items = (batch->n_rows + CPU_ROWS - 1) / CPU_ROWS,
                               .prepared = dev->job->prep->n_bridges > 0 || dev->job->columns,
                               .weighted = dev->job->filtered || dev->job->columns};

    if (batch->n_rows == 0)
        return FBP_OK;
    prepare(&loop);
    const size_t groups = batch->n_views / dev->job->turns, at_once = item_groups(dev->job);
    fbp_pool_for(dev->pool, (groups + at_once - 1) / at_once * loop.row_items, filter_rows, &loop);
    return fbp_go_on();
}

fbp_status cpu_filter(fbp_device *device, const struct fbp_batch *batch, void *raw, void *filtered)
{
    struct cpu_device *dev = (struct cpu_device *)(void *)device;

    if (fbp_in_double(dev->job))
        return cpu_filter_double(dev, batch, raw, filtered);
    return filter(device, batch, raw, filtered, NULL);
}

fbp_status cpu_filter_rows(fbp_device *device, const struct fbp_batch *batch, void *raw,
                           float *rows)
{
    return filter(device, batch, raw, NULL, rows);
}

static bool has_tables(const struct fbp_job *job)
{
    return !job->filtered && fbp_weights_separable(job->weights);
}

static fbp_status tabulate_weights(struct cpu_device *dev)
{
    const struct fbp_job *job = dev->job;
    const size_t nc = job->panel.n_columns, nr = job->panel.n_rows;
    double *row = dev->scratch[0].weights;

    if (!has_tables(job))
        return FBP_OK;
    FBP_TRY(fbp_alloc((void **)&dev->image, nr * nc * sizeof(float), "cosine weights"));
    FBP_TRY(fbp_alloc((void **)&dev->lines, job->n_views * nc * sizeof(float), "view weights"));
    for (size_t r = 0; r < nr; r++) {
        fbp_weights_image(job->weights, r, row);
        for (size_t c = 0; c < nc; c++)
            dev->image[r * nc + c] = (float)row[c];
    }
    for (size_t k = 0; k < job->n_views; k++) {
        fbp_weights_line(job->weights, k, row);
        for (size_t c = 0; c < nc; c++)
            dev->lines[k * nc + c] = (float)row[c];
    }
    return FBP_OK;
}

static size_t rows_floats(const struct fbp_job *job)
{
    return item_lines(job) * CPU_ROWS * job->wide.n_columns;
}

size_t cpu_filter_bytes(const struct fbp_job *job, const struct cpu_kernel *kernel)
{
    const size_t nc = job->panel.n_columns;
    const size_t floats = rows_floats(job) + cpu_convolve_work(job) + cpu_columns_work(job) +
                          (job->pad ? nc : 0) + (kernel->scratch ? kernel->scratch(job) : 0);
    const size_t thread = sizeof(struct cpu_scratch) + nc * sizeof(double) + floats * sizeof(float);
    const size_t weights = has_tables(job) ? (job->panel.n_rows + job->n_views) * nc : 0;

    return (size_t)job->n_threads * thread +
           (weights + cpu_convolution_floats(job) + cpu_columns_floats(job)) * sizeof(float);
}

static fbp_status open_scratch(const struct cpu_device *dev, struct cpu_scratch *s)
{
    const struct fbp_job *job = dev->job;

    FBP_TRY(fbp_alloc((void **)&s->weights, job->panel.n_columns * sizeof(double), "weights"));
    FBP_TRY(fbp_alloc((void **)&s->rows, rows_floats(job) * sizeof(float), "filtered rows"));
    FBP_TRY(fbp_alloc((void **)&s->work, cpu_convolve_work(job) * sizeof(float), "filter scratch"));
    if (job->columns)
        FBP_TRY(fbp_alloc((void **)&s->columns, cpu_columns_work(job) * sizeof(float),
                          "filter scratch"));
    if (job->pad)
        FBP_TRY(fbp_alloc((void **)&s->ends, job->panel.n_columns * sizeof(float), "a row's ends"));
    if (dev->kernel->scratch)
        FBP_TRY(fbp_alloc((void **)&s->lines, dev->kernel->scratch(job) * sizeof(float),
                          "interpolated columns"));
    return FBP_OK;
}

fbp_status cpu_filter_open(struct cpu_device *dev)
{
    const struct fbp_job *job = dev->job;

    FBP_TRY(fbp_calloc((void **)&dev->scratch, (size_t)job->n_threads, sizeof *dev->scratch,
                       "filter scratch"));
    for (int i = 0; i < job->n_threads; i++)
        FBP_TRY(open_scratch(dev, &dev->scratch[i]));
    FBP_TRY(cpu_columns_open(&dev->taps_v, job));
    FBP_TRY(cpu_convolution_open(&dev->convolution, job, &dev->line));
    return tabulate_weights(dev);
}

void cpu_filter_close(struct cpu_device *dev)
{
    cpu_convolution_close(&dev->convolution);
    for (int i = 0; dev->scratch && i < dev->job->n_threads; i++) {
        fbp_free(dev->scratch[i].weights);
        fbp_free(dev->scratch[i].rows);
        fbp_free(dev->scratch[i].work);
        fbp_free(dev->scratch[i].columns);
        fbp_free(dev->scratch[i].ends);
        fbp_free(dev->scratch[i].lines);
    }
    free(dev->scratch);
    fbp_free(dev->taps_v);
    fbp_free(dev->image);
    fbp_free(dev->lines);
}
