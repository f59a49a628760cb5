/** @file text.h  Text files of scans: reading JSON with messages that name file and key, tables of
 * numbers, and a writer (internal).  Used by the scan file and by all importers.
 */
#ifndef FBP_SRC_SCAN_FILE_TEXT_H
#define FBP_SRC_SCAN_FILE_TEXT_H

#include "array/file/outfile.h"
#include "base/base.h"
#include "scan/file/scan.h"

#include <cjson/cJSON.h>
#include <locale.h>

/** Number of elements of an array. */
#define N_OF(array) (sizeof(array) / sizeof *(array))

/* JSON (json.c). */

/** An object of the file; `object` is NULL if it is absent, and has no members then. */
struct fbp_json {
    const char *file;
    const char *prefix; /**< Prefix of its keys in messages: "" or "detector." */
    const cJSON *object;
};

/** Read and parse a file; syntax errors name line and column.  Free *out with cJSON_Delete(). */
fbp_status fbp_json_read(const char *path, cJSON **out);

/** Check that every key of the object is one of keys[n] and occurs once.  Keys that begin with "//"
 *  or "_" are comments and may be repeated. */
fbp_status fbp_json_keys(const struct fbp_json *o, const char *const *keys, size_t n);

/** The value of a key, or NULL. */
const cJSON *fbp_json_get(const struct fbp_json *o, const char *key);
bool fbp_json_has(const struct fbp_json *o, const char *key);

/** "FILE: KEY: found 3, expected WHAT" and "FILE: KEY is missing: REMEDY", as FBP_ERR_INVALID. */
fbp_status fbp_json_wrong(const struct fbp_json *o, const char *key, const char *expected);
fbp_status fbp_json_missing(const struct fbp_json *o, const char *key, const char *remedy);
#if defined __clang_analyzer__ && !defined FBP_SCAN_JSON_C
/* The reason is that in base/base.h: failing is never FBP_OK. */
#    define fbp_json_missing(o, key, remedy) \
        ((void)fbp_json_missing(o, key, remedy), FBP_ERR_INVALID)
#endif

/** Put "FILE: KEY: " before the message of a failure; returns st. */
fbp_status fbp_json_context(const struct fbp_json *o, const char *key, fbp_status st);

/* If the key is absent, the functions below do not change *out and set *n to 0. */

/** The object `key` of o with its keys checked; out->object is NULL if it is absent. */
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

/* Tables of numbers (tables.c). */

/** Load rows of `width` numbers from plain text or CSV; a first line of column names is skipped.
 *  what: "3 numbers a direction", for messages.  free(*out), which holds *n * width. */
fbp_status fbp_number_rows_load(const char *path, size_t width, const char *what, double **out,
                                size_t *n);

/** The same, also from arrays (NPY, "FILE.mat:NAME" …): [n][width], or [width][n] as MATLAB stores
 *  its columns.  Numbers of type float64 keep all digits. */
fbp_status fbp_number_table_load(const char *path, size_t width, const char *what, double **out,
                                 size_t *n);

/* Writing (writer.c). */

/** A file that appears under its name when it is complete.  Decimal points in every locale. */
struct fbp_writer {
    FILE *f;          /**< stream of `out` */
    const char *path; /**< as given */
    struct fbp_outfile out;
    locale_t c_locale, old_locale;
    bool object;     /**< true: a JSON object */
    bool any;        /**< true after the first key */
    bool not_finite; /**< true after a number that JSON cannot hold */
};

/** Open a plain text file, or a JSON object. */
fbp_status fbp_writer_open(struct fbp_writer *w, const char *path);
fbp_status fbp_writer_open_json(struct fbp_writer *w, const char *path);

/** Finish the object and publish the file if st is FBP_OK, else remove it; returns the outcome. */
fbp_status fbp_writer_close(struct fbp_writer *w, fbp_status st);

/** The same, but the file does not get its name yet: `settled` is to be published and cleared. */
fbp_status fbp_writer_settle(struct fbp_writer *w, fbp_status st, struct fbp_outfile *settled);

void fbp_put_key(struct fbp_writer *w, const char *key);
void fbp_put_text(struct fbp_writer *w, const char *text);
void fbp_put_number(struct fbp_writer *w, double x);
/** "[a, b, c]". */
void fbp_put_numbers(struct fbp_writer *w, const double *v, size_t n);
/** v[i] * scale: a single number, or a list over several lines. */
void fbp_put_list(struct fbp_writer *w, const double *v, size_t n, double scale);
/** Put a key and a text, a number, or n numbers in brackets. */
void fbp_put_key_text(struct fbp_writer *w, const char *key, const char *text);
void fbp_put_key_number(struct fbp_writer *w, const char *key, double x);
void fbp_put_key_numbers(struct fbp_writer *w, const char *key, const double *v, size_t n);
/** Row k of a list of rows of n numbers: "[" before the first; the caller writes "\n  ]" at the
 *  end. */
void fbp_put_row(struct fbp_writer *w, size_t k, const double *v, size_t n);

#endif /* FBP_SRC_SCAN_FILE_TEXT_H */
