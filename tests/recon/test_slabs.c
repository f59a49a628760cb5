/* Slabs lie in one list, and workers draw from it: who is free takes the next. */
#include "recon/fixture.h"

#include "backend/mock/mock.h"

#include <dlfcn.h>
#include <inttypes.h>

enum { SLABS = 15, AHEAD = 4 };

static struct fbp_scan make_scan(void)
{
    struct fbp_scan scan = circle_scan(40, 40, 11);

    scan.volume = (struct fbp_grid){{41, 37, 3 * SLABS}, {4.1, 3.9, 4.3}, {3, -2, 5}};
    simulate_head(&scan, 90);
    return scan;
}

struct shares {
    unsigned n[FBP_MOCK_DEVICES];
};

static struct shares slabs_so_far(void)
{
    struct shares out;

    for (int i = 0; i < FBP_MOCK_DEVICES; i++)
        out.n[i] = (unsigned)atomic_load(&fbp_mock_slabs[i]);
    return out;
}

/* Slabs that each device begins in a run, which gives the right volume. */
static struct shares run(const struct fbp_scan *scan, const char *device, uint64_t right)
{
    const struct shares before = slabs_so_far();
    const uint64_t hash = reconstruct_hash(
        scan, fbp_recon_params(.device = device, .slab_slices = 3, .batch_views = 8));
    struct shares out = slabs_so_far();

    assert_true(hash == right);
    for (int i = 0; i < FBP_MOCK_DEVICES; i++)
        out.n[i] -= before.n[i];
    return out;
}

/* It has drawn one slab and a few ahead; the other one computes all the rest meanwhile. */
static void a_slow_device_gets_fewer(void **state)
{
    static const struct fbp_rates none = {0}, card = {1e-12, 1e-10, 1e-12, 1e-10, 0};
    struct fbp_scan scan = make_scan();
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));

    (void)state;
    for (int kept = 0; kept < 2; kept++) /* filtered views are kept on the devices, or not */
        for (unsigned slow = 1; slow <= 2; slow++) {
            const struct shares before = slabs_so_far();
            fbp_mock_plant = (struct fbp_mock_plant){
                .held_device = slow,
                .held_slabs = before.n[2 - slow] + before.n[2] + before.n[3] + SLABS - AHEAD,
                .rates = kept ? card : none};
            const struct shares s = run(&scan, "mock:0,1", right);
            assert_int_equal(s.n[0] + s.n[1], SLABS);
            assert_true(s.n[slow - 1] >= 1 && s.n[slow - 1] <= AHEAD);
        }
    fbp_mock_plant = (struct fbp_mock_plant){0};
    drop_scan(&scan);
}

static void each_device_begins_with_one(void **state)
{
    struct fbp_scan scan = make_scan();
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));

    (void)state;
    const struct shares s = run(&scan, "mock:0,1,2,3", right);
    assert_int_equal(s.n[0] + s.n[1] + s.n[2] + s.n[3], SLABS);
    for (int i = 0; i < FBP_MOCK_DEVICES; i++)
        assert_true(s.n[i] >= 1);
    drop_scan(&scan);
}

/* What a run without failures gives. */
struct right {
    uint64_t hash;
    struct fbp_report report;
};

static void count_lines(void *user, enum fbp_log_level level, const char *line)
{
    int *n = user;

    *n += level == FBP_LOG_WARNING && strstr(line, "is not used any more, the others do its part");
}

static void keep_lines(void *user, enum fbp_log_level level, const char *line)
{
    char *said = user;

    if (level == FBP_LOG_WARNING)
        strncat(said, line, 399 - strlen(said));
}

static void check_report(const struct fbp_report *r, const struct right *right)
{
    assert_true(r->hash == right->hash);
    assert_true(r->min == right->report.min && r->max == right->report.max);
    assert_true(fabs(r->mean - right->report.mean) < 1e-12 * fabs(right->report.max));
    assert_int_equal(r->not_finite, right->report.not_finite);
    assert_int_equal(r->clipped, right->report.clipped);
}

/* As a plan of its own. */
static fbp_status run_plan(const struct fbp_scan *scan, const struct fbp_recon_params *p,
                           const char *output, struct fbp_report *r)
{
    fbp_plan *plan;

    OK(fbp_plan_create(&plan, scan, p));
    const fbp_status st = fbp_plan_run(plan, output, r);
    fbp_plan_destroy(&plan);
    return st;
}

