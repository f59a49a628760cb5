/* Checks the Poisson and Gaussian noise of simulated scans: moments, distribution, independence. */
#include "phantom/shapes.h"

#include "base/math.h"

#include "test.h"
#include "unit/one_array.h"

/* The mean of N counts has variance m/N; their sample variance has (m + 2 m^2)/N. */
TEST(mean_and_variance)
{
    static const double means[] = {.05, .5, 5, 9.99, 10, 50, 5000, 1e6};
    enum { N = 200000 };

    for (int k = 0; k < 8; k++) {
        const double m = means[k];
        double sum = 0, squares = 0;
        for (uint64_t i = 0; i < N; i++) {
            struct fbp_random r = fbp_random_at(42, i / 1000, i % 1000);
            const double x = fbp_poisson(&r, m) - m;
            sum += x;
            squares += x * x;
        }
        const double mean = sum / N, variance = squares / N - mean * mean;
        assert_true(fabs(mean) < 5 * sqrt(m / N));
        assert_true(fabs(variance - m) < 5 * sqrt((m + 2 * m * m) / N));
    }
}

/* Frequencies of the first counts, both samplers: chi square with 20 cells, 5 sigma. */
TEST(distribution)
{
    enum { N = 100000, CELLS = 21 };
    static const double means[] = {8, 12};

    for (int k = 0; k < 2; k++) {
        double seen[CELLS] = {0}, p = exp(-means[k]), left = 1, chi = 0;
        for (uint64_t i = 0; i < N; i++) {
            struct fbp_random r = fbp_random_at(7, 3, i);
            const double x = fbp_poisson(&r, means[k]);
            seen[x < CELLS - 1 ? (int)x : CELLS - 1]++;
        }
        for (int c = 0; c < CELLS; c++) {
            const double expected = N * (c == CELLS - 1 ? left : p);
            chi += (seen[c] - expected) * (seen[c] - expected) / expected;
            left -= p;
            p *= means[k] / (c + 1);
        }
        assert_true(chi < 20 + 5 * sqrt(2 * 20));
    }
}

TEST(neighbours_are_independent)
{
    enum { N = 100000 };
    double of_pixel = 0, of_view = 0;

    for (uint64_t i = 0; i < N; i++) {
        struct fbp_random a = fbp_random_at(1, 5, i), b = fbp_random_at(1, 5, i + 1),
                          c = fbp_random_at(1, 6, i);
        const double x = fbp_poisson(&a, 100) - 100;
        of_pixel += x * (fbp_poisson(&b, 100) - 100);
        of_view += x * (fbp_poisson(&c, 100) - 100);
    }
    assert_true(fabs(of_pixel / N) < 5 * 100 / sqrt(N));
    assert_true(fabs(of_view / N) < 5 * 100 / sqrt(N));
}

/* Moments 1 to 4, and how many lie beyond 1 and 2: five standard deviations of each. */
TEST(normal_numbers)
{
    enum { N = 200000 };
    const double want[] = {0, 1, 0, 3, .31731051, .04550026};
    const double variance[] = {1, 2, 15, 96, .2166, .0434};
    double sums[6] = {0}, of_pixel = 0;

    for (uint64_t i = 0; i < N; i++) {
        struct fbp_random r = fbp_random_at(3, i / 500, i % 500);
        struct fbp_random next = fbp_random_at(3, i / 500, i % 500 + 1);
        const double x = fbp_normal(&r);
        const double of[] = {x, x * x, x * x * x, x * x * x * x, fabs(x) > 1, fabs(x) > 2};
        for (int k = 0; k < 6; k++)
            sums[k] += of[k];
        of_pixel += x * fbp_normal(&next);
    }
    for (int k = 0; k < 6; k++)
        assert_true(fabs(sums[k] / N - want[k]) < 5 * sqrt(variance[k] / N));
    assert_true(fabs(of_pixel / N) < 5 / sqrt(N));
}

TEST_MAIN(NULL, NULL)
