/* Checks that every member of the public structs that is out of range gives FBP_ERR_INVALID and a
 * message that names the member. */
#include "bench/rabbitct/feed.h"

#include "base/base.h"
#include "base/math.h"
#include "geometry/view.h"
#include "test.h"

enum { N_VIEWS = 24, COLUMNS = 12, ROWS = 6 };

static struct fbp_view views[N_VIEWS];
static double angles[N_VIEWS], depths[N_VIEWS];
static float samples[N_VIEWS * ROWS * COLUMNS];
static const double sod = 500, sdd = 800;

static struct fbp_circle a_circle(void)
{
    for (int k = 0; k < N_VIEWS; k++)
        angles[k] = 2 * FBP_PI * k / N_VIEWS;
    return (struct fbp_circle){.struct_size = sizeof(struct fbp_circle),
                               .kind = FBP_CONE,
                               .n_views = N_VIEWS,
                               .angles_rad = angles,
                               .sod_mm = &sod,
                               .sdd_mm = &sdd,
                               .n_sod = 1,
                               .n_sdd = 1,
                               .pitch_mm = {1, 1}};
}

static struct fbp_scan a_scan(void)
{
    const struct fbp_circle c = a_circle();

    OK(fbp_circle_views(&c, views));
    for (int k = 0; k < N_VIEWS; k++)
        depths[k] = 1;
    return (struct fbp_scan){.struct_size = sizeof(struct fbp_scan),
                             .kind = FBP_CONE,
                             .n_views = N_VIEWS,
                             .panel = {COLUMNS, ROWS},
                             .views = views,
                             .volume = {{8, 8, 4}, {1, 1, 1}, {0, 0, 0}}};
}

static fbp_status plan_of(const struct fbp_scan *scan, const struct fbp_recon_params *given)
{
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {COLUMNS, ROWS, N_VIEWS}, .type = FBP_F32};
    struct fbp_recon_params p = *given;
    fbp_plan *plan = NULL;

    OK(fbp_source_memory(&p.input.source, samples, &info));
    p.device = p.device ? p.device : "cpu";
    const fbp_status st = fbp_plan_create(&plan, scan, &p);
    assert_true((st == FBP_OK) == (plan != NULL));
    fbp_plan_destroy(&plan);
    fbp_source_close(&p.input.source);
    return st;
}

static void assert_refused(fbp_status st, const char *field)
{
    if (st != FBP_ERR_INVALID || !strstr(fbp_message(), field))
        fail_msg("%s: status %d, message \"%s\"", field, (int)st, fbp_message());
}

static const double wild[] = {-1,     -0x1p-1074, 0x1p-1074, 1e-300, 1e300,
                              -1e300, INFINITY,   -INFINITY, NAN};
enum { N_WILD = sizeof wild / sizeof *wild };

/* A field of a scan whose range has no zero, nor anything else of wild. */
#define SCAN_DOUBLE(field, name)                                                \
    for (int i = 0; i < N_WILD; i++) {                                          \
        struct fbp_scan bad = a_scan();                                         \
        bad.field = wild[i];                                                    \
        assert_refused(plan_of(&bad, fbp_recon_params(.device = "cpu")), name); \
    }
#define SCAN_SIZE(field, name)                                                  \
    for (int i = 0; i < 2; i++) {                                               \
        struct fbp_scan bad = a_scan();                                         \
        bad.field = i ? SIZE_MAX : (size_t)1 << 53;                             \
        assert_refused(plan_of(&bad, fbp_recon_params(.device = "cpu")), name); \
    }
#define SCAN_ENUM(field, type, name)                                            \
    for (int i = 0; i < 2; i++) {                                               \
        struct fbp_scan bad = a_scan();                                         \
        bad.field = (type)(i ? -1 : 77);                                        \
        assert_refused(plan_of(&bad, fbp_recon_params(.device = "cpu")), name); \
    }

