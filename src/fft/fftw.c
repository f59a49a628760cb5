/* Transforms by FFTW: the one file that knows its types.  Plans are made by estimate, on arrays of
 * one alignment: the same plan, so the same bits, every time. */
#include "fft/engine.h"

#include "base/mem.h"
#include "fft/fftw_planner.h"

#include <fftw3.h>

struct doubles {
    struct fbp_fft fft;
    size_t n;
    void *a, *b; /* arrays of the kind that rows will be in, while plans are made */
    fftw_plan forward, back;
};

struct floats {
    struct fbp_fftf fft;
    size_t n;
    void *a, *b;
    fftwf_plan forward, back;
};

static void plan_complex(void *arg)
{
    struct doubles *f = arg;

    f->forward = fftw_plan_dft_1d((int)f->n, f->a, f->a, FFTW_FORWARD, FFTW_ESTIMATE);
    f->back = NULL;
}

static void plan_real(void *arg)
{
    struct doubles *f = arg;

    f->forward = fftw_plan_dft_r2c_1d((int)f->n, f->a, f->b, FFTW_ESTIMATE);
    f->back = fftw_plan_dft_c2r_1d((int)f->n, f->b, f->a, FFTW_ESTIMATE);
}

static void planf_complex(void *arg)
{
    struct floats *f = arg;

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

static void destroy(void *arg)
{
    struct doubles *f = arg;

    fftw_destroy_plan(f->forward);
    fftw_destroy_plan(f->back);
}

static void destroyf(void *arg)
{
    struct floats *f = arg;

    fftwf_destroy_plan(f->forward);
    fftwf_destroy_plan(f->back);
}

static void close_double(struct fbp_fft *fft)
{
    fbp_fftw_alone(destroy, fft);
    free(fft);
}

static void close_floats(struct fbp_fftf *fft)
{
    fbp_fftw_alone(destroyf, fft);
    free(fft);
}

static fbp_status open_double(struct fbp_fft **out, fbp_fftw_fn *plan, size_t n, bool both)
{
    struct doubles *f = NULL;

    FBP_TRY(fbp_calloc((void **)&f, 1, sizeof *f, "the plan of a transform"));
    f->fft.engine = &fbp_fft_fftw;
    f->n = n;
    fbp_status st = make(plan, f, n, sizeof(fftw_complex), &f->a, &f->b);
    if (st == FBP_OK && (!f->forward || (both && !f->back)))
        st = no_plan(n);
    if (st == FBP_OK)
        *out = &f->fft;
    else
        close_double(&f->fft);
    return st;
}

static fbp_status open_complex(struct fbp_fft **out, size_t n)
{
    return open_double(out, plan_complex, n, false);
}

static fbp_status open_real(struct fbp_fft **out, size_t n)
{
    return open_double(out, plan_real, n, true);
}

static fbp_status open_floats(struct fbp_fftf **out, size_t n)
{
    struct floats *f = NULL;

    FBP_TRY(fbp_calloc((void **)&f, 1, sizeof *f, "the plan of a transform"));
    f->fft.floats = fbp_fft_fftw.floats;
    f->n = n;
    fbp_status st = make(planf_complex, f, n, sizeof(fftwf_complex), &f->a, &f->b);
    if (st == FBP_OK && (!f->forward || !f->back))
        st = no_plan(n);
    if (st == FBP_OK)
        *out = &f->fft;
    else
        close_floats(&f->fft);
    return st;
}

static size_t no_work(size_t n)
{
    (void)n;
    return 1;
}

static const struct doubles *doubles_of(const struct fbp_fft *fft)
{
    return (const struct doubles *)(const void *)fft;
}

static const struct floats *floats_of(const struct fbp_fftf *fft)
{
    return (const struct floats *)(const void *)fft;
}

static void transform(const struct fbp_fft *fft, double complex *row, double *work)
{
    (void)work;
    fftw_execute_dft(doubles_of(fft)->forward, row, row);
}

static void real(const struct fbp_fft *fft, double *row, double complex *spectrum, double *work)
{
    (void)work;
    fftw_execute_dft_r2c(doubles_of(fft)->forward, row, spectrum);
}

static void real_back(const struct fbp_fft *fft, double complex *spectrum, double *row,
                      double *work)
{
    (void)work;
    fftw_execute_dft_c2r(doubles_of(fft)->back, spectrum, row);
}

static void there(const struct fbp_fftf *fft, float *row, float *spectrum)
{
    fftwf_execute_dft(floats_of(fft)->forward, (fftwf_complex *)row, (fftwf_complex *)spectrum);
}

static void back(const struct fbp_fftf *fft, float *spectrum, float *row)
{
    fftwf_execute_dft(floats_of(fft)->back, (fftwf_complex *)spectrum, (fftwf_complex *)row);
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

static fbp_status even(double *values, size_t n)
{
    struct even e = {values, n, false};

    FBP_TRY(fbp_fftw_plan(2 * (n - 1), transform_even, &e));
    return e.done ? FBP_OK : no_plan(n);
}

static const struct fbp_fft_floats all_floats = {open_floats, close_floats, there, back};

const struct fbp_fft_engine fbp_fft_fftw = {
    .name = "fftw",
    .open_complex = open_complex,
    .open_real = open_real,
    .close = close_double,
    .work = no_work,
    .transform = transform,
    .real = real,
    .real_back = real_back,
    .even = even,
    .floats = &all_floats,
};
