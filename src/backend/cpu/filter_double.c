/* Rows of plane integrals in double: one after another, as those of `ref`, so that no row has a bit
 * of another. */
#include "backend/cpu/cpu.h"
#include "backend/rows.h"

#include "base/base.h"
#include "base/threads.h"

#include <string.h>

struct cpu_double_work {
    struct fbp_row_work row;
    double *weights, *out; /* a row of weights, CPU_ROWS of filtered ones */
    struct fbp_prep_counts counts;
    char pad[64]; /* counters of two threads must not share a cache line */
};

struct double_loop {
    const struct cpu_device *dev;
    const struct fbp_batch *batch;
    void *raw;
    double *filtered;
};

/* Samples of view `view` of the scan, weighted, to their places in a line of zeros. */
static void weigh(const struct fbp_job *job, size_t view, size_t row, const double *in,
                  struct cpu_double_work *w)
{
    double *line = w->row.line;

    memset(line, 0, job->filter->n_fft * sizeof *line);
    fbp_weights_row(job->weights, view, row, w->weights);
    for (size_t c = 0; c < job->panel.n_columns; c++)
        line[job->pad_left + (job->between + 1) * c] = in[c] * w->weights[c];
}

/* Row i of those of view k of the batch, into *out. */
static void filter_row(const struct double_loop *l, size_t k, size_t i, struct cpu_double_work *w,
                       double *out)
{
    const struct fbp_job *job = l->dev->job;
    const struct fbp_batch *b = l->batch;
    const size_t view = fbp_batch_view(job, b, k), row = b->row0 + i;
    double *in = fbp_raw_row(job, b, l->raw, k, row);

    fbp_prepare_row(job, &l->dev->ledger, view, row, in, &w->counts);
    if (job->filtered) {
        memcpy(out, in, job->panel.n_columns * sizeof *out);
        return;
    }
    weigh(job, view, row, in, w);
    fbp_row_filter(&l->dev->doubles.filter, &w->row, out);
}

/* All rows of a view, some at once, as layouts that are transposed want them. */
static void filter_view(void *user, size_t k, int worker)
{
    const struct double_loop *l = user;
    const struct fbp_job *job = l->dev->job;
    const struct cpu_kernel *kernel = l->dev->kernel;
    const size_t n_rows = l->batch->n_rows, nc = job->wide.n_columns;
    struct cpu_double_work *w = &l->dev->doubles.works[worker];

    for (size_t first = 0, n; first < n_rows; first += n) {
        n = n_rows - first < CPU_ROWS ? n_rows - first : CPU_ROWS;
        for (size_t i = 0; i < n; i++)
            filter_row(l, k, first + i, w, w->out + i * nc);
        kernel->store_double(l->dev, n_rows, first, n, w->out,
                             l->filtered + k * kernel->group_size(job, n_rows));
    }
}

fbp_status cpu_filter_double(struct cpu_device *dev, const struct fbp_batch *batch, void *raw,
                             void *filtered)
{
    struct double_loop loop = {dev, batch, raw, filtered};

    if (batch->n_rows > 0)
        fbp_pool_for(dev->pool, batch->n_views, filter_view, &loop);
    return fbp_go_on();
}

size_t cpu_filter_double_bytes(const struct fbp_job *job)
{
    const size_t row = job->filtered ? 0 : fbp_row_work_doubles(job->filter);
    const size_t a_thread = row + job->panel.n_columns + CPU_ROWS * job->wide.n_columns;

    return (size_t)job->n_threads * (sizeof(struct cpu_double_work) + a_thread * sizeof(double)) +
           (job->filtered ? 0 : job->filter->n_fft * sizeof(double));
}

static fbp_status open_work(const struct fbp_job *job, struct cpu_double_work *w)
{
    FBP_TRY(fbp_alloc((void **)&w->out, CPU_ROWS * job->wide.n_columns * sizeof(double),
                      "filtered rows"));
    if (job->filtered)
        return FBP_OK;
    FBP_TRY(fbp_alloc((void **)&w->weights, job->panel.n_columns * sizeof(double), "weights"));
    return fbp_row_work_alloc(&w->row, job->filter);
}

fbp_status cpu_filter_double_open(struct cpu_device *dev)
{
    const struct fbp_job *job = dev->job;
    struct cpu_doubles *d = &dev->doubles;

    FBP_TRY(
        fbp_calloc((void **)&d->works, (size_t)job->n_threads, sizeof *d->works, "filter scratch"));
    for (int i = 0; i < job->n_threads; i++)
        FBP_TRY(open_work(job, &d->works[i]));
    if (job->filtered)
        return FBP_OK;
    return fbp_row_filter_open(&d->filter, job->filter, job->spatial_filter);
}

void cpu_filter_double_close(struct cpu_device *dev)
{
    struct cpu_doubles *d = &dev->doubles;

    fbp_row_filter_close(&d->filter);
    for (int i = 0; d->works && i < dev->job->n_threads; i++) {
        fbp_free(d->works[i].weights);
        fbp_free(d->works[i].out);
        fbp_row_work_free(&d->works[i].row);
    }
    free(d->works);
}

struct fbp_prep_counts cpu_filter_double_counts(const struct cpu_device *dev)
{
    struct fbp_prep_counts all = {0};

    for (int i = 0; dev->doubles.works && i < dev->job->n_threads; i++) {
        all.not_finite += dev->doubles.works[i].counts.not_finite;
        all.clipped += dev->doubles.works[i].counts.clipped;
    }
    return all;
}
