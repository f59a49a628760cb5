/* Raw views to filtered ones: prep, weight, filter; rows in pairs, some at a time. */
#include "backend/cuda/filter.h"

#include "backend/cuda/cuda.h"
#include "backend/rows.h"

#include <stdlib.h>
#include <string.h>

static cudaStream_t filter_stream(const struct cuda_device *dev)
{
    return dev->streams[FBP_STAGE_FILTER].stream;
}

static struct cuda_raw raw_of(const struct fbp_job *job, const struct fbp_batch *b, void *samples)
{
    struct cuda_raw raw = {.samples = samples,
                           .halves = (unsigned)fbp_halves(job),
                           .n_views = (unsigned)b->n_views,
                           .load_rows = (unsigned)b->load_rows,
                           .n_columns = (unsigned)job->panel.n_columns};

    for (size_t half = 0; half < raw.halves; half++)
        raw.first_row[half] = (unsigned)fbp_first_row(job, b, half);
    return raw;
}

/* Line integrals, bad pixels bridged. */
static fbp_status prepare(struct cuda_device *dev, const struct fbp_batch *b,
                          const struct cuda_raw *raw)
{
    const struct fbp_prep *p = dev->job->prep;
    unsigned long long *counters = (void *)(dev->memory + dev->tables.counters);
    const struct cuda_prep prep = {
        .dark = p->dark ? (const float *)(void *)(dev->memory + dev->tables.dark) : NULL,
        .gain = p->gain ? (const float *)(void *)(dev->memory + dev->tables.gain) : NULL,
        .inverse_i0 = p->inverse_i0,
        .intensity = p->intensity,
        .not_finite = &counters[0],
        .clipped = &counters[1]};
    const unsigned row0[2] = {(unsigned)b->row0,
                              (unsigned)(dev->job->panel.n_rows - b->row0 - b->n_rows)};

    CUDA_TRY(cuda_prepare_rows(raw, &prep, filter_stream(dev)));
    if (p->n_bridges)
        CUDA_TRY(cuda_bridge_pixels(raw, (void *)(dev->memory + dev->tables.bridges),
                                    (unsigned)p->n_bridges, row0, (unsigned)b->n_rows,
                                    filter_stream(dev)));
    return FBP_OK;
}

/* Weights of the real rows of a piece of a batch, by all threads of the host. */
struct weights_loop {
    const struct cuda_device *dev;
    const struct fbp_batch *batch;
    const struct cuda_pad *pad;
    float *out;
};

static void weights_row(void *user, size_t item, int worker)
{
    const struct weights_loop *l = user;
    const struct fbp_job *job = l->dev->job;
    const struct cuda_pad *p = l->pad;
    const size_t nc = job->panel.n_columns, at = p->first + item / 2;
    const size_t lane = at / p->n_rows / p->pairs;
    const size_t group = 2 * (at / p->n_rows % p->pairs) + item % 2;
    const size_t k = lane % p->turns * p->n_groups + group;
    double *row = l->dev->weights.rows + (size_t)worker * nc;

    if (group >= p->n_groups)
        return;
    cuda_host->weights_row(job->weights, fbp_batch_view(job, l->batch, k),
                           fbp_half_row(job, lane / p->turns, p->row0 + at % p->n_rows), row);
    for (size_t c = 0; c < nc; c++)
        l->out[item * nc + c] = (float)row[c];
}

static fbp_status upload_weights(struct cuda_device *dev, const struct fbp_batch *b,
                                 const struct cuda_pad *pad)
{
    struct cuda_weights *w = &dev->weights;
    const int at = w->next;
    const size_t bytes = 2 * (size_t)pad->n * dev->job->panel.n_columns * sizeof(float);
    struct weights_loop loop = {dev, b, pad, w->host[at]};
    fbp_device *device = (fbp_device *)(void *)dev;
    struct fbp_mark copied;

    if (w->used[at])
        FBP_TRY(cuda_wait(device, (struct fbp_mark){FBP_STAGE_FILTER, w->used[at]}));
    cuda_host->pool_for(w->pool, 2 * (size_t)pad->n, weights_row, &loop);
    CUDA_TRY(cudaMemcpyAsync(dev->memory + dev->tables.weights, w->host[at], bytes,
                             cudaMemcpyHostToDevice, filter_stream(dev)));
    FBP_TRY(cuda_mark(device, FBP_STAGE_FILTER, &copied));
    w->used[at] = copied.ticket;
    w->next = !at;
    return FBP_OK;
}

