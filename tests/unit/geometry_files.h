/* Geometries to write and read, for the tests of the formats.  Include after cmocka.h. */
#ifndef FBP_TEST_GEOMETRY_FILES_H
#define FBP_TEST_GEOMETRY_FILES_H

#include "fbp/geometry_file.h"
#include "geometry/view.h"
#include "unit/geometry_util.h"
#include "unit/scan_files.h"

/* What a geometry is beside a circle. */
enum { OFFSET = 1, SHORT = 2, TILTED = 4, WOBBLING = 8, SKEWED = 16, BACKWARDS = 32 };

static const double PITCH[2] = {0.8, 0.7};

static inline void wobble(struct fbp_view *view, enum fbp_kind kind)
{
    for (int i = 0; i < 3; i++) {
        if (kind == FBP_CONE)
            view->s[i] += uniform(-3, 3);
        if (kind == FBP_CONE)
            view->d[i] += uniform(-3, 3);
    }
}

/* n views with a random start; wobbling ones have tilts and offsets of their own. */
static inline struct fbp_scan random_scan(enum fbp_kind kind, size_t n, unsigned what)
{
    struct fbp_scan scan = {
        .struct_size = sizeof scan, .kind = kind, .n_views = n, .panel = {COLUMNS, ROWS}};
    const double sod = uniform(500, 700), sdd = uniform(900, 1300), start = uniform(-4, 4);
    const double arc = (what & SHORT ? 3.9 : 2 * FBP_PI) * (what & BACKWARDS ? -1 : 1);
    struct fbp_circle c = {.struct_size = sizeof c,
                           .kind = kind,
                           .n_views = 1,
                           .sod_mm = &sod,
                           .sdd_mm = &sdd,
                           .n_sod = 1,
                           .n_sdd = 1,
                           .pitch_mm = {PITCH[0], PITCH[1]}};

    scan.views = calloc(n, sizeof *scan.views);
    assert_non_null(scan.views);
    for (size_t k = 0; k < n; k++) {
        const double angle = start + arc * (double)k / (double)n;
        c.angles_rad = &angle;
        for (int i = 0; i < 3 && (k == 0 || what & WOBBLING); i++) {
            c.tilt_rad[i] = what & TILTED ? uniform(-0.2, 0.2) : 0;
            c.offset_mm[i % 2] = what & OFFSET ? uniform(-40, 40) : 0;
        }
        c.skew_rad = what & SKEWED ? 0.01 : 0;
        OK(fbp_circle_views(&c, &scan.views[k]));
        if (what & WOBBLING)
            wobble(&scan.views[k], kind);
    }
    return scan;
}

static inline struct fbp_geometry_known known_of(const struct fbp_scan *scan)
{
    return (struct fbp_geometry_known){.struct_size = sizeof(struct fbp_geometry_known),
                                       .panel = scan->panel,
                                       .pitch_mm = {PITCH[0], PITCH[1]},
                                       .n_views = scan->n_views};
}

static inline void save_as(const struct fbp_scan *scan, const char *path, const char *format)
{
    OK(fbp_geometry_save(scan, path, format));
}

static inline struct fbp_scan load_as(const char *path, const char *format,
                                      const struct fbp_geometry_known *known)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};

    OK(fbp_geometry_load(&scan, path, format, known));
    return scan;
}

/* Written, found again by content unless `by_name`, and the same to 1e-10 mm. */
static inline void comes_back(const struct fbp_scan *scan, const char *path, const char *format,
                              bool by_name)
{
    const struct fbp_geometry_known known = known_of(scan);

    save_as(scan, path, format);
    AUTO_CLEAR struct fbp_scan s = load_as(path, by_name ? format : NULL, &known);
    assert_int_equal(s.kind, scan->kind);
    assert_int_equal(s.n_views, scan->n_views);
    assert_int_equal(s.panel.n_columns, scan->panel.n_columns);
    assert_int_equal(s.panel.n_rows, scan->panel.n_rows);
    assert_int_equal(s.row_order, FBP_ROWS_BOTTOM_UP);
    came_back(format, s.views, scan->views, s.n_views);
}

/* Is this in the beginning of the file? */
static inline bool file_says(const char *name, const char *what)
{
    char text[1 << 14];
    FILE *f = not_null(fopen(in_folder(name), "r"));

    const size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    fclose(f);
    return strstr(text, what) != NULL;
}

/* A geometry that the format cannot hold: the reason, and no file. */
static inline void is_refused(const struct fbp_scan *scan, const char *path, const char *format,
                              const char *why)
{
    unlink(path);
    expect_message(fbp_geometry_save(scan, path, format), FBP_ERR_UNSUPPORTED, why);
    AUTO_FREE char *part = printed("%s.part", path);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_not_equal(access(part, F_OK), 0);
}

/* A text in a file, and part of the message that it deserves. */
struct wrong {
    const char *text, *message;
    fbp_status status;
};

static inline void are_wrong(const char *name, const char *format, const struct wrong *wrong,
                             size_t n)
{
    const struct fbp_geometry_known known = {
        .struct_size = sizeof known, .panel = {COLUMNS, ROWS}, .pitch_mm = {PITCH[0], PITCH[1]}};

    for (size_t i = 0; i < n; i++) {
        struct fbp_scan scan = {.struct_size = sizeof scan};
        write_text(name, wrong[i].text);
        const fbp_status st = fbp_geometry_load(&scan, in_folder(name), format, &known);
        expect_message(st, wrong[i].status, wrong[i].message);
        expect_message(st, wrong[i].status, name);
        assert_null(scan.views);
    }
}

#endif /* FBP_TEST_GEOMETRY_FILES_H */
