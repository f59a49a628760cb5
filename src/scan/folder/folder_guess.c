#include "scan/folder/folder_guess.h"

#include "array/array.h"
#include "base/text.h"
#include "scan/scan_parts.h"

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

void fbp_init_put_path(struct fbp_guess *g, const char *key, const char *pattern)
{
    char *scan = fbp_format("%s/scan.json", g->base);
    char *name = scan && pattern ? fbp_scan_relative(scan, pattern) : NULL;

    free(scan);
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
