/** @file markup.h  A growing text with functions that append HTML, base64 and JSON; all pages of
 * fbp are written with it. */
#ifndef FBP_CLI_MARKUP_H
#define FBP_CLI_MARKUP_H

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/** Initialise with {0}; a 0 follows the n bytes.  Without memory `failed` is set and later calls
 * add nothing: callers check `failed` once, at the end. */
struct markup {
    char *bytes;
    size_t n, room;
    bool failed;
};

/** Allocate memory for n more bytes at once; growth in small steps allocates up to twice the size.
 */
void markup_reserve(struct markup *m, size_t n);
void markup_add(struct markup *m, const char *bytes, size_t n);
void markup_put(struct markup *m, const char *text);
/** Append as printf(); arguments are HTML, and are not escaped. */
void markup_printf(struct markup *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Append any text, such as a file name, escaped for HTML; control characters and invalid UTF-8 are
 *  made visible. */
void markup_escaped(struct markup *m, const char *text);
/** Append as printf(), with the result escaped as by markup_escaped(). */
void markup_say(struct markup *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void markup_base64(struct markup *m, const void *bytes, size_t n);
/** Append an object as JSON that contains no HTML tags, and free the object; NULL: set `failed`. */
void markup_json(struct markup *m, cJSON *object);
/** Append an <img> whose n bytes are in the page; type: such as "image/png"; alt: any text. */
void markup_image(struct markup *m, const char *type, const void *bytes, size_t n, const char *alt);
void markup_clear(struct markup *m);

#endif /* FBP_CLI_MARKUP_H */
