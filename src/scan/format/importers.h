/** @file importers.h  Importers and exporters of other programs' geometries and scans: their
 * interface, their table entries, and functions that several of them share (internal).
 * scan/geometry_file.c finds the format of a file and calls load() or save(). An importer converts
 * a file to canonical views (s, d, u, v), in mm. If a file does not contain the panel, the pitch or
 * the number of views, the importer takes them from struct fbp_geometry_known, or fails with a
 * message that names the option.
 * Used by: cli/, pipeline/, scan/, scan/format/. */
#ifndef FBP_SRC_SCAN_FORMAT_IMPORTERS_H
#define FBP_SRC_SCAN_FORMAT_IMPORTERS_H

#include "fbp/geometry_file.h"

#include "array/format/ini.h"
#include "geometry/kind.h"
#include "scan/file/scan.h"

/** A kind of scan (enum fbp_kind) as a bit, and the bits of all kinds with line integrals. */
#define FBP_KIND_BIT(kind) (1u << (kind))
#define FBP_KINDS_OF_LINES (FBP_KIND_BIT(FBP_CONE) | FBP_KIND_BIT(FBP_PARALLEL))

struct fbp_geometry_format {
    const char *name, *about, *extensions;
    /** True: neither content nor extension identifies the format; the user must name it. */
    bool by_name_only;
    enum fbp_kind kind; /**< kind of the views before load(), which may set another kind */
    bool file_a_view;   /**< true: the path may be a pattern, one file per view (array/names.h) */
    /** Words that identify the format: its files, and no other files, contain one of them in their
     * first 4096 bytes.  No words: detect(), probe() or the name identifies the format. */
    const char *words[5];
    /** Function that returns true if the file, or the first file of a pattern, begins as files of
     * this format do or, in formats without fixed first bytes, has their extension.  head: first n
     * bytes of the file (at most 4096; 0 for a folder).  NULL: `words`, probe() or the name
     * identifies the format. */
    bool (*detect)(const char *path, const unsigned char *head, size_t n);
    /** Function that is called if neither `words` nor detect() identified the format: sets *is if
     * the file, or the folder (n is 0), has the format.  Fails only if the format cannot be
     * determined, not if the file is damaged.  NULL: not needed. */
    fbp_status (*probe)(const char *path, const unsigned char *head, size_t n, bool *is);
    /** Function that loads a whole scan into *out, which is zeroed; after a failure the caller
     * clears it.  NULL: the format cannot be read. */
    fbp_status (*load)(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known);
    /** Function that writes a file under a temporary name, then renames it.  NULL: the format
     * cannot be written. */
    fbp_status (*save)(const struct fbp_scan *scan, const char *path);
    unsigned saves; /**< bits of the kinds that save() supports; others are refused */
    const char *instead[FBP_N_KINDS]; /**< message for a refused kind; NULL: a general message */
};

extern const struct fbp_geometry_format fbp_geometry_matrices, fbp_geometry_rabbitct,
    fbp_geometry_rtk, fbp_geometry_astra, fbp_geometry_astra_cone, fbp_geometry_astra_parallel,
    fbp_geometry_leap, fbp_geometry_plastimatch, fbp_geometry_tigre, fbp_geometry_ctsimu,
    fbp_geometry_nikon, fbp_geometry_bruker, fbp_geometry_bes3t, fbp_geometry_hdf5,
    fbp_geometry_helsinki, fbp_geometry_eprit, fbp_geometry_linac, fbp_geometry_txrm,
    fbp_geometry_pca, fbp_geometry_openct;

/* importers.c: facts that a file may not contain */

/** Get the panel from the caller's `known`; if it is missing there, fail with a message that names
 * the option for the panel. */
fbp_status fbp_geometry_need_panel(const char *path, const struct fbp_geometry_known *known,
                                   struct fbp_panel *out);

/** Get the pitch from the caller's `known`; if it is missing there, fail with a message that names
 * the option for the pitch. */
fbp_status fbp_geometry_need_pitch(const char *path, const struct fbp_geometry_known *known,
                                   double out[2]);

/** Allocate n views in the scan `out`; fails if n is 0, or differs from the known number. */
fbp_status fbp_geometry_make_views(struct fbp_scan *out, const char *path,
                                   const struct fbp_geometry_known *known, size_t n);

/** Change a 3x4 matrix from pixel corners at integers, (c, r) + (0.5, 0.5), to pixel centres at
 *  integers, (c, r). */
void fbp_matrix_from_corner(double P[12]);

/** Refuse view k if files of `program` cannot store it: its pitch differs from that of view 0, or
 * its rows and columns are not orthogonal. */
fbp_status fbp_geometry_check_square(const struct fbp_scan *scan, const char *path, size_t k,
                                     const char *program);

/**
 * Parameters of a view whose panel is upright: its normal is horizontal. Programs that store a few
 * parameters for a whole scan can represent such views.
 *
 * At angle a (alpha_rad), e = (sin a, -cos a, 0) points towards the source, t = (cos a, sin a, 0)
 * along the rows:
 *     s = sod e - tau t + height z
 *     d = (sod - sdd) e - tau t + height z + shift[0] u' + shift[1] v'
 *     u' = cos(tilt) t + sin(tilt) z, v' = -sin(tilt) t + cos(tilt) z, u = pitch[0] u', ...
 * Parallel beam: s = e, and d without sod, sdd, tau, height.
 */
struct fbp_upright {
    double alpha_rad, sod, sdd, tau, height, tilt_rad, shift[2], pitch[2];
};

void fbp_upright_view(const struct fbp_upright *p, enum fbp_kind kind, struct fbp_view *out);