/* Complex rows are in `rows`; filtered ones are where *out says. */
static fbp_status convolve(struct cuda_device *dev, unsigned n, const float2 **out)
{
    const struct cuda_tables *t = &dev->tables;
    float2 *rows = (void *)(dev->memory + t->rows), *work = (void *)(dev->memory + t->work);
    const float *filter = (const void *)(dev->memory + t->filter);
    const unsigned length = (unsigned)t->row_length;

    *out = rows;
    if (dev->job->filtered)
        return FBP_OK;
    if (dev->plan == CUFFT_NO_PLAN) {
        CUDA_TRY(cuda_convolve_rows(rows, n, length, filter, (unsigned)dev->job->filter->half_width,
                                    work, filter_stream(dev)));
        *out = work;
        return FBP_OK;
    }
    FBP_TRY(cuda_fft_run(dev->plan, rows, false));
    CUDA_TRY(cuda_multiply_rows(rows, n, length, filter, filter_stream(dev)));
    return cuda_fft_run(dev->plan, rows, true);
}

static struct cuda_pad pad_of(const struct cuda_device *dev, const struct fbp_batch *b,
                              const struct cuda_raw *raw)
{
    const struct fbp_job *job = dev->job;
    const struct cuda_tables *t = &dev->tables;
    const bool separable = !job->filtered && cuda_host->weights_separable(job->weights);
    const bool apart = !job->filtered && !separable;
    const unsigned n_groups = (unsigned)(b->n_views / job->turns);

    return (struct cuda_pad){
        .raw = *raw,
        .pairs = (n_groups + 1) / 2,
        .turns = (unsigned)job->turns,
        .part_views = (unsigned)fbp_part_views(job),
        .n_groups = n_groups,
        .n_rows = (unsigned)b->n_rows,
        .row0 = (unsigned)b->row0,
        .panel_rows = (unsigned)job->panel.n_rows,
        .view0 = (unsigned)b->view0,
        .pad_left = (unsigned)job->pad_left,
        .row_length = (unsigned)t->row_length,
        .image = separable ? (const float *)(void *)(dev->memory + t->image) : NULL,
        .lines = separable ? (const float *)(void *)(dev->memory + t->lines) : NULL,
        .weights = apart ? (const float *)(void *)(dev->memory + t->weights) : NULL,
        .out = (void *)(dev->memory + t->rows)};
}

fbp_status cuda_filter(fbp_device *device, const struct fbp_batch *batch, void *raw, void *filtered)
{
    struct cuda_device *dev = cuda_of(device);
    const struct fbp_job *job = dev->job;

    if (batch->n_rows == 0)
        return FBP_OK;
    CUDA_TRY(cudaSetDevice(dev->index));
    const struct cuda_raw samples = raw_of(job, batch, raw);
    FBP_TRY(prepare(dev, batch, &samples));
    struct cuda_pad pad = pad_of(dev, batch, &samples);
    const size_t lanes = samples.halves * job->turns, n = lanes * pad.pairs * batch->n_rows;
    struct cuda_rows rows = {.stride = pad.row_length,
                             .n_lanes = (unsigned)lanes,
                             .pairs = pad.pairs,
                             .n_groups = pad.n_groups,
                             .n_rows = pad.n_rows,
                             .n_columns = (unsigned)job->wide.n_columns};
    for (size_t at = 0; at < n; at += dev->tables.rows_a_call) {
        const size_t left = n - at;
        pad.first = rows.first = (unsigned)at;
        pad.n = rows.n =
            (unsigned)(left < dev->tables.rows_a_call ? left : dev->tables.rows_a_call);
        if (pad.weights)
            FBP_TRY(upload_weights(dev, batch, &pad));
        CUDA_TRY(cuda_pad_rows(&pad, filter_stream(dev)));
        FBP_TRY(convolve(dev, pad.n, &rows.rows));
        CUDA_TRY(dev->kernel->store(job, &rows, filtered, filter_stream(dev)));
    }
    return FBP_OK;
}

void cuda_counts(fbp_device *device, struct fbp_prep_counts *out)
{
    const struct cuda_device *dev = cuda_of(device);
    uint64_t counters[2] = {0, 0};

    if (cudaSetDevice(dev->index) == cudaSuccess)
        (void)cudaMemcpy(counters, dev->memory + dev->tables.counters, sizeof counters,
                         cudaMemcpyDeviceToHost);
    *out = (struct fbp_prep_counts){.not_finite = counters[0], .clipped = counters[1]};
}

/* Tables of the host, converted and copied. */

static fbp_status no_memory(size_t bytes)
{
    return cuda_host->fail(FBP_ERR_NOMEM, "cuda: cannot allocate %zu bytes for tables", bytes);
}

static fbp_status put(const struct cuda_device *dev, size_t at, const void *data, size_t bytes)
{
    CUDA_TRY(cudaMemcpy(dev->memory + at, data, bytes, cudaMemcpyHostToDevice));
    return FBP_OK;
}

