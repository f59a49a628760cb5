/** @file bes3t.h  Descriptions of measurements by Bruker's EPR spectrometers, BES3T: the text file
 * .DSC (internal; bes3t.c). The layers #DESC and #SPL have lines "KEY value"; the layer #DSL has
 * parts ".DVC name, version" with lines "Key value unit". Samples are in the file .DTA beside the
 * description. Source: Bruker, Xepr User's Manual, "The BES3T format".
 * Used by: bes3t.c, scan/format/bes3t.c. */
#ifndef FBP_SRC_ARRAY_FORMAT_BES3T_H
#define FBP_SRC_ARRAY_FORMAT_BES3T_H

#include "array/format/ini.h"
#include "fbp/array.h"

/** Size and type of the samples in a .DTA file, from its .DSC description. */
struct fbp_bes3t_samples {
    size_t n[3]; /**< XPTS, YPTS, ZPTS; 1 if missing */
    enum fbp_type type;
    bool big_endian, complex; /**< complex: real and imaginary parts alternate */
};

/** Whether a file begins like a .DSC description. */
bool fbp_bes3t_detect(const char *path, const unsigned char *head, size_t n);

/** Load the .DSC description d->path; the caller sets the other members of *d to 0, and calls
 * fbp_ini_clear(), also after an error. Sections are the layers "DESC" and "SPL", and the devices
 * (.DVC) in the layer #DSL; values have no quotes. @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (too
 * large, contains a character 0, or is not a description), FBP_ERR_NOMEM */
fbp_status fbp_bes3t_load(struct fbp_ini *d);

fbp_status fbp_bes3t_samples(const struct fbp_ini *d, struct fbp_bes3t_samples *out);

/** Read the positions of the samples of a row, if their steps are unequal (XTYP IGD), from the file
 * .XGF beside the .DSC description to out[s->n[0]]. *path: name of the .XGF file, malloc'ed, also
 * after an error. */
fbp_status fbp_bes3t_positions(const struct fbp_ini *d, const struct fbp_bes3t_samples *s,
                               char **path, double *out);

#endif /* FBP_SRC_ARRAY_FORMAT_BES3T_H */
