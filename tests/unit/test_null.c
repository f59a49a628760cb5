/* Checks that NULL for a required pointer gives FBP_ERR_INVALID with a message that names the
 * argument. Each public function has a row; a function without a row fails the test. */
#include "test.h"

#include <dirent.h>

static size_t n;
static double x;
static void *memory;
static float samples[8];
static double P[12];
static fbp_source *source;
static fbp_sink *sink;
static fbp_plan *plan;
static fbp_accumulator *accumulator;
static struct fbp_scan scan = {.struct_size = sizeof scan};
static struct fbp_grid grid = {.n = {2, 2, 2}, .voxel_mm = {1, 1, 1}};
static struct fbp_view view;
static struct fbp_panel panel = {.n_columns = 2, .n_rows = 2};
static struct fbp_phantom phantom;
static const size_t sizes[3] = {2, 2, 2};
static struct fbp_array_info info = {.struct_size = sizeof info, .n = {2, 2, 2}, .type = FBP_F32};

/* A call that returns a status. */
#define INVALID(function, ...) INVALID_OF(#function, function(__VA_ARGS__))
#define INVALID_OF(name, call)                                                 \
    do {                                                                       \
        const fbp_status st_ = (call);                                         \
        if (st_ != FBP_ERR_INVALID || !*fbp_message())                         \
            fail_msg("%s: status %d, \"%s\"", #call, (int)st_, fbp_message()); \
        seen(name);                                                            \
    } while (0)
/* One with another result, or none, which returns at all. */
#define RETURNS(function, expected) \
    do {                            \
        seen(function);             \
        assert_true(expected);      \
    } while (0)
#define ENDS(function, call) \
    do {                     \
        seen(function);      \
        call;                \
    } while (0)
/* No pointer, or one that may be NULL. */
#define NO_POINTER(function) seen(#function)

enum { MOST = 300 };
static const char *rows[MOST];
static size_t n_rows;

static void seen(const char *name)
{
    assert_true(n_rows < MOST);
    rows[n_rows++] = name;
}

TEST(sources_and_sinks)
{
    OK(fbp_source_memory(&source, samples, &info));
    OK(fbp_sink_memory(&sink, samples, FBP_F32, sizes));
    INVALID(fbp_source_open, NULL, "x.mha", NULL);
    INVALID(fbp_source_open, &(fbp_source *){0}, NULL, NULL);
    INVALID(fbp_source_follow, NULL, "x.mha", NULL, 1);
    INVALID(fbp_source_follow, &(fbp_source *){0}, NULL, NULL, 1);
    INVALID(fbp_source_memory, NULL, samples, &info);
    INVALID(fbp_source_memory, &(fbp_source *){0}, samples, NULL);
    struct fbp_array_info untyped = info;
    untyped.type = FBP_TYPE_NONE;
    INVALID(fbp_source_memory, &(fbp_source *){0}, samples, &untyped);
    RETURNS("fbp_name", !fbp_name((enum fbp_list)99, 0) && fbp_name(FBP_LIST_TYPES, FBP_F64) &&
                            !fbp_name(FBP_LIST_TYPES, FBP_F64 + 1));
    RETURNS("fbp_name_find",
            fbp_name_find(FBP_LIST_TYPES, NULL) == -1 && fbp_name_find(FBP_LIST_TYPES, "x") == -1 &&
                fbp_name_find(FBP_LIST_TYPES, "uint8") == FBP_U8 &&
                fbp_name_find(FBP_LIST_FILTERS, "") == -1 &&
                fbp_name_find(FBP_LIST_FILTERS, "Ramp") == FBP_FILTER_RAM_LAK &&
                fbp_name_find(FBP_LIST_FILTERS, "Shepp_Logan") == FBP_FILTER_SHEPP_LOGAN);
    RETURNS("fbp_source_info", !fbp_source_info(NULL));
    INVALID(fbp_source_read, NULL, 0, 1, 0, 1, FBP_F32, samples);
    INVALID(fbp_source_read, source, 0, 1, 0, 1, FBP_F32, NULL);
    INVALID(fbp_source_read, NULL, 0, 1, 0, 1, FBP_F64, P);
    INVALID(fbp_source_read, source, 0, 1, 0, 1, FBP_F64, NULL);
    ENDS("fbp_source_close", fbp_source_close(NULL));
    const struct fbp_sink_params params = {.struct_size = sizeof params};
    INVALID(fbp_sink_open, NULL, "x.mha", &info, &params);
    INVALID(fbp_sink_open, &(fbp_sink *){0}, NULL, &info, &params);
    INVALID(fbp_sink_open, &(fbp_sink *){0}, "x.mha", NULL, &params);
    INVALID(fbp_sink_memory, NULL, samples, FBP_F32, sizes);
    INVALID(fbp_sink_memory, &(fbp_sink *){0}, NULL, FBP_F32, sizes);
    INVALID(fbp_sink_memory, &(fbp_sink *){0}, samples, FBP_F32, NULL);
    INVALID(fbp_sink_memory, NULL, P, FBP_F64, sizes);
    INVALID(fbp_sink_memory, &(fbp_sink *){0}, NULL, FBP_F64, NULL);
    RETURNS("fbp_sink_has", !fbp_sink_has(NULL, 0, 1));
    INVALID(fbp_sink_write, NULL, 0, 1, FBP_F32, samples);
    INVALID(fbp_sink_write, sink, 0, 1, FBP_F32, NULL);
    INVALID(fbp_sink_write, NULL, 0, 1, FBP_F64, P);
    INVALID(fbp_sink_write, sink, 0, 1, FBP_F64, NULL);
    INVALID(fbp_sink_finish, NULL);
    RETURNS("fbp_sink_clipped", fbp_sink_clipped(NULL) == 0);
    ENDS("fbp_sink_close", fbp_sink_close(NULL));
    struct fbp_comparison c = {.struct_size = sizeof c};
    INVALID(fbp_array_compare, NULL, "x", 0, &c);
    INVALID(fbp_array_compare, "x", NULL, 0, &c);
    INVALID(fbp_array_compare, "x", "x", 0, NULL);
    struct fbp_source_functions from = {.struct_size = sizeof from};
    struct fbp_sink_functions to = {.struct_size = sizeof to};
    INVALID(fbp_source_callback, NULL, &from, &info);
    INVALID(fbp_source_callback, &(fbp_source *){0}, NULL, &info);
    INVALID(fbp_source_callback, &(fbp_source *){0}, &from, NULL);
    INVALID(fbp_sink_callback, NULL, &to, sizes);
    INVALID(fbp_sink_callback, &(fbp_sink *){0}, NULL, sizes);
    INVALID(fbp_sink_callback, &(fbp_sink *){0}, &to, NULL);
    RETURNS("fbp_device_of_memory", fbp_device_of_memory(NULL, NULL, 1) == -1);
    INVALID(fbp_source_device_memory, NULL, samples, &info, "mock", NULL);
    INVALID(fbp_source_device_memory, &(fbp_source *){0}, NULL, &info, "mock", NULL);
    INVALID(fbp_source_device_memory, &(fbp_source *){0}, samples, NULL, "mock", NULL);
    INVALID(fbp_source_device_memory, &(fbp_source *){0}, samples, &info, NULL, NULL);
    INVALID(fbp_sink_device_memory, NULL, samples, FBP_F32, sizes, "mock", NULL);
    INVALID(fbp_sink_device_memory, &(fbp_sink *){0}, samples, FBP_F32, NULL, "mock", NULL);
    INVALID(fbp_sink_device_memory, &(fbp_sink *){0}, samples, FBP_F32, sizes, NULL, NULL);
    INVALID(fbp_device_queue_create, NULL, "mock", 0);
    INVALID(fbp_device_queue_create, &memory, NULL, 0);
    INVALID(fbp_device_queue_wait, NULL, NULL);
    ENDS("fbp_device_queue_destroy", fbp_device_queue_destroy(NULL, samples));
    NO_POINTER(fbp_type_size);
    NO_POINTER(fbp_array_formats);
    fbp_source_close(&source);
    fbp_sink_close(&sink);
}

TEST(scans)
{
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    struct fbp_circle round = {.struct_size = sizeof round};
    struct fbp_planes planes = {.struct_size = sizeof planes};
    struct fbp_geometry_facts found = {.struct_size = sizeof found};
    INVALID(fbp_scan_cone, NULL, &round, panel);
    INVALID(fbp_scan_cone, &scan, NULL, panel);
    INVALID(fbp_scan_fan, NULL, &round, 2);
    INVALID(fbp_scan_fan, &scan, NULL, 2);
    INVALID(fbp_scan_parallel, NULL, &round, panel);
    INVALID(fbp_scan_parallel, &scan, NULL, panel);
    INVALID(fbp_scan_matrices, NULL, (const double(*)[12])P, 1, 1, panel);
    INVALID(fbp_scan_matrices, &scan, NULL, 1, 1, panel);
    INVALID(fbp_scan_vectors, NULL, FBP_CONE, &view, 1, panel);
    INVALID(fbp_scan_vectors, &scan, FBP_CONE, NULL, 1, panel);
    INVALID(fbp_scan_planes, NULL, &planes);
    INVALID(fbp_scan_planes, &scan, NULL);
    INVALID(fbp_scan_facts, NULL, NULL, &found);
    INVALID(fbp_scan_facts, &scan, NULL, NULL);
    INVALID(fbp_scan_draw, NULL, NULL, "x.svg");
    INVALID(fbp_scan_draw, &scan, NULL, NULL);
    INVALID(fbp_scan_adjust, NULL, FBP_ADJUST_CENTRE, 1);
    INVALID(fbp_scan_flip, NULL, 0);
    struct fbp_corrections corrections = {.struct_size = sizeof corrections};
    INVALID(fbp_corrections_rings, NULL, "sorting");
    INVALID(fbp_corrections_rings, &corrections, NULL);
    INVALID(fbp_folder_load, NULL, ".", NULL);
    INVALID(fbp_folder_load, &scan, NULL, NULL);
    RETURNS("fbp_scan_is_intensity", !fbp_scan_is_intensity(NULL));
    INVALID(fbp_scan_load, NULL, "x", NULL);
    INVALID(fbp_scan_load, &scan, NULL, NULL);
    ENDS("fbp_scan_confirm", fbp_scan_confirm(NULL, "kind"));
    ENDS("fbp_scan_confirm", fbp_scan_confirm(&scan, NULL));
    INVALID(fbp_scan_save, NULL, "x", NULL);
    INVALID(fbp_scan_save, &scan, NULL, NULL);
    INVALID(fbp_scan_reduce, NULL, 1, 1);
    INVALID(fbp_scan_select, NULL, "1", NULL);
    INVALID(fbp_scan_correct, NULL, &corrections);
    INVALID(fbp_scan_use_image, NULL, FBP_IMAGE_DARK, NULL);
    INVALID(fbp_scan_copy, NULL, &scan);
    INVALID(fbp_scan_copy, &scan, NULL);
    ENDS("fbp_scan_clear", fbp_scan_clear(NULL));
    RETURNS("fbp_geometry_formats", fbp_geometry_formats(NULL, 1) == 0);
    INVALID(fbp_geometry_load, NULL, "x", NULL, NULL);
    INVALID(fbp_geometry_load, &scan, NULL, NULL, NULL);
    INVALID(fbp_geometry_save, NULL, "x", "rtk");
    INVALID(fbp_geometry_save, &scan, NULL, "rtk");
}

TEST(geometry)
{
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    struct fbp_directions set = {.struct_size = sizeof set};

    INVALID(fbp_directions_make, NULL, NULL, &n);
    INVALID(fbp_directions_make, NULL, (double(*)[3])P, NULL);
    INVALID(fbp_quadrature_weights, NULL, 1, FBP_QUADRATURE_AUTO, P, NULL, 0);
    INVALID(fbp_quadrature_weights, (const double(*)[3])P, 1, FBP_QUADRATURE_AUTO, NULL, NULL, 0);
    RETURNS("fbp_grid_coordinate", isnan(fbp_grid_coordinate(NULL, 0, 0)));
    INVALID(fbp_view_to_matrix, NULL, FBP_CONE, &panel, P);
    INVALID(fbp_view_to_matrix, &view, FBP_CONE, NULL, P);
    INVALID(fbp_view_to_matrix, &view, FBP_CONE, &panel, NULL);
    RETURNS("fbp_geometry_remark", !fbp_geometry_remark(NULL, 0, (char[9]){0}, 9) &&
                                       !fbp_geometry_remark(&facts, 0, NULL, 9));
}

TEST(phantoms_and_pictures)
{
    struct fbp_simulate_params params = {.struct_size = sizeof params};
    struct fbp_picture_params picture = {.struct_size = sizeof picture};

    INVALID(fbp_phantom_create, NULL, "ball", 1, 1);
    INVALID(fbp_phantom_create, &phantom, NULL, 1, 1);
    ENDS("fbp_phantom_clear", fbp_phantom_clear(NULL));
    RETURNS("fbp_phantom_line", isnan(fbp_phantom_line(NULL, P, P)) &&
                                    isnan(fbp_phantom_line(&phantom, NULL, P)) &&
                                    isnan(fbp_phantom_line(&phantom, P, NULL)));
    RETURNS("fbp_phantom_plane",
            isnan(fbp_phantom_plane(NULL, P, 0)) && isnan(fbp_phantom_plane(&phantom, NULL, 0)));
    RETURNS("fbp_phantom_at",
            isnan(fbp_phantom_at(NULL, P)) && isnan(fbp_phantom_at(&phantom, NULL)));
    INVALID(fbp_phantom_voxels, NULL, &grid, 0, 1, samples);
    INVALID(fbp_phantom_voxels, &phantom, NULL, 0, 1, samples);
    INVALID(fbp_phantom_voxels, &phantom, &grid, 0, 1, NULL);
    INVALID(fbp_phantom_simulate, NULL, &scan, "x.mha", &params);
    INVALID(fbp_phantom_simulate, &phantom, NULL, "x.mha", &params);
    INVALID(fbp_phantom_simulate, &phantom, &scan, NULL, &params);
    INVALID(fbp_phantom_simulate, &phantom, &scan, "x.mha", NULL);
    INVALID(fbp_phantom_volume, NULL, &grid, FBP_CONE, FBP_UNIT_MM, "x.mha", 1);
    INVALID(fbp_phantom_volume, &phantom, NULL, FBP_CONE, FBP_UNIT_MM, "x.mha", 1);
    INVALID(fbp_phantom_volume, &phantom, &grid, FBP_CONE, FBP_UNIT_MM, NULL, 1);
    INVALID(fbp_picture_write, NULL, "x.png", &picture);
    INVALID(fbp_picture_write, "x.mha", NULL, &picture);
    fbp_source_close(&source);
}

TEST(plans)
{
    static const double angles[4] = {0, 1.5707963267948966, 3.141592653589793, 4.71238898038469};
    const double sod = 100, sdd = 200;
    struct fbp_circle circle = {.struct_size = sizeof circle,
                                .n_views = 4,
                                .angles_rad = angles,
                                .sod_mm = &sod,
                                .sdd_mm = &sdd,
                                .n_sod = 1,
                                .n_sdd = 1,
                                .pitch_mm = {1, 1}};
    struct fbp_scan s = {.struct_size = sizeof s};
    float projections[64] = {0}, volume[8];
    struct fbp_centre centre = {.struct_size = sizeof centre};

    assert_int_equal(fbp_scan_cone(&s, &circle, (struct fbp_panel){4, 4}), FBP_OK);
    s.volume = grid;
    const struct fbp_array_info of = {.struct_size = sizeof of, .n = {4, 4, 4}, .type = FBP_F32};
    OK(fbp_source_memory(&source, projections, &of));
    const struct fbp_recon_params params = {
        .struct_size = sizeof params, .input.source = source, .n_threads = 1};
    OK(fbp_plan_create(&plan, &s, &params));
    INVALID(fbp_centre_find, NULL, NULL, &centre);
    INVALID(fbp_centre_find, &s, NULL, NULL);
    struct fbp_calibration calibration = {.struct_size = sizeof calibration};
    INVALID(fbp_calibrate, NULL, NULL, &calibration, NULL);
    INVALID(fbp_calibrate, &s, NULL, NULL, NULL);
    INVALID(fbp_calibrate_beads, NULL, NULL, &calibration, NULL);
    INVALID(fbp_calibrate_beads, &s, NULL, NULL, NULL);
    INVALID(fbp_calibrate_drift, &s, NULL, NULL, NULL);
    RETURNS("fbp_calibrated_name", !fbp_calibrated_name(FBP_CALIBRATED_COUNT));
    RETURNS("fbp_calibrated_unit", !fbp_calibrated_unit(FBP_CALIBRATED_COUNT));
    INVALID(fbp_grid_resolve, NULL, NULL, &grid);
    INVALID(fbp_grid_resolve, NULL, &s, NULL);
    INVALID(fbp_plan_create, NULL, &s, &params);
    INVALID(fbp_plan_create, &(fbp_plan *){0}, NULL, &params);
    RETURNS("fbp_plan_info", !fbp_plan_info(NULL));
    INVALID(fbp_plan_estimate, NULL, &x);
    INVALID(fbp_plan_estimate, plan, NULL);
    INVALID(fbp_plan_run, NULL, "x.mha", NULL);
    INVALID(fbp_plan_run, plan, NULL, NULL);
    INVALID(fbp_plan_open, NULL);
    INVALID(fbp_plan_alloc, NULL, 1, &memory);
    INVALID(fbp_plan_alloc, plan, 1, NULL);
    ENDS("fbp_plan_release", fbp_plan_release(NULL, samples));
    INVALID(fbp_plan_run_to, NULL, NULL, NULL, NULL);
    INVALID(fbp_plan_run_to, plan, NULL, NULL, NULL);
    INVALID(fbp_reconstruct, NULL, NULL, FBP_F32, projections, volume, NULL);
    INVALID(fbp_reconstruct, &s, NULL, FBP_F32, NULL, volume, NULL);
    INVALID(fbp_reconstruct, &s, NULL, FBP_F32, projections, NULL, NULL);
    INVALID(fbp_reconstruct, NULL, NULL, FBP_F64, P, P, NULL);
    INVALID(fbp_reconstruct, &s, NULL, FBP_F64, NULL, P, NULL);
    INVALID(fbp_reconstruct, &s, NULL, FBP_F64, P, NULL, NULL);
    ENDS("fbp_plan_destroy", fbp_plan_destroy(NULL));
    INVALID(fbp_accumulator_create, NULL, &s, NULL);
    INVALID(fbp_accumulator_create, &accumulator, NULL, NULL);
    INVALID(fbp_accumulator_add, NULL, 0, samples);
    INVALID(fbp_accumulator_volume, NULL, samples);
    ENDS("fbp_accumulator_destroy", fbp_accumulator_destroy(NULL));
    RETURNS("fbp_devices", fbp_devices(NULL, 1) == 0);
    fbp_plan_destroy(&plan);
    fbp_source_close(&source);
    fbp_scan_clear(&s);
}

TEST(the_rest)
{

    INVALID(fbp_team_create, NULL, NULL);
    INVALID(fbp_team_create, &(fbp_team *){0}, NULL);
    INVALID(fbp_team_join, NULL);
    INVALID(fbp_team_leave, NULL, NULL);
    RETURNS("fbp_team_rank", fbp_team_rank(NULL) == 0);
    NO_POINTER(fbp_message);
    NO_POINTER(fbp_version);
    ENDS("fbp_stopper_attach", fbp_stopper_attach(NULL)); /* none */
    NO_POINTER(fbp_stopper_stop);                         /* NULL: all calls of the process */
    NO_POINTER(fbp_stopped);
}

static bool has_row(const char *name, size_t length)
{
    for (size_t i = 0; i < n_rows; i++)
        if (strlen(rows[i]) == length && strncmp(rows[i], name, length) == 0)
            return true;
    return false;
}

/* "FBP_API … name(" of each header. */
static size_t check_header(const char *path)
{
    FILE *f = not_null(fopen(path, "r"));
    static char text[1 << 17];
    size_t count = 0;

    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    for (const char *at = text; (at = strstr(at, "FBP_API ")); at++) {
        const char *end = strchr(at, '('), *begin = end;
        if (at > text && at[-1] != '\n') /* a comment, or its definition */
            continue;
        while (strchr("abcdefghijklmnopqrstuvwxyz0123456789_", begin[-1]))
            begin--;
        if (!has_row(begin, (size_t)(end - begin)))
            fail_msg("%s: %.*s() has no row in this test", path, (int)(end - begin), begin);
        count++;
    }
    return count;
}

TEST(every_function_has_a_row)
{
    DIR *dir = not_null(opendir(FBP_SOURCE_DIR "/include/fbp"));
    const struct dirent *e;
    size_t count = 0;
    char path[600];

    while ((e = readdir(dir))) {
        snprintf(path, sizeof path, FBP_SOURCE_DIR "/include/fbp/%s", e->d_name);
        if (strstr(e->d_name, ".h") && !strstr(e->d_name, ".hpp"))
            count += check_header(path);
    }
    closedir(dir);
    assert_true(count > 50);
}

TEST_MAIN(NULL, NULL)
