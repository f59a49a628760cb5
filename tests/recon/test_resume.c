/*
 * What --resume compares: an interrupted run goes on with what it was started with and with nothing
 * else, be it a parameter, the scan, or the samples.
 */
#include "geometry/view.h"
#include "recon/fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { N = 32, VIEWS = 24 };

/* A run, and how it may differ from the one before. */
struct run {
    struct fbp_scan scan;
    struct fbp_recon_params p;
};

static struct fbp_scan make_scan(void)
{
    return head_scan(VIEWS, N, N, &(struct orbit){.pitch_mm = {8, 8}},
                     (struct fbp_grid){{24, 24, 24}, {6, 6, 6}, {0, 0, 0}}, 60);
}

static int stop(void *user, const struct fbp_progress *p)
{
    return p->slabs_done > 0;
}

static fbp_status go(const struct run *r, const char *path, struct fbp_report *report)
{
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = NULL;
    fbp_status st = fbp_plan_create(&plan, &r->scan, &r->p);

    if (st == FBP_OK)
        st = fbp_plan_run(plan, path, report);
    return st;
}

/* Parameters. */
static void pad_ellipse(struct run *r)
{
    r->p.pad = FBP_PAD_ELLIPSE;
}
static void pad_cosine(struct run *r)
{
    r->p.pad = FBP_PAD_COSINE;
}
static void mask(struct run *r)
{
    r->p.output.fill = true;
}
static void mask_value(struct run *r)
{
    r->p.output.fill = true;
    r->p.output.fill_value = 0.01;
}
static void mask_nan(struct run *r)
{
    r->p.output.fill = true;
    r->p.output.fill_value = NAN;
}
static void roi(struct run *r)
{
    r->p.box[0][0] = 2;
    r->p.box[0][1] = 20;
}
static void roi_slices(struct run *r)
{
    r->p.box[2][0] = 4;
}
static void filter(struct run *r)
{
    r->p.filter = FBP_FILTER_COSINE;
}
static void cutoff(struct run *r)
{
    r->p.cutoff = 0.7;
}
static void cutoff_v(struct run *r)
{
    r->p.filtering.cutoff_v = 0.7;
}
static void spatial(struct run *r)
{
    r->p.filtering.spatial = true;
}
static void half_width(struct run *r)
{
    r->p.filtering.spatial = true;
    r->p.filtering.half_width = 5;
}
static void hounsfield(struct run *r)
{
    r->p.mu_water = 0.02;
}
static void integers(struct run *r)
{
    r->p.output.type = FBP_U16;
    r->p.output.range[1] = 0.05;
}
static void other_kernel(struct run *r)
{
    r->p.tuning.kernel = "matrix";
}
static void volume(struct run *r)
{
    r->p.volume = r->scan.volume;
    r->p.volume.voxel_mm[0] = 6.5;
}
static void volume_centre(struct run *r)
{
    r->scan.volume.centre_mm[2] = 1;
}

/* The scan, as --every, --bin, --centre and --angular-weights change it. */
static void every(struct run *r)
{
    OK(fbp_scan_reduce(&r->scan, 2, 1));
}
static void bin(struct run *r)
{
    OK(fbp_scan_reduce(&r->scan, 1, 2));
}
static void centre(struct run *r)
{
    for (size_t k = 0; k < r->scan.n_views; k++)
        for (int i = 0; i < 3; i++)
            r->scan.views[k].d[i] += 0.25 * r->scan.views[k].u[i];
}
static void reverse(struct run *r)
{
    fbp_views_flip(r->scan.views, r->scan.n_views, FBP_FLIP_DIRECTION);
}
static void i0(struct run *r)
{
    r->scan.i0 = 2;
}

static void correct(struct run *r, double a2)
{
    OK(fbp_scan_correct(
        &r->scan, &(const struct fbp_corrections){.struct_size = sizeof(struct fbp_corrections),
                                                  .beam_hardening = {1, a2}}));
}
static void beam_hardening(struct run *r)
{
    correct(r, 0.1);
}
static void more_hardening(struct run *r)
{
    correct(r, 0.2);
}

static void remove_rings(struct run *r, const char *text)
{
    struct fbp_corrections c = {.struct_size = sizeof c};

    OK(fbp_corrections_rings(&c, text));
    OK(fbp_scan_correct(&r->scan, &c));
}
static void rings(struct run *r)
{
    remove_rings(r, "sorting:5");
}
static void wider_rings(struct run *r)
{
    remove_rings(r, "sorting:7");
}

