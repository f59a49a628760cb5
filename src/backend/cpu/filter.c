/* Filter of the CPU device (cpu_filter() and cpu_filter_rows(), the functions `filter` and
 * `filter_rows` of the backend): corrects raw rows (prep/prep.h), weights them, convolves detector
 * columns with the filter along v, if the job has one, filters each row, and stores the rows in
 * the layout of the kernel or as plain rows.
 * Used by: cpu.c. */
#include "backend/cpu/cpu.h"
#include "backend/rows.h"

#include "base/base.h"
#include "base/threads.h"

#include <string.h>

struct filter_loop {
    struct cpu_device *dev;
    const struct fbp_batch *batch;
    void *raw, *filtered;
    float *rows;      /* output as plain rows; NULL: output in the kernel's layout, to `filtered` */
    size_t row_items; /* work items per view or group of views */
    bool prepared;    /* prepare_view() has corrected the rows (bad pixels, filter along columns) */
    bool weighted;    /* rows need no weights: they are weighted, or filtered by the source */
};

/* Number of detector columns that one work item filters along their length. */
enum { COLUMNS = FBP_MAX_LANES };

/* Returns the number of views of which one work item filters the same rows: the symmetric views of
 * a group, or two views; an even number, because pairs of rows share a Fourier transform. */
static size_t lines_per_item(const struct fbp_job *job)
{
    return job->selection.symmetric_views > 1 ? job->selection.symmetric_views : 2;
}

/* Multiply row `row` of a view of the scan by its weights; input and output may be one buffer. */
static void weigh(const struct cpu_device *dev, struct cpu_scratch *s, size_t view, size_t row,
                  const float *in, float *out)
{
    const size_t nc = dev->job->panel.n_columns;

    if (dev->image) {
        dev->line.weigh(in, dev->image + row * nc, dev->lines + view * nc, nc, out);
        return;
    }
    fbp_weights_row(dev->job->filtering.weights, view, row, s->weights);
    for (size_t c = 0; c < nc; c++)
        out[c] = in[c] * (float)s->weights[c];
}

/* Load detector row `row` of one view (`lane`) of a group of symmetric views: corrected and
 * weighted samples, zeros in columns without a measured sample, and the parameters of the row's
 * extrapolation beyond the panel.  If the batch ends before this group, all samples are 0. */
static void load_line(const struct filter_loop *l, struct cpu_scratch *s, size_t group, size_t lane,
                      size_t row, float *out, struct fbp_pad_end ends[2])
{
    const struct cpu_device *dev = l->dev;
    const struct fbp_job *job = dev->job;
    const size_t nc = job->panel.n_columns, between = job->padded.inserted;
    const size_t n_groups = l->batch->n_views / job->selection.symmetric_views,
                 k = group + lane * n_groups;
    float *line = out + job->padded.left;

    ends[0] = ends[1] = (struct fbp_pad_end){0, 0, 0};
    if (group >= n_groups) {
        memset(out, 0, job->padded.panel.n_columns * sizeof *out);
        return;
    }
    const size_t view = fbp_batch_view(job, l->batch, k);
    float *in = fbp_raw_row(job, l->batch, l->raw, k, row);

    if (!l->prepared)
        fbp_prepare_row(job, &dev->bitmap, view, row, in, &s->counts);
    memset(out, 0, job->padded.left * sizeof *out);
    memset(line + nc, 0, (job->padded.panel.n_columns - job->padded.left - nc) * sizeof *out);
    if (l->weighted)
        memcpy(line, in, nc * sizeof *out);
    else
        weigh(dev, s, view, row, in, line);
    /* from the last column on: each sample moves before it is overwritten */
    for (size_t c = nc; between && c-- > 1;) {
        const float value = line[c];
        memset(line + (between + 1) * (c - 1) + 1, 0, between * sizeof *line);
        line[(between + 1) * c] = value;
    }
    if (!job->filtering.pad)
        return;

    if (!dev->image)
        fbp_weights_row(job->filtering.weights, view, row, s->weights);
    for (size_t c = 0; c < nc; c++)
        s->buffer[CPU_ENDS][c] = dev->image ? dev->image[row * nc + c] * dev->lines[view * nc + c]
                                            : (float)s->weights[c];
    fbp_pad_ends(&job->filtering.pad->rule, line, s->buffer[CPU_ENDS], ends);
}

