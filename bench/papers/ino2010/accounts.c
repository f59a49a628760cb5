/* Published figures of Ino et al. (2010), and the rules that derive rates, limits and costs from
 * seconds and sizes. Called by tables.c, plan.c, json.c and pictures.c.
 * Used by: bench/papers/ino2010/. */
#include "bench/papers/ino2010/text.h"

#include <math.h>

const size_t s2_counts[S2_COUNTS] = {1, 2, 4};

const struct s2_published s2_published[S2_CASES] = {
    {.name = "a",
     .size = 1024,
     .views = 720,
     .subvolumes = 4,
     .init = {1.3, 2.7, 5.4},
     .download = {4.4, 2.4, 1.3},
     .filter = {5.2, 2.6, 1.3},
     .readback = {1.1, .6, .3},
     .backproject = {39.7, 19.9, 10.0},
     .fetch = {1.3, .9, .6},
     .apart = {53.0, 29.1, 18.9},
     .streams = {51.5, 28.4, 18.0}},
    {.name = "b",
     .size = 2048,
     .views = 720,
     .subvolumes = 64,
     .init = {6.1, 5.5, 7.5},
     .download = {255.8, 190.7, 103.6},
     .filter = {20.8, 10.4, 5.2},
     .readback = {3.8, 3.5, 1.6},
     .backproject = {235.3, 117.5, 59.3},
     .fetch = {10.2, 6.3, 3.6},
     .apart = {532.0, 333.9, 180.8},
     .streams = {523.8, 328.3, 178.4}},
};

enum { PAPER_LAUNCH = 5 };

/* Operations of an update as the paper of 2008 counts them for this kernel: 162.6 GFLOP/s while
 * 512^3 x 360 updates take 4.3 s. */
const double s2_update_flops = 162.6e9 * 4.3 / (512. * 512 * 512 * 360);

/* Rates of the backprojection by one device.  Bytes of an update: 4 of a view, and 8 of the voxel
 * per launch.  That gives the paper's 137 GB/s for its 2048^3 in 235.3 s if a GB has 2^30 bytes.
 * The bandwidth that the paper compares with, 102 GB/s, counts 10^9 bytes: the rate would then be
 * 147. */
/* `one` and `total`: seconds of 1 and of n devices. */
static struct s2_rates rates_of(size_t size, size_t views, size_t n_devices, size_t launch_views,
                                double one, double total, double backproject)
{
    const double updates = pow((double)size, 3) * (double)views / (double)n_devices;
    const double rate = updates / backproject;

    return (struct s2_rates){.views = (double)views / total,
                             .speed_up = one / total,
                             .gups = 1e-9 * rate,
                             .gflops = 1e-9 * s2_update_flops * rate,
                             .gbytes = 0x1p-30 * (4 + 8 / (double)launch_views) * rate};
}

struct s2_rates s2_published_rates(const struct s2_published *p, size_t i)
{
    return rates_of(p->size, p->views, s2_counts[i], PAPER_LAUNCH, p->streams[0], p->streams[i],
                    p->backproject[i]);
}

static double total_of(const struct s2_result *r, size_t i)
{
    return r->streams[i].n_devices ? r->streams[i].total
           : r->apart[i].n_devices ? r->apart[i].total
                                   : NAN;
}

/* Rates of a measured result; those of the backprojection are of the slowest device and its boxes.
 */
struct s2_rates s2_result_rates(const struct s2_result *r, size_t i)
{
    const double backproject = r->apart[i].n_devices ? r->apart[i].backproject : NAN;

    return rates_of(r->size, r->views, s2_counts[i], r->plan.launch_views, total_of(r, 0),
                    total_of(r, i), backproject);
}

struct s2_limits s2_result_limits(const struct s2_result *r, size_t i)
{
    const struct fbp_s2_time *a = &r->apart[i], *t = r->streams[i].n_devices ? &r->streams[i] : a;
    struct s2_limits s = {"unknown without --streams both", (double)t->sent / t->link, NAN, NAN};

    if (a->n_devices == 0)
        return s;
    s.compute = a->layout + a->filter + a->backproject;
    s.volume = a->fetch + fmax(a->concatenate, a->write);
    s.name = s.views >= fmax(s.compute, s.volume) ? "views"
             : s.compute >= s.volume              ? "computing"
                                                  : "volume";
    return s;
}

double s2_normalised(double views, double gbytes)
{
    return gbytes > 0 ? views * S2_GBYTES / gbytes : NAN;
}

static double parts(size_t n, size_t of)
{
    const size_t whole = (n + of - 1) / of;

    return (double)whole;
}

/* Samples and voxels are floats. */
static double view_bytes(const struct fbp_s2_plan *p)
{
    return 4 * (double)p->n_columns * (double)p->n_rows;
}

static double voxels(const struct fbp_s2_plan *p)
{
    return (double)p->n[0] * (double)p->n[1] * (double)p->n[2];
}

struct s2_cost s2_original_cost(const struct fbp_s2_plan *p)
{
    const double views = (double)p->n_views * view_bytes(p), volume = 4 * voxels(p);

    return (struct s2_cost){.download = views,
                            .filter = views / 4,
                            .readback = NAN,
                            .backproject = voxels(p) * (double)p->n_views,
                            .fetch = volume,
                            .boxes = NAN,
                            .video = volume + (double)p->launch_views * view_bytes(p),
                            .memory = volume + views};
}

/* Costs per device of the proposed method: each view is sent once for the filter, and once per box.
 */
struct s2_cost s2_proposed_cost(const struct fbp_s2_plan *p, size_t n)
{
    const double views = (double)p->n_views * view_bytes(p), volume = 4 * voxels(p);
    const double share = parts(p->subvolumes, n) / (double)p->subvolumes;

    return (struct s2_cost){.download = views / (double)n + parts(p->subvolumes, n) * views,
                            .filter = views / 4 / (double)n,
                            .readback = views / (double)n,
                            .backproject = voxels(p) * (double)p->n_views * share,
                            .fetch = volume * share,
                            .boxes = (double)p->subvolumes,
                            .video = volume / (double)p->subvolumes +
                                     (double)p->launch_views * view_bytes(p),
                            .memory = volume + views};
}
