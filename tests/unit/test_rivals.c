/* What `auto` takes: a device that has a rival only where a measurement, kept from run to run, says
 * that it is faster; one that does not identify itself (a renderer in software) never.  The device
 * is a pretended one, and the measurement that decides is a planted one. */
#include "backend/mock/mock.h"
#include "backend/rival.h"
#include "plan/job.h"
#include "plan/rivals.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER FBP_TEST_DIR "/rivals"
#define FILE_  FOLDER "/fbp/rivals"

extern const struct fbp_backend fbp_backend_mock, fbp_backend_cpu;

static struct {
    bool there, software;
    int cards;       /* that may be taken */
    unsigned driver; /* another one, another measurement */
} plant;

static bool is_there(void)
{
    return plant.there;
}

static bool identify(int index, char *out, size_t n)
{
    snprintf(out, n, "Card\t%d, driver %u", index, plant.driver);
    return index < plant.cards && !plant.software;
}

static const void *experiment(const char *name)
{
    static const struct fbp_rival rival = {is_there, identify};

    return strcmp(name, "rival") == 0 ? &rival : NULL;
}

static struct fbp_backend pretended;
static unsigned n_loaded;

static const struct fbp_backend *load(char *why, size_t n)
{
    (void)why, (void)n;
    n_loaded++;
    return &pretended;
}

/* As in a module: nothing of it is there before it is loaded. */
static const struct fbp_backend module = {.name = "mock", .load = load, .experiment = experiment};
static const struct fbp_backend *const list[] = {&module, &fbp_backend_cpu, NULL};

static int start(void **state)
{
    (void)state;
    setenv("XDG_CACHE_HOME", FOLDER, 1);
    unsetenv("FBP_TUNE");
    (void)unlink(FILE_);
    pretended = fbp_backend_mock;
    pretended.hidden = false;
    pretended.experiment = experiment;
    plant.there = true;
    plant.software = false;
    plant.cards = 1;
    plant.driver++;
    n_loaded = 0;
    fbp_mock_plant = (struct fbp_mock_plant){.delay_us = 0};
    return 0;
}

/* Choose; whether something was measured for it. */
static bool choose(struct fbp_choice *out)
{
    const uint64_t before = fbp_mock_uploaded;

    fbp_choose_device(list, out);
    return fbp_mock_uploaded > before;
}

/* What is kept of the first card gets this value, of others twice its first digit; and this process
 * forgets what it had measured. */
static void plant_values(const char *value)
{
    char lines[8192] = "", line[4096];
    struct fbp_choice c;
    FILE *f = fopen(FILE_, "r");

    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        char *tab = strchr(line, '\t');
        const size_t left = tab ? sizeof line - (size_t)(tab + 1 - line) : 0;
        if (tab && strstr(line, "Card 0"))
            snprintf(tab + 1, left, "%s\n", value);
        else if (tab)
            snprintf(tab + 1, left, "%d\n", 2 * (value[0] - '0'));
        strcat(lines, line);
    }
    fclose(f);
    f = fopen(FILE_, "w");
    assert_non_null(f);
    fputs(lines, f);
    fclose(f);
    plant.driver += 1000;
    fbp_mock_plant.fail_command[0] = 1; /* of another driver, which is remembered now */
    const int cards = plant.cards;
    plant.cards = 1;
    (void)choose(&c);
    plant.cards = cards;
    fbp_mock_plant.fail_command[0] = 0;
    plant.driver -= 1000;
}

static void measured_once(void **state)
{
    struct fbp_choice c;
    char line[800];

    (void)state;
    assert_true(choose(&c));
    assert_true(c.now && c.times > 0 && c.rival[0] && strcmp(c.other, "cpu") == 0);
    assert_int_equal(access(FILE_, F_OK), 0);
    fbp_choice_remark(&c, line, sizeof line);
    assert_non_null(strstr(line, "measure"));
    assert_false(choose(&c));
}

static void taken_by_a_margin(void **state)
{
    struct fbp_choice c;
    char line[800];

    (void)state;
    (void)choose(&c);
    plant_values("12");
    assert_false(choose(&c));
    assert_true(c.taken && !c.now && strcmp(c.backend->name, "mock") == 0);
    fbp_choice_remark(&c, line, sizeof line);
    assert_string_equal(line,
                        "device: mock:0 (Card 0), 12 times as fast as cpu by a measurement kept in "
                        "~/.cache/fbp: --device cpu takes that");
    for (int i = 0; i < 2; i++) {
        plant_values(i ? "0.02" : "1.2"); /* too little is not enough */
        assert_false(choose(&c));
        assert_true(!c.taken && c.index == 0 && strcmp(c.backend->name, "cpu") == 0);
        fbp_choice_remark(&c, line, sizeof line);
        assert_string_equal(line, ""); /* said when it was measured */
    }
}

