/* Slabs lie in one list, and workers draw from it: who is free takes the next. */
#include "recon/fixture.h"

#include "backend/mock/mock.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_slow_device_gets_fewer),
                                       cmocka_unit_test(each_device_begins_with_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
