#include "filter/row_filter.h"

#include "base/mem.h"
#include "fft/fft.h"

#include <string.h>

size_t fbp_row_work_doubles(const struct fbp_filter_design *f)
{
    return 2 * f->n_fft + 2 + fbp_fft_work(f->n_fft);
}

fbp_status fbp_row_work_alloc(struct fbp_row_work *out, const struct fbp_filter_design *f)
{
    *out = (struct fbp_row_work){0};
    FBP_TRY(fbp_alloc((void **)&out->line, f->n_fft * sizeof *out->line, "filter row"));
    FBP_TRY(fbp_alloc((void **)&out->spectrum, (f->n_fft / 2 + 1) * sizeof *out->spectrum,
                      "filter spectrum"));
    return fbp_alloc((void **)&out->scratch, fbp_fft_work(f->n_fft) * sizeof *out->scratch,
                     "filter scratch");
}

void fbp_row_work_free(struct fbp_row_work *work)
{
    fbp_free(work->line);
    fbp_free(work->spectrum);
    fbp_free(work->scratch);
    *work = (struct fbp_row_work){0};
}

fbp_status fbp_row_filter_open(struct fbp_row_filter *out, const struct fbp_filter_design *design,
                               bool spatial)
{
    *out = (struct fbp_row_filter){.design = design, .spatial = spatial};
    return fbp_fft_open_real(&out->fft, design->n_fft);
}

void fbp_row_filter_close(struct fbp_row_filter *filter)
{
    fbp_fft_close(&filter->fft);
}

/* The line's spectrum times the response. */
static void respond(const struct fbp_filter_design *f, double complex *spectrum)
{
    double *s = (double *)spectrum; /* real and imaginary part in turn */

    for (size_t i = 0; i <= f->n_fft / 2; i++, s += 2) {
        const double re = s[0], im = s[1];
        s[0] = re * f->response[i];
        s[1] = im * f->response[i];
        if (!f->imaginary)
            continue;
        s[0] -= im * f->imaginary[i];
        s[1] += re * f->imaginary[i];
    }
}

/* Through one circle of n_fft >= 2 n_columns points. */
static void convolve_fft(const struct fbp_row_filter *f, const struct fbp_row_work *w, double *out)
{
    fbp_fft_real(f->fft, w->line, w->spectrum, w->scratch);
    respond(f->design, w->spectrum);
    fbp_fft_real_back(f->fft, w->spectrum, w->line, w->scratch);
    memcpy(out, w->line, f->design->n_columns * sizeof *out);
}

/* The same sum, term by term, with S taps on each side. */
static void convolve_spatial(const struct fbp_filter_design *f, const double *line, double *out)
{
    const double *back = f->kernel_back ? f->kernel_back : f->kernel;

    for (size_t c = 0; c < f->n_columns; c++) {
        const size_t lo = c > f->half_width ? c - f->half_width : 0;
        const size_t hi = c + f->half_width < f->n_columns ? c + f->half_width : f->n_columns - 1;
        double sum = 0;
        for (size_t i = lo; i <= hi; i++)
            sum += (i > c ? back[i - c] : f->kernel[c - i]) * line[i];
        out[c] = sum;
    }
}

static void pass(const struct fbp_row_filter *f, const struct fbp_row_work *w, double *out)
{
    if (f->spatial)
        convolve_spatial(f->design, w->line, out);
    else
        convolve_fft(f, w, out);
}

void fbp_row_filter(const struct fbp_row_filter *f, const struct fbp_row_work *w, double *out)
{
    pass(f, w, out);
    for (unsigned i = 1; i < f->design->passes; i++) {
        memset(w->line, 0, f->design->n_fft * sizeof *w->line);
        memcpy(w->line, out, f->design->n_columns * sizeof *out);
        pass(f, w, out);
    }
}
