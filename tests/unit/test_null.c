/* NULL in place of a pointer that must be given: FBP_ERR_INVALID with a message that names the
 * argument, and no effect where a function has no status.  Each function of the interface has a
 * row; one without a row fails the test. */
#include "test.h"

#include <dirent.h>

static size_t n;
static double x;
static double *list;
static double (*directions)[3];
static bool flag;
static void *memory;
static char *words;
static float samples[8];
static double P[12];
static fbp_source *source;
static fbp_sink *sink;
static fbp_plan *plan;
static fbp_adder *adder;
static fbp_stopper *stopper;
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
    OK(fbp_sink_memory(&sink, samples, sizes));
    INVALID(fbp_source_open, NULL, "x.mha", NULL);
    INVALID(fbp_source_open, &(fbp_source *){0}, NULL, NULL);
    INVALID(fbp_source_follow, NULL, "x.mha", NULL, 1);
    INVALID(fbp_source_follow, &(fbp_source *){0}, NULL, NULL, 1);
    INVALID(fbp_source_memory, NULL, samples, &info);
    INVALID(fbp_source_memory, &(fbp_source *){0}, samples, NULL);
    RETURNS("fbp_source_info", !fbp_source_info(NULL));
    INVALID(fbp_source_read, NULL, 0, 1, 0, 1, samples);
    INVALID(fbp_source_read, source, 0, 1, 0, 1, NULL);
    INVALID(fbp_source_read_double, NULL, 0, 1, 0, 1, P);
    INVALID(fbp_source_read_double, source, 0, 1, 0, 1, NULL);
    INVALID(fbp_source_unchanged, NULL);
    ENDS("fbp_source_close", fbp_source_close(NULL));
    RETURNS("fbp_array_reads", !fbp_array_reads(NULL, "x") && !fbp_array_reads("x", NULL));
    const struct fbp_sink_params params = {.struct_size = sizeof params};
    INVALID(fbp_sink_open, NULL, "x.mha", &info, &params);
    INVALID(fbp_sink_open, &(fbp_sink *){0}, NULL, &info, &params);
    INVALID(fbp_sink_open, &(fbp_sink *){0}, "x.mha", NULL, &params);
    INVALID(fbp_sink_memory, NULL, samples, sizes);
    INVALID(fbp_sink_memory, &(fbp_sink *){0}, NULL, sizes);
    INVALID(fbp_sink_memory, &(fbp_sink *){0}, samples, NULL);
    INVALID(fbp_sink_memory_double, NULL, P, sizes);
    INVALID(fbp_sink_memory_double, &(fbp_sink *){0}, NULL, NULL);
    RETURNS("fbp_sink_has", !fbp_sink_has(NULL, 0, 1));
    INVALID(fbp_sink_write, NULL, 0, 1, samples);
    INVALID(fbp_sink_write, sink, 0, 1, NULL);
    INVALID(fbp_sink_write_double, NULL, 0, 1, P);
    INVALID(fbp_sink_write_double, sink, 0, 1, NULL);
    INVALID(fbp_sink_finish, NULL);
    RETURNS("fbp_sink_clipped", fbp_sink_clipped(NULL) == 0);
    RETURNS("fbp_sink_hash", fbp_sink_hash(NULL) == 0);
    ENDS("fbp_sink_close", fbp_sink_close(NULL));
    INVALID(fbp_text_save, NULL, "x", true);
    INVALID(fbp_text_save, "x", NULL, true);
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
    NO_POINTER(fbp_type_name);
    RETURNS("fbp_type_from_name", fbp_type_from_name(NULL) == FBP_TYPE_NONE);
    NO_POINTER(fbp_array_formats);
    fbp_source_close(&source);
    fbp_sink_close(&sink);
}

