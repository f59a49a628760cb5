#include "backend/ref/ref.h"
#include "backend/rows.h"

#include "base/threads.h"

#include <string.h>

/* How row r of view k of the batch, which is in the line, goes on beyond the panel. */
static void find_ends(struct ref_device *dev, const struct fbp_batch *batch, size_t k, size_t r,
                      struct fbp_pad_end ends[2])
{
    const struct fbp_job *job = dev->job;
    float *line = dev->ends, *weights = line + job->panel.n_columns;

    fbp_weights_row(job->weights, batch->view0 + k, r, dev->weights);
    for (size_t c = 0; c < job->panel.n_columns; c++) {
        line[c] = (float)dev->work.line[job->pad_left + c];
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

/* Sample c of a row as it was read. */
static double value_of(const struct fbp_job *job, const void *row, size_t c)
{
    return fbp_in_double(job) ? ((const double *)row)[c] : (double)((const float *)row)[c];
}

/* Add row r of view k of the batch, weighted, `times` to the line. */
static void add_row(struct ref_device *dev, const struct fbp_batch *batch, size_t k, size_t r,
                    double times, void *raw)
{
    const struct fbp_job *job = dev->job;
    const void *in = fbp_raw_row(job, batch, raw, k, r);
    double *line = dev->work.line + job->pad_left;

    fbp_weights_row(job->weights, batch->view0 + k, r, dev->weights);
    for (size_t c = 0; c < job->panel.n_columns; c++)
        line[(job->between + 1) * c] += times * (value_of(job, in, c) * dev->weights[c]);
}

/* Row r and its neighbours as the filter along columns takes them together. */
static void add_column(struct ref_device *dev, const struct fbp_batch *batch, size_t k, size_t r,
                       void *raw)
{
    const struct fbp_column_filter *f = dev->job->columns;
    const size_t S = f->half_width, n = dev->job->panel.n_rows;

    for (size_t i = r > S ? r - S : 0; i < n && i <= r + S; i++)
        add_row(dev, batch, k, i, f->kernel[i > r ? i - r : r - i], raw);
}

/* Row r of view k of the batch, weighted and filtered. */
static void filter_row(struct ref_device *dev, const struct fbp_batch *batch, size_t k, size_t r,
                       void *raw, double *out)
{
    const struct fbp_job *job = dev->job;
    struct fbp_pad_end ends[2];

    memset(dev->work.line, 0, job->filter->n_fft * sizeof *dev->work.line);
    if (job->columns)
        add_column(dev, batch, k, r, raw);
    else
        add_row(dev, batch, k, r, 1, raw);
    if (job->pad)
        find_ends(dev, batch, k, r, ends);
    fbp_row_filter(&dev->filter, &dev->work, out);
    if (job->pad)
        add_ends(job->pad, ends, out);
}

static void copy_row(const struct fbp_job *job, const void *in, double *out)
{
    for (size_t c = 0; c < job->panel.n_columns; c++)
        out[c] = value_of(job, in, c);
}

fbp_status ref_filter(fbp_device *device, const struct fbp_batch *batch, void *raw, void *filtered)
{
    struct ref_device *dev = (struct ref_device *)(void *)device;
    const struct fbp_job *job = dev->job;
    double *out = filtered;

    pthread_mutex_lock(&dev->lock);
    for (size_t k = 0; k < batch->n_views; k++) {
        fbp_prepare_view(job, batch, raw, k, &dev->ledger, &dev->counts);
        for (size_t r = batch->row0; r < batch->row0 + batch->n_rows;
             r++, out += job->wide.n_columns) {
            if (fbp_stopped())
                break;
            if (job->filtered)
                copy_row(job, fbp_raw_row(job, batch, raw, k, r), out);
            else
                filter_row(dev, batch, k, r, raw, out);
        }
    }
    pthread_mutex_unlock(&dev->lock);
    return fbp_go_on();
}
