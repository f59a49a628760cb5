/*
 * client SCAN: a program that was built with the header of a release and runs with a later library.
 * Every struct has a guard behind it, which the library must not touch.
 */
#include "fbp/fbp.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GUARD 0x5aa5c33c0ff01e87ull
#define GUARDED(type, name) \
    struct {                \
        struct type s;      \
        uint64_t guard;     \
    } name = {.s = {.struct_size = sizeof(struct type)}, .guard = GUARD}
#define CHECK(condition)                                                                   \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "client.c:%d: %s: %s\n", __LINE__, #condition, fbp_message()); \
            return 1;                                                                      \
        }                                                                                  \
    } while (0)
#define KEPT(name) CHECK((name).guard == GUARD && (name).s.struct_size == sizeof(name).s)

static size_t calls;

static int on_progress(void *user, const struct fbp_progress *now)
{
    calls += user && now->struct_size >= sizeof *now && now->total >= now->done;
    return 0;
}

static int reconstructs(const char *path)
{
    GUARDED(fbp_scan, scan);
    GUARDED(fbp_report, report);
    GUARDED(fbp_recon_params, params);
    fbp_plan *plan = NULL;

    CHECK(fbp_scan_load(&scan.s, path) == FBP_OK);
    KEPT(scan);
    CHECK(scan.s.n_views > 0 && scan.s.views && scan.s.projections);
    params.s.filter = FBP_FILTER_HANN;
    params.s.progress = on_progress;
    params.s.user = &params;
    params.s.mask = 1;
    params.s.mask_value = -0.5; /* the last field */
    CHECK(fbp_plan_create(&plan, &scan.s, &params.s) == FBP_OK);
    const struct fbp_plan_summary *info = fbp_plan_info(plan);
    CHECK(info->struct_size >= sizeof *info && info->volume.n[0] > 0);
    CHECK(info->facts->struct_size >= sizeof *info->facts && info->facts->sod_mm[0] > 0);
    CHECK(info->roi[0][1] == info->volume.n[0]);
    CHECK(fbp_plan_run(plan, "client.mha", &report.s) == FBP_OK);
    KEPT(report);
    CHECK(report.s.total > 0 && report.s.max > report.s.min && calls > 0);
    fbp_plan_destroy(&plan);
    CHECK(fbp_scan_reduce(&scan.s, 2, 1) == FBP_OK);
    CHECK(scan.s.every == 2 && scan.s.stored_views >= 2 * scan.s.n_views - 1);
    KEPT(scan);
    fbp_scan_clear(&scan.s);
    KEPT(scan);
    CHECK(scan.s.n_views == 0 && !scan.s.views);
    return 0;
}

static int arrays(void)
{
    GUARDED(fbp_array_info, info);
    GUARDED(fbp_sink_params, params);
    GUARDED(fbp_comparison, found);
    GUARDED(fbp_picture_params, picture);
    const float samples[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    fbp_sink *sink = NULL;
    fbp_source *source = NULL;

    for (int i = 0; i < 3; i++)
        info.s.n[i] = 2;
    info.s.type = FBP_F32;
    params.s.type = FBP_U8;
    params.s.range[1] = 255; /* the last field */
    CHECK(fbp_sink_open(&sink, "small.mha", &info.s, &params.s) == FBP_OK);
    CHECK(fbp_sink_write(sink, 0, 2, samples) == FBP_OK && fbp_sink_finish(sink) == FBP_OK);
    fbp_sink_close(&sink);
    CHECK(fbp_source_open(&source, "small.mha", NULL) == FBP_OK);
    CHECK(fbp_source_info(source)->struct_size >= sizeof info.s);
    CHECK(fbp_source_info(source)->type == FBP_U8);
    fbp_source_close(&source);
    CHECK(fbp_source_memory(&source, samples, &info.s) == FBP_OK);
    fbp_source_close(&source);
    CHECK(fbp_array_compare("small.mha", "small.mha", 0, &found.s) == FBP_OK);
    KEPT(found);
    CHECK(found.s.count == 8 && fabs(found.s.mean_b - 4.5) < 1e-12);
    CHECK(fbp_picture_write("small.mha", "small.png", &picture.s) == FBP_OK);
    return 0;
}

static int geometry(void)
{
    GUARDED(fbp_circle, circle);
    GUARDED(fbp_geometry_facts, facts);
    const double angles[] = {0, 1.6, 3.1, 4.7}, sod = 300, sdd = 500;
    const struct fbp_panel panel = {16, 8};
    struct fbp_view views[4];

    circle.s.n_views = 4;
    circle.s.angles_rad = angles;
    circle.s.sod_mm = &sod;
    circle.s.sdd_mm = &sdd;
    circle.s.n_sod = circle.s.n_sdd = 1;
    circle.s.pitch_mm[0] = circle.s.pitch_mm[1] = 2;
    CHECK(fbp_circle_views(&circle.s, views) == FBP_OK);
    CHECK(fbp_views_facts((struct fbp_views){FBP_CONE, 4, panel, views}, NULL, &facts.s) == FBP_OK);
    KEPT(facts);
    CHECK(fabs(facts.s.sod_mm[1] - sod) < 1e-9);
    CHECK(fbp_geometry_circular(&facts.s) == FBP_OK);
    return 0;
}

static int lists(void)
{
    enum { MOST = 64 };
    static struct fbp_device_info devices[MOST + 1];
    static struct fbp_geometry_format_info formats[MOST + 1];

    memset(&devices[MOST], 0x5a, sizeof *devices);
    memset(&formats[MOST], 0x5a, sizeof *formats);
    devices[0].struct_size = sizeof *devices;
    formats[0].struct_size = sizeof *formats;
    const size_t n = fbp_devices(devices, MOST), m = fbp_geometry_formats(formats, MOST);
    CHECK(n > 1 && m > 1 && n <= MOST && m <= MOST);
    for (size_t i = 0; i < n; i++)
        CHECK(devices[i].name[0] && devices[i].struct_size == sizeof *devices);
    for (size_t i = 0; i < m; i++)
        CHECK(formats[i].name && formats[i].struct_size == sizeof *formats);
    CHECK(*(unsigned char *)&devices[MOST] == 0x5a && *(unsigned char *)&formats[MOST] == 0x5a);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (reconstructs(argv[1]) || arrays() || geometry() || lists())
        return 1;
    printf("built with %s, run with %s\n", FBP_VERSION, fbp_version());
    return 0;
}
