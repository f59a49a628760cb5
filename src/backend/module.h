/** @file module.h  Backends in shared libraries of their own (modules): the interface between
 * library and module, and loading a module (internal).
 * The library does not depend on the libraries that a module is linked with, and it exports no
 * internal names.  A module therefore receives the library's functions in a table (struct
 * fbp_module_host) and returns its backend (cuda/entry.c, gl/entry.c).  A backend's load.c names
 * the file and checks whether it may be opened; module.c finds and opens the file, and writes the
 * reason of a failure.
 * Used by: bench/, cli/, backend/. */
#ifndef FBP_SRC_MODULE_H
#define FBP_SRC_MODULE_H

#include "backend/backend.h"
#include "backend/nodes.h"

#include "base/cache.h"
#include "base/system.h"

/** Version of the interface between library and modules, increased with every change of struct
 * fbp_module_host, struct fbp_job or struct fbp_backend, and of structs in them. */
enum { FBP_MODULE_VERSION = 33 };

/** List of library functions that modules call: X(member of struct fbp_module_host, function). */
#define FBP_MODULE_FUNCTIONS(X)                 \
    X(fail, fbp_fail)                           \
    X(message, fbp_message)                     \
    X(message_clear, fbp_message_clear)         \
    X(environment, fbp_environment)             \
    X(coordinate, fbp_grid_coordinate)          \
    X(weights_separable, fbp_weights_separable) \
    X(weights_image, fbp_weights_image)         \
    X(weights_line, fbp_weights_line)           \
    X(weights_row, fbp_weights_row)             \
    X(weights_rays, fbp_weights_rays)           \
    X(weights_view, fbp_weights_view)           \
    X(pool_create, fbp_pool_create)             \
    X(pool_destroy, fbp_pool_destroy)           \
    X(pool_for, fbp_pool_for)                   \
    X(decimation, fbp_decimation_of)            \
    X(view_groups, fbp_view_groups_make)        \
    X(view_groups_free, fbp_view_groups_free)   \
    X(cache_get, fbp_cache_get)                 \
    X(cache_put, fbp_cache_put)                 \
    X(numa_node, fbp_numa_node)                 \
    X(numa_near, fbp_numa_near)                 \
    X(numa_place, fbp_numa_place)               \
    X(numa_begin, fbp_numa_begin)               \
    X(keeps_buffers, fbp_keeps_buffers)         \
    X(numa_end, fbp_numa_end)

/** Set whether a backend keeps the host memory that a device frees, for the next device of the same
 * program: a program that reconstructs several scans does not pin it again. fbp_keeps_buffers():
 * whether that is set. Set it before threads use devices. */
void fbp_keep_buffers(bool keep);
bool fbp_keeps_buffers(void);

/** The table of library functions that a module (a backend in a shared library) receives. */
struct fbp_module_host {
    unsigned version;              /**< FBP_MODULE_VERSION */
    size_t job_size, backend_size; /**< sizes of the structs: a second check of the version */
#define FBP_MODULE_MEMBER(MEMBER, FUNCTION) __typeof__(FUNCTION) *MEMBER;
    FBP_MODULE_FUNCTIONS(FBP_MODULE_MEMBER)
#undef FBP_MODULE_MEMBER
};

/** The library's functions for a GPU module; set by the module's exported function. */
extern const struct fbp_module_host *gpu_host;

/** Called when the library has opened a module. Returns the module's backend; NULL, with the reason
 * in `why`: another version, or an unusable driver. */
typedef const struct fbp_backend *fbp_module_fn(const struct fbp_module_host *host, char *why,
                                                size_t n);

/** Returns whether module and library have the same interface; a module's entry checks it first. */
static inline bool fbp_module_fits(const struct fbp_module_host *host)
{
    return host->version == FBP_MODULE_VERSION && host->job_size == sizeof(struct fbp_job) &&
           host->backend_size == sizeof(struct fbp_backend);
}

/** A module, and the result of opening it. */
struct fbp_module {
    /** File name of the module; searched next to the library or program, in its ../lib, in the
     * directory of installed libraries, and by the system's loader. */
    const char *file;
    const char *symbol; /**< name of its fbp_module_fn */
    /** End of the message if this build lacks the module: the remedy. NULL: it has the module. */
    const char *remedy;
    bool packaged; /**< another package may contain the module: if may_open() fails, the message is
                      its reason, not `remedy` */
    /** Returns whether the module may be opened; if not, `why` receives the reason. */
    bool (*may_open)(char *why, size_t n);
    bool tried;                        /**< opening the module was tried, with or without success */
    const struct fbp_backend *backend; /**< NULL: not opened */
    char why[300];                     /**< reason, if backend is NULL */
};

/** Variant of the modules that is tried first: with "bench", libfbp_bench_cuda.so is tried before
 * libfbp_cuda.so.  NULL: only the module's own file is tried. */
extern const char *fbp_module_variant;

/** The library's table of functions, for module sources that are also compiled into fbp-bench. */
const struct fbp_module_host *fbp_module_library(void);

/** Opens a module on the first call; later calls return the same result.  Returns the module's
 * backend; or NULL, with the reason in `why`.  Thread-safe. */
const struct fbp_backend *fbp_module_load(struct fbp_module *module, char *why, size_t n);

#endif /* FBP_SRC_MODULE_H */
