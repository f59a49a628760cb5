/* Geometry files of other programs: write, load, refuse.  Include after cmocka.h. */
#ifndef FBP_TEST_FOREIGN_FILES_H
#define FBP_TEST_FOREIGN_FILES_H

#include "unit/scan_files.h"

/* `text` with the first `from` replaced by `to` (NULL: as it is). */
static inline void write_changed(const char *name, const char *text, const char *from,
                                 const char *to)
{
    const char *at = from ? strstr(text, from) : NULL;
    FILE *f = not_null(fopen(in_folder(name), "wb"));

    if (from && !at)
        fail_msg("the file has no \"%s\" to replace", from);
    if (at)
        fprintf(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    else
        fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static inline struct fbp_scan load_known(const char *name, const struct fbp_geometry_known *known)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};

    OK(fbp_geometry_load(&scan, in_folder(name), NULL, known));
    return scan;
}

static inline struct fbp_scan load_file(const char *name)
{
    return load_known(name, NULL);
}

/* Loading fails with a message that has `part` and the name of the file at fault. */
static inline void refuses_for(const char *name, const char *at_fault, const char *part)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};
    const fbp_status st = fbp_geometry_load(&scan, in_folder(name), NULL, NULL);

    if (st == FBP_OK)
        fail_msg("%s was taken, expected \"%s\"", name, part);
    if (!strstr(fbp_message(), part) || !strstr(fbp_message(), at_fault))
        fail_msg("\"%s\" has not \"%s\" and %s", fbp_message(), part, at_fault);
    assert_null(scan.views);
}

static inline void refuses(const char *name, const char *part)
{
    refuses_for(name, name, part);
}

/* What is replaced by what, and what the message says. */
struct spoilt {
    const char *from, *to, *message;
};

static inline void refuses_all(const char *name, const char *text, const struct spoilt *list,
                               size_t n)
{
    for (size_t i = 0; i < n; i++) {
        write_changed(name, text, list[i].from, list[i].to);
        refuses(name, list[i].message);
    }
}

static inline void near3(const char *what, const double a[3], double x, double y, double z)
{
    if (!(fabs(a[0] - x) < 1e-10 && fabs(a[1] - y) < 1e-10 && fabs(a[2] - z) < 1e-10))
        fail_msg("%s is (%.12g %.12g %.12g), not (%.12g %.12g %.12g)", what, a[0], a[1], a[2], x, y,
                 z);
}

#endif /* FBP_TEST_FOREIGN_FILES_H */
