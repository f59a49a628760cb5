#include "backend/cpu/cpu.h"
#include "backend/rows.h"

#include "base/mem.h"
#include "filter/fft_lock.h"

#include <string.h>

struct filter_loop {
    struct cpu_device *dev;
    const struct fbp_batch *batch;
    float *raw, *filtered;
    size_t items_a_group;
    bool prepared; /* bad pixels need whole views first, so a pass of its own has done that */
};

static void convolve_fft(const struct cpu_device *dev, struct cpu_scratch *s, float *out)
{
    const struct fbp_filter_design *f = dev->job->filter;

    fftwf_execute_dft_r2c(dev->forward, s->line, s->spectrum);
    for (size_t i = 0; i <= f->n_fft / 2; i++) {
        s->spectrum[i][0] *= dev->response[i];
        s->spectrum[i][1] *= dev->response[i];
    }
    fftwf_execute_dft_c2r(dev->inverse, s->spectrum, s->line);
    memcpy(out, s->line, f->n_columns * sizeof *out);
}

/* S0's form: every tap of the row spread over the outputs it reaches, kernel[S + c - i]. */
static void convolve_spatial(const struct cpu_device *dev, const struct cpu_scratch *s, float *out)
{
    const struct fbp_filter_design *f = dev->job->filter;
    const float *centre = dev->taps + f->half_width;

    memset(out, 0, f->n_columns * sizeof *out);
    for (size_t i = 0; i < f->n_columns; i++) {
        const size_t lo = i > f->half_width ? i - f->half_width : 0;
        const size_t hi = i + f->half_width < f->n_columns ? i + f->half_width : f->n_columns - 1;
        const float x = s->line[i], *k = centre + ((ptrdiff_t)lo - (ptrdiff_t)i);
        for (size_t c = lo; c <= hi; c++)
            out[c] += x * k[c - lo];
    }
}

/* The weighted row, zeros on both sides of it, in s->line. */
static void weight_row(const struct cpu_device *dev, struct cpu_scratch *s, size_t view, size_t row,
                       const float *in)
{
    const size_t nc = dev->job->panel.n_columns, left = dev->job->pad_left;
    float *out = s->line + left;

    memset(s->line, 0, left * sizeof *s->line);
    memset(out + nc, 0, (dev->job->filter->n_fft - left - nc) * sizeof *out);
    if (dev->image) {
        const float *image = dev->image + row * nc, *line = dev->lines + view * nc;
        for (size_t c = 0; c < nc; c++)
            out[c] = in[c] * image[c] * line[c];
        return;
    }
    fbp_weights_row(dev->job->weights, view, row, s->weights);
    for (size_t c = 0; c < nc; c++)
        out[c] = in[c] * (float)s->weights[c];
}

/* Row `upper`, or its mirror image, of view k of the batch. */
static void filter_row(const struct filter_loop *l, struct cpu_scratch *s, size_t half, size_t k,
                       size_t upper, float *out)
{
    const struct fbp_job *job = l->dev->job;
    const size_t row = fbp_half_row(job, half, upper);
    float *in = fbp_raw_row(job, l->batch, half, l->raw, k, row);

    if (!l->prepared)
        fbp_prep_row(job->prep, row, in, &s->counts);
    weight_row(l->dev, s, fbp_batch_view(job, l->batch, k), row, in);
    if (job->spatial_filter)
        convolve_spatial(l->dev, s, out);
    else
        convolve_fft(l->dev, s, out);
}

static void filter_rows(void *user, size_t item, int worker)
{
    const struct filter_loop *l = user;
    const struct fbp_job *job = l->dev->job;
    const struct fbp_batch *b = l->batch;
    struct cpu_scratch *s = &l->dev->scratch[worker];
    const size_t n_groups = b->n_views / job->turns, lanes = job->turns * fbp_halves(job);
    const size_t group = item / l->items_a_group, first = item % l->items_a_group * CPU_ROWS;
    const size_t n = first + CPU_ROWS < b->n_rows ? CPU_ROWS : b->n_rows - first;
    float *to = l->filtered + group * l->dev->kernel->group_size(job, b->n_rows);

    for (size_t lane = 0; lane < lanes; lane++)
        for (size_t i = 0; i < n; i++)
            filter_row(l, s, lane / job->turns, group + lane % job->turns * n_groups,
                       b->row0 + first + i, s->rows + (lane * CPU_ROWS + i) * job->wide.n_columns);
    l->dev->kernel->store(job, b->n_rows, first, n, s->rows, to);
}

