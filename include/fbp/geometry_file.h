/** @file geometry_file.h  Geometry files of other programs. */
#ifndef FBP_GEOMETRY_FILE_H
#define FBP_GEOMETRY_FILE_H

#include "fbp/scan.h"

FBP_BEGIN

/** Facts that a geometry file may not contain.  0: not known; the file must contain it.  If both
 * have a fact, they must agree. */
struct fbp_geometry_known {
    size_t struct_size;
    struct fbp_panel panel; /**< size of the projections */
    double pitch_mm[2];     /**< distance between pixels, along u and v */
    size_t n_views;
    bool corner; /**< 3x4 matrices: (0, 0) is the corner of the first pixel, not its centre */
    /** From the header of the projections, 0 if it has none.  Used for RTK files if pitch_mm is 0.
     */
    double header_spacing_mm[2], header_origin_mm[2];
    const struct fbp_preparation *preparation; /**< for plane integrals (struct fbp_scan_known) */
};

/** A format of geometry files. */
struct fbp_geometry_format_info {
    size_t struct_size;
    bool reads, writes;
    bool by_name_only;      /**< cannot be recognized by content: `format` must name it */
    const char *name;       /**< "rtk", as in options and messages */
    const char *about;      /**< a description of half a line */
    const char *extensions; /**< ".xml": names of files that are written; several are separated by
                                 blanks */
};

/** Fill out[n] with the formats, as many as fit.  out[0].struct_size is the size of each.  Returns
 * the number of formats; 0, with a message, if that size is wrong. */
FBP_API size_t fbp_geometry_formats(struct fbp_geometry_format_info *out, size_t n);

/**
 * Read the geometry of a scan.
 *
 * out     kind, n_views, views, panel; and, if the file has them, volume, row order, projections,
 *         darks and flats
 * format  name of the format; NULL: recognized by content, then by name
 * known   may be NULL
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (names file, place and remedy), FBP_ERR_UNSUPPORTED
 *         (no such format, or it cannot be read), NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_geometry_load(struct fbp_scan *out, const char *path,
                                                    const char *format,
                                                    const struct fbp_geometry_known *known);

/**
 * Write the geometry of a scan: everything that the format can hold.
 *
 * format  name of the format; NULL: from the name of the file
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_UNSUPPORTED (no such format, or it cannot hold this geometry;
 *         the message says why), FBP_ERR_INVALID, NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_geometry_save(const struct fbp_scan *scan, const char *path,
                                                    const char *format);

FBP_END

#endif /* FBP_GEOMETRY_FILE_H */
