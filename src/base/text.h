/** @file text.h  Text: formatting, safe printing of text from files, JSON (internal). */
#ifndef FBP_SRC_TEXT_H
#define FBP_SRC_TEXT_H

#include "fbp/types.h"

#include "base/status.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

/* Small text helpers. */

/** fbp_bytes_text() of a size that is only calculated, and may be beyond any integer. */
char *fbp_bytes_about(char *buf, size_t n, double bytes);

/** fbp_bytes_text(), rounded up: what is needed, to be given as a limit. */
char *fbp_bytes_up_text(char *buf, size_t n, uint64_t bytes);

/** The candidate nearest to `word` by edit distance, NULL if none is close; candidates[n]. */
const char *fbp_nearest(const char *word, const char *const *candidates, size_t n);

/** malloc'ed "dir-of(base)/path", or a copy of an absolute path; NULL when out of memory. */
char *fbp_path_join(const char *base, const char *path);

/** What stands behind the last '/' of a path. */
const char *fbp_base_name(const char *path);

/** Does the path end in one of ".mha .mhd .nii.gz", in upper or lower case? */
bool fbp_has_extension(const char *path, const char *extensions);

/** malloc'ed copy of text; NULL when out of memory. */
char *fbp_strdup(const char *text);

/** malloc'ed printf; NULL when out of memory. */
char *fbp_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* JSON out of text, and why it is none. */

/**
 * text[n] and the 0 behind it, parsed; cJSON_Delete() it.
 *
 * end  where it could not go on, if it is no JSON; NULL: something else may follow, and nobody asks
 * @return FBP_ERR_NOMEM, with a message; FBP_ERR_INVALID if it is no JSON, or a
 *         text of it holds the character 0, without one
 */
fbp_status fbp_json_parse(const char *text, size_t n, const char **end, cJSON **out);

#endif /* FBP_SRC_TEXT_H */