/* Filter CPU_ROWS rows of a group of symmetric views, or of views 2i and 2i + 1 if there are no
 * groups. Pairs of rows share a transform: batches start at a multiple of group_views, so a row has
 * the same partner however the work is divided.  An odd last view is paired with zeros. */
static void filter_rows(void *user, size_t item, int worker)
{
    const struct filter_loop *l = user;
    const struct fbp_job *job = l->dev->job;
    const struct fbp_batch *b = l->batch;
    const struct cpu_kernel *kernel = l->dev->kernel;
    struct cpu_scratch *s = &l->dev->scratch[worker];
    const size_t nc = job->padded.panel.n_columns, lanes = job->selection.symmetric_views,
                 n_groups = b->n_views / lanes;
    const size_t n_lines = lines_per_item(job), groups = n_lines / lanes;
    const size_t group = item / l->row_items * groups;
    const size_t first = item % l->row_items * CPU_ROWS;
    const size_t n = cpu_least(CPU_ROWS, b->n_rows - first);
    struct fbp_pad_end ends[CPU_FILTER_LINES][2];
    float *lines[CPU_FILTER_LINES];

    for (size_t i = 0; i < n; i++)
        for (size_t v = 0; v < n_lines; v++) {
            lines[i * n_lines + v] = s->buffer[CPU_FILTERED] + (v * CPU_ROWS + i) * nc;
            load_line(l, s, group + v / lanes, v % lanes, b->row0 + first + i,
                      lines[i * n_lines + v], ends[i * n_lines + v]);
        }
    if (!job->input.filtered)
        cpu_convolve(&l->dev->convolution, s->buffer[CPU_CONVOLVE], lines, n * n_lines);
    for (size_t i = 0; job->filtering.pad && i < n * n_lines; i++)
        fbp_pad_apply(job->filtering.pad, ends[i], lines[i]);

    for (size_t g = group; g < n_groups && g < group + groups; g++) {
        const float *rows = s->buffer[CPU_FILTERED] + (g - group) * lanes * CPU_ROWS * nc;
        if (!l->rows)
            kernel->store(l->dev, b->n_rows, first, n, rows,
                          (float *)l->filtered + g * kernel->group_size(job, b->n_rows));
        for (size_t lane = 0; l->rows && lane < lanes; lane++)
            memcpy(l->rows + ((lane * n_groups + g) * b->n_rows + first) * nc,
                   rows + lane * CPU_ROWS * nc, n * nc * sizeof *rows);
    }
}

/* Call kernel->finish() for CPU_ROWS stored rows of a group of views. */
static void finish_rows(void *user, size_t item, int worker)
{
    const struct filter_loop *l = user;
    const struct cpu_kernel *kernel = l->dev->kernel;
    const size_t n_rows = l->batch->n_rows, first = item % l->row_items * CPU_ROWS;

    (void)worker;
    kernel->finish(l->dev, n_rows, first, cpu_least(CPU_ROWS, n_rows - first),
                   (float *)l->filtered +
                       item / l->row_items * kernel->group_size(l->dev->job, n_rows));
}

/* Correct view k of the batch; with a filter along v, also weight the rows that it reads. */
static void prepare_view(void *user, size_t k, int worker)
{
    const struct filter_loop *l = user;
    const struct fbp_job *job = l->dev->job;
    struct cpu_scratch *s = &l->dev->scratch[worker];
    size_t r0, r1;

    fbp_prepare_view(job, l->batch, l->raw, k, &l->dev->bitmap, &s->counts);
    fbp_needed_rows(job, l->batch, &r0, &r1);
    for (size_t r = r0; job->filtering.columns && r < r1; r++) {
        float *row = fbp_raw_row(job, l->batch, l->raw, k, r);
        weigh(l->dev, s, fbp_batch_view(job, l->batch, k), r, row, row);
    }
}

