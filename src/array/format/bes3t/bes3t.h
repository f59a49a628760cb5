/** @file bes3t.h  Descriptions of Bruker's spectrometers, BES3T: the text file .DSC (internal).
 *
 * Its layers #DESC and #SPL have lines "KEY value"; its layer #DSL has parts ".DVC name, version"
 * with lines "Key value unit".  Samples lie in the file .DTA beside it.  Source: Bruker, Xepr
 * User's Manual, "The BES3T format".
 */
#ifndef FBP_SRC_BES3T_H
#define FBP_SRC_BES3T_H

#include "fbp/array.h"

#include "base/base.h"

struct fbp_bes3t {
    const char *path; /**< for messages; not copied */
    char *text;
    struct fbp_bes3t_item {
        const char *part, *key, *value; /**< part: "DESC", "SPL", or the device of #DSL */
    } * items;
    size_t n;
};

/** What the description says of the samples. */
struct fbp_bes3t_samples {
    size_t n[3]; /**< XPTS, YPTS, ZPTS; what is not there is 1 */
    enum fbp_type type;
    bool big_endian, complex; /**< complex: real and imaginary parts take turns */
};

/** Does a file start like a description? */
bool fbp_bes3t_detect(const char *path, const unsigned char *head, size_t n);

/** @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (too large, zero bytes, another text), NOMEM.  Clear
 *  it in any case. */
fbp_status fbp_bes3t_load(struct fbp_bes3t *out, const char *path);
void fbp_bes3t_clear(struct fbp_bes3t *d);

/** Value of a key, without quotes; NULL if it is not there or empty. */
const char *fbp_bes3t_text(const struct fbp_bes3t *d, const char *part, const char *key);

/** A finite number, and the unit behind it ("" if there is none); FBP_ERR_INVALID with the key's
 *  name if it is not there or no number.  unit may be NULL. */
fbp_status fbp_bes3t_number(const struct fbp_bes3t *d, const char *part, const char *key,
                            double *out, const char **unit);

/** A whole number from 1 to 1e6 that must be there. */
fbp_status fbp_bes3t_count(const struct fbp_bes3t *d, const char *part, const char *key,
                           size_t *out);

/** "FILE: KEY is missing: …", as FBP_ERR_INVALID. */
fbp_status fbp_bes3t_missing(const struct fbp_bes3t *d, const char *part, const char *key);

fbp_status fbp_bes3t_samples(const struct fbp_bes3t *d, struct fbp_bes3t_samples *out);

/** "a.DSC" to "a.DTA" ("DTA", "dta"), or back, in the case of its letters; malloc'ed, NULL: no
 *  memory. */
char *fbp_bes3t_beside(const char *path, const char *upper, const char *lower);

/** Places of the samples of a row where they have unequal steps (XTYP IGD), from the file .XGF
 *  beside: out[s->n[0]].  *path: that file, malloc'ed, also after an error. */
fbp_status fbp_bes3t_places(const struct fbp_bes3t *d, const struct fbp_bes3t_samples *s,
                            char **path, double *out);

#endif /* FBP_SRC_BES3T_H */
