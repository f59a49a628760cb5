/** @file markup.h  A text that grows, and pieces of HTML in it. */
#ifndef FBP_CLI_MARKUP_H
#define FBP_CLI_MARKUP_H

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/** Starts as {0}; `bytes` ends with 0.  When memory runs out, `failed` is set and nothing more is
 *  added: it is asked once, at the end. */
struct markup {
    char *bytes;
    size_t n, room;
    bool failed;
};

/** Room for n more bytes at once: what grows piece by piece needs up to twice its size. */
void markup_reserve(struct markup *m, size_t n);
void markup_add(struct markup *m, const char *bytes, size_t n);
void markup_put(struct markup *m, const char *text);
/** As printf(); what is inserted is HTML already. */
void markup_printf(struct markup *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Any text, such as a file's name: as HTML, control characters and bad UTF-8 shown. */
void markup_escaped(struct markup *m, const char *text);
/** The same, of a format. */
void markup_say(struct markup *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void markup_base64(struct markup *m, const void *bytes, size_t n);
/** An object as JSON that no HTML parser takes for the end of its element; it is freed. */
void markup_json(struct markup *m, cJSON *object);
/** <img> of a picture in memory; type: "image/png"; alt: any text. */
void markup_image(struct markup *m, const char *type, const void *bytes, size_t n, const char *alt);
void markup_clear(struct markup *m);

#endif /* FBP_CLI_MARKUP_H */
