/** @file cuda_host.h  Runs CUDA kernels on the host (tests): a thread block's threads are contexts
 * of one thread of the host, which take turns at barriers and warp operations such as shuffles;
 * blocks run one after another.  Textures and surfaces are arrays of fp16 in memory.
 */
#ifndef FBP_TESTS_CUDA_HOST_H
#define FBP_TESTS_CUDA_HOST_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(N) __attribute__((aligned(N)))

static inline int min(int a, int b)
{
    return a < b ? a : b;
}
static inline int max(int a, int b)
{
    return a > b ? a : b;
}

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
    {
    }
};

static inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}

static inline uint2 make_uint2(unsigned x, unsigned y)
{
    return {x, y};
}

/* Threads of a block. */

namespace host
{

enum { STACK = 1 << 16, MOST_THREADS = 1024 };

/* `arrived` of `alive` threads wait.  all: every condition so far; result: of the last turn. */
struct barrier {
    unsigned arrived, alive, turn;
    bool all;
    bool result;
};

struct warp {
    barrier barrier_;
    uint32_t words[2][32][8]; /* [turn % 2][lane] */
};

struct thread {
    ucontext_t context;
    dim3 index;
    bool done;
};

static thread threads[MOST_THREADS];
static std::vector<char> stacks;
static warp warps[MOST_THREADS / 32];
static barrier block;
static thread *now;
static ucontext_t scheduler;
static dim3 block_index, block_size;
static std::function<void()> kernel;

static inline warp &own_warp()
{
    return warps[(now - threads) / 32];
}

static inline unsigned lane()
{
    return (unsigned)(now - threads) % 32;
}

static void release(barrier &b)
{
    b.arrived = 0;
    b.result = b.all;
    b.all = true;
    b.turn++;
}

static bool wait(barrier &b, bool condition)
{
    const unsigned turn = b.turn;

    b.all = b.all && condition;
    if (++b.arrived == b.alive)
        release(b);
    while (b.turn == turn)
        swapcontext(&now->context, &scheduler);
    return b.result;
}

/* A thread that has ended counts as arrived. */
static void leave(barrier &b)
{
    b.alive--;
    if (b.arrived > 0 && b.arrived == b.alive)
        release(b);
}

static void run()
{
    kernel();
    now->done = true;
    leave(block);
    leave(own_warp().barrier_);
    swapcontext(&now->context, &scheduler);
}

static void run_block()
{
    const unsigned n = block_size.x;

    stacks.resize((size_t)n * STACK);
    block = {0, n, 0, true, true};
    for (unsigned i = 0; i < n; i++) {
        thread &t = threads[i];
        if (i % 32 == 0)
            warps[i / 32].barrier_ = {0, n - i < 32 ? n - i : 32, 0, true, true};
        t.index = dim3(i, 0, 0);
        t.done = false;
        getcontext(&t.context);
        t.context.uc_stack.ss_sp = &stacks[(size_t)i * STACK];
        t.context.uc_stack.ss_size = STACK;
        t.context.uc_link = &scheduler;
        makecontext(&t.context, run, 0);
    }
    for (unsigned left = n; left > 0;) {
        left = 0;
        for (unsigned i = 0; i < n; i++) {
            now = &threads[i];
            if (now->done)
                continue;
            swapcontext(&scheduler, &now->context);
            left += !now->done;
        }
    }
}

/* Returns the values of all lanes of the warp. */
template <class T> static const uint32_t (*exchange(const T &value))[8]
{
    warp &w = own_warp();
    const unsigned parity = w.barrier_.turn % 2;

    static_assert(sizeof value <= sizeof w.words[0][0]);
    memcpy(w.words[parity][lane()], &value, sizeof value);
    wait(w.barrier_, true);
    return w.words[parity];
}

template <class Kernel> struct launcher {
    Kernel *function;
    dim3 blocks;
    unsigned n;

    template <class... Arguments> void operator()(Arguments... arguments) const
    {
        Kernel *const called = function;
        kernel = [=]() { called(arguments...); };
        block_size = dim3(n);
        for (unsigned z = 0; z < blocks.z; z++)
            for (unsigned y = 0; y < blocks.y; y++)
                for (unsigned x = 0; x < blocks.x; x++) {
                    block_index = dim3(x, y, z);
                    run_block();
                }
    }
};

template <class Kernel> static launcher<Kernel> launch(Kernel *function, dim3 blocks, unsigned n)
{
    return {function, blocks, n};
}

/* fp16 [layer][row][column][channel]; the handle is its address. */
struct texture {
    size_t columns, rows, layers, channels;
    _Float16 *texels;

    _Float16 *at(long x, long y, long layer) const
    {
        if (x < 0 || y < 0 || x >= (long)columns || y >= (long)rows)
            return NULL;
        layer = layer < 0 ? 0 : layer < (long)layers ? layer : (long)layers - 1;
        return texels + (((size_t)layer * rows + (size_t)y) * columns + (size_t)x) * channels;
    }
};

static inline const texture &texture_of(unsigned long long handle)
{
    return *(const texture *)(uintptr_t)handle;
}

} // namespace host