/* Filter COLUMNS columns of a view along their length, in place.  Results nearer than half_width
 * rows to an end of the loaded rows are right only if that end is an end of the detector.  Each
 * sample is a sum of the same terms in the same order, whichever rows are loaded. */
static void filter_columns(void *user, size_t item, int worker)
{
    const struct filter_loop *l = user;
    const struct cpu_device *dev = l->dev;
    const struct fbp_job *job = dev->job;
    const size_t nc = job->panel.n_columns, lanes = dev->line.lanes,
                 S = job->filtering.columns->half_width;
    const size_t blocks = cpu_tiles(nc, COLUMNS);
    const size_t c0 = item % blocks * COLUMNS, c1 = cpu_least(c0 + COLUMNS, nc);
    size_t r0, r1;

    fbp_needed_rows(job, l->batch, &r0, &r1);
    const size_t n_rows = r1 - r0;
    float *view = fbp_raw_row(job, l->batch, l->raw, item / blocks, r0);
    float *work = dev->scratch[worker].buffer[CPU_COLUMNS], *out = work + n_rows * lanes;
    for (size_t c = c0; c < c1; c += lanes) {
        const size_t n = cpu_least(c1 - c, lanes);
        for (size_t r = 0; r < n_rows; r++)
            for (size_t i = 0; i < lanes; i++)
                work[r * lanes + i] = i < n ? view[r * nc + c + i] : 0;
        dev->line.convolve(work, dev->column_taps + FBP_CONVOLVE_COLUMNS + S, S, n_rows, out);
        for (size_t r = 0; r < n_rows; r++)
            for (size_t i = 0; i < n; i++)
                view[r * nc + c + i] = out[r * lanes + i];
    }
}

/* Filter the rows of a view of doubles one by one, like the reference device: the bits of a row do
 * not depend on other rows. */
static void filter_view_double(void *user, size_t k, int worker)
{
    const struct filter_loop *l = user;
    const struct fbp_job *job = l->dev->job;
    const struct cpu_kernel *kernel = l->dev->kernel;
    const struct fbp_batch *b = l->batch;
    const size_t nc = job->padded.panel.n_columns, view = fbp_batch_view(job, b, k);
    struct cpu_scratch *s = &l->dev->scratch[worker];

    for (size_t first = 0, n; first < b->n_rows; first += n) {
        n = cpu_least(CPU_ROWS, b->n_rows - first);
        for (size_t i = 0; i < n; i++) {
            const size_t row = b->row0 + first + i;
            double *in = fbp_raw_row(job, b, l->raw, k, row), *out = s->doubles + i * nc;
            double *line = s->row.line;
            fbp_prepare_row(job, &l->dev->bitmap, view, row, in, &s->counts);
            if (job->input.filtered) {
                memcpy(out, in, job->panel.n_columns * sizeof *out);
                continue;
            }
            memset(line, 0, job->filtering.design->n_fft * sizeof *line);
            fbp_weights_row(job->filtering.weights, view, row, s->weights);
            for (size_t c = 0; c < job->panel.n_columns; c++)
                line[job->padded.left + (job->padded.inserted + 1) * c] = in[c] * s->weights[c];
            fbp_row_filter(&l->dev->row_filter, &s->row, out);
        }
        kernel->store(l->dev, b->n_rows, first, n, s->doubles,
                      (double *)l->filtered + k * kernel->group_size(job, b->n_rows));
    }
}