static void retrieve(struct run *r, double ratio)
{
    OK(fbp_scan_correct(
        &r->scan, &(const struct fbp_corrections){.struct_size = sizeof(struct fbp_corrections),
                                                  .paganin_delta_beta = ratio,
                                                  .paganin_kev = 20}));
}
static void phases(struct run *r)
{
    retrieve(r, 2e3);
}
static void other_phases(struct run *r)
{
    retrieve(r, 2e4);
}

/* The samples: as long as before, of another time. */
static void samples(struct run *r)
{
    const struct timespec when[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000000000}};

    assert_int_equal(utimensat(AT_FDCWD, r->scan.projections, when, 0), 0);
}

#define CHANGE(name) \
    {                \
#        name, name  \
    }
static const struct {
    const char *name;
    void (*change)(struct run *);
} changes[] = {
    CHANGE(pad_ellipse),  CHANGE(pad_cosine),     CHANGE(mask),
    CHANGE(mask_value),   CHANGE(mask_nan),       CHANGE(roi),
    CHANGE(roi_slices),   CHANGE(filter),         CHANGE(cutoff),
    CHANGE(cutoff_v),     CHANGE(spatial),        CHANGE(half_width),
    CHANGE(hounsfield),   CHANGE(integers),       CHANGE(other_kernel),
    CHANGE(volume),       CHANGE(volume_centre),  CHANGE(every),
    CHANGE(bin),          CHANGE(centre),         CHANGE(reverse),
    CHANGE(i0),           CHANGE(beam_hardening), CHANGE(more_hardening),
    CHANGE(rings),        CHANGE(wider_rings),    CHANGE(phases),
    CHANGE(other_phases), CHANGE(samples),
};
enum { N_CHANGES = sizeof changes / sizeof *changes };

/* From a run with `before` to one with `after`, which are indices of changes, or -1. */
static void try_pair(int before, int after)
{
    struct run r = {
        .scan = make_scan(),
        .p = {.struct_size = sizeof r.p, .device = "cpu", .n_threads = 2, .tuning.slab_slices = 4}};
    struct run other = {.scan = r.scan, .p = r.p};
    AUTO_FREE char *path = temporary("resume.mha");
    struct fbp_report report = {.struct_size = sizeof report};
    const char *from = before < 0 ? "nothing" : changes[before].name;
    const char *to = after < 0 ? "nothing" : changes[after].name;

    other.scan.views = malloc(VIEWS * sizeof *other.scan.views);
    assert_non_null(other.scan.views);
    memcpy(other.scan.views, r.scan.views, VIEWS * sizeof *other.scan.views);
    if (before >= 0)
        changes[before].change(&r);
    r.p.callbacks.progress = stop;
    assert_int_equal(go(&r, path, NULL), FBP_ERR_CANCELLED);
    r.p.callbacks.progress = NULL;
    r.p.output.resume = other.p.output.resume = true;
    if (after >= 0)
        changes[after].change(&other);
    if (go(&other, path, NULL) != FBP_ERR_INVALID ||
        !strstr(fbp_message(), "other settings or data"))
        fail_msg("from %s to %s: %s", from, to, fbp_message());
    const bool touched = after >= 0 && changes[after].change == samples;
    if (!touched && go(&r, path, &report) != FBP_OK)
        fail_msg("from %s to the same: %s", from, fbp_message());
    assert_true(touched || report.slabs_resumed > 0);
    AUTO_FREE char *part = not_null(malloc(strlen(path) + 16));
    for (int i = 0; i < 3; i++) {
        sprintf(part, "%s%s", path, (const char *[]){"", ".part", ".part.log"}[i]);
        remove(part);
    }
    OK(fbp_scan_correct(&other.scan, NULL));
    free(other.scan.views);
    drop_scan(&r.scan);
}

TEST(what_changed_is_not_resumed)
{
    for (int i = 0; i < N_CHANGES; i++)
        try_pair(-1, i);
}

/* Back to what is the default, and from one value to another. */
TEST(what_is_left_out_is_not_resumed)
{
    for (int i = 0; i + 1 < N_CHANGES; i++)
        if (changes[i].change != every && changes[i].change != bin && changes[i].change != centre &&
            changes[i].change != reverse) /* these share the first run's views */
            try_pair(i, -1);
    try_pair(0, 1);
    try_pair(2, 3);
    try_pair(3, 4);
    try_pair(N_CHANGES - 3, N_CHANGES - 2); /* ratios */
    try_pair(N_CHANGES - 5, N_CHANGES - 4); /* widths */
    try_pair(N_CHANGES - 7, N_CHANGES - 6); /* coefficients */
}

TEST_MAIN(NULL, NULL)