/* Of several the fastest. */
static void the_best_of_two(void **state)
{
    struct fbp_choice c;

    (void)state;
    plant.cards = 2;
    (void)choose(&c);
    plant_values("3"); /* and 6 of the other */
    assert_false(choose(&c));
    assert_true(c.taken && c.index == 1 && c.times == 6);
}

static void damaged_values_are_measured_anew(void **state)
{
    static const char *const damaged[] = {"", "-3", "0", "nan", "12x", "1e999"};
    struct fbp_choice c;

    (void)state;
    (void)choose(&c);
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        plant_values(damaged[i]);
        assert_true(choose(&c));
        assert_true(c.now && c.times > 0);
    }
}

/* Of a driver or card that was not measured nothing is known. */
static void another_driver_is_measured(void **state)
{
    struct fbp_choice c;

    (void)state;
    (void)choose(&c);
    plant.driver++;
    assert_true(choose(&c));
}

static void software_is_never_taken(void **state)
{
    struct fbp_choice c;
    char line[800];

    (void)state;
    (void)choose(&c);
    plant_values("1000");
    plant.software = true;
    assert_false(choose(&c));
    assert_true(!c.taken && strcmp(c.backend->name, "cpu") == 0);
    fbp_choice_remark(&c, line, sizeof line);
    assert_string_equal(line, "");
}

static void not_even_loaded(void **state)
{
    struct fbp_choice c;

    (void)state;
    plant.there = false;
    assert_false(choose(&c));
    assert_string_equal(c.backend->name, "cpu");
    assert_int_equal(n_loaded, 0);
}

/* A scan of three directions for a job that the mock cannot do, or for one that it can. */
static void make_job(struct fbp_job_tables *tables, enum fbp_interpolation how)
{
    static double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static struct fbp_view views[3];
    const struct fbp_scan scan = {.struct_size = sizeof scan,
                                  .kind = FBP_PLANES,
                                  .n_views = 3,
                                  .panel = {16, 1},
                                  .views = views};

    for (size_t k = 0; k < 3; k++)
        fbp_plane_view(axes[k], 1, -7.5, 16, &views[k]);
    assert_int_equal(fbp_job_create(tables, &scan, fbp_recon_params(.interpolation = how), false),
                     FBP_OK);
}

/* What cannot do the job is not taken, unless nothing can. */
static void only_what_can_do_it(void **state)
{
    static const struct fbp_backend *const no_other[] = {&module, NULL};
    struct fbp_job_tables tables;
    char line[800];

    (void)state;
    for (int how = FBP_INTERPOLATION_LINEAR; how <= FBP_INTERPOLATION_LAST; how++) {
        const bool linear = how == FBP_INTERPOLATION_LINEAR;
        struct fbp_choice c = {.backend = fbp_backend_find("mock"), .index = 1}, alone = c;
        make_job(&tables, (enum fbp_interpolation)how);
        fbp_choose_capable(list, &tables.job, &c, line, sizeof line);
        assert_string_equal(c.backend->name, linear ? "mock" : "cpu");
        assert_int_equal(c.index, linear ? 1 : 0);
        assert_int_equal(line[0] == '\0', linear);
        if (!linear)
            assert_non_null(strstr(line, "device: cpu, as mock has no way to do this: inter"));
        fbp_choose_capable(no_other, &tables.job, &alone, line, sizeof line);
        assert_string_equal(alone.backend->name, "mock");
        assert_string_equal(line, "");
        assert_string_equal(fbp_message(), "");
        fbp_job_clear(&tables);
    }
}

static void not_wanted(void **state)
{
    struct fbp_choice c;

    (void)state;
    (void)choose(&c);
    plant_values("12");
    setenv("FBP_TUNE", "0", 1);
    assert_false(choose(&c));
    assert_string_equal(c.backend->name, "cpu");
}

/* What cannot be measured is not taken, and the reason is told; nothing is kept of it. */
static void failures_are_told(void **state)
{
    struct fbp_choice c;
    char line[800];

    (void)state;
    fbp_mock_plant.fail_command[0] = fbp_mock_plant.fail_command[1] = 2;
    (void)choose(&c);
    fbp_mock_plant = (struct fbp_mock_plant){.delay_us = 0};
    assert_string_equal(c.backend->name, "cpu");
    assert_string_equal(fbp_message(), "");
    fbp_choice_remark(&c, line, sizeof line);
    assert_non_null(strstr(line, "could not be measured: mock: device "));
    assert_true(access(FILE_, F_OK) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(measured_once, start),
        cmocka_unit_test_setup(taken_by_a_margin, start),
        cmocka_unit_test_setup(the_best_of_two, start),
        cmocka_unit_test_setup(damaged_values_are_measured_anew, start),
        cmocka_unit_test_setup(another_driver_is_measured, start),
        cmocka_unit_test_setup(software_is_never_taken, start),
        cmocka_unit_test_setup(not_even_loaded, start),
        cmocka_unit_test_setup(only_what_can_do_it, start),
        cmocka_unit_test_setup(not_wanted, start),
        cmocka_unit_test_setup(failures_are_told, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
