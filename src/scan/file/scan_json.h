/** @file scan_json.h  Typed access to the JSON of a scan file; messages name file and key
 * (internal).
 */
#ifndef FBP_SRC_SCAN_JSON_H
#define FBP_SRC_SCAN_JSON_H

#include "base/base.h"

#include <cjson/cJSON.h>

/** An object of the file.  Absent objects have NULL and no members. */
struct fbp_json {
    const char *file;
    const char *prefix; /**< of its keys in messages: "" or "detector." */
    const cJSON *object;
};

/** Read and parse a file; syntax errors name line and column.  Free *out with cJSON_Delete(). */
fbp_status fbp_json_read(const char *path, cJSON **out);

/** Every key of the object must be one of keys[n], and occur once.  Keys that begin with "//" or
 * "_" are comments: anything, as often as one likes. */
fbp_status fbp_json_keys(const struct fbp_json *o, const char *const *keys, size_t n);

bool fbp_json_has(const struct fbp_json *o, const char *key);

/** "FILE: KEY: found 3, expected WHAT" and "FILE: KEY is missing: REMEDY", as FBP_ERR_INVALID. */
fbp_status fbp_json_wrong(const struct fbp_json *o, const char *key, const char *expected);
fbp_status fbp_json_missing(const struct fbp_json *o, const char *key, const char *remedy);
#if defined __clang_analyzer__ && !defined FBP_SCAN_JSON_C
/* As in base/status.h: failing is never FBP_OK. */
#    define fbp_json_missing(o, key, remedy) \
        ((void)fbp_json_missing(o, key, remedy), FBP_ERR_INVALID)
#endif

/** Put "FILE: KEY: " before the message of a failure; returns st. */
fbp_status fbp_json_because(const struct fbp_json *o, const char *key, fbp_status st);

/* The getters below leave *out (and *n = 0) alone if the key is absent. */

/** The object `key` of o with its keys checked; out->object NULL if absent. */
fbp_status fbp_json_child(const struct fbp_json *o, const char *key, const char *prefix,
                          const char *const *keys, size_t n, struct fbp_json *out);

/** n_min to n_max numbers; a single one may stand without brackets. */
fbp_status fbp_json_numbers(const struct fbp_json *o, const char *key,
                            const struct fbp_range *range, size_t n_min, size_t n_max, double *out,
                            size_t *n);
/** One number or a list of any length >= 1; free *out. */
fbp_status fbp_json_list(const struct fbp_json *o, const char *key, const struct fbp_range *range,
                         double **out, size_t *n);
/** A list of lists of `width` numbers; free *out, which holds *n * width. */
fbp_status fbp_json_table(const struct fbp_json *o, const char *key, size_t width, double **out,
                          size_t *n);
/** A string that is not empty; it belongs to the JSON. */
fbp_status fbp_json_text(const struct fbp_json *o, const char *key, const char **out);
/** Index of a string among names[n]. */
fbp_status fbp_json_choice(const struct fbp_json *o, const char *key, const char *const *names,
                           size_t n, size_t *out);
fbp_status fbp_json_flag(const struct fbp_json *o, const char *key, bool *out);

#endif /* FBP_SRC_SCAN_JSON_H */
