/* libEGL finds drivers by small JSON files, "ICD": {"library_path": "libEGL_mesa.so.0"}. */
#include "backend/gl/vendor.h"

#include "backend/gpu/host.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = 4096, MOST_NAME = 128 };

struct vendors {
    int n_files, n_drivers;  /* files, and those whose library opens */
    char missing[MOST_NAME]; /* the first library that does not */
};

/* The value of "library_path"; false: there is none. */
static bool find_library(const char *path, char out[MOST_NAME])
{
    char text[MOST_BYTES + 1] = "";
    FILE *file = fopen(path, "r");

    if (!file)
        return false;
    text[fread(text, 1, MOST_BYTES, file)] = '\0';
    (void)fclose(file);
    const char *at = strstr(text, "\"library_path\"");
    return at && sscanf(at, "\"library_path\" : \"%127[^\"]\"", out) == 1;
}

static void look_at(const char *path, struct vendors *v)
{
    char library[MOST_NAME];

    if (!find_library(path, library))
        return;
    v->n_files++;
    if (dlopen(library, RTLD_LAZY | RTLD_LOCAL)) /* it stays, as libEGL had it open */
        v->n_drivers++;
    else if (!v->missing[0])
        snprintf(v->missing, sizeof v->missing, "%s", library);
}

static void look_for(const char *pattern, struct vendors *v)
{
    glob_t files;

    if (glob(pattern, 0, NULL, &files) == 0)
        for (size_t i = 0; i < files.gl_pathc; i++)
            look_at(files.gl_pathv[i], v);
    globfree(&files);
}

/* What libEGL reads: the files that are named, or those of its two folders. */
static void look(struct vendors *v)
{
    const char *named = gpu_host->environment(FBP_ENV_EGL_FILES);
    char path[1024];

    for (const char *end; named && *named; named = *end ? end + 1 : end) {
        end = named + strcspn(named, ":");
        snprintf(path, sizeof path, "%.*s", (int)(end - named), named);
        look_at(path, v);
    }
    if (gpu_host->environment(FBP_ENV_EGL_FILES))
        return;
    look_for("/etc/glvnd/egl_vendor.d/*.json", v);
    look_for("/usr/share/glvnd/egl_vendor.d/*.json", v);
}

void gl_vendor_why(char *why, size_t n)
{
    struct vendors v = {.n_files = 0};

    look(&v);
    if (v.n_files == 0)
        snprintf(why, n,
                 "libEGL knows no driver, as there is no file for one in "
                 "/usr/share/glvnd/egl_vendor.d, or that __EGL_VENDOR_LIBRARY_FILENAMES names: "
                 "install the graphics part of the card's driver, or libegl-mesa0");
    else if (v.n_drivers == 0)
        snprintf(why, n,
                 "libEGL knows a driver, but its library %s cannot be opened: install the graphics "
                 "part of the card's driver, or libegl-mesa0",
                 v.missing);
    else
        snprintf(why, n,
                 "EGL lists no device: see that the card's driver is whole, and that you may open "
                 "/dev/dri/renderD*");
}