TEST(scans)
{
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    INVALID(fbp_adjust_get, NULL, FBP_ADJUST_SOD, &x);
    INVALID(fbp_adjust_get, &scan, FBP_ADJUST_SOD, NULL);
    INVALID(fbp_adjust_check, NULL, FBP_ADJUST_SOD, 1);
    INVALID(fbp_adjust_set, NULL, FBP_ADJUST_SOD, 1);
    INVALID(fbp_adjust_all, NULL, P);
    INVALID(fbp_adjust_all, &scan, NULL);
    INVALID(fbp_scan_flip, NULL, 0);
    NO_POINTER(fbp_adjust_name);
    NO_POINTER(fbp_adjust_unit);
    NO_POINTER(fbp_adjust_key);
    struct fbp_corrections corrections = {.struct_size = sizeof corrections};
    INVALID(fbp_corrections_rings, NULL, "sorting");
    INVALID(fbp_corrections_rings, &corrections, NULL);
    INVALID(fbp_folder_scan, NULL, ".", NULL);
    INVALID(fbp_folder_scan, &words, NULL, NULL);
    INVALID(fbp_folder_guess, NULL, ".", NULL);
    INVALID(fbp_folder_guess, &words, NULL, NULL);
    INVALID(fbp_folder_load, NULL, ".", NULL);
    INVALID(fbp_folder_load, &scan, NULL, NULL);
    RETURNS("fbp_scan_views", fbp_scan_views(NULL).n == 0);
    RETURNS("fbp_scan_remark", !fbp_scan_remark(NULL, &facts, NULL, 0, (char[9]){0}, 9) &&
                                   !fbp_scan_remark(&scan, NULL, NULL, 0, (char[9]){0}, 9) &&
                                   !fbp_scan_remark(&scan, &facts, NULL, 0, NULL, 9));
    RETURNS("fbp_scan_is_intensity", !fbp_scan_is_intensity(NULL));
    INVALID(fbp_scan_load, NULL, "x");
    INVALID(fbp_scan_load, &scan, NULL);
    INVALID(fbp_scan_load_growing, NULL, "x");
    INVALID(fbp_scan_load_growing, &scan, NULL);
    INVALID(fbp_scan_load_known, NULL, "x", NULL);
    INVALID(fbp_scan_load_known, &scan, NULL, NULL);
    RETURNS("fbp_scan_assumed",
            fbp_scan_assumed(NULL, (char[9]){0}, 9) == 0 && fbp_scan_assumed(&scan, NULL, 9) == 0);
    ENDS("fbp_scan_confirm", fbp_scan_confirm(NULL, "kind"));
    ENDS("fbp_scan_confirm", fbp_scan_confirm(&scan, NULL));
    INVALID(fbp_scan_sink_prj, NULL, "x", &scan, 1, NULL);
    INVALID(fbp_scan_sink_prj, &sink, NULL, &scan, 1, NULL);
    INVALID(fbp_scan_sink_prj, &sink, "x", NULL, 1, NULL);
    INVALID(fbp_scan_save, NULL, "x", NULL);
    INVALID(fbp_scan_save, &scan, NULL, NULL);
    INVALID(fbp_directions_load, NULL, &directions, &n);
    INVALID(fbp_directions_load, "x", NULL, &n);
    INVALID(fbp_directions_load, "x", &directions, NULL);
    INVALID(fbp_matrices_load, NULL, &list, &n);
    INVALID(fbp_matrices_load, "x", NULL, &n);
    INVALID(fbp_matrices_load, "x", &list, NULL);
    RETURNS("fbp_scan_reads", !fbp_scan_reads(&scan, NULL));
    INVALID(fbp_scan_reduce, NULL, 1, 1);
    INVALID(fbp_scan_correct, NULL, &corrections);
    INVALID(fbp_scan_use_image, NULL, FBP_IMAGE_DARK, NULL);
    INVALID(fbp_scan_copy, NULL, &scan);
    INVALID(fbp_scan_copy, &scan, NULL);
    ENDS("fbp_scan_clear", fbp_scan_clear(NULL));
    struct fbp_preparation steps = {.struct_size = sizeof steps};
    INVALID(fbp_preparation_parse, NULL, &steps);
    INVALID(fbp_preparation_parse, "x", NULL);
    RETURNS("fbp_geometry_formats", fbp_geometry_formats(NULL, 1) == 0);
    INVALID(fbp_geometry_load, NULL, "x", NULL, NULL);
    INVALID(fbp_geometry_load, &scan, NULL, NULL, NULL);
    INVALID(fbp_geometry_save, NULL, "x", "rtk");
    INVALID(fbp_geometry_save, &scan, NULL, "rtk");
}

