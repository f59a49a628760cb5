/* Loading of backend modules (shared libraries libfbp_cuda.so and libfbp_gl.so): finds and opens
 * the file (fbp_module_load()), and passes it the table of library functions that a module may
 * call (module.h).
 * Used by: bench/common/, bench/predict/, cli/, backend/cuda/, backend/gl/. */
#include "backend/module.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

const char *fbp_module_variant;

#define INITIALISER(MEMBER, FUNCTION) .MEMBER = (FUNCTION),
static const struct fbp_module_host host = {.version = FBP_MODULE_VERSION,
                                            .job_size = sizeof(struct fbp_job),
                                            .backend_size = sizeof(struct fbp_backend),
                                            FBP_MODULE_FUNCTIONS(INITIALISER)};

static bool keeps_buffers;

void fbp_keep_buffers(bool keep)
{
    keeps_buffers = keep;
}

bool fbp_keeps_buffers(void)
{
    return keeps_buffers;
}

const struct fbp_module_host *fbp_module_library(void)
{
    return &host;
}

/* Load a backend module: set m->backend or, on failure, m->why, which states the remedy if this
 * build lacks the module (m->remedy), and the reason of may_open() if another package may contain
 * it (m->packaged). */
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
