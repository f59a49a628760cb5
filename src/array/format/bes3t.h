/** @file bes3t.h  Descriptions of measurements by Bruker's EPR spectrometers, BES3T: the text file
 * .DSC (internal; bes3t.c). The layers #DESC and #SPL have lines "KEY value"; the layer #DSL has
 * parts ".DVC name, version" with lines "Key value unit". Samples are in the file .DTA beside the
 * description. Source: Bruker, Xepr User's Manual, "The BES3T format".
 * Used by: bes3t.c, scan/format/bes3t.c. */
#ifndef FBP_SRC_ARRAY_FORMAT_BES3T_H
#define FBP_SRC_ARRAY_FORMAT_BES3T_H

#include "base/base.h"
#include "fbp/array.h"

struct fbp_bes3t {
    const char *path; /**< path of the .DSC file, for messages; not copied */
    char *text;
    struct fbp_bes3t_item {
        /** part: name of the layer, "DESC" or "SPL", or of a device (.DVC) in the layer #DSL */
        const char *part, *key, *value;
    } * items;
    size_t n;
};

/** Size and type of the samples in a .DTA file, from its .DSC description. */
struct fbp_bes3t_samples {
    size_t n[3]; /**< XPTS, YPTS, ZPTS; 1 if missing */
    enum fbp_type type;
    bool big_endian, complex; /**< complex: real and imaginary parts alternate */
};

/** Whether a file begins like a .DSC description. */
bool fbp_bes3t_detect(const char *path, const unsigned char *head, size_t n);

/** Load a .DSC description; the caller calls fbp_bes3t_clear(), also after an error. @return
 * FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (too large, contains a character 0, or is not a description),
 * FBP_ERR_NOMEM */
fbp_status fbp_bes3t_load(struct fbp_bes3t *out, const char *path);
void fbp_bes3t_clear(struct fbp_bes3t *d);

/** Value of a key in one part (struct fbp_bes3t_item) of a .DSC description, without quotes; NULL
 * if the key is missing or its value is empty. */
const char *fbp_bes3t_text(const struct fbp_bes3t *d, const char *part, const char *key);

/** Read a finite number of a .DSC description, and the unit after it (*unit, "" if missing; unit
 * may be NULL). FBP_ERR_INVALID if the key is missing or its value is no number. */
fbp_status fbp_bes3t_number(const struct fbp_bes3t *d, const char *part, const char *key,
                            double *out, const char **unit);

/** Read a whole number from 1 to 1e6 of a .DSC description; a missing key is an error. */
fbp_status fbp_bes3t_count(const struct fbp_bes3t *d, const char *part, const char *key,
                           size_t *out);

/** Fail with FBP_ERR_INVALID and the message that a key is missing in a .DSC description. */
fbp_status fbp_bes3t_missing(const struct fbp_bes3t *d, const char *part, const char *key);

fbp_status fbp_bes3t_samples(const struct fbp_bes3t *d, struct fbp_bes3t_samples *out);

/** Read the positions of the samples of a row, if their steps are unequal (XTYP IGD), from the file
 * .XGF beside the .DSC description to out[s->n[0]]. *path: name of the .XGF file, malloc'ed, also
 * after an error. */
fbp_status fbp_bes3t_positions(const struct fbp_bes3t *d, const struct fbp_bes3t_samples *s,
                               char **path, double *out);

#endif /* FBP_SRC_ARRAY_FORMAT_BES3T_H */