TEST(geometry)
{
    const struct fbp_views views = {.n = 1, .panel = panel, .view = &view}, none = {.n = 1};
    struct fbp_geometry_facts facts = {.struct_size = sizeof facts};
    struct fbp_circle circle = {.struct_size = sizeof circle};
    struct fbp_directions set = {.struct_size = sizeof set};
    struct fbp_meridians planes = {.struct_size = sizeof planes};
    size_t r[2];

    INVALID(fbp_directions_count, NULL, &n);
    INVALID(fbp_directions_count, &set, NULL);
    INVALID(fbp_directions_make, NULL, (double(*)[3])P);
    INVALID(fbp_directions_make, &set, NULL);
    ENDS("fbp_plane_view", fbp_plane_view(NULL, 1, 0, 2, &view));
    ENDS("fbp_plane_view", fbp_plane_view(P, 1, 0, 2, NULL));
    INVALID(fbp_quadrature_weights, NULL, 1, FBP_QUADRATURE_AUTO, P, NULL, 0);
    INVALID(fbp_quadrature_weights, (const double(*)[3])P, 1, FBP_QUADRATURE_AUTO, NULL, NULL, 0);
    INVALID(fbp_meridians_find, NULL, 1, &planes);
    INVALID(fbp_meridians_find, (const double(*)[3])P, 1, NULL);
    RETURNS("fbp_grid_coordinate", isnan(fbp_grid_coordinate(NULL, 0, 0)));
    ENDS("fbp_view_pixel", fbp_view_pixel(NULL, &panel, 0, 0, P));
    ENDS("fbp_view_pixel", fbp_view_pixel(&view, NULL, 0, 0, P));
    ENDS("fbp_view_pixel", fbp_view_pixel(&view, &panel, 0, 0, NULL));
    INVALID(fbp_view_to_matrix, NULL, FBP_CONE, &panel, P);
    INVALID(fbp_view_to_matrix, &view, FBP_CONE, NULL, P);
    INVALID(fbp_view_to_matrix, &view, FBP_CONE, &panel, NULL);
    INVALID(fbp_view_from_matrix, NULL, 1, &panel, &view);
    INVALID(fbp_view_from_matrix, P, 1, NULL, &view);
    INVALID(fbp_view_from_matrix, P, 1, &panel, NULL);
    INVALID(fbp_circle_views, NULL, &view);
    INVALID(fbp_circle_views, &circle, NULL);
    ENDS("fbp_views_flip", fbp_views_flip(NULL, 1, 0));
    INVALID(fbp_views_facts, none, &grid, &facts);
    INVALID(fbp_views_facts, views, &grid, NULL);
    INVALID(fbp_geometry_circular, NULL);
    RETURNS("fbp_geometry_remark", !fbp_geometry_remark(NULL, 0, (char[9]){0}, 9) &&
                                       !fbp_geometry_remark(&facts, 0, NULL, 9));
    INVALID(fbp_geometry_errors, none, &grid, &facts);
    INVALID(fbp_geometry_errors, views, NULL, &facts);
    INVALID(fbp_geometry_errors, views, &grid, NULL);
    INVALID(fbp_geometry_rows, none, 0, 1, &grid, 0, 1, &r[0], &r[1]);
    INVALID(fbp_geometry_rows, views, 0, 1, NULL, 0, 1, &r[0], &r[1]);
    INVALID(fbp_geometry_rows, views, 0, 1, &grid, 0, 1, NULL, &r[1]);
    INVALID(fbp_geometry_rows, views, 0, 1, &grid, 0, 1, &r[0], NULL);
    INVALID(fbp_grid_default, none, &grid);
    INVALID(fbp_grid_default, views, NULL);
    INVALID(fbp_c_arm_views, NULL, &panel, &view);
    INVALID(fbp_c_arm_views, &circle, NULL, &view);
    INVALID(fbp_c_arm_views, &circle, &panel, NULL);
    NO_POINTER(fbp_direction_set_name);
    NO_POINTER(fbp_direction_order_name);
    NO_POINTER(fbp_pole_name);
    NO_POINTER(fbp_quadrature_name);
    NO_POINTER(fbp_kind_name);
    RETURNS("fbp_kind_listed", fbp_kind_listed(0, NULL) != NULL);
    NO_POINTER(fbp_kind_has_source);
    NO_POINTER(fbp_kind_has_lines);
    NO_POINTER(fbp_unit_name);
    INVALID(fbp_geometry_svg, none, &grid, &facts, "x.svg");
    INVALID(fbp_geometry_svg, views, &grid, NULL, "x.svg");
    INVALID(fbp_geometry_svg, views, &grid, &facts, NULL);
}

