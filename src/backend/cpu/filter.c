#include "backend/cpu/cpu.h"
#include "backend/rows.h"

#include "base/mem.h"

#include <string.h>

struct filter_loop {
    struct cpu_device *dev;
    const struct fbp_batch *batch;
    float *raw, *filtered;
    size_t items_a_pair;
    bool prepared; /* bad pixels need whole views first, so a pass of its own has done that */
};

/* Row `row` of view k (of the batch), prepared and weighted, zeros on both sides of it. */
static void weigh_row(const struct filter_loop *l, struct cpu_scratch *s, size_t k, size_t row,
                      float *out)
{
    const struct cpu_device *dev = l->dev;
    const struct fbp_job *job = dev->job;
    const size_t nc = job->panel.n_columns, left = job->pad_left, view = l->batch->view0 + k;
    float *in = fbp_raw_row(job, l->batch, l->raw, k, row);

    if (!l->prepared)
        fbp_prep_row(job->prep, row, in, &s->counts);
    memset(out, 0, left * sizeof *out);
    memset(out + left + nc, 0, (job->wide.n_columns - left - nc) * sizeof *out);
    if (dev->image) {
        dev->line.weigh(in, dev->image + row * nc, dev->lines + view * nc, nc, out + left);
        return;
    }
    fbp_weights_row(job->weights, view, row, s->weights);
    for (size_t c = 0; c < nc; c++)
        out[left + c] = in[c] * (float)s->weights[c];
}

/*
 * CPU_ROWS rows of two neighbouring views, 2i and 2i + 1: batches start at a multiple of
 * group_views, so that a row has the same partner however the work is divided.  An odd last view is
 * paired with zeros.
 */
static void filter_rows(void *user, size_t item, int worker)
{
    const struct filter_loop *l = user;
    const struct fbp_batch *b = l->batch;
    const struct cpu_kernel *kernel = l->dev->kernel;
    struct cpu_scratch *s = &l->dev->scratch[worker];
    const size_t nc = l->dev->job->wide.n_columns;
    const size_t k = item / l->items_a_pair * CPU_FILTER_VIEWS;
    const size_t first = item % l->items_a_pair * CPU_ROWS;
    const size_t n = first + CPU_ROWS < b->n_rows ? CPU_ROWS : b->n_rows - first;
    const size_t size = kernel->view_size(l->dev->job, b->n_rows);
    float *lines[CPU_FILTER_LINES];

    for (size_t i = 0; i < n; i++)
        for (size_t v = 0; v < CPU_FILTER_VIEWS; v++) {
            float *line = lines[i * CPU_FILTER_VIEWS + v] = s->rows + (v * CPU_ROWS + i) * nc;
            if (k + v < b->n_views)
                weigh_row(l, s, k + v, b->row0 + first + i, line);
            else
                memset(line, 0, nc * sizeof *line);
        }
    cpu_convolve(&l->dev->convolution, s->work, lines, n * CPU_FILTER_VIEWS);
    for (size_t v = 0; v < CPU_FILTER_VIEWS && k + v < b->n_views; v++)
        kernel->store(l->dev, b->n_rows, first, n, s->rows + v * CPU_ROWS * nc,
                      l->filtered + (k + v) * size);
}

static void prepare_view(void *user, size_t item, int worker)
{
    const struct filter_loop *l = user;
    fbp_prepare_view(l->dev->job, l->batch, l->raw, item, &l->dev->scratch[worker].counts);
}

fbp_status cpu_filter(fbp_device *device, const struct fbp_batch *batch, void *raw, void *filtered)
{
    struct cpu_device *dev = (struct cpu_device *)(void *)device;
    struct filter_loop loop = {dev,
                               batch,
                               raw,
                               filtered,
                               (batch->n_rows + CPU_ROWS - 1) / CPU_ROWS,
                               dev->job->prep->n_bridges > 0};

    if (batch->n_rows == 0)
        return FBP_OK;
    if (loop.prepared)
        fbp_pool_for(dev->pool, batch->n_views, prepare_view, &loop);
    fbp_pool_for(dev->pool,
                 (batch->n_views + CPU_FILTER_VIEWS - 1) / CPU_FILTER_VIEWS * loop.items_a_pair,
                 filter_rows, &loop);
    return FBP_OK;
}

static fbp_status tabulate_weights(struct cpu_device *dev)
{
    const struct fbp_job *job = dev->job;
    const size_t nc = job->panel.n_columns, nr = job->panel.n_rows;
    double *row = dev->scratch[0].weights;

    if (!fbp_weights_separable(job->weights))
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
    return CPU_FILTER_LINES * job->wide.n_columns;
}

size_t cpu_filter_bytes(const struct fbp_job *job, const struct cpu_kernel *kernel)
{
    const size_t nc = job->panel.n_columns;
    const size_t floats =
        rows_floats(job) + cpu_convolve_work(job) + (kernel->scratch ? kernel->scratch(job) : 0);
    const size_t thread = sizeof(struct cpu_scratch) + nc * sizeof(double) + floats * sizeof(float);
    const size_t weights =
        fbp_weights_separable(job->weights) ? (job->panel.n_rows + job->n_views) * nc : 0;

    return (size_t)job->n_threads * thread +
           (weights + cpu_convolution_floats(job)) * sizeof(float);
}

static fbp_status open_scratch(const struct cpu_device *dev, struct cpu_scratch *s)
{
    const struct fbp_job *job = dev->job;

    FBP_TRY(fbp_alloc((void **)&s->weights, job->panel.n_columns * sizeof(double), "weights"));
    FBP_TRY(fbp_alloc((void **)&s->rows, rows_floats(job) * sizeof(float), "filtered rows"));
    FBP_TRY(fbp_alloc((void **)&s->work, cpu_convolve_work(job) * sizeof(float), "filter scratch"));
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
    FBP_TRY(cpu_convolution_open(&dev->convolution, job, &dev->line, dev->scratch[0].work));
    return tabulate_weights(dev);
}

void cpu_filter_close(struct cpu_device *dev)
{
    cpu_convolution_close(&dev->convolution);
    for (int i = 0; dev->scratch && i < dev->job->n_threads; i++) {
        fbp_free(dev->scratch[i].weights);
        fbp_free(dev->scratch[i].rows);
        fbp_free(dev->scratch[i].work);
        fbp_free(dev->scratch[i].lines);
    }
    free(dev->scratch);
    fbp_free(dev->image);
    fbp_free(dev->lines);
}
