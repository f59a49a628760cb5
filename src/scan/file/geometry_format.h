/** @file geometry_format.h  What a format of geometry is: how its files are known, read and written
 * (internal).
 *
 * A format turns a file into canonical views (s, d, u, v), in mm, and back.  Where a file does not
 * hold the panel, the pitch or the number of views, struct fbp_geometry_known has them, or an error
 * says how to give them (the functions below).
 */
#ifndef FBP_SRC_GEOMETRY_FORMAT_H
#define FBP_SRC_GEOMETRY_FORMAT_H

#include "fbp/geometry_file.h"

#include "base/base.h"
#include "geometry/kind.h"

/** A kind as a bit, and those of line integrals. */
#define FBP_KIND_BIT(kind) (1u << (kind))
#define FBP_KINDS_OF_LINES (FBP_KIND_BIT(FBP_CONE) | FBP_KIND_BIT(FBP_PARALLEL))

struct fbp_geometry_format {
    const char *name, *about, *extensions;
    bool by_name_only; /**< neither content nor extension says that a file is one of these */
    bool file_a_view;  /**< the path may be a pattern (array/stack.h) */
    /** Does the file (of a pattern: the first one) start like one of ours?  head: its first n bytes
     *  (at most 4096; 0 of a folder).  NULL: known by its name alone. */
    bool (*detect)(const char *path, const unsigned char *head, size_t n);
    /** Where the head does not tell: is this file, or this folder (n is 0), one of ours?  An error
     * if that cannot be found out, which is not to say that it is damaged.  NULL: none is. */
    fbp_status (*look)(const char *path, const unsigned char *head, size_t n, bool *is);
    /** Whole scan in *out, which is zero; on failure the caller clears it.  NULL: not read. */
    fbp_status (*load)(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known);
    /** Under a temporary name, then renamed.  NULL: not written. */
    fbp_status (*save)(const struct fbp_scan *scan, const char *path);
    /** Bits of the kinds that are handed to save(); others are refused before, with a sentence of
     *  the format's own for those that have one. */
    unsigned saves;
    const char *instead[FBP_MOST_KINDS];
};

extern const struct fbp_geometry_format fbp_geometry_matrices, fbp_geometry_rabbitct,
    fbp_geometry_rtk, fbp_geometry_astra, fbp_geometry_astra_cone, fbp_geometry_astra_parallel,
    fbp_geometry_leap, fbp_geometry_plastimatch, fbp_geometry_tigre, fbp_geometry_ctsimu,
    fbp_geometry_nikon, fbp_geometry_bruker, fbp_geometry_bes3t, fbp_geometry_hdf5,
    fbp_geometry_helsinki, fbp_geometry_eprit;

/** The panel that is known, or an error that says how to give it. */
fbp_status fbp_geometry_need_panel(const char *path, const struct fbp_geometry_known *known,
                                   struct fbp_panel *out);

/** The pitch that is known. */
fbp_status fbp_geometry_need_pitch(const char *path, const struct fbp_geometry_known *known,
                                   double out[2]);

/** Room for n views in out; an error if n is 0 or not the known number. */
fbp_status fbp_geometry_make_views(struct fbp_scan *out, const char *path,
                                   const struct fbp_geometry_known *known, size_t n);

#endif /* FBP_SRC_GEOMETRY_FORMAT_H */
