/* Checks that workers take slabs from one list: a slow device gets fewer, shared views are read
 * once, and full devices are left out. */
#include "recon/slabs.h"

#include "pipeline/division.h"

#include <dlfcn.h>
#include <inttypes.h>

enum { AHEAD = 4 };

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
        scan, fbp_recon_params(.device = device, .tuning.slab_slices = 3, .tuning.batch_views = 8));
    struct shares out = slabs_so_far();

    assert_true(hash == right);
    for (int i = 0; i < FBP_MOCK_DEVICES; i++)
        out.n[i] -= before.n[i];
    return out;
}

/* It has drawn one slab and a few ahead; the other one computes all the rest meanwhile. */
TEST(a_slow_device_gets_fewer)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));

    for (int way = 0; way < WAYS; way++)
        for (unsigned slow = 1; slow <= 2; slow++) {
            const struct shares before = slabs_so_far();
            fbp_mock_faults = (struct fbp_mock_faults){
                .held_device = slow,
                .held_slabs = before.n[2 - slow] + before.n[2] + before.n[3] + SLABS - AHEAD,
                .rates = *ways[way]};
            const struct shares s = run(&scan, "mock:0,1", right);
            assert_int_equal(s.n[0] + s.n[1], SLABS);
            assert_true(s.n[slow - 1] >= 1 && s.n[slow - 1] <= AHEAD);
        }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* Of views that devices share each is read once, by one of them, and copied by all others; the same
 * volume, in the second run of a plan, too. */
TEST(shared_views_are_read_once)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
    uint64_t once = 0, bytes = 0;

    for (size_t n = 2; n <= FBP_MOCK_DEVICES; n++) {
        static const char *const devices[] = {"mock:0,1", "mock:0,0,1", "mock:all"};
        struct fbp_report r = {.struct_size = sizeof r};
        fbp_mock_faults = (struct fbp_mock_faults){.rates = linked};
        CLEANUP(fbp_plan_destroy)
        fbp_plan *plan = create_plan(
            &scan, fbp_recon_params(.device = devices[n - 2], .tuning.batch_views = 8,
                                    .tuning.slab_slices = 3)); /* else slabs read less */
        OK(fbp_plan_open(plan));
        for (int time = 0; time < 2; time++) {
            const uint64_t uploaded = fbp_mock_uploaded, shared = fbp_mock_shared;
            OK(fbp_plan_run(plan, "hash:", &r));
            assert_true(r.hash == right);
            once = once ? once : fbp_mock_uploaded - uploaded;
            assert_int_equal(fbp_mock_uploaded - uploaded, once);
            assert_true(once <= 40 * 40 * 90 * sizeof(float));
            bytes = bytes ? bytes : fbp_mock_shared - shared;
            assert_true(bytes > 0);
            assert_int_equal(fbp_mock_shared - shared, (n - 1) * bytes);
        }
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* How many rates of links a plan measures. */
static uint64_t measured_by(const struct fbp_scan *scan, struct fbp_recon_params p, unsigned place)
{
    const uint64_t before = fbp_mock_measured;

    fbp_mock_faults = (struct fbp_mock_faults){.rates = linked, .links = {.place = place}};
    fbp_mock_faults.rates.update = 1e-6; /* for seconds */
    fbp_plan *plan = create_plan(scan, &p);
    fbp_plan_destroy(&plan);
    fbp_mock_faults = (struct fbp_mock_faults){0};
    return fbp_mock_measured - before;
}

/* Links of pretended devices take 32 MiB each of the host's memory while they are measured, and 64
 * of a device. */
TEST(links_are_measured_within_the_limits)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    struct fbp_recon_params p = {.struct_size = sizeof p, .device = "mock:0,1"};

    assert_true(measured_by(&scan, p, 1001) > 0);
    p.memory_bytes = 40 << 20;
    assert_int_equal(measured_by(&scan, p, 1002), 0);
    p.memory_bytes = 400 << 20;
    assert_true(measured_by(&scan, p, 1003) > 0);
    p.device_memory_bytes = 40 << 20;
    assert_int_equal(measured_by(&scan, p, 1004), 0);
}

TEST(each_device_begins_with_one)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));

    const struct shares s = run(&scan, "mock:0,1,2,3", right);
    assert_int_equal(s.n[0] + s.n[1] + s.n[2] + s.n[3], SLABS);
    for (int i = 0; i < FBP_MOCK_DEVICES; i++)
        assert_true(s.n[i] >= 1);
}

/* The plan knows the links between devices if they were measured: over slow ones nothing is
 * shared. */
