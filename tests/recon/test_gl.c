/* Checks the OpenGL device: the same bits for every division of the work, no open files after
 * many uses, two plans at the same time, and processes that fork. recon/gl_faults checks
 * failures, recon/device_gl values. */
#include "recon/planted.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* `auto` takes no renderer in software (unit/choose). */
TEST(software_is_not_taken)
{
    const struct fbp_backend *gl = fbp_backend_find("gl");
    struct fbp_device_info d = {.struct_size = sizeof d};

    gl->discovery.describe(0, &d);
    assert_int_equal(gl->discovery.auto_selectable(0), !strstr(d.text, "software"));
}

/* The same arithmetic on views in a texture, by gathers, and in plain memory. */
TEST(same_bits_by_gathers)
{
    static const char *const names[][2] = {{"matrix", "matrix-plain"}, {"column", "column-plain"}};
    AUTO_DROP struct fbp_scan scan = make_head(44, 38, 27, 8);

    for (size_t i = 0; i < 2; i++) {
        uint64_t hash[2];
        for (size_t k = 0; k < 2; k++)
            hash[k] = reconstruct_hash(&scan, fbp_recon_params(.device = "gl",
                                                               .precision = FBP_PRECISION_EXACT,
                                                               .tuning.kernel = names[i][k]));
        assert_true(hash[0] == hash[1]);
    }
}

TEST(same_bits_however_divided)
{
    static const struct fbp_recon_params parts[] = {
        {.tuning.slab_slices = 1},
        {.tuning.slab_slices = 7, .tuning.batch_views = 8},
        {.tuning.batch_views = 24, .n_threads = 1},
        {.tuning.slab_slices = 5, .mu_water = 0},
    };
    AUTO_DROP struct fbp_scan scan = make_head(44, 38, 27, 8);
    const uint64_t whole = reconstruct_hash(&scan, fbp_recon_params(.device = "gl"));

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct fbp_recon_params p = parts[i];
        p.struct_size = sizeof p;
        p.device = "gl";
        if (reconstruct_hash(&scan, &p) != whole)
            fail_msg("division %zu has other bits", i);
    }
}

/* Samples that are cut off to fp16, as drivers may do, cost a fifth more than those of `fast`. */
TEST(fp16_is_rounded_to_nearest)
{
    static const enum fbp_precision precisions[] = {FBP_PRECISION_EXACT, FBP_PRECISION_FAST,
                                                    FBP_PRECISION_HALF};
    AUTO_DROP struct fbp_scan scan = {.struct_size = sizeof scan,
                                      .n_views = 60,
                                      .panel = {128, 128},
                                      .volume = {{128, 128, 4}, {2, 2, 50}, {0, 0, 0}}};
    float *v[3];

    add_views(&scan, &(struct orbit){.pitch_mm = {3.2, 3.2}});
    simulate_head(&scan, 128);
    for (int i = 0; i < 3; i++)
        v[i] = reconstruct(&scan, fbp_recon_params(.device = "gl", .tuning.kernel = "matrix",
                                                   .precision = precisions[i]));
    const double fast = rms_between(v[1], v[0], grid_size(&scan.volume));
    const double half = rms_between(v[2], v[0], grid_size(&scan.volume));
    print_message("from exact: fast %.3g, half %.3g\n", fast, half);
    assert_true(fast > 0 && half < 1.08 * fast);
    for (int i = 0; i < 3; i++)
        free(v[i]);
}

TEST(nothing_is_left_open)
{
    AUTO_DROP struct fbp_scan scan = make_head(8, 38, 9, 8);
    const struct fbp_recon_params *p = fbp_recon_params(.device = "gl");
    const uint64_t first = reconstruct_hash(&scan, p);
    const size_t before = open_files();

    for (int i = 0; i < 100; i++)
        assert_true(reconstruct_hash(&scan, p) == first);
    assert_int_equal(open_files(), before);
}

struct side {
    const struct fbp_scan *scan;
    uint64_t hash;
};

static void *run_side(void *user)
{
    struct side *s = user;

    for (int i = 0; i < 5; i++)
        s->hash = reconstruct_hash(s->scan, fbp_recon_params(.device = "gl"));
    return NULL;
}

TEST(two_plans_side_by_side)
{
    AUTO_DROP struct fbp_scan one = make_head(16, 38, 15, 8), other = make_head(24, 38, 19, 8);
    const uint64_t wanted[2] = {reconstruct_hash(&one, fbp_recon_params(.device = "gl")),
                                reconstruct_hash(&other, fbp_recon_params(.device = "gl"))};
    struct side sides[2] = {{&one, 0}, {&other, 0}};
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_side, &sides[i]), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_true(sides[i].hash == wanted[i]);
    }
}

/* A child that ends so; a hang ends by the alarm. */
static void fork_child(void (*leave)(int))
{
    int status = 0;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        leave(7);
    }
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* What runs last of a child's end, as it was registered first: this file is the card's no more. */
static pid_t parent;
static int pretended = -1;

static void check_child(void)
{
    struct stat is, null;

    if (pretended < 0 || getpid() == parent)
        return;
    const bool blind =
        stat("/dev/null", &null) == 0 && fstat(pretended, &is) == 0 && is.st_rdev == null.st_rdev;
    _exit(blind ? 7 : 8);
}

TEST(a_child_leaves_the_card_alone)
{
    struct stat is, full;

    pretended = open("/dev/full", O_RDWR);
    assert_true(pretended >= 0);
    find_plant();
    plant->card_files = "/dev/full";
    fork_child(exit);
    assert_true(fstat(pretended, &is) == 0 && stat("/dev/full", &full) == 0);
    assert_true(is.st_rdev == full.st_rdev); /* the parent's */
    plant->card_files = NULL;
    close(pretended);
    pretended = -1;
}

/* Children that end by _exit() do no harm: neither to plans that are made later nor to one that is
 * open. */
TEST(children_end_at_once)
{
    AUTO_DROP struct fbp_scan scan = make_head(8, 38, 9, 8);
    struct fbp_report r = {.struct_size = sizeof r};

    const uint64_t before = reconstruct_hash(&scan, fbp_recon_params(.device = "gl"));
    fork_child(_exit);
    assert_true(reconstruct_hash(&scan, fbp_recon_params(.device = "gl")) == before);
    CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(&scan, fbp_recon_params(.device = "gl"));
    OK(fbp_plan_open(plan));
    fork_child(_exit);
    OK(fbp_plan_run(plan, "hash:", &r));
    assert_true(r.hash == before);
}

/* By exit(), with whatever the driver does then: the parent goes on, or says what may help. */
TEST(children_end_in_order)
{
    AUTO_DROP struct fbp_scan scan = make_head(8, 38, 9, 8);
    struct fbp_report r = {.struct_size = sizeof r};

    const uint64_t before = reconstruct_hash(&scan, fbp_recon_params(.device = "gl"));
    fork_child(exit);
    const fbp_status st = reconstruct_to(&scan, fbp_recon_params(.device = "gl"), "hash:", &r);
    if (st == FBP_OK)
        assert_true(r.hash == before);
    else if (st != FBP_ERR_DEVICE || !strstr(fbp_message(), "end children by _exit()"))
        fail_msg("status %d: %s", (int)st, fbp_message());
    print_message("after exit(): %s\n", st == FBP_OK ? "goes on" : fbp_message());
}

int main(int argc, char **argv)
{
    parent = getpid();
    assert_int_equal(atexit(check_child), 0); /* before the module is loaded */
    if (!usable("gl"))
        return 77;
    return run_file_tests(argc, argv, NULL, NULL);
}
