#include "array/file/member.h"

#include "array/file/format.h"

#include "base/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

fbp_status fbp_member_split(const char *path, char **file, char **member)
{
    const char *at = NULL;
    char *name = fbp_strdup(path);

    *file = *member = NULL;
    if (!name)
        return fbp_fail_nomem(strlen(path), "a path");
    for (char *colon = access(path, F_OK) == 0 ? NULL : strrchr(name, ':'); colon && !at;
         colon = strrchr(name, ':')) {
        *colon = '\0'; /* from the last one on */
        if (colon > name && access(name, F_OK) == 0)
            at = path + (colon - name) + 1;
    }
    if (!at)
        memcpy(name, path, strlen(path) + 1);
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