/* Filter a batch to `filtered` in the kernel's layout, or to plain `rows`; the other is NULL. */
static fbp_status filter(struct cpu_device *dev, const struct fbp_batch *batch, void *raw,
                         void *filtered, float *rows)
{
    const struct fbp_job *job = dev->job;
    struct filter_loop loop = {.dev = dev,
                               .batch = batch,
                               .raw = raw,
                               .filtered = filtered,
                               .rows = rows,
                               .row_items = cpu_tiles(batch->n_rows, CPU_ROWS),
                               .prepared =
                                   job->filtering.prep->n_bridges > 0 || job->filtering.columns,
                               .weighted = job->input.filtered || job->filtering.columns};

    if (batch->n_rows == 0)
        return FBP_OK;
    if (fbp_in_double(job)) {
        fbp_pool_for(dev->pool, batch->n_views, filter_view_double, &loop);
        return fbp_check_cancelled();
    }
    if (loop.prepared)
        fbp_pool_for(dev->pool, batch->n_views, prepare_view, &loop);
    if (job->filtering.columns)
        fbp_pool_for(dev->pool, batch->n_views * cpu_tiles(job->panel.n_columns, COLUMNS),
                     filter_columns, &loop);
    const size_t groups = lines_per_item(job) / job->selection.symmetric_views;
    fbp_pool_for(dev->pool,
                 cpu_tiles(batch->n_views / job->selection.symmetric_views, groups) *
                     loop.row_items,
                 filter_rows, &loop);
    if (dev->kernel->finish && filtered)
        fbp_pool_for(dev->pool, batch->n_views / job->selection.symmetric_views * loop.row_items,
                     finish_rows, &loop);
    return fbp_check_cancelled();
}

fbp_status cpu_filter(fbp_device *device, const struct fbp_batch *batch, void *raw, void *filtered)
{
    return filter(cpu_device_of(device), batch, raw, filtered, NULL);
}

fbp_status cpu_filter_rows(fbp_device *device, const struct fbp_batch *batch, void *raw,
                           float *rows)
{
    return filter(cpu_device_of(device), batch, raw, NULL, rows);
}

static bool has_tables(const struct fbp_job *job)
{
    return !job->input.filtered && fbp_weights_separable(job->filtering.weights);
}

static size_t n_column_taps(const struct fbp_job *job)
{
    return job->filtering.columns
               ? 2 * (job->filtering.columns->half_width + FBP_CONVOLVE_COLUMNS) + 1
               : 0;
}

/* Compute the number of floats of each buffer of a thread (enum cpu_buffer). */
static void find_buffers(const struct fbp_job *job, const struct cpu_kernel *kernel,
                         size_t floats[CPU_N_BUFFERS])
{
    floats[CPU_FILTERED] = lines_per_item(job) * CPU_ROWS * job->padded.panel.n_columns;
    floats[CPU_CONVOLVE] = cpu_convolve_work(job);
    floats[CPU_COLUMNS] =
        job->filtering.columns ? (size_t)2 * FBP_MAX_LANES * job->panel.n_rows : 0;
    floats[CPU_ENDS] = job->filtering.pad ? job->panel.n_columns : 0;
    floats[CPU_KERNEL] = kernel->scratch ? kernel->scratch(job) : 0;
}

size_t cpu_filter_bytes(const struct fbp_job *job, const struct cpu_kernel *kernel)
{
    const size_t nc = job->panel.n_columns, n_threads = (size_t)job->n_threads;

    if (fbp_in_double(job)) {
        const size_t row = job->input.filtered ? 0 : fbp_row_work_doubles(job->filtering.design);
        const size_t doubles = row + nc + CPU_ROWS * job->padded.panel.n_columns;
        return n_threads * (sizeof(struct cpu_scratch) + doubles * sizeof(double)) +
               (job->input.filtered ? 0 : job->filtering.design->n_fft * sizeof(double));
    }
    size_t floats[CPU_N_BUFFERS], thread = sizeof(struct cpu_scratch) + nc * sizeof(double);
    find_buffers(job, kernel, floats);
    for (int i = 0; i < CPU_N_BUFFERS; i++)
        thread += floats[i] * sizeof(float);
    const size_t weights = has_tables(job) ? (job->panel.n_rows + job->n_views) * nc : 0;

    return n_threads * thread +
           (weights + cpu_convolution_floats(job) + n_column_taps(job)) * sizeof(float);
}

