/** @file engine.h  Who computes transforms: a table each (internal to src/fft). */
#ifndef FBP_SRC_FFT_ENGINE_H
#define FBP_SRC_FFT_ENGINE_H

#include "fft/fft.h"

/** Functions as in fft.h. */
struct fbp_fft_engine {
    const char *name;
    fbp_status (*open_complex)(struct fbp_fft **out, size_t n);
    fbp_status (*open_real)(struct fbp_fft **out, size_t n);
    void (*close)(struct fbp_fft *fft);
    size_t (*work)(size_t n);
    void (*transform)(const struct fbp_fft *fft, double complex *row, double *work);
    void (*real)(const struct fbp_fft *fft, double *row, double complex *spectrum, double *work);
    void (*real_back)(const struct fbp_fft *fft, double complex *spectrum, double *row,
                      double *work);
    fbp_status (*even)(double *values, size_t n);
    const struct fbp_fft_floats *floats; /**< NULL: rows in float go through lanes.h */
};

/** Complex rows in float, one by one. */
struct fbp_fft_floats {
    fbp_status (*open)(struct fbp_fftf **out, size_t n);
    void (*close)(struct fbp_fftf *fft);
    void (*there)(const struct fbp_fftf *fft, float *row, float *spectrum);
    void (*back)(const struct fbp_fftf *fft, float *spectrum, float *row);
};

/** Plans begin with their engine's table. */
struct fbp_fft {
    const struct fbp_fft_engine *engine;
};

struct fbp_fftf {
    const struct fbp_fft_floats *floats;
};

/** FFTW, in builds that have it; and this project's own. */
extern const struct fbp_fft_engine fbp_fft_fftw, fbp_fft_builtin;

#endif /* FBP_SRC_FFT_ENGINE_H */