#define threadIdx (host::now->index)
#define blockIdx  (host::block_index)
#define blockDim  (host::block_size)
#define CUDA_LAUNCH(KERNEL, BLOCKS, THREADS, STREAM, ...) \
    host::launch(KERNEL, BLOCKS, THREADS)(__VA_ARGS__)

static inline cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}

static inline void __syncthreads()
{
    (void)host::wait(host::block, true);
}
static inline int __syncthreads_and(int condition)
{
    return host::wait(host::block, condition != 0);
}
template <class T> static inline T __shfl_xor_sync(unsigned, T value, int mask)
{
    T out;
    memcpy(&out, host::exchange(value)[host::lane() ^ (unsigned)mask], sizeof out);
    return out;
}
static inline unsigned __ballot_sync(unsigned, int condition)
{
    const uint32_t value = condition != 0, (*all)[8] = host::exchange(value);
    unsigned bits = 0;
    for (unsigned i = 0; i < 32; i++)
        bits |= all[i][0] << i;
    return bits;
}
static inline int __any_sync(unsigned mask, int condition)
{
    return __ballot_sync(mask, condition) != 0;
}
static inline int __popc(unsigned bits)
{
    return __builtin_popcount(bits);
}

/* fp16 */

typedef _Float16 __half;
struct __half2 {
    __half x, y;
};
static inline __half __float2half_rn(float a)
{
    return (__half)a;
}
static inline __half2 __floats2half2_rn(float a, float b)
{
    return {(__half)a, (__half)b};
}
static inline __half2 __hmax2(__half2 a, __half2 b)
{
    return {a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y};
}
static inline __half2 __hmin2(__half2 a, __half2 b)
{
    return {a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y};
}

/* Textures: weights of 1/256, zeros outside. */
template <class T>
static inline T tex2DLayered(cudaTextureObject_t handle, float x, float y, int layer)
{
    const host::texture &t = host::texture_of(handle);
    const double u = std::round((x - 0.5) * 256) / 256, v = std::round((y - 0.5) * 256) / 256;
    const double left = std::floor(u), below = std::floor(v);
    float sum[sizeof(T) / sizeof(float)] = {};

    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++) {
            const __half *texel = t.at((long)left + i, (long)below + j, layer);
            const double weight =
                (i ? u - left : 1 - (u - left)) * (j ? v - below : 1 - (v - below));
            for (size_t c = 0; texel && c < t.channels; c++)
                sum[c] += (float)(weight * (double)texel[c]);
        }
    T out;
    memcpy(&out, sum, sizeof out);
    return out;
}

/* A write out of bounds aborts the test. */
template <class T>
static inline void surf2DLayeredwrite(T value, cudaSurfaceObject_t handle, int byte, int y,
                                      int layer)
{
    const host::texture &t = host::texture_of(handle);
    const long texel = (long)(t.channels * sizeof(__half)), x = byte / texel;
    const long last = (byte + (long)sizeof value - 1) / texel;

    if (byte < 0 || byte % (long)sizeof value != 0 || !t.at(x, y, layer) || !t.at(last, y, layer) ||
        layer < 0 || layer >= (long)t.layers) {
        fprintf(stderr, "a surface is written out of bounds: byte %d, row %d, layer %d\n", byte, y,
                layer);
        abort();
    }
    memcpy((char *)t.at(x, y, layer) + byte % texel, &value, sizeof value);
}

static inline float cuda_reciprocal(float x)
{
    return 1 / x;
}

/* Products of matrices. */

static inline unsigned cuda_transpose(unsigned q)
{
    const uint32_t(*all)[8] = host::exchange(q);
    const unsigned lane = host::lane(), column = lane / 4;
    unsigned out = 0;

    for (unsigned i = 0; i < 2; i++) {
        const uint32_t word = all[(lane % 4 * 2 + i) * 4 + column / 2][0];
        out |= (word >> column % 2 * 16 & 0xffffu) << 16 * i;
    }
    return out;
}
static inline void cuda_multiply(float (&sum)[4], const unsigned (&weights)[4], unsigned q0,
                                 unsigned q1)
{
    struct operands {
        unsigned a[4], b[2];
    };
    const operands own = {{weights[0], weights[1], weights[2], weights[3]}, {q0, q1}};
    const uint32_t(*all)[8] = host::exchange(own);
    const unsigned lane = host::lane();
    const auto half = [](uint32_t word, unsigned i) {
        const uint16_t bits = (uint16_t)(word >> 16 * i);
        __half h;
        memcpy(&h, &bits, sizeof h);
        return (float)h;
    };

    for (unsigned i = 0; i < 4; i++) {
        const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        for (unsigned k = 0; k < 16; k++) {
            const uint32_t a = all[row % 8 * 4 + k % 8 / 2][row / 8 + k / 8 * 2];
            const uint32_t b = all[column * 4 + k % 8 / 2][4 + k / 8];
            sum[i] += half(a, k % 2) * half(b, k % 2);
        }
    }
}

#endif /* FBP_TESTS_CUDA_HOST_H */
