/** @file kind.h  A kind of geometry is a table, one file a kind (internal; double, pure).
 *
 * Nobody else asks which kind a scan is of: who has to know something about it takes a fact or a
 * function from the kind's table.  So no line says "cone, or else parallel", which would take a
 * third kind for one of the two.
 *
 * A new kind is a value of enum fbp_kind, a file src/geometry/kind_NAME.c with its table, and a
 * line in kind.c.  Kinds of line integrals share the functions at the end of this page.
 * What other folders do with a kind hangs on what it integrates over: `integral` is the index of
 * their tables (weight/weight.c, filter/design.c, phantom/simulate.c), in which kinds that they do
 * not know are missing and refused.  A format of another program's geometries says which kinds it
 * can hold (scan/geometry_file.h).
 */
#ifndef FBP_SRC_GEOMETRY_KIND_H
#define FBP_SRC_GEOMETRY_KIND_H

#include "fbp/geometry.h"

#include "geometry/facts.h"

/** What a sample of a view is the integral over. */
enum fbp_integral { FBP_OVER_LINES = 0, FBP_OVER_PLANES, FBP_N_INTEGRALS };

struct fbp_kind_table {
    const char *name;    /**< "cone", as in scan files */
    const char *refused; /**< why no call takes it, a clause for messages; NULL: it is supported.
                              Of a kind that is refused no function below is called */
    enum fbp_integral integral;
    bool has_source;   /**< rays meet in a source, s; otherwise s is the direction towards it, views
                            half a turn apart see the same rays, and distances have no meaning */
    bool row_is_frame; /**< a row is no place but a frame: the same measurement again, later.  Each
                            frame is a volume of its own, from these rows of all views */

    /** Of one view. */
    fbp_status (*check_view)(const struct fbp_view *view, size_t k);
    bool (*matrix)(const struct fbp_view *view, const struct fbp_panel *panel, double P[12]);

    /** Of one view of line integrals; other kinds leave these out. */
    /** Angle of the ray through `pixel` [mm] about the iso ray, seen along the axis; positive along
     *  +t.  With the source at angle phi, the same line is measured again from phi + pi - 2 gamma
     *  under -gamma. */
    double (*gamma)(const struct fbp_view *view, const struct fbp_frame *f, const double pixel[3]);
    /** Signed distance of that ray from the axis, seen along the axis [mm]; positive along +t. */
    double (*distance)(const struct fbp_view *view, const struct fbp_frame *f,
                       const double pixel[3]);
    /** Distances and magnification of a view whose matrix is P. */
    void (*distances)(const struct fbp_view *view, const double P[12], struct fbp_view_facts *out);
    /** How high the source stands along the axis: mm, or the sine of its elevation. */
    double (*height)(const struct fbp_view *view, const double axis[3]);
    /** Distance of columns at the iso-centre [mm]. */
    double (*pitch)(const struct fbp_view *view, const double P[12]);

    /** Of all views: fbp_views_facts(), _rows(), fbp_grid_default().  kind: this table, so that
     *  what is called from here does not look for it. */
    fbp_status (*facts)(const struct fbp_kind_table *kind, const struct fbp_views *views,
                        const struct fbp_grid *grid, struct fbp_geometry_facts *out);
    void (*rows)(const struct fbp_kind_table *kind, const struct fbp_views *views, size_t k0,
                 size_t k1, const struct fbp_grid *grid, size_t z0, size_t z1, size_t *r0,
                 size_t *r1);
    void (*grid)(const struct fbp_kind_table *kind, const struct fbp_views *views,
                 struct fbp_grid *out);
};

/** Room for so many kinds; values of enum fbp_kind are below. */
enum { FBP_MOST_KINDS = 8 };

extern const struct fbp_kind_table fbp_kind_cone, fbp_kind_parallel, fbp_kind_planes;

/** The kind's table; of an unknown kind one that is refused, never NULL. */
const struct fbp_kind_table *fbp_kind_of(enum fbp_kind kind);

/** A kind that every call takes?  FBP_ERR_INVALID for a number that is no kind, else
 *  FBP_ERR_UNSUPPORTED with the kind's name.  where: the beginning of the message. */
fbp_status fbp_check_kind(const char *where, enum fbp_kind kind);

/** The same of a name; one that is not known is no error here. */
fbp_status fbp_check_kind_name(const char *where, const char *name);

/** As fbp_check_kind(), and FBP_ERR_UNSUPPORTED where it has no line integrals, which `where`
 * needs. */
fbp_status fbp_check_lines(const char *where, enum fbp_kind kind);

/** As fbp_views_facts(), of a struct of the library's own. */
fbp_status fbp_facts_of(struct fbp_views views, const struct fbp_grid *grid,
                        struct fbp_geometry_facts *out);

/** The matrix of fbp_view_to_matrix(); false, without a message, if there is none. */
bool fbp_view_matrix(const struct fbp_view *view, enum fbp_kind kind, const struct fbp_panel *panel,
                     double P[12]);

/** Volumes that views of this panel are of: its rows where each is a frame, else 1. */
size_t fbp_kind_frames(enum fbp_kind kind, const struct fbp_panel *panel);

/** Unit of a volume's values: "1/mm", "1/cm^3"; and how many of them 1/mm or 1/mm^3 is. */
const char *fbp_value_unit(enum fbp_kind kind, enum fbp_unit unit);
double fbp_value_scale(enum fbp_kind kind, enum fbp_unit unit);

/** Kinds that are supported, in the order of their numbers; names may be NULL.  How many. */
size_t fbp_kinds(enum fbp_kind kinds[FBP_MOST_KINDS], const char *names[FBP_MOST_KINDS]);

/** Take `table` for `kind` from now on; NULL: what it was.  For tests; before any other call. */
void fbp_kind_plug_in(enum fbp_kind kind, const struct fbp_kind_table *table);

/** A view whose values are finite; k: its index, for messages. */
fbp_status fbp_check_view(const struct fbp_kind_table *kind, const struct fbp_view *view, size_t k);

/** Unit vectors of plane integrals' views; *out: [n], to be freed, also after an error. */
fbp_status fbp_planes_directions(const struct fbp_view *views, size_t n, double (**out)[3]);

/** Are there views, and pixels? */
fbp_status fbp_check_views(const struct fbp_views *views);

/** What kinds of line integrals share. */
fbp_status fbp_line_facts(const struct fbp_kind_table *kind, const struct fbp_views *views,
                          const struct fbp_grid *grid, struct fbp_geometry_facts *out);
void fbp_line_rows(const struct fbp_kind_table *kind, const struct fbp_views *views, size_t k0,
                   size_t k1, const struct fbp_grid *grid, size_t z0, size_t z1, size_t *r0,
                   size_t *r1);
void fbp_line_grid(const struct fbp_kind_table *kind, const struct fbp_views *views,
                   struct fbp_grid *out);

#endif /* FBP_SRC_GEOMETRY_KIND_H */
