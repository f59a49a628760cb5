/** @file text.h  Text files of scans: reading JSON with messages that contain file and key, tables
 * of numbers, and a writer of text and JSON files (internal).
 * Used by: cli/, picture/, pipeline/, prep/, scan/. */
#ifndef FBP_SRC_SCAN_FILE_TEXT_H
#define FBP_SRC_SCAN_FILE_TEXT_H

#include "array/file/outfile.h"
#include "base/base.h"
#include "scan/file/scan.h"

#include <cjson/cJSON.h>
#include <locale.h>

/** Number of elements of an array. */
#define N_OF(array) (sizeof(array) / sizeof *(array))

/* json.c: JSON */

/** An object in a JSON file.  `object` is NULL if the file does not contain it; all its keys are
 * then absent. */
struct fbp_json {
    const char *file;
    const char *prefix; /**< prefix of the object's keys in messages: "detector."; "": none */
    const cJSON *object;
};

/** Read and parse a JSON file; messages about syntax errors contain line and column.  Free *out
 * with cJSON_Delete(). */
fbp_status fbp_json_read(const char *path, cJSON **out);

/** Check that every key of the object is one of keys[n] and occurs once. Keys that begin with "//"
 *  or "_" are comments and may be repeated. */
fbp_status fbp_json_keys(const struct fbp_json *o, const char *const *keys, size_t n);

/** Value of a key, or of a path of keys such as "stage.center"; NULL if it is absent. */
const cJSON *fbp_json_get(const struct fbp_json *o, const char *key);

/** Fail with FBP_ERR_INVALID: fbp_json_wrong() with "FILE: KEY: found VALUE, expected EXPECTED",
 * fbp_json_missing() with "FILE: KEY is missing; REMEDY". */
fbp_status fbp_json_wrong(const struct fbp_json *o, const char *key, const char *expected);
fbp_status fbp_json_missing(const struct fbp_json *o, const char *key, const char *remedy);
#if defined __clang_analyzer__ && !defined FBP_SCAN_JSON_C
/* Tells the static analyzer that the function never returns FBP_OK, as in base/base.h. */
#    define fbp_json_missing(o, key, remedy) \
        ((void)fbp_json_missing(o, key, remedy), FBP_ERR_INVALID)
#endif

/** If st is a failure, prepend "FILE: KEY: " to its message.  Returns st. */
fbp_status fbp_json_context(const struct fbp_json *o, const char *key, fbp_status st);

/* If the key is absent, the functions below leave *out unchanged and set *n to 0, except
 * fbp_json_child() and fbp_json_table(). */

/** Get the object at `key` of o and check its keys; out->object is NULL if the key is absent. */
fbp_status fbp_json_child(const struct fbp_json *o, const char *key, const char *prefix,
                          const char *const *keys, size_t n, struct fbp_json *out);

/** Get n_min to n_max numbers from a list; *n: how many.  If n_min is 1, the value may also be one
 * number without brackets; if n_max is 1, a list is an error. */
fbp_status fbp_json_numbers(const struct fbp_json *o, const char *key,
                            const struct fbp_range *range, size_t n_min, size_t n_max, double *out,
                            size_t *n);
/** Get one number, or a list of any length >= 1; the caller frees *out. */
fbp_status fbp_json_list(const struct fbp_json *o, const char *key, const struct fbp_range *range,
                         double **out, size_t *n);
/** Get a list of *n lists of `width` numbers: *out[*n * width], freed by the caller.  Fails if the
 * key is absent. */
fbp_status fbp_json_table(const struct fbp_json *o, const char *key, size_t width, double **out,
                          size_t *n);
/** Get a string that is not empty; the JSON owns it. */
fbp_status fbp_json_text(const struct fbp_json *o, const char *key, const char **out);
/** Get the index *out, in names[n], of the string at `key`. */
fbp_status fbp_json_choice(const struct fbp_json *o, const char *key, const char *const *names,
                           size_t n, size_t *out);
fbp_status fbp_json_flag(const struct fbp_json *o, const char *key, bool *out);

/* tables.c: tables of numbers */

/** Load rows of `width` numbers from plain text or CSV, with or without a line of column names, or
 * from an array (NPY, "FILE.mat:NAME" …): [n][width], or [width][n] as MATLAB stores columns.
 * Float64 numbers keep all digits. what: description for messages, "3 numbers per direction". *out:
 * [*n * width], freed by the caller. */
fbp_status fbp_number_table_load(const char *path, size_t width, const char *what, double **out,
                                 size_t *n);

/* writer.c: writing */

/** A text file that is being written under a temporary name, and renamed when it is complete.
 * Numbers have decimal points in every locale. */
struct fbp_writer {
    FILE *f;          /**< stream of `out` */
    const char *path; /**< name as given */
    struct fbp_outfile out;
    locale_t c_locale, old_locale;
    bool object;     /**< the file is one JSON object */
    bool any;        /**< a key was written */
    bool not_finite; /**< true: a number was written that JSON cannot represent */
};

/** fbp_writer_open() opens a file for plain text, fbp_writer_open_json() one for a JSON object. */
fbp_status fbp_writer_open(struct fbp_writer *w, const char *path);
fbp_status fbp_writer_open_json(struct fbp_writer *w, const char *path);

/** If st is FBP_OK, finish the JSON object and give the file its final name, else remove the file.
 * Returns st, or the status of a failure to finish the file. */
fbp_status fbp_writer_close(struct fbp_writer *w, fbp_status st);

/** Finish the file like fbp_writer_close(), but keep its temporary name: the caller renames
 * *settled by fbp_outfile_publish(), and frees it by fbp_outfile_clear(). */
fbp_status fbp_writer_settle(struct fbp_writer *w, fbp_status st, struct fbp_outfile *settled);

void fbp_put_key(struct fbp_writer *w, const char *key);
void fbp_put_text(struct fbp_writer *w, const char *text);
void fbp_put_number(struct fbp_writer *w, double x);
/** Write "[a, b, c]". */
void fbp_put_numbers(struct fbp_writer *w, const double *v, size_t n);
/** Write the numbers v[i] * scale: without brackets if n is 1, else as a list in brackets, eight
 * numbers per line. */
void fbp_put_list(struct fbp_writer *w, const double *v, size_t n, double scale);
/** Write a key with a text, a number, or n numbers in brackets. */
void fbp_put_key_text(struct fbp_writer *w, const char *key, const char *text);
void fbp_put_key_number(struct fbp_writer *w, const char *key, double x);
void fbp_put_key_numbers(struct fbp_writer *w, const char *key, const double *v, size_t n);
/** Write row k of a list of rows of n numbers, with "[" before the first row; the caller writes "\n
 *  ]" at the end. */
void fbp_put_row(struct fbp_writer *w, size_t k, const double *v, size_t n);

/** Load directions (*out)[*n][3] from a file: text with three numbers per line (CSV, TXT; a first
 *  line of names is skipped), or an array [n][3] or [3][n] (NPY, "FILE.mat:NAME" …).  Vectors may
 *  have any length.  The caller frees *out with free(). */
fbp_status fbp_directions_load(const char *path, double (**out)[3], size_t *n);

/** Load 3x4 matrices (*out)[*n_views * 12] from a text file: 12 numbers per view; '#' begins a
 *  comment.  The caller frees *out with free(). */
fbp_status fbp_matrices_load(const char *path, double **out, size_t *n_views);

#endif /* FBP_SRC_SCAN_FILE_TEXT_H */