TEST(scans)
{
    struct fbp_scan s = a_scan();
    OK(plan_of(&s, fbp_recon_params(.device = "cpu")));
    SCAN_ENUM(kind, enum fbp_kind, "scan.kind")
    SCAN_ENUM(row_order, enum fbp_row_order, "scan.row_order")
    SCAN_ENUM(angular_weights, enum fbp_angular_weights, "scan.angular_weights")
    SCAN_ENUM(raw.type, enum fbp_type, "raw.type")
    SCAN_SIZE(n_views, "scan.n_views")
    SCAN_SIZE(panel.n_columns, "scan.panel.n_columns")
    SCAN_SIZE(panel.n_rows, "scan.panel.n_rows")
    SCAN_SIZE(raw.n[1], "raw.n[1]")
    SCAN_SIZE(raw.header_bytes, "raw.header_bytes")
    SCAN_SIZE(volume.n[2], "volume")
    SCAN_SIZE(every, "scan.every")
    SCAN_SIZE(bin, "scan.bin")
    SCAN_DOUBLE(volume.voxel_mm[1], "volume.voxel_mm[1]")
    SCAN_DOUBLE(i0, "scan.i0")
    s = a_scan();
    s.volume.centre_mm[2] = NAN;
    assert_refused(plan_of(&s, fbp_recon_params(.device = "cpu")), "volume.centre_mm[2]");
    s = a_scan();
    s.views = NULL;
    assert_refused(plan_of(&s, fbp_recon_params(.device = "cpu")), "scan.views");
    s = a_scan();
    s.filtered = true;
    s.depths = depths;
    depths[7] = 1e300;
    assert_refused(plan_of(&s, fbp_recon_params(.device = "cpu")), "scan.depths[7]");
}

TEST(listed_views)
{
    static const double odd[] = {1e-17, 1e17, 1e300, INFINITY, NAN};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (int field = 0; field < 2; field++) {
            struct fbp_scan s = a_scan();
            double *v = field ? views[5].v : views[5].u;
            for (int a = 0; a < 3; a++)
                v[a] *= odd[i];
            assert_refused(plan_of(&s, fbp_recon_params(.device = "cpu")), "view 5");
            s = a_scan();
            views[3].s[0] = odd[i] > 1 || isnan(odd[i]) ? odd[i] : -1e200;
            assert_refused(plan_of(&s, fbp_recon_params(.device = "cpu")), "view 3");
        }
}

/* A voxel of 1e-17 mm: looking for slabs of the volume had no end. */
TEST(tiny_voxels)
{
    struct fbp_scan s = a_scan();
    s.volume.voxel_mm[2] = 1e-17;
    assert_refused(plan_of(&s, fbp_recon_params(.device = "cpu")), "volume.voxel_mm[2]");
    s = a_scan();
    struct fbp_recon_params p = *fbp_recon_params(.volume.voxel_mm = {1e-17, 1e-17, 1e-17});
    assert_refused(plan_of(&s, &p), "volume.voxel_mm[0]");
    p = *fbp_recon_params(.volume.voxel_mm = {1e-9, 1e-9, 1e-9});
    assert_refused(plan_of(&s, &p), "more than 1e+09 voxels");
}

#define PARAM_DOUBLE(field, name)                                        \
    for (int i = 0; i < N_WILD; i++) {                                   \
        struct fbp_recon_params p = *fbp_recon_params(.field = wild[i]); \
        assert_refused(plan_of(&s, &p), name);                           \
    }
#define PARAM_SIZE(field, name)                                                            \
    for (int i = 0; i < 2; i++) {                                                          \
        struct fbp_recon_params p = *fbp_recon_params(.field = i ? SIZE_MAX : 1ull << 60); \
        assert_refused(plan_of(&s, &p), name);                                             \
    }
#define PARAM_ENUM(field, type, name)                                                \
    for (int i = 0; i < 2; i++) {                                                    \
        struct fbp_recon_params p = *fbp_recon_params(.field = (type)(i ? -1 : 77)); \
        assert_refused(plan_of(&s, &p), name);                                       \
    }

TEST(params)
{
    const struct fbp_scan s = a_scan();
    PARAM_SIZE(memory_bytes, "memory_bytes")
    PARAM_SIZE(device_memory_bytes, "device_memory_bytes")
    PARAM_SIZE(filtering.half_width, "half_width")
    PARAM_SIZE(tuning.batch_views, "batch_views")
    PARAM_SIZE(tuning.slab_slices, "slab_slices")
    PARAM_SIZE(volume.n[0], "volume")
    PARAM_SIZE(box[2][1], "box")
    PARAM_ENUM(filter, enum fbp_filter, "filter")
    PARAM_ENUM(filtering.angular_weights, enum fbp_angular_weights, "angular_weights")
    PARAM_ENUM(precision, enum fbp_precision, "precision")
    PARAM_ENUM(output.type, enum fbp_type, "output_type")
    for (int i = 0; i < 2; i++) {
        struct fbp_recon_params p = *fbp_recon_params(.n_threads = i ? -1 : 1 << 30);
        assert_refused(plan_of(&s, &p), "n_threads");
    }
    PARAM_DOUBLE(cutoff, "cutoff")
    PARAM_DOUBLE(filtering.cutoff_v, "cutoff_v")
    PARAM_DOUBLE(mu_water, "mu_water")
    for (int i = 0; i < N_WILD; i++)
        if (!(wild[i] > 0 && wild[i] < 1)) {
            struct fbp_recon_params p = *fbp_recon_params(.input.follow_timeout_s = wild[i]);
            assert_refused(plan_of(&s, &p), "follow_timeout_s");
        }
    for (int i = 0; i < 2; i++) {
        struct fbp_recon_params p =
            *fbp_recon_params(.output.type = FBP_U8, .output.range = {0, i ? NAN : 1e300});
        assert_refused(plan_of(&s, &p), "output_range[1]");
    }
}

