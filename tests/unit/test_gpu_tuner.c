/* Checks the tuner of GPU kernels with a simulated clock: which passes it times with which shape,
 * which shape it selects and stores, and that a failure of the tuner never ends a run. */
#include "backend/gpu/tuner.h"
#include "backend/module.h"
#include "fbp/version.h"
#include "test.h"

#define FOLDER FBP_TEST_DIR "/gpu_tuner"
#define FILE_  FOLDER "/fbp/some-shapes"

/* The likeliest is 5; 1 and 3 are for passes of up to 4, and of up to 8 slices. */
enum { SHAPES = 8, VIEWS = 256, SIDE = 128, LIKELIEST = 5, FIRST_ROUND = 3, ALL = 9 };

static const char *variables[FBP_N_VARIABLES];

static const char *environment(enum fbp_variable variable)
{
    return variables[variable];
}

static const struct fbp_module_host host = {
    .environment = environment, .cache_get = fbp_cache_get, .cache_put = fbp_cache_put};

static int candidates(const struct fbp_job *job, size_t n_slices, int out[GPU_MOST_SHAPES])
{
    static const int all[3] = {LIKELIEST, 2, 7};

    memcpy(out, all, sizeof all);
    if (n_slices <= 8)
        out[0] = n_slices <= 4 ? 1 : 3;
    return n_slices <= 8 ? 1 : 3;
}

static const struct gpu_kernel kernel = {.name = "pretended",
                                         .precision = FBP_PRECISION_HALF,
                                         .symmetric_views = 1,
                                         .n_shapes = SHAPES,
                                         .candidates = candidates};

/* Parallel rays, a pixel a voxel. */
static double matrices[VIEWS][12];
static struct fbp_job job;

/* The clock: what a pass takes with each shape, and what goes wrong. */
struct clock {
    double ms[SHAPES];
    double first_ms[SHAPES]; /* of a shape's first pass; 0: the same */
    bool no_name, no_marks, no_begin, no_end, never_over, no_times;
    int shape;                   /* of the pass that is launched */
    int begun[GPU_TUNER_TRIALS]; /* the shape that each trial had */
    int n_begun, n_ended, n_opened, n_waits, n_of[SHAPES];
    double took[GPU_TUNER_TRIALS];
};

static struct clock now;

static bool describe(int index, char *out, size_t n)
{
    assert_int_equal(index, 1);
    snprintf(out, n, "a card");
    return !now.no_name;
}

static bool open_marks(void *user, int n)
{
    struct clock *c = user;

    assert_true(n <= GPU_TUNER_TRIALS);
    c->n_opened++;
    return !c->no_marks;
}

static bool begin(void *user, int trial)
{
    struct clock *c = user;

    assert_int_equal(trial, c->n_begun++);
    return !c->no_begin;
}

/* The pass was launched with c->shape. */
static bool end(void *user, int trial)
{
    struct clock *c = user;
    const int shape = c->shape;
    const bool first = c->n_of[shape]++ == 0;

    assert_int_equal(trial, c->n_ended++);
    c->begun[trial] = shape;
    c->took[trial] = first && c->first_ms[shape] > 0 ? c->first_ms[shape] : c->ms[shape];
    return !c->no_end;
}

static bool record_event(void *user, int event)
{
    return event % 2 ? end(user, event / 2) : begin(user, event / 2);
}

static bool is_over(void *user, int event, bool wait)
{
    struct clock *c = user;

    assert_int_equal(event, 2 * (c->n_ended - 1) + 1);
    c->n_waits += wait;
    return wait || !c->never_over;
}

static bool elapsed(void *user, int trial, float *ms)
{
    const struct clock *c = user;

    assert_true(trial >= 0 && trial < c->n_ended);
    *ms = (float)c->took[trial];
    return !c->no_times;
}

static const struct gpu_timer timer = {
    .file = {"some-shapes", "fbp: fastest shapes of some kernels, version 1\n"},
    .describe = describe,
    .open = open_marks,
    .record = record_event,
    .is_over = is_over,
    .elapsed = elapsed,
};