TEST(phantoms_and_pictures)
{
    struct fbp_simulate_params params = {.struct_size = sizeof params};
    struct fbp_picture_params picture = {.struct_size = sizeof picture};
    struct fbp_sheet_params sheet = {.struct_size = sizeof sheet};
    struct fbp_curve curve = {.struct_size = sizeof curve};
    const struct fbp_tile tile = {.values = samples};

    INVALID(fbp_phantom_create, NULL, "ball", 1, 1);
    INVALID(fbp_phantom_create, &phantom, NULL, 1, 1);
    NO_POINTER(fbp_phantom_name);
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
    INVALID(fbp_phantom_simulate_memory, NULL, &scan, samples, &params);
    INVALID(fbp_phantom_simulate_memory, &phantom, NULL, samples, &params);
    INVALID(fbp_phantom_simulate_memory, &phantom, &scan, NULL, &params);
    INVALID(fbp_phantom_project, NULL, &scan, "x.mha", 0, 1, 1);
    INVALID(fbp_phantom_project, &phantom, NULL, "x.mha", 0, 1, 1);
    INVALID(fbp_phantom_project, &phantom, &scan, NULL, 0, 1, 1);
    INVALID(fbp_phantom_volume, NULL, &grid, "x.mha", 1);
    INVALID(fbp_phantom_volume, &phantom, NULL, "x.mha", 1);
    INVALID(fbp_phantom_volume, &phantom, &grid, NULL, 1);
    INVALID(fbp_phantom_truth, NULL, &scan, FBP_UNIT_MM, "x.mha", 1);
    INVALID(fbp_phantom_truth, &phantom, NULL, FBP_UNIT_MM, "x.mha", 1);
    INVALID(fbp_phantom_truth, &phantom, &scan, FBP_UNIT_MM, NULL, 1);
    OK(fbp_source_memory(&source, samples, &info));
    INVALID(fbp_picture_write, NULL, "x.png", &picture);
    INVALID(fbp_picture_write, "x.mha", NULL, &picture);
    INVALID(fbp_picture_write_source, NULL, "x", "x.png", &picture);
    INVALID(fbp_picture_write_source, source, NULL, "x.png", &picture);
    INVALID(fbp_picture_write_source, source, "x", NULL, &picture);
    fbp_source_close(&source);
    INVALID(fbp_sheet_write, NULL, &tile, 1, &sheet);
    INVALID(fbp_sheet_write, "x.png", NULL, 1, &sheet);
    INVALID(fbp_sheet_write, "x.png", &tile, 1, NULL);
    RETURNS("fbp_sheet_bytes", fbp_sheet_bytes(1, 1, NULL) == 0);
    INVALID(fbp_curve_svg, NULL, "x.svg");
    INVALID(fbp_curve_svg, &curve, NULL);
    RETURNS("fbp_slice_score", isnan(fbp_slice_score(FBP_SCORE_SHARPNESS, NULL, 2, 2, 0, 0, 1)));
    RETURNS("fbp_score_peak",
            isnan(fbp_score_peak(NULL, 2, &flag)) && isnan(fbp_score_peak(P, 2, NULL)));
    RETURNS("fbp_score_rival", fbp_score_rival(NULL, 2) == 2);
}

