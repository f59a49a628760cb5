#include "array/file/member.h"

#include "array/file/format.h"

#include "base/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char FBP_SINOGRAM[] = "?sinogram";

/* "FILE?sinogram", where there is no file of the whole name: the part of FILE; 0: none. */
static size_t sinogram_at(const char *path)
{
    const size_t n = strlen(path), end = sizeof FBP_SINOGRAM - 1;

    return n > end && strcmp(path + n - end, FBP_SINOGRAM) == 0 && access(path, F_OK) != 0 ? n - end
                                                                                           : 0;
}

fbp_status fbp_member_split(const char *path, char **file, char **member)
{
    const char *at = NULL;
    char *name = fbp_strdup(path);

    *file = *member = NULL;
    if (!name)
        return fbp_fail_nomem(strlen(path), "a path");
    const size_t short_of = sinogram_at(path);
    if (short_of > 0) {
        name[short_of] = '\0';
        if (access(name, F_OK) == 0)
            at = path + short_of;
        name[short_of] = path[short_of];
    }
    for (char *colon = at || access(path, F_OK) == 0 ? NULL : strrchr(name, ':'); colon && !at;
         colon = strrchr(name, ':')) {
        *colon = '\0'; /* from the last one on */
        if (colon > name && access(name, F_OK) == 0)
            at = path + (colon - name) + 1;
    }
    if (!at)
        memcpy(name, path, strlen(path) + 1);
    else if (short_of > 0 && at == path + short_of)
        name[short_of] = '\0';
    *file = name;
    *member = at ? fbp_strdup(at) : NULL;
    if (!at || *member)
        return FBP_OK;
    free(name);
    *file = NULL;
    return fbp_fail_nomem(strlen(path), "a path");
}

size_t fbp_member_output(const char *path, const char *extensions)
{
    const size_t n = strlen(path);
    char name[PATH_MAX]; /* what is longer no system call takes */
    size_t length = n;

    if (n >= sizeof name)
        return n;
    memcpy(name, path, n + 1);
    if (!fbp_has_extension(name, extensions))
        for (char *colon; length == n && (colon = strrchr(name, ':'));) {
            *colon = '\0';
            if (fbp_has_extension(name, extensions))
                length = (size_t)(colon - name);
        }
    return length;
}
