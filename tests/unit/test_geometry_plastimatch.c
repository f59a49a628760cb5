/* Checks that plastimatch's matrix files, one per view, are read and written singly, by a pattern
 * and as a folder. */
#include "geometry/view.h"
#include "unit/foreign_texts.h"
#include "unit/geometry_files.h"

static const struct fbp_geometry_known known = {.struct_size = sizeof known, .panel = {32, 24}};

/* Source at SAD against the viewing direction; pixel (10, 17.5) at its foot; rows run down. */
TEST(their_file)
{
    const double n[2] = {0.454646798, -0.890671819};
    double foot[3];

    write_text("their.txt", plastimatch_txt);
    AUTO_CLEAR struct fbp_scan s = load_as(in_folder("their.txt"), NULL, &known);
    assert_int_equal(s.n_views, 1);
    assert_int_equal(s.kind, FBP_CONE);
    assert_int_equal(s.row_order, FBP_ROWS_BOTTOM_UP);
    check_near3(s.views[0].s, (double[]){-700 * n[0], -700 * n[1], 0}, 1e-5);
    fbp_view_pixel(&s.views[0], &s.panel, 10, 17.5, foot);
    check_near3(foot, (double[]){400 * n[0], 400 * n[1], 0}, 1e-5);
    check_near3(s.views[0].u, (double[]){10 * n[1], -10 * n[0], 0}, 1e-7);
    check_near3(s.views[0].v, (double[]){0, 0, -8}, 1e-7);
}

/* One view under a plain name, several by a pattern or in a folder. */
TEST(geometries_come_back)
{
    struct fbp_scan scan = random_scan(FBP_CONE, 1, OFFSET | TILTED | WOBBLING | SKEWED);
    comes_back(&scan, in_folder("one.txt"), "plastimatch", false);
    fbp_scan_clear(&scan);

    scan = random_scan(FBP_CONE, 12, OFFSET | SHORT | TILTED | WOBBLING | SKEWED);
    const struct fbp_geometry_known sizes = known_of(&scan);
    mkdir(in_folder("plm"), 0777);
    save_as(&scan, in_folder("plm/proj_%d.txt"), NULL);
    assert_int_equal(access(in_folder("plm/proj_11.txt"), F_OK), 0);
    struct fbp_scan s = load_as(in_folder("plm"), NULL, &sizes); /* 2 before 10 */
    came_back("plastimatch, folder", s.views, scan.views, 12);
    fbp_scan_clear(&s);

    AUTO_FREE char *pattern = printed("%s 5 16", in_folder("n%03d.txt"));
    comes_back(&scan, pattern, "plastimatch", false);
    assert_int_equal(access(in_folder("n016.txt"), F_OK), 0);
    fbp_scan_clear(&scan);
}

/* Views whose projections are named by a scan file; a pattern goes through paths as it is. */
TEST(scan_files_name_patterns)
{
    static const struct pair members[] = {
        {"fbp_scan", "1"},
        {"projections", "\"p.mha\""},
        {"geometry", "\"q%d.txt 0 4\""},
    };
    struct fbp_scan scan = random_scan(FBP_CONE, VIEWS, WOBBLING), s = {.struct_size = sizeof s};

    save_as(&scan, in_folder("q%d.txt"), NULL);
    write_scan("pattern.json", members, N_OF(members), NULL, NULL);
    s = load("pattern.json");
    same_views(s.views, scan.views, VIEWS, 1e-10);
    fbp_scan_clear(&s);
    fbp_scan_clear(&scan);
}

TEST(what_plastimatch_cannot_hold)
{
    struct fbp_scan scan = random_scan(FBP_PARALLEL, 3, 0);

    is_refused(&scan, in_folder("r%d.txt"), "plastimatch", "need a source");
    scan.kind = FBP_CONE;
    expect_message(fbp_geometry_save(&scan, in_folder("r.txt"), "plastimatch"), FBP_ERR_INVALID,
                   "name the files by a pattern");
    expect_message(fbp_geometry_save(&scan, in_folder("r%d.txt 1 4"), "plastimatch"),
                   FBP_ERR_INVALID, "one file name for each of the 3 views");
    scan.n_views = 1; /* a folder is no file */
    expect_message(fbp_geometry_save(&scan, folder, "plastimatch"), FBP_ERR_INVALID,
                   "name the files by a pattern");
    fbp_scan_clear(&scan);
    scan = random_scan(FBP_CONE, 3, 0);
    for (int i = 0; i < 3; i++) /* the last view has its source in the panel */
        scan.views[2].s[i] = scan.views[2].d[i];
    expect_message(fbp_geometry_save(&scan, in_folder("r%d.txt"), NULL), FBP_ERR_INVALID,
                   "source lies in the plane of the panel");
    assert_int_not_equal(access(in_folder("r0.txt"), F_OK), 0);
    fbp_scan_clear(&scan);
}

#define SANE "1 1\n1 0 0 0\n0 0 1 0\n0 0.001 0 1\n"
static const struct wrong wrong[] = {
    {"", "is not a matrix file of plastimatch", FBP_ERR_INVALID},
    {"1 2 3", "is not a matrix file of plastimatch", FBP_ERR_INVALID},
    {SANE "1000\n1000\n0 1\n", "19 numbers", FBP_ERR_INVALID},
    {SANE "1000\n1000\n0 1 0\n7\n", "19 numbers", FBP_ERR_INVALID},
    {SANE "1000\n1000\n0 1 x\n", "19 numbers", FBP_ERR_INVALID},
    {SANE "1000\nnan\n0 1 0\n", "19 numbers", FBP_ERR_INVALID},
    {SANE "1000\n0\n0 1 0\n", "SID is 0 mm", FBP_ERR_INVALID},
    {SANE "1000\n-5\n0 1 0\n", "SID is -5 mm", FBP_ERR_INVALID},
    {"1 1\n0 0 0 0\n0 0 0 0\n0 0 0 0\n1000\n1000\n0 1 0\n", "has no source", FBP_ERR_INVALID},
};

TEST(wrong_files)
{
    struct fbp_scan s = {.struct_size = sizeof s};

    are_wrong("wrong.txt", "plastimatch", wrong, N_OF(wrong));
    expect_message(fbp_geometry_load(&s, in_folder("none%d.txt 0 3"), NULL, &known), FBP_ERR_IO,
                   "cannot open");
    mkdir(in_folder("empty"), 0777);
    expect_message(fbp_geometry_load(&s, in_folder("empty"), "plastimatch", &known),
                   FBP_ERR_INVALID, "contains no views");
    mkdir(in_folder("mixed"), 0777);
    write_text("mixed/a1.txt", plastimatch_txt);
    write_text("mixed/notes.txt", "taken on Monday\n");
    expect_message(fbp_geometry_load(&s, in_folder("mixed"), NULL, &known), FBP_ERR_INVALID,
                   "notes.txt: is not a matrix file");
    write_text("their.txt", plastimatch_txt);
    expect_message(fbp_geometry_load(&s, in_folder("their.txt"), NULL, NULL), FBP_ERR_INVALID,
                   "--detector");
}

TEST_MAIN(make_files, drop_files)
