/** @file geometry_file.h  Geometry in the words of other programs. */
#ifndef FBP_GEOMETRY_FILE_H
#define FBP_GEOMETRY_FILE_H

#include "fbp/scan.h"

FBP_BEGIN

/** What is known beside a geometry file, which may not say it itself.  0: it must.  Where both say
 *  it, they must agree. */
struct fbp_geometry_known {
    size_t struct_size;
    struct fbp_panel panel; /**< pixels of the projections */
    double pitch_mm[2];     /**< of pixels, along u and v */
    size_t n_views;
    bool corner; /**< of 3x4 matrices: (0, 0) is the corner of the first pixel, not its centre */
    /** Of the projections' array, 0 if its header says none: what RTK goes by without pitch_mm. */
    double header_spacing_mm[2], header_origin_mm[2];
};

/** A format of geometry files. */
struct fbp_geometry_format_info {
    size_t struct_size;
    bool reads, writes;
    bool by_name_only;      /**< its files look like others': `format` has to name it */
    const char *name;       /**< "rtk", as options and messages have it */
    const char *about;      /**< half a line */
    const char *extensions; /**< ".xml", what it is known by when it is written; several: blanks */
};

/** All formats into out[n], as many as fit; returns how many there are, 0 with a message if
 *  out[0].struct_size, which is that of all, is wrong. */
FBP_API size_t fbp_geometry_formats(struct fbp_geometry_format_info *out, size_t n);

/**
 * Read the geometry of a scan.
 *
 * out     kind, n_views, views, panel; what else the file says: volume, row order, projections
 *         (NULL if it names none), darks and flats
 * format  name of the format; NULL: by the file's content, then by its name
 * known   may be NULL
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (names file, place and remedy), FBP_ERR_UNSUPPORTED
 *         (no format of that name, or one that is not read), NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_geometry_load(struct fbp_scan *out, const char *path,
                                                    const char *format,
                                                    const struct fbp_geometry_known *known);

/**
 * Write the geometry of a scan, all that the format can hold.
 *
 * format  name of the format; NULL: by the file's name
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_UNSUPPORTED (no such format, or it cannot hold this geometry;
 *         the message says what it cannot), FBP_ERR_INVALID, NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_geometry_save(const struct fbp_scan *scan, const char *path,
                                                    const char *format);

FBP_END

#endif /* FBP_GEOMETRY_FILE_H */
