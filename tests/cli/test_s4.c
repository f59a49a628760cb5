/* S4's accounts: what the paper's own figures say of each other, and what is counted now. */
#include "bench/papers/qiao2015/text.h"
#include "test.h"

static void check(double is, double wanted, double error)
{
    if (!(fabs(is - wanted) <= error))
        fail_msg("%g instead of %g", is, wanted);
}

TEST(published_rows_add_up)
{
    for (size_t i = 0; i < S4_SIZES; i++) {
        const struct s4_published *p = &s4_published[i];
        check(p->compute + p->gather, p->gs, 0.0011);
        check(p->cm / p->compute / p->cm_without, 1, 0.02);
        check(p->cm / p->gs / p->cm_with, 1, 0.03);
        check(p->cs / p->compute / p->cs_without, 1, 0.02);
        check(p->cs / p->gs / p->cs_with, 1, 0.01);
        assert_ptr_equal(s4_published_of(p->size), p);
    }
    assert_null(s4_published_of(63));
}

/* The launch was timed, not the kernel: its GUPS are beyond what the card can do in double, which
 * is 1152 fp32 units at 1.1 GHz, of which one in 24 does double, and 26 operations an update. */
TEST(published_computing_times_are_impossible)
{
    const double most = 1152 / 24. * 2 * 1.1 / 26;

    for (size_t i = 0; i < S4_SIZES; i++) {
        const struct s4_published *p = &s4_published[i];
        assert_true(s4_gups(p->size, S4_PAPER_VIEWS, p->compute) > most);
        assert_true(s4_gups(p->size, S4_PAPER_VIEWS, p->gs) < most);
    }
}

TEST(operations_are_counted_and_misprinted)
{
    assert_true(fbp_s4_operations(128, 208) == 11372855296.);
    assert_true(fbp_s4_operations_printed(128, 208) == s4_published_operations);
}

TEST(threads_of_a_processor_are_those_of_whole_blocks)
{
    assert_int_equal(fbp_s4_paper_threads(&s4_published_gpu, 64), 16 * 64);
    assert_int_equal(fbp_s4_paper_threads(&s4_published_gpu, 128), 2048);
    assert_int_equal(fbp_s4_paper_threads(&s4_published_gpu, 150), 13 * 150);
    assert_int_equal(fbp_s4_paper_threads(&s4_published_gpu, 1024), 2048);
    assert_int_equal(fbp_s4_paper_threads(&s4_published_gpu, 1000), 2000);
}

TEST(rows_reach_over_the_corners)
{
    assert_int_equal(fbp_s4_samples_for(64), 112);
    for (size_t n = 2; n < 300; n += 2) {
        const size_t s = fbp_s4_samples_for(n);
        assert_true(s % 2 == 0 && (double)s >= sqrt(3) * (double)n);
    }
}

/* Two jobs of one object: the library's error, and what the paper's kernel cannot take. */
TEST(kernels_refuse_what_they_cannot_take)
{
    const struct fbp_s4_params odd = {
        .struct_size = sizeof odd, .size = 8, .rings = 4, .samples = 15, .n_threads = 1};
    struct fbp_s4_launch t;
    struct fbp_s4_error e;
    fbp_s4 *s4 = NULL;

    OK(fbp_s4_open(&s4, &odd));
    assert_int_equal(fbp_s4_samples(s4), 15);
    assert_null(fbp_s4_object(s4));
    assert_int_equal(fbp_s4_compare(s4, &e), FBP_ERR_INVALID);
    assert_fails(fbp_s4_launch(s4, FBP_S4_PAPER, 0, 1, &t), FBP_ERR_UNSUPPORTED,
                 "an even number of samples, got 15");
    fbp_s4_close(&s4);
    assert_null(s4);
    assert_int_equal(fbp_s4_open(&s4, &(struct fbp_s4_params){.struct_size = sizeof odd}),
                     FBP_ERR_INVALID);
}

TEST_MAIN(NULL, NULL)
