/** @file planes_host.h  The parts of the kernel of plane integrals on the host: a block's threads
 * are threads, blocks come one after another (cuda, tests).
 */
#ifndef FBP_TESTS_PLANES_HOST_H
#define FBP_TESTS_PLANES_HOST_H

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <pthread.h>

using std::max;
using std::min;

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};

static thread_local dim3 threadIdx, blockIdx;

/* Of the block that runs. */
static char windows[1 << 20];
static size_t windows_bytes;
static pthread_barrier_t all_threads, first_warp;
static bool said[32];

#define __global__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define __syncthreads() ((void)pthread_barrier_wait(&all_threads))

#define PLANES_DEVICE inline
#define PLANES_UNROLL
#define PLANES_SHARED_WINDOWS(name) const unsigned name = 0

template <class T> struct planes_real;

template <> struct planes_real<float> {
    static constexpr float FLOOR = 12582912.0f;
    static constexpr unsigned FLOOR_BITS = 0x4b400000u;

    /* In double the sum is exact. */
    static float add_down(float a, float b)
    {
        const double sum = (double)a + (double)b;
        const float nearest = (float)sum;
        return (double)nearest > sum ? std::nextafter(nearest, -INFINITY) : nearest;
    }
    static unsigned low_bits(float x)
    {
        unsigned bits;
        memcpy(&bits, &x, sizeof bits);
        return bits;
    }
};

template <> struct planes_real<double> {
    static constexpr double FLOOR = 6755399441055744.0;
    static constexpr unsigned FLOOR_BITS = 0;

    /* The sum of so large a number is whole. */
    static double add_down(double a, double b)
    {
        return b + std::floor(a);
    }
    static unsigned low_bits(double x)
    {
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        return (unsigned)bits;
    }
};

static inline float planes_fma(float a, float b, float c)
{
    return std::fma(a, b, c);
}

static inline double planes_fma(double a, double b, double c)
{
    return std::fma(a, b, c);
}

static inline int planes_anew(int x)
{
    return x;
}

static inline unsigned planes_ballot(bool x)
{
    unsigned bits = 0;

    said[threadIdx.x] = x;
    (void)pthread_barrier_wait(&first_warp);
    for (int i = 0; i < 32; i++)
        bits |= (unsigned)said[i] << i;
    (void)pthread_barrier_wait(&first_warp);
    return bits;
}

static inline int planes_count(unsigned bits)
{
    return __builtin_popcount(bits);
}

/* Out of bounds is the end of the test. */
static inline char *place_of(unsigned at, size_t bytes)
{
    if (at % 4 != 0 || (size_t)at + bytes > windows_bytes)
        abort();
    return windows + at;
}

static inline void planes_copy_piece(unsigned to, const char *from, bool there)
{
    if (there)
        memcpy(place_of(to, 16), from, 16);
    else
        memset(place_of(to, 16), 0, 16);
}

static inline void planes_end_of_copy(void)
{
}

static inline void planes_wait_but_for_one(void)
{
}

template <int N, class T, int FRAMES> static inline void planes_load(unsigned at, T (&q)[N][FRAMES])
{
    for (int j = 0; j < N; j++)
        memcpy(q[j], place_of(at + j * (unsigned)sizeof q[j], sizeof q[j]), sizeof q[j]);
}

template <bool UP, class T, int FRAMES>
static inline void planes_move(unsigned at, unsigned last, T (&q)[2][FRAMES])
{
    const unsigned sample = FRAMES * sizeof(T);

    if (at == last)
        return;
    if (UP ? at != last + sample : at + sample != last)
        abort();
    memcpy(q[UP ? 0 : 1], q[UP ? 1 : 0], sample);
    memcpy(q[UP ? 1 : 0], place_of(at + (UP ? sample : 0), sample), sample);
}

#endif /* FBP_TESTS_PLANES_HOST_H */
