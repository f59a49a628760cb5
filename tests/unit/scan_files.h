/* Scan files to spoil, and what they need around them.  Include after cmocka.h. */
#ifndef FBP_TEST_SCAN_FILES_H
#define FBP_TEST_SCAN_FILES_H

#include "base/base.h"
#include "base/math.h"
#include "test.h"

#include <sys/stat.h>

#define N_OF(array) (sizeof(array) / sizeof *(array))

enum { COLUMNS = 6, ROWS = 4, VIEWS = 5 };

static char folder[512];

static inline const char *in_folder(const char *name)
{
    static char path[4][640];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static inline void write_text(const char *name, const char *text)
{
    put_file(in_folder(name), text, strlen(text));
}

/* A float32 MHA of zeros. */
static inline void write_array(const char *name, size_t nx, size_t ny, size_t nz)
{
    char text[2048] = {0};
    const int n = snprintf(text, sizeof text,
                           "ObjectType = Image\nNDims = 3\nBinaryData = True\n"
                           "BinaryDataByteOrderMSB = False\nDimSize = %zu %zu %zu\n"
                           "ElementSpacing = 1 1 1\nElementType = MET_FLOAT\n"
                           "ElementDataFile = LOCAL\n",
                           nx, ny, nz);
    assert_true((size_t)n + 4 * nx * ny * nz <= sizeof text);
    put_file(in_folder(name), text, (size_t)n + 4 * nx * ny * nz);
}

static int make_files(void **state)
{
    mkdir(FBP_TEST_DIR, 0777);
    snprintf(folder, sizeof folder, "%s/scan.%ld", FBP_TEST_DIR, (long)getpid());
    AUTO_FREE char *sub = printed("%s/sub", folder);
    if (mkdir(folder, 0777) != 0 || mkdir(sub, 0777) != 0)
        return -1;
    write_array("p.mha", COLUMNS, ROWS, VIEWS);
    write_array("fan.mha", COLUMNS, 1, VIEWS);
    write_array("sub/p.mha", COLUMNS, ROWS, VIEWS);
    write_array("dark.mha", COLUMNS, ROWS, 1);
    write_array("small.mha", COLUMNS - 1, ROWS, 1);
    return 0;
}

static int drop_files(void **state)
{
    char command[640];

    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

struct pair {
    const char *key, *value;
};

static const struct pair cone[] = {
    {"fbp_scan", "1"},
    {"kind", "\"cone\""},
    {"projections", "\"p.mha\""},
    {"detector", "{\"columns\": 6, \"rows\": 4, \"pitch_mm\": [0.8, 0.7],"
                 " \"offset_mm\": [1, -2], \"row_order\": \"top-down\","
                 " \"tilt_deg\": [1, 2, 3], \"skew_deg\": 0.5}"},
    {"source_to_axis_mm", "500"},
    {"source_to_detector_mm", "[800, 801, 802, 803, 804]"},
    {"angles_deg", "{\"start\": 10, \"step\": 72}"},
    {"angular_weights", "\"equal\""},
    {"dark", "\"dark.mha\""},
    {"flat", "\"dark.mha\""},
    {"i0", "60000"},
    {"bad_pixels", "\"dark.mha\""},
    {"volume", "{\"size\": [3, 4, 5], \"voxel_mm\": 0.5, \"centre_mm\": [1, 2, 3]}"},
};

#define EYE "[1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]"
#define MATRIX                                                                     \
    "[-2.5, 1000, 0, 1250, -1.5, 0, 1000, 750, -0.001, 0, 0, 0.5]" /* source x 500 \
                                                                    */
static const struct pair c_arm[] = {
    {"fbp_scan", "1"},
    {"kind", "\"cone\""},
    {"projections", "\"p.mha\""},
    {"detector", "{\"pitch_mm\": 0.5}"},
    {"matrices", "[" MATRIX "," MATRIX "," MATRIX "," MATRIX "," MATRIX "]"},
};

static const struct pair parallel[] = {
    {"fbp_scan", "1"},
    {"kind", "\"parallel\""},
    {"projections", "\"p.mha\""},
    {"detector", "{\"pitch_mm\": 0.5}"},
    {"angles_deg", "[0, 30, 90, 100, 170]"},
};

/* The pairs as a file, `key` replaced (or added, or with value NULL left out). */
static inline void write_scan(const char *name, const struct pair *pairs, size_t n, const char *key,
                              const char *value)
{
    char text[8192] = "{";
    bool found = false;

    for (size_t i = 0; i <= n; i++) {
        const bool same = i < n && key && strcmp(pairs[i].key, key) == 0;
        const char *k = i < n ? pairs[i].key : key, *v = i < n && !same ? pairs[i].value : value;
        found = found || same;
        if (!k || !v || (i == n && found))
            continue;
        const size_t at = strlen(text);
        snprintf(text + at, sizeof text - at, "%s\n\"%s\": %s", at > 1 ? "," : "", k, v);
    }
    strcat(text, "\n}\n");
    write_text(name, text);
}

static inline void expect_message(fbp_status st, fbp_status wanted, const char *part)
{
    if (st != wanted)
        fail_msg("status %d, not %d: %s", st, wanted, fbp_message());
    assert_says(part);
}

static inline void expect_load_fails(const char *name, fbp_status wanted, const char *part)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};
    const fbp_status st = fbp_scan_load(&scan, in_folder(name), NULL);

    expect_message(st, wanted, part);
    expect_message(st, wanted, name);
    assert_null(scan.views);
    assert_null(scan.path);
}

static inline struct fbp_scan load(const char *name)
{
    return open_scan(in_folder(name));
}

static inline void same_views(const struct fbp_view *a, const struct fbp_view *b, size_t n,
                              double tol)
{
    for (size_t k = 0; k < n; k++)
        for (int i = 0; i < 3; i++) {
            const double err = fabs(a[k].s[i] - b[k].s[i]) + fabs(a[k].d[i] - b[k].d[i]) +
                               fabs(a[k].u[i] - b[k].u[i]) + fabs(a[k].v[i] - b[k].v[i]);
            if (!(err < tol))
                fail_msg("view %zu, axis %d differs by %g", k, i, err);
        }
}

#endif /* FBP_TEST_SCAN_FILES_H */
