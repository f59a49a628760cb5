/** @file importers.h  Importers and exporters of other programs' geometries and scans: their
 * interface, their table entries, and what several of them share (internal).
 *
 * scan/geometry_file.c finds the format of a file and calls load() or save().  An importer turns a
 * file into canonical views (s, d, u, v), in mm.  If a file does not hold the panel, the pitch or
 * the number of views, struct fbp_geometry_known has them, or an error says how to give them.
 */
#ifndef FBP_SRC_SCAN_FORMAT_IMPORTERS_H
#define FBP_SRC_SCAN_FORMAT_IMPORTERS_H

#include "fbp/geometry_file.h"

#include "geometry/kind.h"
#include "scan/file/scan.h"

/** A kind as a bit, and the kinds of line integrals. */
#define FBP_KIND_BIT(kind) (1u << (kind))
#define FBP_KINDS_OF_LINES (FBP_KIND_BIT(FBP_CONE) | FBP_KIND_BIT(FBP_PARALLEL))

struct fbp_geometry_format {
    const char *name, *about, *extensions;
    bool by_name_only;    /**< true: neither content nor extension identifies the format */
    bool file_a_view;     /**< true: the path may be a pattern, one file per view (array/stack.h) */
    const char *words[5]; /**< Words, one of which is in the first 4096 bytes of all files of this
                               format and of no other; none: detect() or probe() decides. */
    /** Does the file (the first file of a pattern) begin as files of this format do?  head: its
     *  first n bytes (at most 4096; 0 of a folder).  NULL: the format is known by its name alone.
     */
    bool (*detect)(const char *path, const unsigned char *head, size_t n);
    /** Called if the head does not decide: sets *is if this file, or folder (n is 0), has the
     * format. An error if that cannot be found out; damaged files are no errors here.  NULL: never.
     */
    fbp_status (*probe)(const char *path, const unsigned char *head, size_t n, bool *is);
    /** Load a whole scan into *out, which is zero; the caller clears it after a failure.  NULL: the
     *  format is not read. */
    fbp_status (*load)(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known);
    /** Write under a temporary name, then rename.  NULL: the format is not written. */
    fbp_status (*save)(const struct fbp_scan *scan, const char *path);
    unsigned saves; /**< Bits of the kinds that save() accepts; others are refused before. */
    const char *instead[FBP_MOST_KINDS]; /**< Message for a refused kind; NULL: a general one. */
};

extern const struct fbp_geometry_format fbp_geometry_matrices, fbp_geometry_rabbitct,
    fbp_geometry_rtk, fbp_geometry_astra, fbp_geometry_astra_cone, fbp_geometry_astra_parallel,
    fbp_geometry_leap, fbp_geometry_plastimatch, fbp_geometry_tigre, fbp_geometry_ctsimu,
    fbp_geometry_nikon, fbp_geometry_bruker, fbp_geometry_bes3t, fbp_geometry_hdf5,
    fbp_geometry_helsinki, fbp_geometry_eprit;

/* Facts that a file may leave open (importers.c). */

/** The panel that is known, or an error that says how to give it. */
fbp_status fbp_geometry_need_panel(const char *path, const struct fbp_geometry_known *known,
                                   struct fbp_panel *out);

/** The pitch that is known, or an error that says how to give it. */
fbp_status fbp_geometry_need_pitch(const char *path, const struct fbp_geometry_known *known,
                                   double out[2]);

/** Allocate n views in out; an error if n is 0 or not the known number. */
fbp_status fbp_geometry_make_views(struct fbp_scan *out, const char *path,
                                   const struct fbp_geometry_known *known, size_t n);

/** Pixel (c, r) + (0.5, 0.5) becomes (c, r) in a 3x4 matrix: pixel centres at whole numbers. */
void fbp_matrix_from_corner(double P[12]);

/** Refuse view k if its pitch is not that of view 0, or if rows and columns are not at right
 * angles; program: the one that cannot hold it, for the message. */
fbp_status fbp_geometry_check_square(const struct fbp_scan *scan, const char *path, size_t k,
                                     const char *program);

/** Views whose panel stands upright: its normal is horizontal.  Programs that store a few
 * parameters for a whole scan can hold these.
 *
 * At angle alpha, e = (sin a, -cos a, 0) points towards the source, t = (cos a, sin a, 0) along the
 * rows:  s = sod e - tau t + height z,
 *        d = (sod - sdd) e - tau t + height z + shift[0] u' + shift[1] v',
 *        u' = cos(tilt) t + sin(tilt) z, v' = -sin(tilt) t + cos(tilt) z, u = pitch[0] u', ...
 * Parallel: s = e, and d without sod, sdd, tau, height.
 */
struct fbp_upright {
    double alpha_rad, sod, sdd, tau, height, tilt_rad, shift[2], pitch[2];
};

