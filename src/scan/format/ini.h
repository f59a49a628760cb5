/** @file ini.h  Files of [sections] and key=value lines, as scanners write them (internal).
 *
 * Keys and sections are compared without regard to case.  Where a key is there twice, the first one
 * counts.  Lines that are neither are skipped: vendors add what they like.
 */
#ifndef FBP_SRC_INI_H
#define FBP_SRC_INI_H

#include "base/base.h"

struct fbp_ini {
    const char *path; /**< for messages; not copied */
    char *text;
    struct fbp_ini_item {
        const char *section, *key, *value; /**< trimmed; value may be empty */
    } * items;
    size_t n;
};

/** @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (too large, zero bytes), NOMEM.  Clear it in any
 * case. */
fbp_status fbp_ini_load(struct fbp_ini *out, const char *path);
void fbp_ini_clear(struct fbp_ini *ini);

/** Value of a key; NULL if it is not there or empty. */
const char *fbp_ini_text(const struct fbp_ini *ini, const char *section, const char *key);

/** A finite number; *out stays as it is if the key is not there.  Something else is an error. */
fbp_status fbp_ini_number(const struct fbp_ini *ini, const char *section, const char *key,
                          double *out);

/** A number above 0 that must be there. */
fbp_status fbp_ini_positive(const struct fbp_ini *ini, const char *section, const char *key,
                            double *out);

/** A whole number from 1 to 1e6 that must be there. */
fbp_status fbp_ini_count(const struct fbp_ini *ini, const char *section, const char *key,
                         size_t *out);

/** Columns and rows by their keys; where one is missing, those that are known, or of the first of
 * the projections, a pattern or NULL. */
struct fbp_geometry_known;
struct fbp_panel;
fbp_status fbp_ini_panel(const struct fbp_ini *ini, const char *section, const char *columns,
                         const char *rows, const char *projections,
                         const struct fbp_geometry_known *known, struct fbp_panel *out);

/** A key that changes a result and is not applied. */
struct fbp_ini_ignored {
    const char *section, *key; /**< blanks and '-' in the key do not count */
    double neutral;            /**< the value that changes nothing, or */
    const char *neutral_text;  /**< how it begins; NULL: a number */
    const char *remedy;
};

/** A note in the scan for each key of the table that has another value, or several of these. */
struct fbp_scan;
fbp_status fbp_ini_note_ignored(const struct fbp_ini *ini, const struct fbp_ini_ignored *table,
                                size_t n, struct fbp_scan *out);

/** A file of sections and keys read and handed to `take`. */
fbp_status fbp_ini_load_scan(struct fbp_scan *out, const char *path,
                             const struct fbp_geometry_known *known,
                             fbp_status (*take)(struct fbp_scan *out, const struct fbp_ini *ini,
                                                const struct fbp_geometry_known *known));

#endif /* FBP_SRC_INI_H */