/* A run in which what is planted fails, if it comes to that, and one after it on the same plan. */
static bool run_with_failure(const struct fbp_scan *scan, const struct fbp_recon_params *params,
                             const struct right *right, size_t *n_dropped)
{
    const uint64_t before = atomic_load(&fbp_mock_failures);
    struct fbp_recon_params p = *params;
    struct fbp_report r = {.struct_size = sizeof r};
    fbp_plan *plan;
    int lines = 0;

    p.log = count_lines;
    p.user = &lines;
    OK(fbp_plan_create(&plan, scan, &p));
    OK(fbp_plan_open(plan));
    for (int time = 0; time < 2; time++) {
        OK(fbp_plan_run(plan, "hash:", &r));
        check_report(&r, right);
        /* What fails when all is done drops nothing. */
        assert_true(r.devices_dropped <= (atomic_load(&fbp_mock_failures) > before));
        assert_int_equal(lines, r.devices_dropped);
    }
    *n_dropped += r.devices_dropped;
    fbp_plan_destroy(&plan);
    return atomic_load(&fbp_mock_failures) > before;
}

static void spoil(struct fbp_scan *scan)
{
    const size_t n = scan->n_views * scan->panel.n_columns * scan->panel.n_rows;
    float *p = read_array(scan->projections);

    for (size_t i = 0; i < n; i += 97)
        p[i] = NAN;
    replace_samples(scan, p);
    free(p);
}

/* Every call of a device, and every command of its queues: the others do its part, the same bits,
 * the same facts.  step: every so many of them. */
static void check_failures(const struct fbp_scan *scan, struct fbp_recon_params p,
                           struct fbp_rates rates, uint64_t step, struct right *right)
{
    right->report = (struct fbp_report){.struct_size = sizeof right->report};
    fbp_mock_plant = (struct fbp_mock_plant){.rates = rates};
    OK(run_plan(scan, &p, "hash:", &right->report));
    assert_true(right->report.hash == right->hash && right->report.not_finite > 100);
    for (int commands = 0; commands < 2; commands++) {
        uint64_t n = 1;
        size_t dropped = 0;
        for (bool failed = true; failed; n += step) {
            fbp_mock_plant = (struct fbp_mock_plant){.fail_device = 1 + n % 2, .rates = rates};
            *(commands ? &fbp_mock_plant.fail_command : &fbp_mock_plant.fail_call) = n;
            failed = run_with_failure(scan, &p, right, &dropped);
        }
        print_message("%zu devices dropped after a failure among %" PRIu64 " %s\n", dropped, n,
                      commands ? "commands" : "calls");
        assert_true(dropped > 10);
    }
    fbp_mock_plant = (struct fbp_mock_plant){0};
}

static void others_do_what_a_failed_device_had_to_do(void **state)
{
    static const struct fbp_rates none = {0}, card = {1e-12, 1e-10, 1e-12, 1e-10, 0};
    struct fbp_scan scan = make_scan();
    struct right right;

    (void)state;
    spoil(&scan);
    right.hash = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
    const struct fbp_recon_params p = {
        .struct_size = sizeof p, .device = "mock:0,1", .slab_slices = 9, .batch_views = 16};
    check_failures(&scan, p, none, 3, &right);
    check_failures(&scan, p, card, 3, &right); /* filtered views are kept */
    drop_scan(&scan);
}

/* With none left the run fails, and says why; another one resumes it. */
static void the_last_device_fails_the_run(void **state)
{
    struct fbp_scan scan = make_scan();
    struct fbp_report r = {.struct_size = sizeof r};
    char *out = temporary("slabs.mha");
    struct fbp_recon_params p = {
        .struct_size = sizeof p, .device = "mock:0,0", .slab_slices = 3, .batch_views = 8};

    (void)state;
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
    fbp_mock_plant = (struct fbp_mock_plant){.fail_device = 1, .fail_command = 100};
    assert_int_equal(run_plan(&scan, &p, out, &r), FBP_ERR_DEVICE);
    assert_non_null(strstr(fbp_message(), "as a test wants"));
    fbp_mock_plant = (struct fbp_mock_plant){0};
    p.resume = 1;
    OK(run_plan(&scan, &p, out, &r));
    assert_true(r.slabs_resumed > 0);
    remove(out);
    assert_true(reconstruct_hash(&scan, fbp_recon_params(.device = "mock:0,0")) == right);
    free(out);
    drop_scan(&scan);
}

