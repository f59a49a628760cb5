/* Transforms by FFTW: the one file that knows its types.  Plans are made by estimate, on arrays of
 * one alignment: the same plan, so the same bits, every time. */
#include "fft/fft.h"

#include "base/mem.h"
#include "fft/fftw_planner.h"

#include <fftw3.h>

struct fbp_fft {
    size_t n;
    void *a, *b; /* arrays of the kind that rows will be in, while plans are made */
    fftw_plan forward, back;
};

struct fbp_fftf {
    size_t n;
    void *a, *b;
    fftwf_plan forward, back;
};

static void plan_complex(void *arg)
{
    struct fbp_fft *f = arg;

    f->forward = fftw_plan_dft_1d((int)f->n, f->a, f->a, FFTW_FORWARD, FFTW_ESTIMATE);
    f->back = NULL;
}

static void plan_real(void *arg)
{
    struct fbp_fft *f = arg;

    f->forward = fftw_plan_dft_r2c_1d((int)f->n, f->a, f->b, FFTW_ESTIMATE);
    f->back = fftw_plan_dft_c2r_1d((int)f->n, f->b, f->a, FFTW_ESTIMATE);
}

static void planf_complex(void *arg)
{
    struct fbp_fftf *f = arg;

    f->forward = fftwf_plan_dft_1d((int)f->n, f->a, f->b, FFTW_FORWARD, FFTW_ESTIMATE);
    f->back = fftwf_plan_dft_1d((int)f->n, f->b, f->a, FFTW_BACKWARD, FFTW_ESTIMATE);
}

/* Let `plan` make plans for rows of n numbers of `size` bytes; a and b are those of `arg`. */
static fbp_status make(fbp_fftw_fn *plan, void *arg, size_t n, size_t size, void **a, void **b)
{
    fbp_status st;

    FBP_TRY_GOTO(fbp_alloc(a, n * size, "the plan of a transform"));
    FBP_TRY_GOTO(fbp_alloc(b, (n + 1) * size, "the plan of a transform"));
    st = fbp_fftw_plan(n, plan, arg);
fail:
    fbp_free(*a);
    fbp_free(*b);
    *a = *b = NULL;
    return st;
}

static fbp_status no_plan(size_t n)
{
    return fbp_fail(FBP_ERR_UNSUPPORTED, "filter: FFTW has no plan for %zu points", n);
}

static fbp_status open_double(struct fbp_fft **out, fbp_fftw_fn *plan, size_t n, bool both)
{
    struct fbp_fft *f = NULL;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&f, 1, sizeof *f, "the plan of a transform"));
    f->n = n;
    fbp_status st = make(plan, f, n, sizeof(fftw_complex), &f->a, &f->b);
    if (st == FBP_OK && (!f->forward || (both && !f->back)))
        st = no_plan(n);
    if (st != FBP_OK)
        fbp_fft_close(&f);
    *out = f;
    return st;
}

fbp_status fbp_fft_open_complex(struct fbp_fft **out, size_t n)
{
    return open_double(out, plan_complex, n, false);
}

fbp_status fbp_fft_open_real(struct fbp_fft **out, size_t n)
{
    return open_double(out, plan_real, n, true);
}

fbp_status fbp_fftf_open(struct fbp_fftf **out, size_t n)
{
    struct fbp_fftf *f = NULL;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&f, 1, sizeof *f, "the plan of a transform"));
    f->n = n;
    fbp_status st = make(planf_complex, f, n, sizeof(fftwf_complex), &f->a, &f->b);
    if (st == FBP_OK && (!f->forward || !f->back))
        st = no_plan(n);
    if (st != FBP_OK)
        fbp_fftf_close(&f);
    *out = f;
    return st;
}

static void destroy(void *arg)
{
    struct fbp_fft *f = arg;

    fftw_destroy_plan(f->forward);
    fftw_destroy_plan(f->back);
}

static void destroyf(void *arg)
{
    struct fbp_fftf *f = arg;

    fftwf_destroy_plan(f->forward);
    fftwf_destroy_plan(f->back);
}

void fbp_fft_close(struct fbp_fft **fft)
{
    if (*fft)
        fbp_fftw_alone(destroy, *fft);
    free(*fft);
    *fft = NULL;
}

void fbp_fftf_close(struct fbp_fftf **fft)
{
    if (*fft)
        fbp_fftw_alone(destroyf, *fft);
    free(*fft);
    *fft = NULL;
}

void fbp_fft_complex(const struct fbp_fft *f, double complex *row)
{
    fftw_execute_dft(f->forward, row, row);
}

void fbp_fft_real(const struct fbp_fft *f, double *row, double complex *spectrum)
{
    fftw_execute_dft_r2c(f->forward, row, spectrum);
}

void fbp_fft_real_back(const struct fbp_fft *f, double complex *spectrum, double *row)
{
    fftw_execute_dft_c2r(f->back, spectrum, row);
}

void fbp_fftf_complex(const struct fbp_fftf *f, float *row, float *spectrum)
{
    fftwf_execute_dft(f->forward, (fftwf_complex *)row, (fftwf_complex *)spectrum);
}

void fbp_fftf_complex_back(const struct fbp_fftf *f, float *spectrum, float *row)
{
    fftwf_execute_dft(f->back, (fftwf_complex *)spectrum, (fftwf_complex *)row);
}

struct even {
    double *values;
    size_t n;
    bool done;
};

static void transform_even(void *arg)
{
    struct even *e = arg;
    const fftw_plan plan =
        fftw_plan_r2r_1d((int)e->n, e->values, e->values, FFTW_REDFT00, FFTW_ESTIMATE);

    if (!plan)
        return;
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    e->done = true;
}

fbp_status fbp_fft_even(double *values, size_t n)
{
    struct even e = {values, n, false};

    FBP_TRY(fbp_fftw_plan(2 * (n - 1), transform_even, &e));
    return e.done ? FBP_OK : no_plan(n);
}