static fbp_status open_scratch(const struct cpu_device *dev, struct cpu_scratch *s)
{
    static const char *const names[] = {"filtered rows", "filter scratch", "filter scratch",
                                        "a row's ends", "interpolated columns"};
    const struct fbp_job *job = dev->job;
    size_t floats[CPU_N_BUFFERS];

    if (!fbp_in_double(job) || !job->input.filtered)
        FBP_TRY(fbp_alloc((void **)&s->weights, job->panel.n_columns * sizeof(double), "weights"));
    if (fbp_in_double(job)) {
        FBP_TRY(fbp_alloc((void **)&s->doubles,
                          CPU_ROWS * job->padded.panel.n_columns * sizeof(double),
                          "filtered rows"));
        return job->input.filtered ? FBP_OK : fbp_row_work_alloc(&s->row, job->filtering.design);
    }
    find_buffers(job, dev->kernel, floats);
    for (int i = 0; i < CPU_N_BUFFERS; i++)
        if (floats[i] > 0)
            FBP_TRY(fbp_alloc((void **)&s->buffer[i], floats[i] * sizeof(float), names[i]));
    return FBP_OK;
}

fbp_status cpu_filter_open(struct cpu_device *dev)
{
    const struct fbp_job *job = dev->job;
    const size_t nc = job->panel.n_columns, nr = job->panel.n_rows, n_taps = n_column_taps(job);

    FBP_TRY(fbp_calloc((void **)&dev->scratch, (size_t)job->n_threads, sizeof *dev->scratch,
                       "filter scratch"));
    for (int i = 0; i < job->n_threads; i++)
        FBP_TRY(open_scratch(dev, &dev->scratch[i]));
    if (fbp_in_double(job))
        return job->input.filtered ? FBP_OK
                                   : fbp_row_filter_open(&dev->row_filter, job->filtering.design,
                                                         job->filtering.spatial);

    if (job->filtering.columns)
        FBP_TRY(
            fbp_alloc((void **)&dev->column_taps, n_taps * sizeof(float), "filter along columns"));
    for (size_t i = 0; i < n_taps; i++) { /* zeros on either side of the taps */
        const size_t off = i > n_taps / 2 ? i - n_taps / 2 : n_taps / 2 - i;
        dev->column_taps[i] = off <= job->filtering.columns->half_width
                                  ? (float)job->filtering.columns->kernel[off]
                                  : 0;
    }
    FBP_TRY(cpu_convolution_open(&dev->convolution, job, &dev->line));

    if (!has_tables(job))
        return FBP_OK;
    double *row = dev->scratch[0].weights;
    FBP_TRY(fbp_alloc((void **)&dev->image, nr * nc * sizeof(float), "cosine weights"));
    FBP_TRY(fbp_alloc((void **)&dev->lines, job->n_views * nc * sizeof(float), "view weights"));
    for (size_t r = 0; r < nr; r++) {
        fbp_weights_image(job->filtering.weights, r, row);
        for (size_t c = 0; c < nc; c++)
            dev->image[r * nc + c] = (float)row[c];
    }
    for (size_t k = 0; k < job->n_views; k++) {
        fbp_weights_line(job->filtering.weights, k, row);
        for (size_t c = 0; c < nc; c++)
            dev->lines[k * nc + c] = (float)row[c];
    }
    return FBP_OK;
}

void cpu_filter_close(struct cpu_device *dev)
{
    cpu_convolution_close(&dev->convolution);
    fbp_row_filter_close(&dev->row_filter);
    for (int i = 0; dev->scratch && i < dev->job->n_threads; i++) {
        struct cpu_scratch *s = &dev->scratch[i];
        fbp_free(s->weights);
        for (int b = 0; b < CPU_N_BUFFERS; b++)
            fbp_free(s->buffer[b]);
        fbp_free(s->doubles);
        fbp_row_work_free(&s->row);
    }
    free(dev->scratch);
    fbp_free(dev->column_taps);
    fbp_free(dev->image);
    fbp_free(dev->lines);
}
