/** @file text.h  Text: sizes, names, paths, JSON.  See also fbp_printable() and fbp_bytes_text() in
 * fbp/types.h. */
#ifndef FBP_SRC_BASE_TEXT_H
#define FBP_SRC_BASE_TEXT_H

#include "base/base.h"

#include <cjson/cJSON.h>

/** fbp_bytes_text() of a calculated size, which may be greater than any integer. */
char *fbp_bytes_estimate_text(char *buf, size_t n, double bytes);

/** fbp_bytes_text(), rounded up, for a size that is sufficient as a limit. */
char *fbp_bytes_up_text(char *buf, size_t n, uint64_t bytes);

/** The candidate nearest to `word` by edit distance, NULL if none is close; candidates[n]. */
const char *fbp_nearest(const char *word, const char *const *candidates, size_t n);

/** malloc'ed "dir-of(base)/path", or a copy of an absolute path; NULL when out of memory. */
char *fbp_path_join(const char *base, const char *path);

/** Part of a path after the last '/'. */
const char *fbp_base_name(const char *path);

/** True if the path ends in one of ".mha .mhd .nii.gz", in upper or lower case. */
bool fbp_has_extension(const char *path, const char *extensions);

/** malloc'ed copy of text; NULL when out of memory. */
char *fbp_strdup(const char *text);

/** malloc'ed printf; NULL when out of memory. */
char *fbp_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * Parse text[n], which is followed by a 0 byte; cJSON_Delete() the result.
 *
 * end  position of the mistake; NULL: other text may follow the value
 * @return FBP_ERR_NOMEM with a message; FBP_ERR_INVALID, without a message, if it is not JSON or a
 *         string in it holds the character 0
 */
fbp_status fbp_json_parse(const char *text, size_t n, const char **end, cJSON **out);

#endif /* FBP_SRC_BASE_TEXT_H */
