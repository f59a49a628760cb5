/* Names of arrays inside a scan file, which moves together with them. */
#include "array/file/member.h"
#include "scan/scan_parts.h"

#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The part of `path` below folder[n], which ends in a slash; NULL if it lies elsewhere. */
static const char *below(const char *folder, size_t n, const char *path)
{
    if (strncmp(folder, path, n) != 0)
        return NULL;
    path += n;
    return *path == '\0' || *path == '/' || strncmp(path, "../", 3) == 0 || strstr(path, "/../")
               ? NULL
               : path;
}

/* Absolute folder of a path, without links, with a final slash; NULL if there is none.  false:
 * there is no memory to find it out. */
static bool folder_of(const char *path, char **out)
{
    char resolved[PATH_MAX], *folder;
    const char *slash = strrchr(path, '/');

    *out = NULL;
    folder = slash ? fbp_format("%.*s", (int)(slash - path + 1), path) : fbp_strdup(".");
    errno = ENOMEM;
    const bool found = folder && realpath(folder, resolved);
    const int error = errno;
    free(folder);
    if (!found)
        return error != ENOMEM;
    *out = fbp_format("%s%s", resolved, strcmp(resolved, "/") == 0 ? "" : "/");
    return *out != NULL;
}

static char *absolute(const char *path)
{
    char here[PATH_MAX];

    if (path[0] == '/' || !getcwd(here, sizeof here))
        return fbp_strdup(path);
    return fbp_format("%s/%s", here, path);
}

static char *relative(const char *scan_path, const char *path)
{
    const char *slash = strrchr(scan_path, '/'), *name = strrchr(path, '/');
    const char *rest = NULL;
    char *out = NULL;

    /* Both written alike: links inside the folder stay as they are. */
    if (slash || path[0] != '/')
        rest = below(scan_path, slash ? (size_t)(slash - scan_path + 1) : 0, path);
    if (rest)
        return fbp_strdup(rest);
    char *to = NULL, *from = NULL, *whole = NULL;
    if (folder_of(scan_path, &to) && folder_of(path, &from))
        whole = from ? fbp_format("%s%s", from, name ? name + 1 : path) : absolute(path);
    rest = to && whole ? below(to, strlen(to), whole) : NULL;
    if (whole)
        out = fbp_strdup(rest ? rest : whole);
    free(to);
    free(from);
    free(whole);
    return out;
}

char *fbp_scan_relative(const char *scan_path, const char *path)
{
    char *file, *member;

    if (fbp_member_split(path, &file, &member) != FBP_OK)
        return NULL;
    char *out = relative(scan_path, file);
    if (out && member) {
        char *whole = fbp_format("%s:%s", out, member);
        free(out);
        out = whole;
    }
    free(file);
    free(member);
    return out;
}
