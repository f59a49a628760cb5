/* Who computes transforms: what the build has, or what FBP_FFT names of it. */
#include "base/environment.h"
#include "fft/engine.h"
#include "fft/lanes.h"

#include <stdlib.h>
#include <string.h>

static const struct fbp_fft_engine *const engines[] = {
#ifdef FBP_HAS_FFTW
    &fbp_fft_fftw,
#endif
    &fbp_fft_builtin,
};

static const struct fbp_fft_engine *engine(void)
{
    const char *name = fbp_environment(FBP_ENV_FFT);

    for (size_t i = 0; name && i < sizeof engines / sizeof *engines; i++)
        if (strcmp(name, engines[i]->name) == 0)
            return engines[i];
    return engines[0];
}

const char *fbp_fft_name(void)
{
    return engine()->name;
}

fbp_status fbp_fft_open_complex(struct fbp_fft **out, size_t n)
{
    *out = NULL;
    return engine()->open_complex(out, n);
}

fbp_status fbp_fft_open_real(struct fbp_fft **out, size_t n)
{
    *out = NULL;
    return engine()->open_real(out, n);
}

void fbp_fft_close(struct fbp_fft **fft)
{
    if (*fft)
        (*fft)->engine->close(*fft);
    *fft = NULL;
}

size_t fbp_fft_work(size_t n)
{
    return engine()->work(n);
}

void fbp_fft_complex(const struct fbp_fft *fft, double complex *row, double *work)
{
    fft->engine->transform(fft, row, work);
}

void fbp_fft_real(const struct fbp_fft *fft, double *row, double complex *spectrum, double *work)
{
    fft->engine->real(fft, row, spectrum, work);
}

void fbp_fft_real_back(const struct fbp_fft *fft, double complex *spectrum, double *row,
                       double *work)
{
    fft->engine->real_back(fft, spectrum, row, work);
}

fbp_status fbp_fft_even(double *values, size_t n)
{
    return engine()->even(values, n);
}

const struct fbp_lanes *fbp_fft_lanes(size_t lanes)
{
    if (engine()->floats)
        return NULL;
#if defined(__x86_64__)
    if (lanes >= fbp_lanes_avx512.lanes)
        return &fbp_lanes_avx512;
    if (lanes >= fbp_lanes_avx2.lanes)
        return &fbp_lanes_avx2;
#else
    (void)lanes;
#endif
    return &fbp_lanes_c;
}

fbp_status fbp_fftf_open(struct fbp_fftf **out, size_t n)
{
    *out = NULL;
    return engine()->floats->open(out, n);
}

void fbp_fftf_close(struct fbp_fftf **fft)
{
    if (*fft)
        (*fft)->floats->close(*fft);
    *fft = NULL;
}

void fbp_fftf_complex(const struct fbp_fftf *fft, float *row, float *spectrum)
{
    fft->floats->there(fft, row, spectrum);
}

void fbp_fftf_complex_back(const struct fbp_fftf *fft, float *spectrum, float *row)
{
    fft->floats->back(fft, spectrum, row);
}
