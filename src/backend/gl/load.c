/* Loader of the OpenGL module libfbp_gl.so (entry fbp_backend_gl in the table of backend.c): loads
 * the libraries that the module needs before the module is opened, and checks whether the machine
 * has a graphics card, which the device "auto" requires.
 * Used by: backend/backend.c. */
#include "backend/module.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <unistd.h>

/* Load the libraries that the module needs, and never unload them: drivers must stay loaded. If one
 * is missing (`why`), the module must not be opened: libepoxy would end the process. */
static bool has_libraries(char *why, size_t n)
{
    static const struct {
        const char *file, *other, *package;
    } needed[] = {{"libEGL.so.1", NULL, "libegl1, and the graphics part of the card's driver"},
                  {"libOpenGL.so.0", "libGL.so.1", "libopengl0"},
                  {"libepoxy.so.0", NULL, "libepoxy0"}};

    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!dlopen(needed[i].file, RTLD_NOW | RTLD_LOCAL) &&
            !(needed[i].other && dlopen(needed[i].other, RTLD_NOW | RTLD_LOCAL))) {
            snprintf(why, n, "%s is missing on this machine; install %s", needed[i].file,
                     needed[i].package);
            return false;
        }
    return true;
}

static struct fbp_module module = {.file = "libfbp_gl.so",
                                   .symbol = "fbp_gl_module",
#ifndef FBP_HAS_GL_MODULE
                                   .remedy = "build with libepoxy's headers (libepoxy-dev)",
#endif
                                   .may_open = has_libraries};

/* Returns whether this user may open the device file of any graphics card (member `auto_selectable`
 * of the backend).  If not, `--device auto` does not load the module. */
static bool has_hardware(int index)
{
    static const char *const files[] = {"/dev/dri/renderD*", "/dev/nvidiactl", "/dev/dxg"};
    bool found = false;

    (void)index; /* -1: the module is not loaded */
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        glob_t g;
        if (glob(files[i], GLOB_NOSORT, NULL, &g) == 0)
            for (size_t k = 0; k < g.gl_pathc; k++)
                found = found || access(g.gl_pathv[k], R_OK | W_OK) == 0;
        globfree(&g);
    }
    return found;
}

static const struct fbp_backend *load(char *why, size_t n)
{
    return fbp_module_load(&module, why, n);
}

const struct fbp_backend fbp_backend_gl = {
    .name = "gl",
    .summary = "OpenGL 4.4",
    .discovery.load = load,
    .discovery.auto_selectable = has_hardware,
};