static int start(void **state)
{
    (void)unlink(FILE_);
    gpu_host = &host;
    memset(variables, 0, sizeof variables);
    setenv("XDG_CACHE_HOME", FOLDER, 1);
    for (int k = 0; k < VIEWS; k++)
        memcpy(matrices[k], (double[12]){1, 0, 0, 64, 0, 0, 1, 64, 0, 0, 0, 1}, sizeof *matrices);
    job = (struct fbp_job){.n_views = VIEWS,
                           .selection.symmetric_views = 1,
                           .matrices = matrices,
                           .grid = {{SIDE, SIDE, SIDE}, {1, 1, 1}, {0, 0, 0}}};
    now = (struct clock){.ms = {[LIKELIEST] = 10, [2] = 8, [7] = 9}};
    return 0;
}

static struct gpu_tuner opened(void)
{
    struct gpu_tuner t;

    gpu_tuner_open(&t, &kernel, &job, 1, &timer, &now);
    return t;
}

/* The shape that a pass of n views over slices [z0, z0 + nz) gets. */
static int pass(struct gpu_tuner *t, int n, int z0, int nz)
{
    const struct gpu_grid grid = {.nx = SIDE, .ny = SIDE, .nz = nz, .z0 = z0};

    now.shape = gpu_tuner_begin(t, n, &grid);
    const int shape = now.shape;
    gpu_tuner_end(t, n, &grid);
    return shape;
}

static void whole_passes(struct gpu_tuner *t, int n)
{
    for (int i = 0; i < n; i++)
        (void)pass(t, GPU_PASS, 0, SIDE);
}

/* A run with whole passes alone; the shape that the next one begins with. */
static int after_a_run(int n_passes)
{
    struct gpu_tuner t = opened();

    whole_passes(&t, n_passes);
    gpu_tuner_close(&t);
    t = opened();
    gpu_tuner_close(&t);
    return t.shape;
}

TEST_WITH(fastest_is_taken_and_kept, start, NULL)
{
    static const int turns[ALL] = {LIKELIEST, 2, 7, LIKELIEST, 2, 7, LIKELIEST, 2, 7};
    struct gpu_tuner t = opened();
    char text[300] = "", expected[300];

    assert_true(gpu_tuner_is_due(&kernel, &job, 1, &timer));
    for (int i = 0; i < ALL; i++)
        assert_int_equal(pass(&t, GPU_PASS, 0, SIDE), turns[i]);
    assert_int_equal(pass(&t, GPU_PASS, 0, SIDE), 2);
    assert_int_equal(now.n_begun, ALL);
    assert_int_equal(now.n_waits, 0);
    gpu_tuner_close(&t);

    FILE *file = not_null(fopen(FILE_, "r")); /* keys of earlier versions are found again */
    (void)!fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    snprintf(expected, sizeof expected,
             "%sa card, fbp %s, pretended half, 2^(0/2) pixels, likeliest 5\t2\n", timer.file.title,
             FBP_VERSION);
    assert_string_equal(text, expected);

    now.n_opened = 0;
    t = opened();
    assert_false(gpu_tuner_is_due(&kernel, &job, 1, &timer));
    assert_int_equal(pass(&t, GPU_PASS, 0, SIDE), 2);
    assert_int_equal(now.n_opened, 0);
    gpu_tuner_close(&t);
}

/* Noise does not move it: another shape must be faster by 2 %. */
TEST_WITH(a_little_faster_is_not_enough, start, NULL)
{
    now.ms[2] = now.ms[7] = 9.85;
    assert_int_equal(after_a_run(ALL + 1), LIKELIEST);
    start(state);
    now.ms[2] = 9.85;
    now.ms[7] = 9.75;
    assert_int_equal(after_a_run(ALL + 1), 7);
}

/* In it shapes may be loaded. */
TEST_WITH(first_round_does_not_count, start, NULL)
{
    now.first_ms[2] = 100;
    now.first_ms[LIKELIEST] = .1;
    assert_int_equal(after_a_run(ALL + 1), 2);
}

