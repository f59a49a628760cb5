#include "backend/module.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern const struct fbp_backend fbp_backend_cpu;

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
                                            .kept_recall = fbp_kept_recall,
                                            .kept_keep = fbp_kept_keep,
                                            .kept_read = fbp_kept_read,
                                            .kept_write = fbp_kept_write,
                                            .numa_node = fbp_numa_node,
                                            .numa_near = fbp_numa_near,
                                            .numa_place = fbp_numa_place,
                                            .numa_begin = fbp_numa_begin,
                                            .numa_end = fbp_numa_end,
                                            .in_host = &fbp_backend_cpu};

const struct fbp_module_host *fbp_module_library(void)
{
    return &host;
}

/* From where programs are installed to where libraries are, such as "../lib64/". */
#ifndef FBP_BIN_TO_LIB
#    define FBP_BIN_TO_LIB "../lib/"
#endif

/* The file this code is in: the library or the program.  False: not known. */
static bool own_file(char *path, size_t n)
{
    Dl_info self;

    if (!dladdr(&host, &self) || !self.dli_fname)
        return false;
    if (strchr(self.dli_fname, '/'))
        return snprintf(path, n, "%s", self.dli_fname) < (int)n;
    /* A program that was found on PATH. */
    const ssize_t length = readlink("/proc/self/exe", path, n - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* A file in a folder given relative to that of this code. */
static void *open_beside(const char *own, const char *relative, const char *file)
{
    char path[4096];
    const char *slash = strrchr(own, '/');

    if (!slash)
        return NULL;
    const int n =
        snprintf(path, sizeof path, "%.*s%s%s", (int)(slash - own) + 1, own, relative, file);
    return n > 0 && (size_t)n < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void *open_file(const char *file)
{
    static const char *const beside[] = {"", "../lib/", FBP_BIN_TO_LIB};
    char own[4096];
    void *handle = NULL;

    if (own_file(own, sizeof own))
        for (size_t i = 0; !handle && i < sizeof beside / sizeof *beside; i++)
            handle = open_beside(own, beside[i], file);
    return handle ? handle : dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

static void start(struct fbp_module *m, void *handle)
{
    fbp_module_fn *entry;

    *(void **)&entry = dlsym(handle, m->symbol); /* as POSIX has it */
    if (entry)
        m->backend = entry(&host, m->why, sizeof m->why);
    else
        snprintf(m->why, sizeof m->why, "%s is not the module of this program: reinstall", m->file);
}

/* What this build lacks is said first: nothing on the machine would help. */
static void try_it(struct fbp_module *m)
{
    const bool may = m->may_open(m->why, sizeof m->why);
    void *handle = may ? open_file(m->file) : NULL;

    if (handle)
        start(m, handle);
    else if (m->needs)
        snprintf(m->why, sizeof m->why, "this build has no %s: build with %s", m->file, m->needs);
    else if (may)
        snprintf(m->why, sizeof m->why,
                 "the module was not found (%s): install it beside the library", dlerror());
}

const struct fbp_backend *fbp_module_load(struct fbp_module *m, char *why, size_t n)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    if (!m->tried)
        try_it(m);
    m->tried = true;
    pthread_mutex_unlock(&lock);
    if (!m->backend)
        snprintf(why, n, "%s", m->why);
    return m->backend;
}