TEST(plans)
{
    static const double angles[4] = {0, 1.5707963267948966, 3.141592653589793, 4.71238898038469};
    struct fbp_circle circle = circle_of(4, angles, 100, 200, .kind = FBP_CONE, .pitch_mm = {1, 1});
    struct fbp_view views[4];
    float projections[64] = {0}, volume[8];
    struct fbp_centre centre = {.struct_size = sizeof centre};
    struct fbp_part part = {.struct_size = sizeof part};

    OK(fbp_circle_views(&circle, views));
    struct fbp_scan s = {.struct_size = sizeof s,
                         .kind = FBP_CONE,
                         .n_views = 4,
                         .views = views,
                         .panel = {.n_columns = 4, .n_rows = 4},
                         .volume = grid};
    const struct fbp_array_info of = {.struct_size = sizeof of, .n = {4, 4, 4}, .type = FBP_F32};
    OK(fbp_source_memory(&source, projections, &of));
    const struct fbp_recon_params params = {
        .struct_size = sizeof params, .input.source = source, .n_threads = 1};
    OK(fbp_plan_create(&plan, &s, &params));
    INVALID(fbp_centre_find, NULL, NULL, &centre);
    INVALID(fbp_centre_find, &s, NULL, NULL);
    INVALID(fbp_grid_resolve, NULL, NULL, &grid);
    INVALID(fbp_grid_resolve, NULL, &s, NULL);
    INVALID(fbp_plan_create, NULL, &s, &params);
    INVALID(fbp_plan_create, &(fbp_plan *){0}, NULL, &params);
    RETURNS("fbp_plan_info", !fbp_plan_info(NULL));
    INVALID(fbp_plan_part, NULL, 1, &part);
    INVALID(fbp_plan_part, plan, 1, NULL);
    INVALID(fbp_plan_estimate, NULL, &x);
    INVALID(fbp_plan_estimate, plan, NULL);
    INVALID(fbp_plan_run, NULL, "x.mha", NULL);
    INVALID(fbp_plan_run, plan, NULL, NULL);
    ENDS("fbp_plan_stop", fbp_plan_stop(NULL));
    INVALID(fbp_plan_open, NULL);
    INVALID(fbp_plan_alloc, NULL, 1, &memory);
    INVALID(fbp_plan_alloc, plan, 1, NULL);
    ENDS("fbp_plan_release", fbp_plan_release(NULL, samples));
    ENDS("fbp_plan_timeline", fbp_plan_timeline(NULL, "x.svg"));
    INVALID(fbp_plan_run_to, NULL, NULL, NULL, NULL);
    INVALID(fbp_plan_run_to, plan, NULL, NULL, NULL);
    INVALID(fbp_reconstruct, NULL, NULL, projections, volume, NULL);
    INVALID(fbp_reconstruct, &s, NULL, NULL, volume, NULL);
    INVALID(fbp_reconstruct, &s, NULL, projections, NULL, NULL);
    INVALID(fbp_reconstruct_double, NULL, NULL, P, P, NULL);
    INVALID(fbp_reconstruct_double, &s, NULL, NULL, P, NULL);
    INVALID(fbp_reconstruct_double, &s, NULL, P, NULL, NULL);
    ENDS("fbp_plan_destroy", fbp_plan_destroy(NULL));
    INVALID(fbp_adder_create, NULL, &s, NULL);
    INVALID(fbp_adder_create, &adder, NULL, NULL);
    INVALID(fbp_adder_add, NULL, 0, samples);
    INVALID(fbp_adder_volume, NULL, samples);
    ENDS("fbp_adder_destroy", fbp_adder_destroy(NULL));
    RETURNS("fbp_devices", fbp_devices(NULL, 1) == 0);
    fbp_plan_destroy(&plan);
    fbp_source_close(&source);
    NO_POINTER(fbp_filter_name);
    NO_POINTER(fbp_pad_name);
    NO_POINTER(fbp_interpolation_name);
    NO_POINTER(fbp_ring_interpolation_name);
    NO_POINTER(fbp_device_name);
    NO_POINTER(fbp_kernel_name);
}

TEST(the_rest)
{
    char text[9] = "";

    INVALID(fbp_team_create, NULL, NULL);
    INVALID(fbp_team_create, &(fbp_team *){0}, NULL);
    INVALID(fbp_team_join, NULL);
    RETURNS("fbp_team_rank", fbp_team_rank(NULL) == 0);
    RETURNS("fbp_team_size", fbp_team_size(NULL) == 1);
    INVALID(fbp_team_meet, NULL, "here", FBP_OK);
    RETURNS("fbp_team_speaks", fbp_team_speaks(NULL) == 1);
    RETURNS("fbp_team_end", fbp_team_end(NULL, NULL) == FBP_OK); /* a process alone */
    INVALID(fbp_team_leave, NULL, NULL);
    NO_POINTER(fbp_message);
    RETURNS("fbp_printable", fbp_printable(NULL, 9, "x", 1, "") == 0 &&
                                 fbp_printable(text, 9, NULL, 1, "") == 0 &&
                                 fbp_printable(text, 9, "x", 1, NULL) == 0);
    RETURNS("fbp_bytes_text", !fbp_bytes_text(NULL, 9, 1));
    NO_POINTER(fbp_version);
    NO_POINTER(fbp_stop);
    INVALID(fbp_stopper_create, NULL);
    ENDS("fbp_stopper_attach", fbp_stopper_attach(NULL)); /* none */
    ENDS("fbp_stopper_stop", fbp_stopper_stop(stopper));
    ENDS("fbp_stopper_destroy", fbp_stopper_destroy(NULL));
    NO_POINTER(fbp_stopped);
    NO_POINTER(fbp_limit_memory);
    NO_POINTER(fbp_isolate_readers);
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
    assert_true(count > 100);
}

TEST_MAIN(NULL, NULL)
