/** @file scan_write.h  Writing text files, and JSON by hand, so that lists stay readable
 * (internal).
 */
#ifndef FBP_SRC_SCAN_WRITE_H
#define FBP_SRC_SCAN_WRITE_H

#include "array/file/outfile.h"

#include <locale.h>

/** A file that appears under its name when it is complete.  Decimal points whatever the locale. */
struct fbp_writer {
    FILE *f;          /**< that of `out` */
    const char *path; /**< as given */
    struct fbp_outfile out;
    locale_t c_locale, old_locale;
    bool object;     /**< an object of JSON */
    bool any;        /**< a key was written */
    bool not_finite; /**< a number that JSON cannot hold was asked for */
};

/** Plain text; and a JSON object. */
fbp_status fbp_writer_open(struct fbp_writer *w, const char *path);
fbp_status fbp_writer_open_json(struct fbp_writer *w, const char *path);

/** Finish the object and publish the file if st is FBP_OK, else remove it; returns the outcome. */
fbp_status fbp_writer_close(struct fbp_writer *w, fbp_status st);

/** The same, but the file stays without its name: `settled` is to be published and cleared. */
fbp_status fbp_writer_settle(struct fbp_writer *w, fbp_status st, struct fbp_outfile *settled);

void fbp_put_key(struct fbp_writer *w, const char *key);
void fbp_put_text(struct fbp_writer *w, const char *text);
void fbp_put_number(struct fbp_writer *w, double x);
/** "[a, b, c]". */
void fbp_put_numbers(struct fbp_writer *w, const double *v, size_t n);
/** v[i] * scale: a single number, or a list over several lines. */
void fbp_put_list(struct fbp_writer *w, const double *v, size_t n, double scale);

#endif /* FBP_SRC_SCAN_WRITE_H */