TEST_WITH(like_is_compared_with_like, start, NULL)
{
    struct gpu_tuner t = opened();

    assert_int_equal(pass(&t, GPU_PASS, 0, 4), 1);
    assert_int_equal(pass(&t, GPU_PASS, 0, 8), 3);
    assert_int_equal(pass(&t, GPU_PASS, 0, 9), LIKELIEST);        /* few slices */
    assert_int_equal(pass(&t, GPU_PASS - 1, 0, SIDE), LIKELIEST); /* few views */
    assert_int_equal(now.n_begun, 0);
    assert_int_equal(pass(&t, GPU_PASS, 0, 64), LIKELIEST);
    assert_int_equal(pass(&t, GPU_PASS, 64, 64), LIKELIEST); /* other slices */
    assert_int_equal(pass(&t, GPU_PASS, 0, SIDE), LIKELIEST);
    assert_int_equal(now.n_begun, 1);
    assert_int_equal(pass(&t, GPU_PASS, 0, 64), 2);
    assert_int_equal(now.n_begun, 2);
    gpu_tuner_close(&t);
}

/* The end waits for two rounds, and not for less. */
TEST_WITH(short_runs, start, NULL)
{
    assert_int_equal(after_a_run(2 * FIRST_ROUND - 1), LIKELIEST);
    assert_int_equal(now.n_waits, 0);
    start(state);
    assert_int_equal(after_a_run(2 * FIRST_ROUND), 2);
    assert_int_equal(now.n_waits, 1);
    start(state);
    job.n_views = (2 * 3 + 2) * GPU_PASS - 1; /* a run that has too few passes does not begin */
    assert_false(gpu_tuner_is_due(&kernel, &job, 1, &timer));
    assert_int_equal(after_a_run(ALL), LIKELIEST);
    assert_int_equal(now.n_opened, 0);
}

/* Nobody waits for a device that is behind. */
TEST_WITH(a_device_that_is_behind, start, NULL)
{
    struct gpu_tuner t = opened();

    now.never_over = true;
    whole_passes(&t, ALL);
    assert_int_equal(pass(&t, GPU_PASS, 0, SIDE), LIKELIEST);
    assert_int_equal(now.n_begun, ALL);
    now.never_over = false;
    assert_int_equal(pass(&t, GPU_PASS, 0, SIDE), 2);
    assert_int_equal(now.n_waits, 0);
    gpu_tuner_close(&t);
}

TEST_WITH(nothing_ends_a_run, start, NULL)
{
    bool *const faults[] = {&now.no_name, &now.no_marks, &now.no_begin, &now.no_end, &now.no_times};

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        start(state);
        *faults[i] = true;
        struct gpu_tuner t = opened();
        whole_passes(&t, ALL + 1);
        assert_int_equal(pass(&t, GPU_PASS, 0, SIDE), LIKELIEST);
        gpu_tuner_close(&t);
        assert_int_equal(access(FILE_, F_OK), -1);
    }
}

TEST_WITH(what_the_environment_says, start, NULL)
{
    variables[FBP_ENV_TUNE] = "0";
    assert_false(gpu_tuner_is_due(&kernel, &job, 1, &timer));
    assert_int_equal(after_a_run(ALL + 1), LIKELIEST);
    start(state);
    variables[FBP_ENV_SHAPE] = "6";
    struct gpu_tuner t = opened();
    assert_int_equal(pass(&t, GPU_PASS, 0, SIDE), 6);
    assert_int_equal(pass(&t, GPU_PASS, 0, 4), 6);
    gpu_tuner_close(&t);
    assert_int_equal(now.n_opened, 0);
    static const char *const none[] = {"8", "-1", "", "some", "4294967296", "1e0"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        start(state);
        variables[FBP_ENV_SHAPE] = none[i];
        assert_int_equal(after_a_run(ALL + 1), 2);
    }
}

TEST_WITH(one_shape_needs_no_choice, start, NULL)
{
    const struct gpu_kernel single = {.name = "single", .symmetric_views = 1};
    struct gpu_tuner t;

    gpu_tuner_open(&t, &single, &job, 1, &timer, &now);
    assert_false(gpu_tuner_is_due(&single, &job, 1, &timer));
    assert_int_equal(pass(&t, GPU_PASS, 0, SIDE), 0);
    assert_int_equal(pass(&t, GPU_PASS, 0, 1), 0);
    gpu_tuner_close(&t);
}

TEST_MAIN(NULL, NULL)
