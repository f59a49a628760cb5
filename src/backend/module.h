/** @file module.h  Backends in modules of their own, and the border to the library (internal).
 *
 * The library does not need what a module is linked with, and exports no internal names: a module
 * gets what it needs of the library in a table and hands back its backend.  A backend's load.c says
 * which file and what to look at first; finding, opening and "why not" are here, for all of them.
 */
#ifndef FBP_SRC_MODULE_H
#define FBP_SRC_MODULE_H

#include "backend/backend.h"

#include "base/cache.h"
#include "base/system.h"

/** Raised with every change of what crosses the border. */
enum { FBP_MODULE_VERSION = 27 };

struct fbp_module_host {
    unsigned version;              /**< FBP_MODULE_VERSION */
    size_t job_size, backend_size; /**< of the structs, as a second look at the version */
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
    bool (*kept_recall)(const struct fbp_cache_file *file, const char *key, char *value, size_t n);
    void (*kept_keep)(const struct fbp_cache_file *file, const char *key, const char *value);
    void *(*kept_read)(const char *name, size_t *n);
    void (*kept_write)(const char *name, const void *data, size_t n);
    int (*numa_node)(const char *sys, const char *bus_id);
    int (*numa_near)(const char *sys, const char *bus_id);
    void (*numa_place)(void *memory, size_t bytes, int node);
    bool (*numa_begin)(int node);
    void (*numa_end)(void);
};

/** The one function that a module exports: its backend; NULL with the sentence in `why` if it does
 *  not fit this library, or if the system does not fit it. */
typedef const struct fbp_backend *fbp_module_fn(const struct fbp_module_host *host, char *why,
                                                size_t n);

/** The first line of that function: is the module of the version of the library that opened it? */
static inline bool fbp_module_fits(const struct fbp_module_host *host)
{
    return host->version == FBP_MODULE_VERSION && host->job_size == sizeof(struct fbp_job) &&
           host->backend_size == sizeof(struct fbp_backend);
}

/** A module, and what became of opening it. */
struct fbp_module {
    const char *file;   /**< beside the library or program, in its ../lib, where libraries are
                           installed, or where the system looks */
    const char *symbol; /**< of its fbp_module_fn */
    const char *remedy; /**< if this build has none: how to get it; NULL: it has one */
    bool packaged; /**< another package has it, and may be installed: what the machine lacks is said
                      before the remedy */
    /** May it be opened?  If not, `why` gets the sentence. */
    bool (*may_open)(char *why, size_t n);
    bool tried;
    const struct fbp_backend *backend;
    char why[300];
};

/** "bench": libfbp_bench_cuda.so is preferred to libfbp_cuda.so; NULL: no other file is looked for.
 */
extern const char *fbp_module_variant;

/** What a module is handed, for what is a module's elsewhere and in the library, too. */
const struct fbp_module_host *fbp_module_library(void);

/** Its backend, opened when first asked for; NULL with the sentence in `why`. */
const struct fbp_backend *fbp_module_load(struct fbp_module *module, char *why, size_t n);

#endif /* FBP_SRC_MODULE_H */
