/** @file module.h  Backends in shared libraries of their own (modules): the interface between
 * library and module, and loading a module (internal).
 *
 * The library does not depend on the libraries that a module is linked with, and it exports no
 * internal names.  A module therefore receives the library's functions in a table (struct
 * fbp_module_host) and returns its backend.  A backend's load.c names the file and checks whether
 * it may be opened; module.c finds and opens the file and writes the reason of a failure.
 */
#ifndef FBP_SRC_MODULE_H
#define FBP_SRC_MODULE_H

#include "backend/backend.h"

#include "base/cache.h"
#include "base/system.h"

/** Increased with every change of struct fbp_module_host, struct fbp_job or struct fbp_backend, and
 *  of all that they contain. */
enum { FBP_MODULE_VERSION = 27 };

/** Functions of the library that modules call. */
struct fbp_module_host {
    unsigned version;              /**< FBP_MODULE_VERSION */
    size_t job_size, backend_size; /**< sizeof struct fbp_job and fbp_backend: a second check of the
                                        version */
    fbp_status (*fail)(fbp_status status, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
    const char *(*message)(void);
    void (*message_clear)(void);
    const char *(*environment)(enum fbp_variable variable);
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
    bool (*cache_get)(const struct fbp_cache_file *file, const char *key, char *value, size_t n);
    void (*cache_put)(const struct fbp_cache_file *file, const char *key, const char *value);
    void *(*cache_read)(const char *name, size_t *n);
    void (*cache_write)(const char *name, const void *data, size_t n);
    int (*numa_node)(const char *sys, const char *bus_id);
    int (*numa_near)(const char *sys, const char *bus_id);
    void (*numa_place)(void *memory, size_t bytes, int node);
    bool (*numa_begin)(int node);
    void (*numa_end)(void);
};

/** In a GPU module: the table that the module received; set by its fbp_module_fn first. */
extern const struct fbp_module_host *gpu_host;

/** The only function that a module exports.  Returns the module's backend; or NULL, with the reason
 *  in `why`, if the versions of module and library differ or the system lacks something. */
typedef const struct fbp_backend *fbp_module_fn(const struct fbp_module_host *host, char *why,
                                                size_t n);

/** Returns whether module and library have the same version; fbp_module_fn calls it first. */
static inline bool fbp_module_fits(const struct fbp_module_host *host)
{
    return host->version == FBP_MODULE_VERSION && host->job_size == sizeof(struct fbp_job) &&
           host->backend_size == sizeof(struct fbp_backend);
}

/** A module, and the result of opening it. */
struct fbp_module {
    /** File name; searched next to the library or program, in its ../lib, in the directory of
     *  installed libraries, and by the system's loader. */
    const char *file;
    const char *symbol; /**< name of its fbp_module_fn */
    /** How to get the module, if this build lacks it; NULL: this build has it. */
    const char *remedy;
    bool packaged; /**< the module is in another package, which may be installed: a reason of
                      may_open() is reported instead of the remedy */
    /** Returns whether the module may be opened; if not, `why` receives the reason. */
    bool (*may_open)(char *why, size_t n);
    bool tried;                        /**< the module was opened, or opening it failed */
    const struct fbp_backend *backend; /**< NULL: not opened */
    char why[300];                     /**< reason, if backend is NULL */
};

/** Part of a file name that is preferred: for "bench", libfbp_bench_cuda.so instead of
 *  libfbp_cuda.so; NULL: no other file is tried. */
extern const char *fbp_module_variant;

/** The library's table, for code of modules that is also compiled into fbp-bench. */
const struct fbp_module_host *fbp_module_library(void);

/** Opens a module in the first call.  Returns its backend; or NULL, with the reason in `why`.
 *  Thread-safe. */
const struct fbp_backend *fbp_module_load(struct fbp_module *module, char *why, size_t n);

#endif /* FBP_SRC_MODULE_H */
