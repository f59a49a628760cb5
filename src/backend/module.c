/* Loading of backend modules (shared libraries): the table of library functions that a module gets,
 * and fbp_module_load(), which each backend's load.c calls. */
#include "backend/module.h"

#include "base/system.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

const char *fbp_module_variant;

static const struct fbp_module_host host = {.version = FBP_MODULE_VERSION,
                                            .job_size = sizeof(struct fbp_job),
                                            .backend_size = sizeof(struct fbp_backend),
                                            .fail = fbp_fail,
                                            .message = fbp_message,
                                            .message_clear = fbp_message_clear,
                                            .environment = fbp_environment,
                                            .coordinate = fbp_grid_coordinate,
                                            .weights_separable = fbp_weights_separable,
                                            .weights_image = fbp_weights_image,
                                            .weights_line = fbp_weights_line,
                                            .weights_row = fbp_weights_row,
                                            .weights_rays = fbp_weights_rays,
                                            .weights_view = fbp_weights_view,
                                            .pool_create = fbp_pool_create,
                                            .pool_destroy = fbp_pool_destroy,
                                            .pool_for = fbp_pool_for,
                                            .cache_get = fbp_cache_get,
                                            .cache_put = fbp_cache_put,
                                            .cache_read = fbp_cache_read,
                                            .cache_write = fbp_cache_write,
                                            .numa_node = fbp_numa_node,
                                            .numa_near = fbp_numa_near,
                                            .numa_place = fbp_numa_place,
                                            .numa_begin = fbp_numa_begin,
                                            .numa_end = fbp_numa_end};

const struct fbp_module_host *fbp_module_library(void)
{
    return &host;
}

/* Load a module, or set m->why.  If this build has no module, the message says so, even if the
 * machine lacks a driver, too; only if another package has the module, a missing driver is reported
 * first. */
static void load(struct fbp_module *m)
{
    static const char prefix[] = "libfbp_";
    const bool may = m->may_open(m->why, sizeof m->why);
    void *handle = NULL;
    fbp_module_fn *entry = NULL;
    char variant[64];

    if (may && fbp_module_variant) {
        snprintf(variant, sizeof variant, "%s%s_%s", prefix, fbp_module_variant,
                 m->file + strlen(prefix));
        handle = fbp_open_plugin(variant);
    }
    if (may && !handle)
        handle = fbp_open_plugin(m->file);
    if (handle)
        *(void **)&entry = dlsym(handle, m->symbol); /* the form of cast that POSIX recommends */
    if (entry)
        m->backend = entry(&host, m->why, sizeof m->why);
    else if (handle)
        snprintf(m->why, sizeof m->why, "%s belongs to another release of fbp; reinstall fbp",
                 m->file);
    else if (m->remedy && (may || !m->packaged))
        snprintf(m->why, sizeof m->why, "this build does not contain %s; %s", m->file, m->remedy);
    else if (may)
        snprintf(m->why, sizeof m->why,
                 "the module was not found (%s); install it into the folder of libfbp", dlerror());
}

const struct fbp_backend *fbp_module_load(struct fbp_module *m, char *why, size_t n)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    if (!m->tried)
        load(m);
    m->tried = true;
    pthread_mutex_unlock(&lock);
    if (!m->backend)
        snprintf(why, n, "%s", m->why);
    return m->backend;
}