static fbp_status put_filter(const struct cuda_device *dev)
{
    const struct fbp_filter_design *f = dev->job->filter;
    const bool space = dev->plan == CUFFT_NO_PLAN;
    const size_t s = f->half_width, n = space ? 2 * s + 1 : f->n_fft / 2 + 1;
    float *values = malloc(n * sizeof *values);

    if (!values)
        return no_memory(n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = (float)(!space ? f->response[i] : f->kernel[i > s ? i - s : s - i]);
    const fbp_status st = put(dev, dev->tables.filter, values, n * sizeof *values);
    free(values);
    return st;
}

static fbp_status put_bridges(const struct cuda_device *dev)
{
    const struct fbp_prep *p = dev->job->prep;
    struct cuda_bridge *bridges = malloc(p->n_bridges * sizeof *bridges);

    if (!bridges)
        return no_memory(p->n_bridges * sizeof *bridges);
    for (size_t i = 0; i < p->n_bridges; i++) {
        bridges[i].pixel = (unsigned)p->bridges[i].pixel;
        for (int k = 0; k < 4; k++)
            bridges[i].from[k] = (unsigned)p->bridges[i].from[k];
        memcpy(bridges[i].weight, p->bridges[i].weight, sizeof bridges[i].weight);
    }
    const fbp_status st = put(dev, dev->tables.bridges, bridges, p->n_bridges * sizeof *bridges);
    free(bridges);
    return st;
}

static fbp_status put_prep(const struct cuda_device *dev)
{
    const struct fbp_prep *p = dev->job->prep;
    const size_t image = dev->job->panel.n_rows * dev->job->panel.n_columns * sizeof(float);

    if (p->dark)
        FBP_TRY(put(dev, dev->tables.dark, p->dark, image));
    if (p->gain)
        FBP_TRY(put(dev, dev->tables.gain, p->gain, image));
    return p->n_bridges ? put_bridges(dev) : FBP_OK;
}

/* n rows of weights, `fill` giving one. */
static fbp_status put_weights(const struct cuda_device *dev, size_t at, size_t n,
                              void (*fill)(const fbp_weights *, size_t, double *))
{
    const size_t nc = dev->job->panel.n_columns;
    double *row = malloc(nc * sizeof *row);
    float *values = malloc(n * nc * sizeof *values);
    fbp_status st;

    if (!row || !values) {
        st = no_memory(n * nc * sizeof *values);
        goto fail;
    }
    for (size_t i = 0; i < n; i++) {
        fill(dev->job->weights, i, row);
        for (size_t c = 0; c < nc; c++)
            values[i * nc + c] = (float)row[c];
    }
    st = put(dev, at, values, n * nc * sizeof *values);
fail:
    free(row);
    free(values);
    return st;
}

static fbp_status open_weights(struct cuda_device *dev)
{
    const struct fbp_job *job = dev->job;
    const size_t nc = job->panel.n_columns;
    struct cuda_weights *w = &dev->weights;

    if (cuda_host->weights_separable(job->weights)) {
        FBP_TRY(put_weights(dev, dev->tables.image, job->panel.n_rows, cuda_host->weights_image));
        return put_weights(dev, dev->tables.lines, job->n_views, cuda_host->weights_line);
    }
    FBP_TRY(cuda_host->pool_create(&w->pool, job->n_threads));
    w->rows = malloc((size_t)job->n_threads * nc * sizeof *w->rows);
    if (!w->rows)
        return no_memory((size_t)job->n_threads * nc * sizeof *w->rows);
    for (int i = 0; i < 2; i++)
        FBP_TRY(cuda_host_alloc((fbp_device *)(void *)dev,
                                dev->tables.rows_a_call * 2 * nc * sizeof(float),
                                (void **)&w->host[i]));
    return FBP_OK;
}

/* A plan whose scratch fits its place: fewer rows a call if it must be. */
static fbp_status open_plan(struct cuda_device *dev)
{
    struct cuda_tables *t = &dev->tables;
    size_t work;

    for (;;) {
        FBP_TRY(cuda_fft_create(&dev->plan, t->row_length, t->rows_a_call, &work));
        if (work <= t->work_bytes)
            break;
        if (t->rows_a_call == 1)
            return cuda_host->fail(FBP_ERR_UNSUPPORTED,
                                   "cuda: cuFFT wants %zu bytes for a row of %zu points: use "
                                   "--spatial",
                                   work, t->row_length);
        cuda_fft_destroy(&dev->plan);
        t->rows_a_call = (t->rows_a_call + 1) / 2;
    }
    return cuda_fft_place(dev->plan, dev->memory + t->work, filter_stream(dev));
}

fbp_status cuda_filter_open(struct cuda_device *dev)
{
    FBP_TRY(put_prep(dev));
    if (dev->job->filtered)
        return FBP_OK;
    if (!cuda_filters_in_space(dev->job))
        FBP_TRY(open_plan(dev));
    FBP_TRY(put_filter(dev));
    return open_weights(dev);
}

void cuda_filter_close(struct cuda_device *dev)
{
    cuda_fft_destroy(&dev->plan);
    if (dev->weights.pool)
        cuda_host->pool_destroy(&dev->weights.pool);
    free(dev->weights.rows);
    for (int i = 0; i < 2; i++)
        cuda_host_release((fbp_device *)(void *)dev, dev->weights.host[i]);
}
