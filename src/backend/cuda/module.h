/** @file module.h  The border between the library and libfbp_cuda.so (internal).
 *
 * The library does not need CUDA and exports no internal names, so the module gets what it needs of
 * the library in a table and hands back its backend.
 */
#ifndef FBP_SRC_CUDA_MODULE_H
#define FBP_SRC_CUDA_MODULE_H

#include "backend/backend.h"

/** Raised with every change of what crosses the border. */
enum { FBP_CUDA_MODULE_VERSION = 11 };

/** The one name that the module exports. */
#define FBP_CUDA_MODULE_SYMBOL "fbp_cuda_module"

struct fbp_cuda_host {
    unsigned version;              /**< FBP_CUDA_MODULE_VERSION */
    size_t job_size, backend_size; /**< of the structs, as a second look at the version */
    fbp_status (*fail)(fbp_status status, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
    double (*coordinate)(const struct fbp_grid *g, int axis, double i);
    bool (*weights_separable)(const fbp_weights *weights);
    void (*weights_image)(const fbp_weights *weights, size_t row, double *out);
    void (*weights_line)(const fbp_weights *weights, size_t view, double *out);
    void (*weights_row)(const fbp_weights *weights, size_t view, size_t row, double *out);
    void (*weights_rays)(const fbp_weights *weights, struct fbp_rays *out);
    void (*weights_view)(const fbp_weights *weights, size_t view, struct fbp_ray_view *out);
    fbp_status (*pool_create)(fbp_pool **out, int n_threads);
    void (*pool_destroy)(fbp_pool **pool);
    void (*pool_for)(fbp_pool *pool, size_t n_items, fbp_pool_fn *fn, void *user);
};

/** The module's backend; NULL with the sentence in `why` if it does not fit this library, or if the
 *  driver is too old for it. */
typedef const struct fbp_backend *fbp_cuda_module_fn(const struct fbp_cuda_host *host, char *why,
                                                     size_t n);

#endif /* FBP_SRC_CUDA_MODULE_H */
