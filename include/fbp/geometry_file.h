/** @file geometry_file.h  Geometry files of other programs, such as RTK or ASTRA: list of formats,
 * loading, saving. For programs, bindings and the commands `fbp geometry` and `fbp info`.
 */
#ifndef FBP_GEOMETRY_FILE_H
#define FBP_GEOMETRY_FILE_H

#include "fbp/scan.h"

FBP_BEGIN

/** Values that a geometry file may lack, given by the caller. 0: unknown, the file must contain the
 * value. A value that is given here and in the file must be the same in both. */
struct fbp_geometry_known {
    size_t struct_size;
    struct fbp_panel panel; /**< size of the projections */
    double pitch_mm[2];     /**< distance between pixels, along u and v */
    size_t n_views;
    /** For 3x4 matrices.  True: pixel position (0, 0) is the corner of the first pixel; false: its
     * centre. */
    bool corner;
    /** Spacing and origin in the header of the projections [mm]; 0: none.  Used for RTK files if
     *  pitch_mm is 0. */
    double header_spacing_mm[2], header_origin_mm[2];
    /** Plane integrals: preparation steps, as in struct fbp_scan_known; NULL: none. */
    const struct fbp_preparation *preparation;
};

/** A format of geometry files. */
struct fbp_geometry_format_info {
    size_t struct_size;
    bool reads, writes;
    /** True: files of the format are not recognized by content; the caller must name the format. */
    bool by_name_only;
    const char *name;  /**< name of the format in options and messages, such as "rtk" */
    const char *about; /**< description of about 50 characters */
    /** Extensions of written files, separated by blanks, such as ".xml". */
    const char *extensions;
};

/** Fill out[n] with the first n formats; the caller sets out[0].struct_size to the size of one
 * element.  Returns the number of all formats; 0, with a message, if the size of an element is
 * wrong. */
FBP_API size_t fbp_geometry_formats(struct fbp_geometry_format_info *out, size_t n);

/**
 * Load the geometry of a scan.
 *
 * out     kind, n_views, views, panel; and, if the file contains them, volume, row order,
 *         projections, darks and flats
 * format  name of the format; NULL: recognized by content, then by the file's name
 * known   may be NULL
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (names file, position and remedy),
 * FBP_ERR_UNSUPPORTED (no such format, or it cannot be read), FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_geometry_load(struct fbp_scan *out, const char *path,
                                                    const char *format,
                                                    const struct fbp_geometry_known *known);

/**
 * Save the geometry of a scan: everything that the format can hold.
 *
 * format  name of the format; NULL: from the name of the file
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_UNSUPPORTED (no such format, or it cannot hold this geometry;
 *         the message contains the reason), FBP_ERR_INVALID, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_geometry_save(const struct fbp_scan *scan, const char *path,
                                                    const char *format);

FBP_END

#endif /* FBP_GEOMETRY_FILE_H */