/** Get the parameters of a view; false if the panel's normal is not horizontal (to 1e-13 of its
 * size). For a parallel beam, the component of d along the rays is ignored. */
bool fbp_upright_of(const struct fbp_view *view, enum fbp_kind kind, struct fbp_upright *out);

/** True if a and b agree to 1e-13 of `size`. */
bool fbp_is_close(double a, double b, double size);

/** True if the parameters of two views agree, except angle and height. */
bool fbp_upright_same(const struct fbp_upright *a, const struct fbp_upright *b);

/** Add to an angle the number of full turns that brings it nearest to `before` [rad]. */
double fbp_near_angle(double angle, double before);

/* importers.c: panel and ignored keys of text files with [sections] (array/format/ini.h) */

/** Get columns and rows of the panel from their keys; if a key is missing, from `known`, or from
 * the first projection. projections: a pattern of files, or NULL. */
fbp_status fbp_ini_panel(const struct fbp_ini *ini, const char *section, const char *columns,
                         const char *rows, const char *projections,
                         const struct fbp_geometry_known *known, struct fbp_panel *out);

/** A key that affects the result and that the importer does not apply. */
struct fbp_ini_ignored {
    /** Section and name of the key; blanks, "-" and "_" in names are ignored in comparisons. */
    const char *section, *key;
    double neutral; /**< numeric value that has no effect */
    /** Beginning of values that have no effect, such as "OFF"; NULL: the value is a number. */
    const char *neutral_text;
    const char *remedy;
};

/** Add a note to the scan for each key of the table whose value has an effect. */
fbp_status fbp_ini_note_ignored(const struct fbp_ini *ini, const struct fbp_ini_ignored *table,
                                size_t n, struct fbp_scan *out);

/** xml.c: an XML file; the importer sets path and functions, fbp_xml_read() sets the rest. */
struct fbp_xml {
    const char *path; /**< for messages; not copied */
    /** Called for the root element with its attributes (name, value, ..., NULL). NULL: not called.
     */
    fbp_status (*root)(struct fbp_xml *xml, const char *name, const char **attributes);
    /** Called at the end of each element; the first failure ends the reading. */
    fbp_status (*element)(struct fbp_xml *xml, const char *name);
    size_t line;     /**< line of the element's end, from 1 */
    char text[4097]; /**< text of the element after its last child; "?..." if it is too long */
};

/** Read the XML file xml->path.  what: plural noun for the message of a build without expat. */
fbp_status fbp_xml_read(struct fbp_xml *xml, const char *what);

/** Get n numbers from xml->text, which must contain nothing else. */
fbp_status fbp_xml_numbers(const struct fbp_xml *xml, const char *name, double *out, size_t n);

/**
 * rtk.c: RTK's nine parameters of a projection.
 *
 * RTK's axis of rotation is y; (x, y, z) of RTK is (x, -z, y) of fbp. The rows of R = Rz(-in_plane)
 * Rx(-out_of_plane) Ry(-gantry) are the panel's axes: u, v, and the normal towards the source. In
 * these axes the source is at (source, sid), and the point (U, V) of the projection's image at
 * (projection + (U, V), sid - sdd). Reference: RTK, documentation/docs/Geometry.md,
 * src/rtkThreeDCircularProjectionGeometry.cxx.
 */
struct fbp_rtk {
    double gantry_rad, out_of_plane_rad, in_plane_rad;
    double sid_mm; /**< distance from source to iso-centre along the panel's normal [mm] */
    double sdd_mm; /**< distance from source to panel along its normal [mm]; 0: parallel */
    double source_mm[2], projection_mm[2]; /**< offsets along u, v [mm] */
};

/** Compute a view from RTK's parameters: the panel has this pitch [mm], and its centre is the point
 * `centre` of the projection image [mm]. */
void fbp_rtk_view(const struct fbp_rtk *p, const double pitch[2], const double centre[2],
                  struct fbp_view *out);

/** Compute RTK's parameters of a view whose panel is centred at the point (0, 0) of the projection
 * image. u, v and, for a parallel beam, s must be orthogonal, with u x v towards the source. */
void fbp_rtk_of(const struct fbp_view *view, enum fbp_kind kind, struct fbp_rtk *out);

/** Compute RTK's matrix, row by row: (U, V, 1) w = M (x, y, z, 1) in RTK's axes; w is -sid at the
 *  iso-centre (parallel: 1). */
void fbp_rtk_matrix(const struct fbp_rtk *p, double M[12]);

/**
 * Open a sink that writes the plane integrals of a scan to one MAT file, the format of EPR
 * laboratories (prj.mat): arrays P [samples x frames x views], B [samples] in MHz, G [views x 3] in
 * G/cm, the unit of B, and the scan's volume.  Slices of the sink are views.  fbp_scan_load() reads
 * the views from such a file, to the last digits of a double, and nothing else of the scan.
 *
 * scan      kind, n_views, panel, views and volume are used, only in this call
 * gradient  gradient of the first view [G/cm]; gradients of other views are inversely proportional
 *           to their distances of samples
 * params    type FBP_F32 or FBP_F64; NULL: as for fbp_sink_open()
 * @return as fbp_sink_open(); FBP_ERR_INVALID if the samples take 2 GiB or more, or if a file of
 *         another program has this name; FBP_ERR_UNSUPPORTED for line integrals, and if position 0
 *         is not the same sample in all views.
 */
fbp_status fbp_scan_sink_prj(fbp_sink **out, const char *path, const struct fbp_scan *scan,
                             double gradient, const struct fbp_sink_params *params);

#endif /* FBP_SRC_SCAN_FORMAT_IMPORTERS_H */
