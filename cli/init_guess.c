#include "init_guess.h"

#include "say.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A comment in the file, and a line on standard error. */
void init_say(struct guess *g, const char *key, const char *fmt, ...)
{
    char text[600], comment[80];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap); // NOLINT(clang-analyzer-valist.Uninitialized): it is not
    va_end(ap);
    snprintf(comment, sizeof comment, "// %s", key);
    cJSON_AddStringToObject(g->at, comment, text);
    say_note(g->known->quiet, "%s: %s", key, text);
}

/* What nobody has told: it stays in the file, and every command repeats it, until somebody removes
 * it there. */
void init_assume(struct guess *g, const char *key, const char *fmt, ...)
{
    char text[600];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap); // NOLINT(clang-analyzer-valist.Uninitialized): it is not
    va_end(ap);
    cJSON_AddStringToObject(g->assumed, key, text);
    say_note(g->known->quiet, "%s: ASSUMED: %s", key, text);
}

/* The name that the scan file knows a pattern or file by: short if it lies in or below its folder;
 * free(). */
static char *name_of(const struct guess *g, const char *pattern)
{
    const size_t n = strlen(g->base);
    char folder[PATH_MAX], *out = NULL;
    const char *rest = init_inside(g->folder, pattern);

    if (!realpath(g->folder->path, folder))
        return NULL;
    const bool below =
        strncmp(folder, g->base, n) == 0 && (folder[n] == '\0' || folder[n] == '/' || n == 1);
    const char *sub = below ? folder + n + (folder[n] == '/') : folder;
    return asprintf(&out, "%s%s%s", sub, *sub ? "/" : "", rest) < 0 ? NULL : out;
}

void init_put_path(struct guess *g, const char *key, const char *pattern)
{
    char *name = pattern ? name_of(g, pattern) : NULL;

    (void)init_tried(name ? FBP_OK : FBP_ERR_NOMEM);
    cJSON_AddStringToObject(g->root, key, name ? name : "");
    free(name);
}
