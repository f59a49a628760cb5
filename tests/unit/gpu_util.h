/* For tests of what GPUs share: a pretended library around it, and a pretended module. */
#ifndef FBP_TESTS_GPU_UTIL_H
#define FBP_TESTS_GPU_UTIL_H

#include "backend/gpu/gpu_kernel.h"
#include "backend/gpu/tables.h"
#include "backend/module.h"
#include "test.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Weights whose values tell where they are of. */
static bool product;

static bool separable(const fbp_weights *weights)
{
    return product;
}

static void image(const fbp_weights *weights, size_t row, double *out)
{
    for (size_t c = 0; c < 4; c++)
        out[c] = 100 * (double)row + (double)c;
}

static void line(const fbp_weights *weights, size_t view, double *out)
{
    for (size_t c = 0; c < 4; c++)
        out[c] = 1000 * (double)view + (double)c;
}

static void view(const fbp_weights *weights, size_t k, struct fbp_ray_view *out)
{
    *out = (struct fbp_ray_view){.factor = (double)k};
}

static void rays(const fbp_weights *weights, struct fbp_rays *out)
{
    *out = (struct fbp_rays){.redundancy = FBP_SINGLE};
}

static const struct fbp_module_host host = {
    .weights_rays = rays,
    .weights_separable = separable,
    .weights_image = image,
    .weights_line = line,
    .weights_view = view,
};

/* What the pretended module has, and how often it was asked. */
static size_t row_bytes_now;
static bool fft_now;
static int n_asked_bytes, n_asked_fft;

static size_t row_bytes(void)
{
    n_asked_bytes++;
    return row_bytes_now;
}

static bool has_fft(void)
{
    n_asked_fft++;
    return fft_now;
}

static const struct gpu_filter_capabilities offer = {row_bytes, has_fft};

static int start(void **state)
{
    gpu_host = &host;
    product = true;
    row_bytes_now = 232448 - 72;
    fft_now = false;
    n_asked_bytes = n_asked_fft = 0;
    return 0;
}

#endif /* FBP_TESTS_GPU_UTIL_H */
