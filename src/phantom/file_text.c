/* What all readers of phantom files need: words and numbers of a text, room for what they say. */
#include "phantom/file.h"

#include "array/file/bytes.h"
#include "base/mem.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fbp_status fbp_phantom_wrong(const struct fbp_phantom_text *text, const char *fmt, ...)
{
    char what[320];
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    return fbp_fail(FBP_ERR_INVALID, "%s:%zu: %s", text->path, text->line, what);
}

void fbp_phantom_blanks(struct fbp_phantom_text *text)
{
    text->at += strspn(text->at, " \t\r");
}

void fbp_phantom_skip(struct fbp_phantom_text *text)
{
    for (;;) {
        fbp_phantom_blanks(text);
        if (*text->at == '#' || strncmp(text->at, "//", 2) == 0)
            text->at += strcspn(text->at, "\n");
        if (*text->at != '\n')
            return;
        text->at++;
        text->line++;
    }
}

bool fbp_phantom_word(struct fbp_phantom_text *text, char *word, size_t n)
{
    size_t k = 0;

    while (isalnum((unsigned char)text->at[k]) || text->at[k] == '_')
        k++;
    snprintf(word, n, "%.*s", (int)(k < n ? k : n - 1), text->at);
    text->at += k;
    return k > 0;
}

bool fbp_phantom_take(struct fbp_phantom_text *text, char c)
{
    if (*text->at != c)
        return false;
    text->at++;
    return true;
}

fbp_status fbp_phantom_number(struct fbp_phantom_text *text, double *out)
{
    char *end;

    *out = fbp_number(text->at, &end);
    if (end == text->at || !isfinite(*out))
        return fbp_phantom_wrong(text, "not a number: '%.*s'",
                                 (int)strcspn(text->at, " \t\r\n;,)}"), text->at);
    text->at = end;
    return FBP_OK;
}

/* Room for one more element of `size` in a list of n. */
static fbp_status grow(void **list, size_t n, size_t *room, size_t size)
{
    size_t bytes;

    if (n < *room)
        return FBP_OK;
    const size_t more = *room ? 2 * *room : 16;
    FBP_TRY(fbp_mul(more, size, "phantom", &bytes));
    void *larger = realloc(*list, bytes);
    if (!larger)
        return fbp_fail_nomem(bytes, "phantom");
    *list = larger;
    *room = more;
    return FBP_OK;
}

fbp_status fbp_phantom_add(struct fbp_phantom_text *text, const struct fbp_ellipsoid *ellipsoid)
{
    struct fbp_phantom *p = text->out;

    FBP_TRY(grow((void **)&p->items, p->n, &text->room, sizeof *p->items));
    p->items[p->n] = *ellipsoid;
    p->items[p->n++].density *= text->scale;
    return FBP_OK;
}

fbp_status fbp_phantom_add_shape(struct fbp_phantom_text *text, const struct fbp_shape *shape)
{
    struct fbp_phantom *p = text->out;

    FBP_TRY(grow((void **)&p->shapes, p->n_shapes, &text->shapes_room, sizeof *p->shapes));
    p->shapes[p->n_shapes] = *shape;
    p->shapes[p->n_shapes++].density *= text->scale;
    return FBP_OK;
}
