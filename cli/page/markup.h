/** @file markup.h A growing text in memory, to which functions append HTML, base64 and JSON, for
 * the HTML pages of `fbp view` and `fbp recon --report`. Implemented in markup.c.
 * Used by: markup.c, page.h. */
#ifndef FBP_CLI_MARKUP_H
#define FBP_CLI_MARKUP_H

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/** Text of a page, initialised with {0}; a 0 follows the n bytes. If memory is exhausted, `failed`
 * is set and later calls append nothing, so callers check `failed` once, at the end. */
struct markup {
    char *bytes;
    size_t n, room;
    bool failed;
};

/** Reserve memory for n more bytes: growth in small steps needs up to twice the memory. */
void markup_reserve(struct markup *m, size_t n);
void markup_add(struct markup *m, const char *bytes, size_t n);
void markup_put(struct markup *m, const char *text);
/** Append HTML, formatted as by printf(); the arguments are not escaped. */
void markup_printf(struct markup *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** Append a text that is no HTML, such as a file name: &, <, > and quotes are escaped, control
 * characters and invalid UTF-8 are replaced by visible escapes. */
void markup_escaped(struct markup *m, const char *text);
/** Append a text that is no HTML, formatted as by printf(), and escaped as by markup_escaped(). */
void markup_say(struct markup *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void markup_base64(struct markup *m, const void *bytes, size_t n);
/** Append a JSON object, with <, > and & escaped, and free it; NULL: set `failed`. */
void markup_json(struct markup *m, cJSON *object);
/** Append <img> with n bytes of a picture of media type `type`; alt: description. */
void markup_image(struct markup *m, const char *type, const void *bytes, size_t n, const char *alt);
void markup_clear(struct markup *m);

#endif /* FBP_CLI_MARKUP_H */
