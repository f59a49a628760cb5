/* FFTW without memory: its reserve, plans and transforms where the system denies all of it. */
#include "fft/fft.h"
#include "fft/fftw_memory.h"
#include "fft/fftw_reserve.h"
#include "filter/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define LIMITED 0 /* a sanitizer does not come up in a small address space, or hangs there */
#else
#    define LIMITED 1
#endif

/* Pieces taken and given back in any order keep what was written into them. */
static void pieces_do_not_overlap(void **state)
{
    enum { BYTES = 1 << 16, N = 64 };
    static _Alignas(64) char base[BYTES];
    struct fbp_reserve r;
    unsigned char *piece[N] = {0};
    size_t length[N] = {0};
    unsigned random = 1;

    (void)state;
    fbp_reserve_init(&r, base, BYTES);
    for (int i = 0; i < 20000; i++) {
        random = random * 1664525u + 1013904223u;
        const unsigned k = (random >> 16) % N;
        for (size_t b = 0; b < length[k]; b++)
            assert_int_equal(piece[k][b], k);
        if (piece[k]) {
            assert_true(fbp_reserve_has(&r, piece[k]));
            fbp_reserve_give_back(&r, piece[k]);
            piece[k] = NULL;
            length[k] = 0;
            continue;
        }
        const size_t n = (random >> 8) % 3000;
        piece[k] = fbp_reserve_take(&r, n);
        if (!piece[k])
            continue;
        assert_int_equal((uintptr_t)piece[k] % 64, 0);
        length[k] = n;
        memset(piece[k], (int)k, n);
    }
    for (int k = 0; k < N; k++)
        if (piece[k])
            fbp_reserve_give_back(&r, piece[k]);
    assert_int_equal(r.n_used, 0);
    assert_int_equal(fbp_reserve_room(&r), BYTES - 64);
    assert_null(fbp_reserve_take(&r, BYTES));
    assert_null(fbp_reserve_take(&r, SIZE_MAX));
}

/* A filter of n columns; is it the same with memory and without? */
static void designs_are_equal(size_t n)
{
    struct fbp_filter_design with, without;

    assert_int_equal(fbp_filter_design(&with, FBP_FILTER_HANN, 0.8, n, 0), FBP_OK);
    fbp_fftw_deny(true);
    assert_int_equal(fbp_filter_design(&without, FBP_FILTER_HANN, 0.8, n, 0), FBP_OK);
    fbp_fftw_deny(false);
    assert_int_equal(with.n_fft, without.n_fft);
    assert_memory_equal(with.response, without.response, (with.n_fft / 2 + 1) * sizeof(double));
    fbp_filter_design_clear(&with);
    fbp_filter_design_clear(&without);
}

static void a_denied_planner_plans_the_same(void **state)
{
    (void)state;
    for (size_t n = 1; n < 40000; n = n * 3 / 2 + 1)
        designs_are_equal(n);
    designs_are_equal(300000);
}

struct long_one {
    size_t n;
    float *in, *out;
    struct fbp_fftf *fft;
};

static void *compute(void *arg)
{
    const struct long_one *l = arg;
    float *out = NULL;

    if (posix_memalign((void **)&out, 64, 2 * l->n * sizeof *out) != 0)
        return arg;
    fbp_fftf_complex(l->fft, l->in, out);
    const int differs = memcmp(out, l->out, 2 * l->n * sizeof *out);
    free(out);
    return differs ? arg : NULL;
}

static void denied_transforms_compute_the_same(void **state)
{
    struct long_one l = {.n = 320000}; /* transforms of which take memory themselves */
    pthread_t thread[6];

    (void)state;
    assert_int_equal(posix_memalign((void **)&l.in, 64, 2 * l.n * sizeof *l.in), 0);
    assert_int_equal(posix_memalign((void **)&l.out, 64, 2 * l.n * sizeof *l.out), 0);
    assert_int_equal(fbp_fftf_open(&l.fft, l.n), FBP_OK);
    for (size_t i = 0; i < 2 * l.n; i++)
        l.in[i] = (float)(i * i % 1009);
    fbp_fftf_complex(l.fft, l.in, l.out);
    fbp_fftw_deny(true);
    for (int i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, compute, &l), 0);
    for (int i = 0; i < 6; i++) {
        void *differs = NULL;
        pthread_join(thread[i], &differs);
        assert_null(differs);
    }
    fbp_fftw_deny(false);
    fbp_fftf_close(&l.fft);
    free(l.in);
    free(l.out);
}

/* In a child with so much more address space: 0, or 1 with a sentence. */
static int design_within(size_t spare)
{
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        struct fbp_filter_design d;
        char text[64] = "";
        FILE *f = fopen("/proc/self/statm", "r");
        if (!f || !fgets(text, sizeof text, f) || fclose(f) != 0)
            _exit(3);
        const rlim_t now = (rlim_t)strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
        const struct rlimit limit = {now + spare, now + spare}, none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        setrlimit(RLIMIT_AS, &limit);
        const fbp_status st = fbp_filter_design(&d, FBP_FILTER_RAM_LAK, 1, 20000, 0);
        _exit(st == FBP_OK ? 0 : st == FBP_ERR_NOMEM && strstr(fbp_message(), "memory") ? 1 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void small_address_spaces_fail_with_a_sentence(void **state)
{
    int ends[2] = {0};

    (void)state;
    if (!LIMITED)
        skip();
    for (size_t spare = 0; spare < 16 << 20; spare += 128 << 10) {
        const int end = design_within(spare);
        assert_in_range(end, 0, 1);
        ends[end]++;
    }
    assert_true(ends[0] > 0 && ends[1] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_address_spaces_fail_with_a_sentence), /* FFTW knows nothing yet */
        cmocka_unit_test(pieces_do_not_overlap),
        cmocka_unit_test(a_denied_planner_plans_the_same),
        cmocka_unit_test(denied_transforms_compute_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
