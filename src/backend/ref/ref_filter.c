#include "backend/ref/ref.h"
#include "backend/rows.h"

#include "base/stop.h"

#include <string.h>

/* How row r of view k of the batch, which is in the line, goes on beyond the panel. */
static void find_ends(struct ref_device *dev, const struct fbp_batch *batch, size_t k, size_t r,
                      struct fbp_pad_end ends[2])
{
    const struct fbp_job *job = dev->job;
    float *line = dev->ends, *weights = line + job->panel.n_columns;

    fbp_weights_row(job->weights, batch->view0 + k, r, dev->weights);
    for (size_t c = 0; c < job->panel.n_columns; c++) {
        line[c] = (float)dev->line[job->pad_left + c];
        weights[c] = (float)dev->weights[c];
    }
    fbp_pad_ends(&job->pad->rule, line, weights, ends);
}

/* What lies beyond the ends, filtered. */
static void add_ends(const struct fbp_pad *pad, const struct fbp_pad_end ends[2], double *out)
{
    for (int end = 0; end < 2; end++) {
        const float *a = fbp_pad_table(pad, end, ends[end].at);
        const float *b = ends[end].part > 0 ? a + pad->n_columns : a;
        const double part = (double)ends[end].part, amount = (double)ends[end].amount;
        for (size_t c = 0; amount > 0 && c < pad->n_columns; c++)
            out[c] += amount * ((1 - part) * (double)a[c] + part * (double)b[c]);
    }
}

/* The line's spectrum times the response. */
static void respond(struct ref_device *dev)
{
    const struct fbp_filter_design *f = dev->job->filter;

    for (size_t i = 0; i <= f->n_fft / 2; i++) {
        const double re = dev->spectrum[i][0], im = dev->spectrum[i][1];
        dev->spectrum[i][0] = re * f->response[i];
        dev->spectrum[i][1] = im * f->response[i];
        if (!f->imaginary)
            continue;
        dev->spectrum[i][0] -= im * f->imaginary[i];
        dev->spectrum[i][1] += re * f->imaginary[i];
    }
}

/* y(c) = sum_c' h(c - c') x(c') through one circle of n_fft >= 2 n_columns points. */
static void convolve_fft(struct ref_device *dev, double *out)
{
    fftw_execute(dev->forward);
    respond(dev);
    fftw_execute(dev->inverse);
    memcpy(out, dev->line, dev->job->filter->n_columns * sizeof *out);
}

/* The same sum, term by term, with S taps on each side (S0, eq. 1). */
static void convolve_spatial(const struct ref_device *dev, double *out)
{
    const struct fbp_filter_design *f = dev->job->filter;
    const double *back = f->kernel_back ? f->kernel_back : f->kernel;

    for (size_t c = 0; c < f->n_columns; c++) {
        const size_t lo = c > f->half_width ? c - f->half_width : 0;
        const size_t hi = c + f->half_width < f->n_columns ? c + f->half_width : f->n_columns - 1;
        double sum = 0;
        for (size_t i = lo; i <= hi; i++)
            sum += (i > c ? back[i - c] : f->kernel[c - i]) * dev->line[i];
        out[c] = sum;
    }
}

/* The line through the filter. */
static void convolve(struct ref_device *dev, double *out)
{
    if (dev->job->spatial_filter)
        convolve_spatial(dev, out);
    else
        convolve_fft(dev, out);
}

/* Add row r of view k of the batch, weighted, `times` to the line. */
static void add_row(struct ref_device *dev, const struct fbp_batch *batch, size_t k, size_t r,
                    double times, float *raw)
{
    const struct fbp_job *job = dev->job;
    const float *in = fbp_raw_row(job, batch, 0, raw, k, r);
    double *line = dev->line + job->pad_left;

    fbp_weights_row(job->weights, batch->view0 + k, r, dev->weights);
    for (size_t c = 0; c < job->panel.n_columns; c++)
        line[(job->between + 1) * c] += times * ((double)in[c] * dev->weights[c]);
}

/* Row r and its neighbours as the filter along columns takes them together. */
static void add_column(struct ref_device *dev, const struct fbp_batch *batch, size_t k, size_t r,
                       float *raw)
{
    const struct fbp_column_filter *f = dev->job->columns;
    const size_t S = f->half_width, n = dev->job->panel.n_rows;

    for (size_t i = r > S ? r - S : 0; i < n && i <= r + S; i++)
        add_row(dev, batch, k, i, f->kernel[i > r ? i - r : r - i], raw);
}

/* Row r of view k of the batch, weighted and filtered. */
static void filter_row(struct ref_device *dev, const struct fbp_batch *batch, size_t k, size_t r,
                       float *raw, double *out)
{
    const struct fbp_job *job = dev->job;
    struct fbp_pad_end ends[2];

    memset(dev->line, 0, job->filter->n_fft * sizeof *dev->line);
    if (job->columns)
        add_column(dev, batch, k, r, raw);
    else
        add_row(dev, batch, k, r, 1, raw);
    if (job->pad)
        find_ends(dev, batch, k, r, ends);
    convolve(dev, out);
    for (unsigned i = 1; i < job->filter->passes; i++) {
        memset(dev->line, 0, job->filter->n_fft * sizeof *dev->line);
        memcpy(dev->line, out, job->filter->n_columns * sizeof *out);
        convolve(dev, out);
    }
    if (job->pad)
        add_ends(job->pad, ends, out);
}

static void copy_row(const float *in, size_t n, double *out)
{
    for (size_t c = 0; c < n; c++)
        out[c] = (double)in[c];
}

fbp_status ref_filter(fbp_device *device, const struct fbp_batch *batch, void *raw, void *filtered)
{
    struct ref_device *dev = (struct ref_device *)(void *)device;
    const struct fbp_job *job = dev->job;
    double *out = filtered;

    pthread_mutex_lock(&dev->lock);
    for (size_t k = 0; k < batch->n_views; k++) {
        fbp_prepare_view(job, batch, 0, raw, k, &dev->ledger, &dev->counts);
        for (size_t r = batch->row0; r < batch->row0 + batch->n_rows;
             r++, out += job->wide.n_columns) {
            if (fbp_stopped())
                break;
            if (job->filtered)
                copy_row(fbp_raw_row(job, batch, 0, raw, k, r), job->panel.n_columns, out);
            else
                filter_row(dev, batch, k, r, raw, out);
        }
    }
    pthread_mutex_unlock(&dev->lock);
    return fbp_go_on();
}
