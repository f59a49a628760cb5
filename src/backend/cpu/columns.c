#include "backend/cpu/columns.h"

#include "base/base.h"

size_t cpu_columns_floats(const struct fbp_job *job)
{
    return job->columns ? 2 * (job->columns->half_width + FBP_CONVOLVE_COLUMNS) + 1 : 0;
}

size_t cpu_columns_work(const struct fbp_job *job)
{
    return job->columns ? (size_t)2 * FBP_MAX_LANES * job->panel.n_rows : 0;
}

fbp_status cpu_columns_open(float **out, const struct fbp_job *job)
{
    const size_t n = cpu_columns_floats(job);
    void *mem = NULL;

    *out = NULL;
    if (!job->columns)
        return FBP_OK;
    FBP_TRY(fbp_alloc(&mem, n * sizeof **out, "filter along columns"));
    *out = mem;
    for (size_t i = 0; i < n; i++) {
        const size_t off = i > n / 2 ? i - n / 2 : n / 2 - i;
        (*out)[i] = off <= job->columns->half_width ? (float)job->columns->kernel[off] : 0;
    }
    return FBP_OK;
}

void cpu_filter_columns(const struct fbp_job *job, const struct fbp_line_dsp *dsp,
                        const float *taps, float *work, float *view, size_t n_rows, size_t c0)
{
    const size_t nc = job->panel.n_columns, lanes = dsp->lanes, S = job->columns->half_width;
    const size_t c1 = c0 + CPU_COLUMNS < nc ? c0 + CPU_COLUMNS : nc;
    float *out = work + n_rows * lanes;

    for (size_t c = c0; c < c1; c += lanes) {
        const size_t n = c1 - c < lanes ? c1 - c : lanes;
        for (size_t r = 0; r < n_rows; r++)
            for (size_t l = 0; l < lanes; l++)
                work[r * lanes + l] = l < n ? view[r * nc + c + l] : 0;
        dsp->convolve(work, taps + FBP_CONVOLVE_COLUMNS + S, S, n_rows, out);
        for (size_t r = 0; r < n_rows; r++)
            for (size_t l = 0; l < n; l++)
                view[r * nc + c + l] = out[r * lanes + l];
    }
}