TEST(struct_sizes)
{
    const struct fbp_scan s = a_scan();
    const size_t good = sizeof(struct fbp_recon_params);
    const size_t sizes[] = {0, 8, offsetof(struct fbp_recon_params, callbacks), SIZE_MAX};
    struct fbp_recon_params p = *fbp_recon_params(.box = {{7, 3}});

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        p.struct_size = sizes[i];
        assert_refused(plan_of(&s, &p), "struct_size");
    }
    p.struct_size = good;
    assert_refused(plan_of(&s, &p), "box");
}

TEST(circles)
{
    static const struct {
        size_t offset;
        const char *name;
        bool signs; /* small ones are good */
    } fields[] = {
        {offsetof(struct fbp_circle, pitch_mm), "pitch along u", false},
        {offsetof(struct fbp_circle, pitch_mm) + 8, "pitch along v", false},
        {offsetof(struct fbp_circle, offset_mm), "offset along u", true},
        {offsetof(struct fbp_circle, tilt_rad) + 16, "tilt 3", true},
        {offsetof(struct fbp_circle, skew_rad), "skew", true},
    };
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        for (int i = 0; i < N_WILD; i++) {
            struct fbp_circle c = a_circle();
            if (fields[f].signs && fabs(wild[i]) <= 1)
                continue;
            memcpy((char *)&c + fields[f].offset, &wild[i], sizeof wild[i]);
            assert_refused(fbp_circle_views(&c, views), fields[f].name);
        }
    for (int i = 0; i < N_WILD; i++) {
        struct fbp_circle c = a_circle();
        c.sod_mm = &wild[i];
        assert_refused(fbp_circle_views(&c, views), "source-to-axis");
        c = a_circle();
        angles[3] = fabs(wild[i]) <= 1 ? NAN : wild[i];
        assert_refused(fbp_circle_views(&c, views), "view 3: angle");
    }
    struct fbp_circle c = a_circle();
    c.n_sod = 0;
    assert_refused(fbp_circle_views(&c, views), "0 source-to-axis distances (n_sod)");
    c = a_circle();
    c.sdd_mm = NULL;
    assert_refused(fbp_circle_views(&c, views), "0 source-to-detector distances (n_sdd)");
    c = a_circle();
    c.n_views = SIZE_MAX;
    c.n_sod = c.n_sdd = 1;
    assert_refused(fbp_circle_views(&c, views), "n_views");
    c = a_circle();
    c.struct_size = sizeof c - 8;
    assert_refused(fbp_circle_views(&c, views), "struct_size");
}

TEST(feeds)
{
    const struct fbp_feed_params good = {.struct_size = sizeof good,
                                         .device = "cpu",
                                         .panel = {8, 8},
                                         .volume = {{8, 8, 8}, {1, 1, 1}, {0, 0, 0}}};
    struct fbp_feed_params p;
    fbp_feed *feed = NULL;
#define FEED(field, value, name)                    \
    p = good;                                       \
    p.field = (value);                              \
    assert_refused(fbp_feed_open(&feed, &p), name); \
    assert_null(feed);

    FEED(struct_size, 8, "struct_size")
    FEED(struct_size, SIZE_MAX, "struct_size")
    FEED(n_threads, -1, "n_threads")
    FEED(n_threads, 1 << 30, "n_threads")
    FEED(precision, (enum fbp_precision)9, "precision")
    FEED(panel.n_columns, SIZE_MAX, "panel.n_columns")
    FEED(panel.n_rows, 0, "panel.n_rows")
    FEED(volume.n[1], SIZE_MAX, "volume")
    FEED(volume.voxel_mm[0], 1e-17, "volume.voxel_mm[0]")
    FEED(volume.centre_mm[0], NAN, "volume.centre_mm[0]")
    FEED(n_views, SIZE_MAX, "n_views")
    FEED(batch_views, SIZE_MAX, "batch_views")
}

