/* The running program: its build, and shared libraries loaded on demand. */
#include "base/plugin.h"

#include "fbp/version.h"

#include "commit.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* From where programs are installed to where libraries are, such as "../lib64/". */
#ifndef FBP_BIN_TO_LIB
#    define FBP_BIN_TO_LIB "../lib/"
#endif

/* An address in it. */
static const char here;

/* The file this code is in: the library or the program.  False: not known. */
static bool own_file(char *path, size_t n)
{
    Dl_info self;

    if (!dladdr(&here, &self) || !self.dli_fname)
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

void *fbp_open_beside(const char *file)
{
    static const char *const beside[] = {"", "../lib/", FBP_BIN_TO_LIB};
    char own[4096];
    void *handle = NULL;

    if (own_file(own, sizeof own))
        for (size_t i = 0; !handle && i < sizeof beside / sizeof *beside; i++)
            handle = open_beside(own, beside[i], file);
    return handle ? handle : dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

const char *fbp_build(void)
{
    return FBP_VERSION " " FBP_COMMIT;
}
