/*
 * A volume as the sum of two, each of half the views: what devices give is added up first, and
 * only then scaled, shifted, masked and looked at.
 */
#include "recon/fixture.h"

#include "pipeline/plan.h"

#include <pthread.h>

enum { N = 40, VIEWS = 36, HALF = VIEWS / 2 };

/* What the other part has: of the volume, or of the box asked for. */
struct other {
    const float *values;
    size_t slice;
    pthread_mutex_t lock;
    size_t n_slices;
    bool fails;
};

static fbp_status add(void *user, size_t z, size_t n, float *x)
{
    struct other *o = user;

    if (o->fails)
        return fbp_fail(FBP_ERR_DEVICE, "the other part is lost");
    for (size_t i = 0; i < n * o->slice; i++)
        x[i] += o->values[z * o->slice + i];
    pthread_mutex_lock(&o->lock);
    o->n_slices += n;
    pthread_mutex_unlock(&o->lock);
    return FBP_OK;
}

/* The scan with the samples of its first, or second, half only; what a ray does not meet is 0. */
static char *half_of(const struct fbp_scan *scan, size_t part)
{
    const size_t view = scan->panel.n_columns * scan->panel.n_rows;
    AUTO_FREE float *p = read_array(scan->projections);

    memset(p + (part ? 0 : HALF * view), 0, HALF * view * sizeof *p);
    return write_array(part ? "second.mha" : "first.mha", scan->panel.n_columns, scan->panel.n_rows,
                       scan->n_views, p);
}

/* One run; sum NULL: of the whole. */
static fbp_status run(const struct fbp_scan *scan, struct fbp_recon_params p, struct fbp_sum *sum,
                      float *out, struct fbp_report *report)
{
    fbp_sink *sink;

    p.struct_size = sizeof p;
    *report = (struct fbp_report){.struct_size = sizeof *report};
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(scan, &p);
    if (sum) {
        fbp_sum_take(sum, &plan->tables.job);
        plan->sum = sum;
    }
    OK(fbp_sink_memory(&sink, out, FBP_F32, fbp_plan_info(plan)->volume.n));
    const fbp_status st = fbp_plan_run_to(plan, NULL, sink, report);
    fbp_sink_close(&sink);
    return st;
}

static void compare(const char *device, const float *whole, const float *summed, size_t n)
{
    double peak = 0, square = 0;

    for (size_t i = 0; i < n; i++) {
        const double d = (double)summed[i] - (double)whole[i];
        peak = fmax(peak, fabs((double)whole[i]));
        square += d * d;
    }
    print_message("%s: rmse %.2g of the peak\n", device, sqrt(square / (double)n) / peak);
    assert_true(sqrt(square / (double)n) < 1e-6 * peak);
}

static void check_sum(struct fbp_scan *scan, const struct fbp_recon_params *p)
{
    char *const all = scan->projections;
    const size_t n = grid_size(&scan->volume);
    AUTO_FREE float *whole = calloc(n, sizeof *whole), *first = calloc(n, sizeof *first);
    AUTO_FREE float *summed = calloc(n, sizeof *summed);
    struct fbp_recon_params plain = *p;
    struct fbp_report of_whole, of_part, of_sum;

    assert_true(whole && first && summed);
    OK(run(scan, *p, NULL, whole, &of_whole));
    char *const halves[2] = {half_of(scan, 0), half_of(scan, 1)};
    scan->projections = halves[0];
    plain.output.fill = false;
    plain.mu_water = 0; /* the sum alone is scaled */
    OK(run(scan, plain, NULL, first, &of_part));
    scan->projections = halves[1];
    const size_t nx = p->box[0][1] ? p->box[0][1] - p->box[0][0] : scan->volume.n[0];
    const size_t ny = p->box[1][1] ? p->box[1][1] - p->box[1][0] : scan->volume.n[1];
    const size_t nz = p->box[2][1] ? p->box[2][1] - p->box[2][0] : scan->volume.n[2];
    struct other other = {.values = first, .slice = nx * ny, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct fbp_sum sum = {.add = add, .user = &other};
    OK(run(scan, *p, &sum, summed, &of_sum));
    assert_int_equal(other.n_slices, nz);
    compare(p->device, whole, summed, nx * ny * nz);
    assert_true(fabs(of_sum.min - of_whole.min) < 1e-5 * fabs(of_whole.max));
    assert_true(fabs(of_sum.max - of_whole.max) < 1e-5 * fabs(of_whole.max));
    assert_true(fabs(of_sum.mean - of_whole.mean) < 1e-5 * fabs(of_whole.max));
    other.fails = true;
    assert_fails(run(scan, *p, &sum, summed, &of_sum), FBP_ERR_DEVICE, "the other part is lost");
    fbp_message_clear();
    scan->projections = all;
    free(halves[0]);
    free(halves[1]);
}

TEST(parts_add_up)
{
    static const struct fbp_recon_params cases[] = {
        {.device = "ref"},
        {.device = "cpu", .mu_water = 0.02},
        {.device = "cpu", .mu_water = 0.02, .output.fill = true, .output.fill_value = -1000},
        {.device = "cpu", .tuning.kernel = "matrix", .tuning.slab_slices = 7},
        {.device = "cpu", .box = {{5, 31}, {9, 30}, {3, 30}}, .mu_water = 0.02},
        {.device = "mock", .mu_water = 0.02},
        {.device = "mock:0,1", .tuning.slab_slices = 5, .mu_water = 0.02},
        {.device = "cuda"},
        {.device = "cuda", .mu_water = 0.02, .precision = FBP_PRECISION_EXACT},
        {.device = "cuda", .tuning.kernel = "matrix", .mu_water = 0.02, .tuning.slab_slices = 9}};
    AUTO_DROP struct fbp_scan scan = circle_scan(VIEWS, N, 0);

    scan.volume = (struct fbp_grid){{N, N, N - 4}, {5, 5, 5}, {0, 0, 0}};
    simulate_head(&scan, 90);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (usable(cases[i].device))
            check_sum(&scan, &cases[i]);
}

TEST_MAIN(NULL, NULL)