TEST(sinks_and_sources)
{
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {4, 4, 4}, .type = FBP_F32};
    struct fbp_sink_params p = {.struct_size = offsetof(struct fbp_sink_params, level_bytes) -
                                               8}; /* than in any release */
    struct fbp_raw raw = {.type = (enum fbp_type)99, .n = {4, 4, 4}};
    fbp_source *source = NULL;
    fbp_sink *sink = NULL;

    assert_refused(fbp_sink_open(&sink, "null:", &info, &p), "struct_size");
    p.struct_size = sizeof p;
    p.type = (enum fbp_type)99;
    assert_refused(fbp_sink_open(&sink, "null:", &info, &p), "sink: type");
    p.type = FBP_U8;
    p.range[1] = NAN;
    assert_refused(fbp_sink_open(&sink, "null:", &info, &p), "range[1]");
    p = (struct fbp_sink_params){.struct_size = sizeof p, .n_keep = 3};
    assert_refused(fbp_sink_open(&sink, "null:", &info, &p), "keep");
    assert_refused(fbp_source_open(&source, "x.raw", &raw), "raw.type");
    raw.type = FBP_U8;
    raw.n[2] = SIZE_MAX;
    assert_refused(fbp_source_open(&source, "x.raw", &raw), "raw.n[2]");
    raw.n[2] = 4;
    raw.header_bytes = UINT64_MAX;
    assert_refused(fbp_source_open(&source, "x.raw", &raw), "raw.header_bytes");
    assert_null(source);
    assert_null(sink);
}

TEST(pictures_and_phantoms)
{
    struct fbp_grid grid = {{4, 4, 4}, {1, 1e-17, 1}, {0, 0, 0}};
    struct fbp_phantom phantom = {0};
    struct fbp_scan s = a_scan();
    struct fbp_picture_params view = *fbp_picture_params(.lo = NAN);

    assert_refused(fbp_picture_write("none.mha", "none.png", &view), "view: lo");
    view.struct_size = 3;
    assert_refused(fbp_picture_write("none.mha", "none.png", &view), "struct_size");
    assert_refused(fbp_phantom_create(&phantom, "defrise", 1e300, 1), "half_mm");
    assert_refused(fbp_phantom_create(&phantom, "defrise", 1, NAN), "scale");
    OK(fbp_phantom_create(&phantom, "defrise", 4, 1));
    assert_refused(fbp_phantom_volume(&phantom, &grid, FBP_CONE, FBP_UNIT_MM, "null:", 1),
                   "voxel_mm[1]");
    grid.voxel_mm[1] = 1;
    assert_refused(fbp_phantom_volume(&phantom, &grid, FBP_CONE, FBP_UNIT_MM, "null:", -1),
                   "n_threads");
    assert_refused(
        fbp_phantom_simulate(
            &phantom, &s, "null:", fbp_simulate_params(.noise_i0 = NAN, .seed = 1, .n_threads = 1)),
        "noise_i0");
    assert_refused(fbp_phantom_simulate(
                       &phantom, &s, "null:", fbp_simulate_params(.seed = 1, .n_threads = 1 << 30)),
                   "n_threads");
    struct fbp_simulate_params params = *fbp_simulate_params(.noise_sd = -1);
    assert_refused(fbp_phantom_simulate(&phantom, &s, "null:", &params), "noise_sd");
    s.panel.n_rows = SIZE_MAX;
    assert_refused(
        fbp_phantom_simulate(&phantom, &s, "null:", fbp_simulate_params(.seed = 1, .n_threads = 1)),
        "panel.n_rows");
    fbp_phantom_clear(&phantom);
}

/* The sentence of each range says the numbers of ranges.h. */
TEST(sentences)
{
    static const struct fbp_range *const all[] = {
        &fbp_range_pitch,    &fbp_range_distance, &fbp_range_position, &fbp_range_angle,
        &fbp_range_rotation, &fbp_range_skew,     &fbp_range_side,     &fbp_range_views,
        &fbp_range_bytes,    &fbp_range_i0,       &fbp_range_depth,    &fbp_range_mu,
        &fbp_range_value,    &fbp_range_scale,    &fbp_range_noise,    &fbp_range_threads,
        &fbp_range_header,   &fbp_range_noise_sd, &fbp_range_seconds,  &fbp_range_cutoff};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *from = strstr(all[i]->expected, "from ");
        char *to = NULL;
        assert_non_null(from);
        assert_true(strtod(from + 5, &to) == all[i]->min);
        assert_int_equal(strncmp(to, " to ", 4), 0);
        assert_true(strtod(to + 4, NULL) == all[i]->max);
    }
}

TEST_MAIN(NULL, NULL)
