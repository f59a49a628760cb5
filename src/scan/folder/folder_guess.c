#include "scan/folder/folder_guess.h"

#include "array/array.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A comment in the file, and a line on standard error. */
void fbp_init_say(struct fbp_guess *g, const char *key, const char *fmt, ...)
{
    char text[600], comment[80];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap); // NOLINT(clang-analyzer-valist.Uninitialized): it is not
    va_end(ap);
    snprintf(comment, sizeof comment, "// %s", key);
    cJSON_AddStringToObject(g->at, comment, text);
    fbp_init_note("%s: %s", key, text);
}

/* What nobody has told: it stays in the file, and every command repeats it, until somebody removes
 * it there. */
void fbp_init_assume(struct fbp_guess *g, const char *key, const char *fmt, ...)
{
    char text[600];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap); // NOLINT(clang-analyzer-valist.Uninitialized): it is not
    va_end(ap);
    cJSON_AddStringToObject(g->assumed, key, text);
    fbp_init_note("%s: ASSUMED: %s", key, text);
}

/* The name that the scan file knows a pattern or file by: short if it lies in or below its folder;
 * free(). */
static char *name_of(const struct fbp_guess *g, const char *pattern)
{
    const size_t n = strlen(g->base);
    char folder[PATH_MAX], *out = NULL;
    const char *rest = fbp_init_inside(g->folder, pattern);

    if (!realpath(g->folder->path, folder))
        return NULL;
    const bool below =
        strncmp(folder, g->base, n) == 0 && (folder[n] == '\0' || folder[n] == '/' || n == 1);
    const char *sub = below ? folder + n + (folder[n] == '/') : folder;
    return asprintf(&out, "%s%s%s", sub, *sub ? "/" : "", rest) < 0 ? NULL : out;
}

void fbp_init_put_path(struct fbp_guess *g, const char *key, const char *pattern)
{
    char *name = pattern ? name_of(g, pattern) : NULL;

    (void)fbp_init_tried(name ? FBP_OK : FBP_ERR_NOMEM);
    cJSON_AddStringToObject(g->root, key, name ? name : "");
    free(name);
}

void fbp_init_numbers(cJSON *object, const char *key, const double *v, size_t n)
{
    cJSON *list = cJSON_AddArrayToObject(object, key);

    for (size_t i = 0; list && i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(v[i]));
}
