/* Checks the measurement of links between devices: which rates are measured, that they are stored
 * once, and that a damaged file, a lost device or a backend without links ends no run. */
#include "devices/mock/mock.h"
#include "pipeline/division.h"
#include "pipeline/job.h"
#include "test.h"

#define FOLDER FBP_TEST_DIR "/links"
#define FILE_  FOLDER "/fbp/links"
#define TITLE  "fbp: rates of links of devices, version 2\n"

static const struct fbp_backend *mock;

/* In a place of its own: nothing is known of it, in this program or in the file. */
static int start(void **state)
{
    static unsigned place;
    int devices[FBP_MOST_DEVICES];
    size_t n;

    (void)unlink(FILE_);
    setenv("XDG_CACHE_HOME", FOLDER, 1);
    unsetenv("FBP_TUNE");
    fbp_mock_faults = (struct fbp_mock_faults){.links.place = ++place};
    return fbp_devices_find("mock", &mock, devices, &n) == FBP_OK ? 0 : -1;
}

static void is_about(double rate, double wanted)
{
    if (rate < wanted * .999 || rate > wanted * 1.001)
        fail_msg("%g, not %g", rate, wanted);
}

static struct fbp_machine get(const int *devices, size_t n)
{
    struct fbp_machine links = {0};

    assert_true(fbp_links_get(mock, devices, n, true, &links));
    return links;
}

/* Rates measured while that was asked for. */
static uint64_t measured_for(const int *devices, size_t n)
{
    const uint64_t before = fbp_mock_measured;

    (void)get(devices, n);
    return fbp_mock_measured - before;
}

TEST_WITH(rates_of_two, start, NULL)
{
    const struct fbp_machine l = get((int[]){0, 1}, 2);

    is_about(l.up, 50e9);
    is_about(l.down, 40e9);
    is_about(l.both, 40e9); /* down is the slower */
    is_about(l.peer, 300e9);
    is_about(l.up_all, 100e9);
    is_about(l.down_all, 80e9);
    is_about(l.both_all, 50e9); /* of the host's 100, each way */
}

TEST_WITH(one_device, start, NULL)
{
    const struct fbp_machine l = get((int[]){2}, 1);

    is_about(l.up, 50e9);
    is_about(l.up_all, 50e9);
    is_about(l.both_all, 40e9);
    assert_true(l.peer == 0);
}

/* Device 1 has no copies to 3, the way back is there; 1 and 2 have none. */
TEST_WITH(pairs_without_copies, start, NULL)
{
    fbp_mock_faults.links.no_peers = 1u << (FBP_MOCK_DEVICES * 1 + 3);
    is_about(get((int[]){1, 3}, 2).peer, 300e9);
    fbp_mock_faults.links.no_peers =
        1u << (FBP_MOCK_DEVICES * 1 + 2) | 1u << (FBP_MOCK_DEVICES * 2 + 1);
    assert_true(get((int[]){1, 2}, 2).peer == 0);
}

TEST_WITH(lists_of_one_set, start, NULL)
{
    assert_true(measured_for((int[]){1, 3}, 2) > 0);
    assert_int_equal(measured_for((int[]){3, 1}, 2), 0);
    assert_int_equal(measured_for((int[]){3, 1, 1, 3}, 4), 0);
    assert_true(measured_for((int[]){1, 2}, 2) > 0);
}

/* What a program before this one kept is read; of another place it is not. */
TEST_WITH(kept_from_run_to_run, start, NULL)
{
    const unsigned here = fbp_mock_faults.links.place;
    assert_true(measured_for((int[]){0, 1}, 2) > 0);
    fbp_mock_faults.links.place = 1000;
    assert_true(measured_for((int[]){0, 1}, 2) > 0); /* forgets what was measured here */
    fbp_mock_faults.links.place = here;
    assert_int_equal(measured_for((int[]){0, 1}, 2), 0);
    (void)get((int[]){2, 3}, 2);
    assert_int_equal(unlink(FILE_), 0);
    assert_true(measured_for((int[]){0, 1}, 2) > 0);
}

TEST_WITH(nowhere_to_keep, start, NULL)
{
    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    assert_true(measured_for((int[]){0, 1}, 2) > 0);
    assert_int_equal(measured_for((int[]){0, 1}, 2), 0);
}

static void write_line(const char *title, const char *value)
{
    FILE *to = not_null(fopen(FILE_, "w"));

    assert_true(fprintf(to, "%smock: pretended device 0 at %u; pretended device 1 at %u\t%s\n",
                        title, fbp_mock_faults.links.place, fbp_mock_faults.links.place,
                        value) > 0);
    assert_int_equal(fclose(to), 0);
}

/* All rates but the last. */
#define RATES "1e9 2e9 3e9 4e9 5e9 6e9"

TEST_WITH(damage_is_ignored, start, NULL)
{
    static const char *const damaged[][2] = {
        {TITLE, ""},
        {TITLE, "1e9"},
        {TITLE, RATES},
        {TITLE, RATES " 8 9"},
        {TITLE, RATES " x"},
        {TITLE, RATES " 8x"},
        {TITLE, RATES " -8"},
        {TITLE, RATES " nan"},
        {TITLE, RATES " inf"},
        {TITLE, RATES "  "},
        {"fbp: something else\n", RATES " 8"},
        {"", RATES " 8"},
    };

    (void)get((int[]){0, 1}, 2); /* makes the folder */
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        assert_int_equal(start(state), 0);
        write_line(damaged[i][0], damaged[i][1]);
        is_about(get((int[]){0, 1}, 2).up, 50e9);
    }
    assert_int_equal(start(state), 0);
    write_line(TITLE, RATES " 8");
    const struct fbp_machine l = get((int[]){0, 1}, 2);
    is_about(l.up, 1e9);
    is_about(l.both_all, 6e9);
    is_about(l.peer, 8);
}

/* A run goes on without; what was half measured is neither told nor kept. */
TEST_WITH(failures_are_no_error, start, NULL)
{
    const struct fbp_machine none = {0};
    struct fbp_machine l = none;
    const uint64_t all = measured_for((int[]){0, 1}, 2);

    for (uint64_t i = 1; i <= all; i++) {
        assert_int_equal(start(state), 0);
        fbp_mock_faults.links.fail_rate = fbp_mock_measured + i;
        assert_false(fbp_links_get(mock, (int[]){0, 1}, 2, true, &l));
        assert_memory_equal(&l, &none, sizeof l);
        assert_string_equal(fbp_message(), "");
        assert_true(access(FILE_, F_OK) != 0);
    }
}

TEST_WITH(not_wanted, start, NULL)
{
    struct fbp_machine l = {.up = 1};

    setenv("FBP_TUNE", "0", 1);
    assert_false(fbp_links_get(mock, (int[]){0, 1}, 2, true, &l));
    assert_true(l.up == 1); /* not changed */
}

TEST_WITH(what_has_no_links, start, NULL)
{
    const struct fbp_backend *cpu = fbp_backend_find("cpu");
    struct fbp_machine l;
    int many[FBP_MOST_LINKED + 1] = {0};

    assert_false(fbp_links_get(cpu, (int[]){0}, 1, true, &l));
    assert_false(fbp_links_get(mock, many, FBP_MOST_LINKED + 1, true, &l));
}

TEST_MAIN(NULL, NULL)