/* Devices whose memory others use: the plan does without them, and says so. */
static void a_full_device_is_left_out(void **state)
{
    struct fbp_scan scan = make_scan();
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
    const size_t gib = (size_t)1 << 30;
    struct fbp_report r = {.struct_size = sizeof r};
    char said[400] = "";
    fbp_plan *plan;

    (void)state;
    fbp_mock_plant = (struct fbp_mock_plant){.free_bytes = {gib, 1000, gib, 2000}};
    OK(fbp_plan_create(&plan, &scan,
                       fbp_recon_params(.device = "mock:all", .log = keep_lines, .user = said)));
    assert_int_equal(fbp_plan_info(plan)->n_devices, 2);
    assert_non_null(strstr(said, "device mock:1 is not used: 900 B of its memory"));
    assert_non_null(strstr(said, "device mock:3 is not used"));
    OK(fbp_plan_run(plan, "hash:", &r));
    assert_true(r.hash == right);
    fbp_plan_destroy(&plan);
    /* With none left it is an error, of the last one. */
    fbp_mock_plant = (struct fbp_mock_plant){.free_bytes = {1000, 2000, 1000, 1000}};
    assert_int_equal(fbp_plan_create(&plan, &scan, fbp_recon_params(.device = "mock:all")),
                     FBP_ERR_NOMEM);
    assert_non_null(strstr(fbp_message(), "of device memory, the limit is 1.76 KiB"));
    fbp_mock_plant = (struct fbp_mock_plant){0};
    drop_scan(&scan);
}

/* All memory of a GPU that is left, taken and given back by its driver. */
struct hog {
    void *driver;
    int device;
    void *context;
    uint64_t at[64];
    size_t n;
};

/* Functions of the driver, by their arguments. */
typedef int init_fn(unsigned flags);
typedef int retain_fn(void **context, int device);
typedef int push_fn(void *context);
typedef int pop_fn(void **context);
typedef int alloc_fn(uint64_t *at, size_t bytes);
typedef int free_fn(uint64_t at);
typedef int release_fn(int device);

#define CALL(hog, type, name, ...) (*(type **)&(void *){dlsym((hog)->driver, name)})(__VA_ARGS__)

static bool take_memory(struct hog *h, int device)
{
    *h = (struct hog){.driver = dlopen("libcuda.so.1", RTLD_NOW), .device = device};
    if (!h->driver || CALL(h, init_fn, "cuInit", 0) != 0 ||
        CALL(h, retain_fn, "cuDevicePrimaryCtxRetain", &h->context, device) != 0 ||
        CALL(h, push_fn, "cuCtxPushCurrent_v2", h->context) != 0)
        return false;
    for (size_t bytes = (size_t)1 << 38; bytes >= 1 << 20; bytes /= 2)
        while (h->n < 64 && CALL(h, alloc_fn, "cuMemAlloc_v2", &h->at[h->n], bytes) == 0)
            h->n++;
    return h->n > 0;
}

static void give_memory_back(struct hog *h)
{
    void *context;

    while (h->n > 0)
        CALL(h, free_fn, "cuMemFree_v2", h->at[--h->n]);
    CALL(h, pop_fn, "cuCtxPopCurrent_v2", &context);
    CALL(h, release_fn, "cuDevicePrimaryCtxRelease_v2", h->device);
}

/* Planned while there was memory; when the second GPU opens there is none left. */
static void a_gpu_without_memory_is_dropped(void **state)
{
    struct fbp_device_info devices[16];
    struct fbp_scan scan = make_scan();
    struct fbp_report r = {.struct_size = sizeof r};
    struct hog hog;
    fbp_plan *plan;
    size_t n_cuda = 0;
    int lines = 0;

    (void)state;
    devices[0].struct_size = sizeof devices[0];
    const size_t n = fbp_devices(devices, 16);
    for (size_t i = 0; i < n && i < 16; i++)
        n_cuda += strncmp(devices[i].name, "cuda:", 5) == 0;
    if (n_cuda < 2) {
        drop_scan(&scan);
        skip();
    }
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cuda"));
    OK(fbp_plan_create(&plan, &scan,
                       fbp_recon_params(.device = "cuda:0,1", .log = count_lines, .user = &lines)));
    assert_true(take_memory(&hog, 1));
    OK(fbp_plan_run(plan, "hash:", &r));
    give_memory_back(&hog);
    assert_true(r.hash == right);
    assert_int_equal(r.devices_dropped, 1);
    assert_int_equal(lines, 1);
    fbp_plan_destroy(&plan);
    assert_true(reconstruct_hash(&scan, fbp_recon_params(.device = "cuda:all")) == right);
    drop_scan(&scan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_slow_device_gets_fewer),
                                       cmocka_unit_test(each_device_begins_with_one),
                                       cmocka_unit_test(others_do_what_a_failed_device_had_to_do),
                                       cmocka_unit_test(the_last_device_fails_the_run),
                                       cmocka_unit_test(a_full_device_is_left_out),
                                       cmocka_unit_test(a_gpu_without_memory_is_dropped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