TEST(links_decide)
{
    static const double peer[] = {1e3, 1e15};
    const struct fbp_backend *mock = fbp_backend_find("mock");
    AUTO_DROP struct fbp_scan scan = make_scan();
    struct fbp_machine links;
    fbp_plan *plan;

    for (unsigned i = 0; i < 2; i++) {
        fbp_mock_faults = (struct fbp_mock_faults){
            .rates = linked, .links = {.place = 70 + i, .up = 1e9, .host = 2e9, .peer = peer[i]}};
        assert_true(fbp_links_get(mock, (int[]){0, 1}, 2, true, &links));
        OK(fbp_plan_create(&plan, &scan,
                           fbp_recon_params(.device = "mock:0,1", .tuning.batch_views = 8,
                                            .tuning.slab_slices = 3)));
        assert_int_equal(fbp_plan_info(plan)->shares_views, i);
        fbp_plan_destroy(&plan);
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

/* Cards of different speed: the volume is cut finer, and the slow one gets what it can do. */
TEST(devices_of_two_sorts)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));

    for (int way = 0; way < WAYS; way++) {
        const struct shares before = slabs_so_far();
        struct fbp_report r = {.struct_size = sizeof r};

        fbp_mock_faults =
            (struct fbp_mock_faults){.other_sort = {false, true}, .rates = *ways[way]};
        CLEANUP(fbp_plan_destroy)
        fbp_plan *plan =
            create_plan(&scan, fbp_recon_params(.device = "mock:0,1", .tuning.batch_views = 8));
        const size_t n = fbp_plan_info(plan)->n_slabs;
        assert_true(n >= 12);
        fbp_mock_faults.held_device = 2;
        fbp_mock_faults.held_slabs = before.n[0] + before.n[2] + before.n[3] + (uint64_t)n - AHEAD;
        OK(fbp_plan_run(plan, "hash:", &r));
        assert_true(r.hash == right);
        const struct shares after = slabs_so_far();
        assert_int_equal(after.n[0] - before.n[0] + after.n[1] - before.n[1], n);
        assert_true(after.n[1] - before.n[1] <= AHEAD);
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
}

static void keep_lines(void *user, enum fbp_log_level level, const char *line)
{
    char *said = user;

    if (level == FBP_LOG_WARNING)
        strncat(said, line, 399 - strlen(said));
}

/* Devices whose memory others use: the plan does without them, and says so. */
TEST(a_full_device_is_left_out)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
    const size_t gib = (size_t)1 << 30;
    struct fbp_report r = {.struct_size = sizeof r};
    char said[400] = "";

    fbp_mock_faults = (struct fbp_mock_faults){.free_bytes = {gib, 1000, gib, 2000}};
    fbp_plan *plan =
        create_plan(&scan, fbp_recon_params(.device = "mock:all", .callbacks.log = keep_lines,
                                            .callbacks.user = said));
    assert_int_equal(fbp_plan_info(plan)->n_devices, 2);
    assert_contains(said, "device mock:1 is not used, because only 900 B of its memory");
    assert_contains(said, "device mock:3 is not used");
    OK(fbp_plan_run(plan, "hash:", &r));
    assert_true(r.hash == right);
    fbp_plan_destroy(&plan);
    /* With none left it is an error, of the last one. */
    fbp_mock_faults = (struct fbp_mock_faults){.free_bytes = {1000, 2000, 1000, 1000}};
    assert_fails(fbp_plan_create(&plan, &scan, fbp_recon_params(.device = "mock:all")),
                 FBP_ERR_NOMEM, "of device memory, but the limit is 1.76 KiB");
    fbp_mock_faults = (struct fbp_mock_faults){0};
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

/* Planned while there was memory; when the second GPU opens there is none left. */
TEST(a_gpu_without_memory_is_dropped)
{
    struct fbp_device_info devices[16];
    AUTO_DROP struct fbp_scan scan = make_scan();
    struct fbp_report r = {.struct_size = sizeof r};
    struct hog hog;
    size_t n_cuda = 0;
    int lines = 0;

    devices[0].struct_size = sizeof devices[0];
    const size_t n = fbp_devices(devices, 16);
    for (size_t i = 0; i < n && i < 16; i++)
        n_cuda += strncmp(devices[i].name, "cuda:", 5) == 0;
    if (n_cuda < 2) {
        skip();
    }
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cuda"));
    fbp_plan *plan =
        create_plan(&scan, fbp_recon_params(.device = "cuda:0,1", .callbacks.log = count_lines,
                                            .callbacks.user = &lines));
    assert_true(take_memory(&hog, 1));
    OK(fbp_plan_run(plan, "hash:", &r));
    void *context;
    while (hog.n > 0)
        CALL(&hog, free_fn, "cuMemFree_v2", hog.at[--hog.n]);
    CALL(&hog, pop_fn, "cuCtxPopCurrent_v2", &context);
    CALL(&hog, release_fn, "cuDevicePrimaryCtxRelease_v2", hog.device);
    assert_true(r.hash == right);
    assert_int_equal(r.devices_dropped, 1);
    assert_int_equal(lines, 1);
    fbp_plan_destroy(&plan);
    assert_true(reconstruct_hash(&scan, fbp_recon_params(.device = "cuda:all")) == right);
}

int main(int argc, char **argv)
{
    AUTO_FREE char *cache = temporary("cache");

    setenv("XDG_CACHE_HOME", cache, 1); /* what this machine's user has measured is not known */
    unsetenv("FBP_TUNE");               /* 0 would switch off the measurement of links */
    const int failed = run_file_tests(argc, argv, NULL, NULL);
    AUTO_FREE char *kept = temporary("cache/fbp/links");
    for (int i = 0; i < 3; i++) { /* the file and its folders */
        remove(kept);
        *strrchr(kept, '/') = '\0';
    }
    return failed;
}
