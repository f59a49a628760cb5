/* Implementation of markup.h: a growing text in memory, to which functions append HTML
 * (markup_put(), markup_escaped()), base64 (markup_base64()) and JSON (markup_json()), for the
 * HTML pages of `fbp view` and `fbp recon --report`.
 * Used by: cli/, cli/page/, cli/serve/. */
#include "page/markup.h"

#include "say.h"

#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ensure room for n more bytes and the final 0; false: out of memory (m->failed). */
static bool make_room(struct markup *m, size_t n)
{
    if (m->failed || n > SIZE_MAX / 4 || m->n > SIZE_MAX / 4) {
        m->failed = true;
        return false;
    }
    if (m->n + n + 1 <= m->room)
        return true;
    size_t room = m->room ? 2 * m->room : 4096;
    if (room < m->n + n + 1)
        room = m->n + n + 1;
    char *more = realloc(m->bytes, room);
    m->failed = !more;
    if (more) {
        m->bytes = more;
        m->room = room;
    }
    return more != NULL;
}

void markup_reserve(struct markup *m, size_t n)
{
    char *more = n < SIZE_MAX / 4 && m->n < SIZE_MAX / 4 && m->n + n + 1 > m->room
                     ? realloc(m->bytes, m->n + n + 1)
                     : NULL;

    if (!more)
        return; /* no error: make_room() allocates what is missing */
    if (!m->bytes)
        more[0] = '\0';
    m->bytes = more;
    m->room = m->n + n + 1;
}

void markup_add(struct markup *m, const char *bytes, size_t n)
{
    if (!make_room(m, n))
        return;
    memcpy(m->bytes + m->n, bytes, n);
    m->n += n;
    m->bytes[m->n] = '\0';
}

void markup_put(struct markup *m, const char *text)
{
    markup_add(m, text, strlen(text));
}

static void put_formatted(struct markup *m, void (*put)(struct markup *, const char *),
                          const char *fmt, va_list ap)
{
    char *text;

    if (vasprintf(&text, fmt, ap) < 0) {
        m->failed = true;
        return;
    }
    put(m, text);
    free(text);
}

void markup_printf(struct markup *m, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    put_formatted(m, markup_put, fmt, ap);
    va_end(ap);
}

void markup_say(struct markup *m, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    put_formatted(m, markup_escaped, fmt, ap);
    va_end(ap);
}

void markup_escaped(struct markup *m, const char *text)
{
    const size_t n = strlen(text), room = 6 * n + 1;
    char *safe = n < SIZE_MAX / 8 ? malloc(room) : NULL;

    if (!safe) {
        m->failed = true;
        return;
    }
    fbp_printable(safe, room, text, n, "\n\t");
    for (const char *p = safe; *p;) {
        const size_t plain = strcspn(p, "&<>\"'");
        markup_add(m, p, plain);
        p += plain;
        const char c = *p ? *p++ : 0;
        markup_put(m, c == '&'   ? "&amp;"
                      : c == '<' ? "&lt;"
                      : c == '>' ? "&gt;"
                      : c == '"' ? "&quot;"
                      : c        ? "&#39;"
                                 : "");
    }
    free(safe);
}

void markup_base64(struct markup *m, const void *bytes, size_t n)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    const uint8_t *in = bytes;

    if (n > SIZE_MAX / 4 || !make_room(m, (n + 2) / 3 * 4)) {
        m->failed = true;
        return;
    }
    char *out = m->bytes + m->n;
    for (size_t i = 0; i < n; i += 3, out += 4) {
        const size_t left = n - i;
        const unsigned v =
            (unsigned)in[i] << 16 | (left > 1 ? in[i + 1] : 0u) << 8 | (left > 2 ? in[i + 2] : 0u);
        out[0] = digits[v >> 18];
        out[1] = digits[v >> 12 & 63];
        out[2] = digits[left > 1 ? v >> 6 & 63 : 64];
        out[3] = digits[left > 2 ? v & 63 : 64];
    }
    *out = '\0';
    m->n = (size_t)(out - m->bytes);
}

/* In JSON, '<', '>' and '&' occur only in strings, in which escapes such as \u003c replace them. */
void markup_json(struct markup *m, cJSON *object)
{
    /* NULL if memory ran out, here or when the object was built */
    char *text = say_json_text(object, true);

    m->failed |= !text;
    for (const char *p = text; p && *p;) {
        const size_t plain = strcspn(p, "<>&");
        markup_add(m, p, plain);
        p += plain;
        if (*p)
            markup_printf(m, "\\u%04x", (unsigned)(unsigned char)*p++);
    }
    free(text);
}

void markup_image(struct markup *m, const char *type, const void *bytes, size_t n, const char *alt)
{
    markup_put(m, "<img alt=\"");
    markup_escaped(m, alt);
    markup_printf(m, "\" src=\"data:%s;base64,", type);
    markup_base64(m, bytes, n);
    markup_put(m, "\">");
}

void markup_clear(struct markup *m)
{
    free(m->bytes);
    *m = (struct markup){0};
}
