/* Checks that OpenGL devices share memory that one plan allocated: others copy from and to it
 * directly until the last user releases it. */
#include "recon/planted.h"

#include <pthread.h>

/* Views and a volume in memory of one plan, `keeper`. */
struct job {
    struct fbp_scan scan;
    fbp_plan *keeper;
    float *views, *volume, *right;
    size_t n;
};

static void make_job(struct job *j, size_t side, fbp_plan *keeper)
{
    void *memory;

    *j = (struct job){.scan = make_head(24, 38, side, 8), .keeper = keeper};
    AUTO_FREE float *views = read_array(j->scan.projections);
    const size_t bytes =
        j->scan.n_views * j->scan.panel.n_rows * j->scan.panel.n_columns * sizeof *views;
    j->n = grid_size(&j->scan.volume);
    j->right = reconstruct(&j->scan, fbp_recon_params(.device = "gl"));
    if (!keeper)
        OK(fbp_plan_create(&j->keeper, &j->scan, fbp_recon_params(.device = "gl")));
    OK(fbp_plan_alloc(j->keeper, bytes, &memory));
    j->views = memory;
    memcpy(j->views, views, bytes);
    OK(fbp_plan_alloc(j->keeper, j->n * sizeof *j->volume, &memory));
    j->volume = memory;
}

static void drop_job(struct job *j, bool keeper)
{
    fbp_plan_release(j->keeper, j->views);
    fbp_plan_release(j->keeper, j->volume);
    if (keeper)
        fbp_plan_destroy(&j->keeper);
    free(j->right);
    drop_scan(&j->scan);
}

/* Another plan, from those views into that volume. */
static void run(struct job *j, size_t slab, size_t batch)
{
    const struct fbp_array_info info = {
        .struct_size = sizeof info,
        .n = {j->scan.panel.n_columns, j->scan.panel.n_rows, j->scan.n_views},
        .type = FBP_F32};
    struct fbp_recon_params p = {.struct_size = sizeof p,
                                 .device = "gl",
                                 .tuning.slab_slices = slab,
                                 .tuning.batch_views = batch};
    fbp_sink *sink;

    OK(fbp_source_memory(&p.input.source, j->views, &info));
    fbp_plan *plan = create_plan(&j->scan, &p);
    memset(j->volume, 0xff, j->n * sizeof *j->volume);
    OK(fbp_sink_memory(&sink, j->volume, FBP_F32, j->scan.volume.n));
    OK(fbp_plan_run_to(plan, NULL, sink, NULL));
    fbp_sink_close(&sink);
    fbp_plan_destroy(&plan);
    fbp_source_close(&p.input.source);
    assert_memory_equal(j->volume, j->right, j->n * sizeof *j->volume);
}

TEST(memory_of_another_plan_needs_no_buffer)
{
    struct job j;

    make_job(&j, 21, NULL);
    const uint64_t n_host = plant->n_host, through = plant->n_through;
    run(&j, 0, 0);
    run(&j, 3, 4);
    run(&j, 1, 8);
    assert_int_equal(plant->n_host, n_host);
    assert_int_equal(plant->n_through, through);
    float *own = not_null(malloc(j.n * sizeof *own)), *kept = j.volume;
    j.volume = own; /* which no card reaches */
    run(&j, 0, 0);
    assert_true(plant->n_host > n_host);
    j.volume = kept;
    free(own);
    drop_job(&j, true);
}

/* The memory goes, and so does the plan that gave it, while another one is open. */
TEST(others_outlive_who_gave_memory)
{
    struct job first, second;

    make_job(&first, 15, NULL);
    run(&first, 0, 0);
    make_job(&second, 19, NULL);
    run(&second, 2, 4);
    drop_job(&first, true);
    run(&second, 0, 0);
    make_job(&first, 15, second.keeper);
    run(&first, 0, 0);
    drop_job(&first, false);
    run(&second, 3, 8);
    drop_job(&second, true);
}

static void *run_side(void *user)
{
    for (size_t i = 0; i < 6; i++)
        run(user, i, 4 * (i % 3));
    return NULL;
}

TEST(two_threads_in_one_plans_memory)
{
    struct job jobs[2];
    pthread_t threads[2];

    make_job(&jobs[0], 17, NULL);
    make_job(&jobs[1], 20, jobs[0].keeper);
    const uint64_t allocated = plant->n_host;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_side, &jobs[i]), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(plant->n_host, allocated);
    drop_job(&jobs[1], false);
    drop_job(&jobs[0], true);
}

/* A renderer that was reset: plans that are made later do not share with those before. */
TEST(what_was_lost_is_not_shared)
{
    struct job j;

    make_job(&j, 15, NULL);
    plant->share_lost = true;
    const uint64_t allocated = plant->n_host;
    fbp_plan *plan = create_plan(&j.scan, fbp_recon_params(.device = "gl"));
    OK(fbp_plan_open(plan)); /* meets what is lost, and makes anew */
    plant->share_lost = false;
    run(&j, 0, 0);
    assert_true(plant->n_host > allocated); /* the keeper's memory is not reached from there */
    fbp_plan_destroy(&plan);
    drop_job(&j, true);
}

int main(int argc, char **argv)
{
    if (!usable("gl"))
        return 77;
    find_plant();
    return run_file_tests(argc, argv, NULL, NULL);
}