void fbp_upright_view(const struct fbp_upright *p, enum fbp_kind kind, struct fbp_view *out);

/** The parameters of a view; false if its panel is not upright (to 1e-13 of its size).  For a
 *  parallel beam, the part of d along the rays is left out. */
bool fbp_upright_of(const struct fbp_view *view, enum fbp_kind kind, struct fbp_upright *out);

/** True if a and b agree to 1e-13 of `size`: one value of one geometry. */
bool fbp_is_close(double a, double b, double size);

/** True if all but angle and height agree. */
bool fbp_upright_same(const struct fbp_upright *a, const struct fbp_upright *b);

/** The same angle [rad], as near to `before` as full turns allow. */
double fbp_near_angle(double angle, double before);

/** Text files of [sections] and key=value lines, as scanners write them (ini.c).
 *
 * Keys and sections are compared without regard to case.  If a key occurs twice, the first one
 * counts.  Other lines are skipped.
 */
struct fbp_ini {
    const char *path; /**< for messages; not copied */
    char *text;
    struct fbp_ini_item {
        const char *section, *key, *value; /**< trimmed; value may be empty */
    } * items;
    size_t n;
};

/** Value of a key; NULL if it is absent or empty. */
const char *fbp_ini_text(const struct fbp_ini *ini, const char *section, const char *key);

/** A finite number; *out does not change if the key is absent.  Any other text is an error. */
fbp_status fbp_ini_number(const struct fbp_ini *ini, const char *section, const char *key,
                          double *out);

/** A number above 0; a missing key is an error. */
fbp_status fbp_ini_positive(const struct fbp_ini *ini, const char *section, const char *key,
                            double *out);

/** A whole number from 1 to 1e6; a missing key is an error. */
fbp_status fbp_ini_count(const struct fbp_ini *ini, const char *section, const char *key,
                         size_t *out);

/** Columns and rows by their keys; if one is missing, the known ones, or those of the first
 *  projection.  projections: a pattern or NULL. */
fbp_status fbp_ini_panel(const struct fbp_ini *ini, const char *section, const char *columns,
                         const char *rows, const char *projections,
                         const struct fbp_geometry_known *known, struct fbp_panel *out);

/** A key that changes a result and is not applied. */
struct fbp_ini_ignored {
    const char *section, *key; /**< blanks, '-' and '_' in the key do not count */
    double neutral;            /**< number that changes nothing */
    const char *neutral_text;  /**< beginning of the text that changes nothing; NULL: a number */
    const char *remedy;
};

/** Add a note to the scan for each key of the table that has another value. */
fbp_status fbp_ini_note_ignored(const struct fbp_ini *ini, const struct fbp_ini_ignored *table,
                                size_t n, struct fbp_scan *out);

/** Read a file of sections and keys and pass it to `take`. */
fbp_status fbp_ini_load_scan(struct fbp_scan *out, const char *path,
                             const struct fbp_geometry_known *known,
                             fbp_status (*take)(struct fbp_scan *out, const struct fbp_ini *ini,
                                                const struct fbp_geometry_known *known));

/** RTK's nine parameters of a projection (rtk.c).
 *
 * RTK's axis of rotation is y; (x, y, z) here is (x, -z, y) of RTK.  Axes of a panel, the rows of
 * R = Rz(-in_plane) Rx(-out_of_plane) Ry(-gantry), are its u, its v and the normal towards the
 * source.  In them the source is at (source, sid), and the point (U, V) of the projection's image
 * at (projection + (U, V), sid - sdd). RTK, documentation/docs/Geometry.md,
 * src/rtkThreeDCircularProjectionGeometry.cxx.
 */
struct fbp_rtk {
    double gantry_rad, out_of_plane_rad, in_plane_rad;
    double sid_mm;                         /**< source to iso-centre, along the panel's normal */
    double sdd_mm;                         /**< source to panel, along its normal; 0: parallel */
    double source_mm[2], projection_mm[2]; /**< offsets along u, v */
};

/** The view: a panel of this pitch [mm] whose centre is the point `centre` of the image [mm]. */
void fbp_rtk_view(const struct fbp_rtk *p, const double pitch[2], const double centre[2],
                  struct fbp_view *out);

/** The parameters of a view whose panel's centre is the point (0, 0) of the image.  u, v and, for a
 *  parallel beam, s must be orthogonal, u x v on the source's side. */
void fbp_rtk_of(const struct fbp_view *view, enum fbp_kind kind, struct fbp_rtk *out);

/** RTK's matrix: (U, V, 1) w = M (x, y, z, 1) in RTK's axes, w -sid at the iso-centre (parallel:
 *  1), row by row. */
void fbp_rtk_matrix(const struct fbp_rtk *p, double M[12]);

#endif /* FBP_SRC_SCAN_FORMAT_IMPORTERS_H */
