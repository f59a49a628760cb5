/** @file ini.h  Text files of [sections] and key=value lines, which scanners write (internal;
 * ini.c). Keys and sections are case-insensitive. If a key occurs twice, the first value is used.
 * Other lines are skipped. Used by: array/format/, scan/format/. */
#ifndef FBP_SRC_ARRAY_FORMAT_INI_H
#define FBP_SRC_ARRAY_FORMAT_INI_H

#include "base/base.h"

struct fbp_ini {
    const char *path; /**< for messages; not copied */
    char *text;       /**< contents of the file, to which the items point */
    struct fbp_ini_item {
        const char *section, *key, *value; /**< trimmed; value may be empty */
    } * items;
    size_t n;
};

/** Read the INI file ini->path; the caller sets the other members of *ini to 0, and calls
 * fbp_ini_clear(), also after a failure. */
fbp_status fbp_ini_load(struct fbp_ini *ini);
void fbp_ini_clear(struct fbp_ini *ini);

/** Remove blanks and carriage returns at both ends of a text; returns its beginning. */
char *fbp_ini_trim(char *text);

/** Get the value of a key; NULL if the key is absent or its value empty. */
const char *fbp_ini_text(const struct fbp_ini *ini, const char *section, const char *key);

/** Get a finite number; *out is unchanged if the key is absent. A text that is no number is an
 * error. */
fbp_status fbp_ini_number(const struct fbp_ini *ini, const char *section, const char *key,
                          double *out);

/** Fail with the message that a key is missing. */
fbp_status fbp_ini_missing(const struct fbp_ini *ini, const char *section, const char *key);

/** Get a finite number; it is an error if the key is missing. */
fbp_status fbp_ini_need(const struct fbp_ini *ini, const char *section, const char *key,
                        double *out);

/** Get a number above 0; it is an error if the key is missing. */
fbp_status fbp_ini_positive(const struct fbp_ini *ini, const char *section, const char *key,
                            double *out);

/** Get an integer from 1 to 1e6; it is an error if the key is missing. */
fbp_status fbp_ini_count(const struct fbp_ini *ini, const char *section, const char *key,
                         size_t *out);

#endif /* FBP_SRC_ARRAY_FORMAT_INI_H */