static void prepare_view(void *user, size_t item, int worker)
{
    const struct filter_loop *l = user;
    const size_t n = l->batch->n_views;
    fbp_prepare_view(l->dev->job, l->batch, item / n, l->raw, item % n,
                     &l->dev->scratch[worker].counts);
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
        fbp_pool_for(dev->pool, fbp_halves(dev->job) * batch->n_views, prepare_view, &loop);
    fbp_pool_for(dev->pool, batch->n_views / dev->job->turns * loop.items_a_group, filter_rows,
                 &loop);
    return FBP_OK;
}

static fbp_status tabulate_filter(struct cpu_device *dev)
{
    const struct fbp_filter_design *f = dev->job->filter;
    const size_t n_response = f->n_fft / 2 + 1, n_kernel = 2 * f->half_width + 1;

    FBP_TRY(fbp_alloc((void **)&dev->response, n_response * sizeof(float), "filter response"));
    FBP_TRY(fbp_alloc((void **)&dev->taps, n_kernel * sizeof(float), "filter kernel"));
    for (size_t i = 0; i < n_response; i++)
        dev->response[i] = (float)f->response[i];
    for (size_t i = 0; i < n_kernel; i++)
        dev->taps[i] = (float)f->kernel[i > f->half_width ? i - f->half_width : f->half_width - i];
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

fbp_status cpu_filter_open(struct cpu_device *dev)
{
    const struct fbp_job *job = dev->job;
    const size_t n_fft = job->filter->n_fft;

    FBP_TRY(fbp_calloc((void **)&dev->scratch, (size_t)job->n_threads, sizeof *dev->scratch,
                       "filter scratch"));
    for (int i = 0; i < job->n_threads; i++) {
        struct cpu_scratch *s = &dev->scratch[i];
        FBP_TRY(fbp_alloc((void **)&s->weights, job->panel.n_columns * sizeof(double), "weights"));
        FBP_TRY(fbp_alloc((void **)&s->line, n_fft * sizeof(float), "filter row"));
        FBP_TRY(fbp_alloc((void **)&s->spectrum, (n_fft / 2 + 1) * sizeof(fftwf_complex),
                          "filter spectrum"));
        FBP_TRY(
            fbp_alloc((void **)&s->rows,
                      job->turns * fbp_halves(job) * CPU_ROWS * job->wide.n_columns * sizeof(float),
                      "filtered rows"));
        if (dev->kernel->scratch)
            FBP_TRY(fbp_alloc((void **)&s->lines, dev->kernel->scratch(job) * sizeof(float),
                              "interpolated columns"));
    }
    /* By estimate, on buffers of one alignment: the same plan, so the same bits, every time. */
    fbp_fft_lock();
    dev->forward = fftwf_plan_dft_r2c_1d((int)n_fft, dev->scratch[0].line, dev->scratch[0].spectrum,
                                         FFTW_ESTIMATE);
    dev->inverse = fftwf_plan_dft_c2r_1d((int)n_fft, dev->scratch[0].spectrum, dev->scratch[0].line,
                                         FFTW_ESTIMATE);
    fbp_fft_unlock();
    if (!dev->forward || !dev->inverse)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "filter: FFTW has no plan for %zu points", n_fft);
    FBP_TRY(tabulate_filter(dev));
    return tabulate_weights(dev);
}

void cpu_filter_close(struct cpu_device *dev)
{
    fbp_fft_lock();
    if (dev->forward)
        fftwf_destroy_plan(dev->forward);
    if (dev->inverse)
        fftwf_destroy_plan(dev->inverse);
    fbp_fft_unlock();
    for (int i = 0; dev->scratch && i < dev->job->n_threads; i++) {
        fbp_free(dev->scratch[i].weights);
        fbp_free(dev->scratch[i].line);
        fbp_free(dev->scratch[i].spectrum);
        fbp_free(dev->scratch[i].rows);
        fbp_free(dev->scratch[i].lines);
    }
    free(dev->scratch);
    fbp_free(dev->response);
    fbp_free(dev->taps);
    fbp_free(dev->image);
    fbp_free(dev->lines);
}
