/* Checks that a folder given as a scan is opened by its scan file, or as the scan that its arrays
 * suggest, with a note about what was assumed. */
#include "test.h"

#include "array/file/outfile.h"
#include "scan/folder/folder.h"
#include <sys/stat.h>

#define FOLDER FBP_TEST_DIR "/folder"
#define VIEWS  FOLDER "/views.mha"
#define FILE_  FOLDER "/scan.json"

enum { N = 12 };

static int notes;

static void count(void *user, enum fbp_log_level level, const char *line)
{
    assert_ptr_equal(user, &notes);
    assert_true(line[0] != '\0');
    notes++;
}

static void write_views(void)
{
    struct fbp_view views[N];
    struct fbp_phantom empty = {0};
    struct fbp_scan scan = {
        .struct_size = sizeof scan, .n_views = N, .panel = {24, 20}, .views = views};

    for (int k = 0; k < N; k++)
        views[k] = (struct fbp_view){{100, 0, 0}, {-60, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    OK(fbp_phantom_simulate(&empty, &scan, VIEWS, fbp_simulate_params(.n_threads = 1)));
}

static bool assumes(const struct fbp_scan *scan, const char *key)
{
    for (size_t i = 0; i < scan->n_assumed; i++)
        if (strcmp(scan->assumed[i].key, key) == 0)
            return true;
    return false;
}

TEST(guess_and_file)
{
    const struct fbp_folder_known known = {.struct_size = sizeof known,
                                           .kind = 1 + FBP_CONE,
                                           .pitch_mm = 0.5,
                                           .sod_mm = 100,
                                           .sdd_mm = 160,
                                           .log = count,
                                           .user = &notes};
    struct fbp_scan scan = {.struct_size = sizeof scan};
    char *path = NULL, *text = NULL;

    (void)unlink(FILE_);
    (void)mkdir(FOLDER, 0777);
    write_views();
    assert_fails(fbp_folder_scan(&path, FOLDER, NULL), FBP_ERR_INVALID, "fbp init");
    OK(fbp_folder_load(&scan, FOLDER, &known));
    assert_true(notes > 2);
    assert_int_equal(scan.n_views, N);
    assert_string_equal(scan.projections, VIEWS);
    assert_true(scan.views[0].u[1] > 0.499 && scan.views[0].s[0] > 99.9);
    assert_true(assumes(&scan, "angles_deg") && !assumes(&scan, "source_to_axis_mm"));
    fbp_scan_clear(&scan);

    OK(fbp_folder_guess(&text, FOLDER, NULL));
    assert_contains(text, "source_to_axis_mm");
    OK(fbp_text_save(FILE_, text, true));
    free(text);
    OK(fbp_folder_scan(&path, FOLDER, &known));
    assert_string_equal(path, FILE_);
    free(path);
    OK(fbp_folder_load(&scan, FOLDER, NULL));
    assert_string_equal(scan.path, FILE_);
    assert_true(assumes(&scan, "source_to_axis_mm"));
    fbp_scan_clear(&scan);
    assert_int_equal(fbp_folder_guess(&text, FOLDER, NULL), FBP_ERR_INVALID);
    assert_null(text);
}

TEST(no_folders)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};
    char *path = NULL;

    OK(fbp_folder_scan(&path, VIEWS, NULL)); /* a file stands for itself */
    assert_null(path);
    assert_fails(fbp_folder_load(&scan, FBP_TEST_DIR "/no-such-folder", NULL), FBP_ERR_IO,
                 "no-such-folder");
}

TEST_MAIN(NULL, NULL)
