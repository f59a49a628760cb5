/* S4's accounts: what the paper's own figures say of each other, and what is counted now. */
#include "bench/papers/qiao2015/text.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static void check(double is, double wanted, double error)
{
    if (!(fabs(is - wanted) <= error))
        fail_msg("%g instead of %g", is, wanted);
}

static void published_rows_add_up(void **state)
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
static void published_computing_times_are_impossible(void **state)
{
    const double most = 1152 / 24. * 2 * 1.1 / 26;

    for (size_t i = 0; i < S4_SIZES; i++) {
        const struct s4_published *p = &s4_published[i];
        assert_true(s4_gups(p->size, S4_PAPER_VIEWS, p->compute) > most);
        assert_true(s4_gups(p->size, S4_PAPER_VIEWS, p->gs) < most);
    }
}

static void operations_are_counted_and_misprinted(void **state)
{
    assert_true(fbp_s4_operations(128, 208) == 11372855296.);
    assert_true(fbp_s4_operations_printed(128, 208) == s4_published_operations);
}

static void threads_of_a_processor_are_those_of_whole_blocks(void **state)
{
    assert_int_equal(fbp_s4_paper_threads(&s4_published_gpu, 64), 16 * 64);
    assert_int_equal(fbp_s4_paper_threads(&s4_published_gpu, 128), 2048);
    assert_int_equal(fbp_s4_paper_threads(&s4_published_gpu, 150), 13 * 150);
    assert_int_equal(fbp_s4_paper_threads(&s4_published_gpu, 1024), 2048);
    assert_int_equal(fbp_s4_paper_threads(&s4_published_gpu, 1000), 2000);
}

static void rows_reach_over_the_corners(void **state)
{
    assert_int_equal(fbp_s4_samples_for(64), 112);
    for (size_t n = 2; n < 300; n += 2) {
        const size_t s = fbp_s4_samples_for(n);
        assert_true(s % 2 == 0 && (double)s >= sqrt(3) * (double)n);
    }
}

/* Two jobs of one object: the library's error, and what the paper's kernel cannot take. */
static void kernels_refuse_what_they_cannot_take(void **state)
{
    const struct fbp_s4_params odd = {
        .struct_size = sizeof odd, .size = 8, .rings = 4, .samples = 15, .n_threads = 1};
    struct fbp_s4_launch t;
    struct fbp_s4_error e;
    fbp_s4 *s4 = NULL;

    assert_int_equal(fbp_s4_open(&s4, &odd), FBP_OK);
    assert_int_equal(fbp_s4_samples(s4), 15);
    assert_null(fbp_s4_object(s4));
    assert_int_equal(fbp_s4_compare(s4, &e), FBP_ERR_INVALID);
    assert_int_equal(fbp_s4_launch(s4, FBP_S4_PAPER, 0, 1, &t), FBP_ERR_UNSUPPORTED);
    assert_non_null(strstr(fbp_message(), "an even number of samples, got 15"));
    fbp_s4_close(&s4);
    assert_null(s4);
    assert_int_equal(fbp_s4_open(&s4, &(struct fbp_s4_params){.struct_size = sizeof odd}),
                     FBP_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_rows_add_up),
        cmocka_unit_test(published_computing_times_are_impossible),
        cmocka_unit_test(operations_are_counted_and_misprinted),
        cmocka_unit_test(threads_of_a_processor_are_those_of_whole_blocks),
        cmocka_unit_test(rows_reach_over_the_corners),
        cmocka_unit_test(kernels_refuse_what_they_cannot_take),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
