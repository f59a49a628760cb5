/* The kernel of plane integrals without a device: against sums in double, and the same bits from
 * all shapes, boxes, slabs and batches, and of frames one by one. */
#include <cstdio>
#include <cstdlib>
#include <vector>

#define FBP_PLANES_HOST "cuda/planes_host.h"
#include "backend/cuda/planes_kernel.h"
#include "filter/parabola.h"

static unsigned state = 1;

static double number(void)
{
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state / 4294967296.0;
}

static void wrong(const char *what)
{
    printf("%s\n", what);
    exit(1);
}

/* A grid of n voxels a side, and views of S columns that see it from anywhere, some not at all. */
struct scene {
    int n[3], S, n_views, frames;
    std::vector<gpu_plane> planes;
    std::vector<float> rows; /* [view][frame][S] */
};

static scene make_scene(int nx, int ny, int nz, int S, int n_views, int frames, double step)
{
    scene s = {{nx, ny, nz}, S, n_views, frames, {}, {}};

    for (int k = 0; k < n_views; k++) {
        double d[3], length = 0;
        for (double &x : d) {
            x = 2 * number() - 1;
            length += x * x;
        }
        gpu_plane p = {{0, 0, 0, (S - 1) / 2. + (k % 7 == 3 ? 3 * S : 0)}};
        for (int i = 0; i < 3; i++) {
            p.u[i] = k == 0 ? (i == 0) * step : d[i] / sqrt(length) * step;
            p.u[3] -= p.u[i] * (s.n[i] - 1) / 2;
        }
        s.planes.push_back(p);
    }
    for (int i = 0; i < n_views * frames * S; i++)
        s.rows.push_back((float)(2 * number() - 1));
    return s;
}

/* As the store of the module. */
template <class T>
static std::vector<T> lay_out(const scene &s, int columns, int groups, int a_group)
{
    std::vector<T> out((size_t)s.n_views * groups * columns * a_group, T(0));

    for (int k = 0; k < s.n_views; k++)
        for (int f = 0; f < s.frames; f++)
            for (int c = 0; c < s.S; c++)
                out[(((size_t)k * groups + f / a_group) * columns + c) * a_group + f % a_group] =
                    s.rows[((size_t)k * s.frames + f) * s.S + c];
    return out;
}

template <class Kernel> struct call {
    Kernel kernel;
    unsigned threads;
    dim3 blocks;
};

template <class Kernel> struct thread_of {
    const call<Kernel> *c;
    unsigned index;
};

template <class Kernel> static void *run_thread(void *user)
{
    const thread_of<Kernel> *t = (const thread_of<Kernel> *)user;
    const dim3 n = t->c->blocks;

    threadIdx.x = t->index;
    for (blockIdx.z = 0; blockIdx.z < n.z; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < n.y; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < n.x; blockIdx.x++) {
                t->c->kernel();
                __syncthreads();
            }
    return NULL;
}

template <class Kernel> static void launch(unsigned threads, dim3 blocks, Kernel kernel)
{
    const call<Kernel> c = {kernel, threads, blocks};
    std::vector<thread_of<Kernel>> each(threads);
    std::vector<pthread_t> ids(threads);

    pthread_barrier_init(&all_threads, NULL, threads);
    pthread_barrier_init(&first_warp, NULL, 32);
    for (unsigned i = 0; i < threads; i++) {
        each[i] = {&c, i};
        if (pthread_create(&ids[i], NULL, run_thread<Kernel>, &each[i]) != 0)
            wrong("no thread");
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    pthread_barrier_destroy(&all_threads);
    pthread_barrier_destroy(&first_warp);
}

/* Views [k0, k1) into a box; voxels [frame][z][y][x] of it. */
template <class T, enum fbp_interpolation HOW, int FRAMES, class Shape>
static void add(const scene &s, int k0, int k1, int chunk, const int box[3][2], T *volume)
{
    const int columns = (s.S + 3) / 4 * 4, groups = (s.frames + FRAMES - 1) / FRAMES;
    const std::vector<T> views = lay_out<T>(s, columns, groups, FRAMES);
    const int nx = box[0][1] - box[0][0], ny = box[1][1] - box[1][0], nz = box[2][1] - box[2][0];
    gpu_grid g = {};
    planes_in<T> in = {};
    double span = 0;

    for (const gpu_plane &p : s.planes)
        span = fmax(span, fabs(p.u[0]) * (Shape::X - 1) + fabs(p.u[1]) * (Shape::Y - 1) +
                              fabs(p.u[2]) * (Shape::SLICES - 1));
    g.nx = nx, g.ny = ny, g.nz = nz;
    g.x0 = box[0][0], g.y0 = box[1][0], g.z0 = box[2][0];
    in.planes = s.planes.data() + k0;
    in.views = views.data() + (size_t)k0 * groups * columns * FRAMES;
    in.volume = volume;
    in.frame = (size_t)nx * ny * nz;
    in.n = k1 - k0;
    in.columns = columns;
    in.groups = groups;
    in.frames = s.frames;
    in.window = ((int)ceil(span + .5) + 1 + planes_taps<T, HOW>::N + 3 + 3) / 4 * 4;
    in.chunk = chunk;
    windows_bytes = (size_t)PLANES_STAGES * chunk * in.window * FRAMES * sizeof(T);
    if (windows_bytes > sizeof windows)
        wrong("too large");
    launch(Shape::THREADS, planes_blocks<Shape>(g, groups),
           [=] { planes_backproject<T, HOW, FRAMES, Shape>(in, g); });
}

static double sample(const scene &s, int k, int f, double u, enum fbp_interpolation how)
{
    const auto at = [&](double i) {
        return i >= 0 && i < s.S ? (double)s.rows[((size_t)k * s.frames + f) * s.S + (size_t)i]
                                 : 0.;
    };
    const double i = floor(u), a = u - i;
    double w[4], sum = 0;

    if (how == FBP_INTERPOLATION_NEAREST)
        return at(floor(u + FBP_NEAREST));
    if (how == FBP_INTERPOLATION_LINEAR)
        return (1 - a) * at(i) + a * at(i + 1);
    fbp_spline_weights(a, w);
    for (int j = 0; j < 4; j++)
        sum += w[j] * at(i + j - 1);
    return sum;
}

static std::vector<double> truth(const scene &s, enum fbp_interpolation how)
{
    std::vector<double> out;

    for (int f = 0; f < s.frames; f++)
        for (int z = 0; z < s.n[2]; z++)
            for (int y = 0; y < s.n[1]; y++)
                for (int x = 0; x < s.n[0]; x++) {
                    double sum = 0;
                    for (int k = 0; k < s.n_views; k++) {
                        const double *u = s.planes[k].u;
                        sum += sample(s, k, f, u[0] * x + u[1] * y + u[2] * z + u[3], how);
                    }
                    out.push_back(sum);
                }
    return out;
}

typedef planes_shape<16, 16, 8, 1> wide;
typedef planes_shape<8, 8, 8, 1> small_;
typedef planes_shape<16, 8, 4, 1> thin;

template <class T, enum fbp_interpolation HOW, int FRAMES>
static void check(const scene &s, double most, const char *name)
{
    const size_t n = (size_t)s.n[0] * s.n[1] * s.n[2];
    const int all[3][2] = {{0, s.n[0]}, {0, s.n[1]}, {0, s.n[2]}};
    std::vector<T> whole(n * s.frames, 0), other(n * s.frames, 0);
    const std::vector<double> wanted = truth(s, HOW);
    double off = 0, peak = 0;

    add<T, HOW, FRAMES, wide>(s, 0, s.n_views, 32, all, whole.data());
    for (size_t i = 0; i < whole.size(); i++) {
        off = fmax(off, fabs((double)whole[i] - wanted[i]));
        peak = fmax(peak, fabs(wanted[i]));
    }
    printf("%s: off by %.2g of the peak\n", name, off / peak);
    if (!(off < most * peak))
        wrong("too far off");
    add<T, HOW, FRAMES, small_>(s, 0, 13, 5, all, other.data());
    add<T, HOW, FRAMES, small_>(s, 13, s.n_views, 7, all, other.data());
    if (memcmp(whole.data(), other.data(), whole.size() * sizeof(T)) != 0)
        wrong("another shape in two batches has other bits");
    std::vector<T> alone(n * s.frames, 0);
    add<T, HOW, 1, wide>(s, 0, s.n_views, 32, all, alone.data());
    if (memcmp(whole.data(), alone.data(), whole.size() * sizeof(T)) != 0)
        wrong("frames one by one have other bits");
    const int box[3][2] = {{3, s.n[0] - 2}, {5, s.n[1]}, {7, s.n[2] - 1}};
    const int m[3] = {box[0][1] - box[0][0], box[1][1] - box[1][0], box[2][1] - box[2][0]};
    std::vector<T> part((size_t)m[0] * m[1] * m[2] * s.frames, 0);
    add<T, HOW, FRAMES, thin>(s, 0, s.n_views, 32, box, part.data());
    for (int f = 0; f < s.frames; f++)
        for (int z = 0; z < m[2]; z++)
            for (int y = 0; y < m[1]; y++)
                if (memcmp(&part[((size_t)(f * m[2] + z) * m[1] + y) * m[0]],
                           &whole[((size_t)(f * s.n[2] + z + box[2][0]) * s.n[1] + y + box[1][0]) *
                                      s.n[0] +
                                  box[0][0]],
                           m[0] * sizeof(T)) != 0)
                    wrong("a box has other bits");
}

int main(void)
{
    const scene one = make_scene(21, 19, 17, 40, 45, 1, 1.),
                fine = make_scene(18, 9, 23, 75, 40, 1, 2.9);
    const scene three = make_scene(17, 11, 9, 30, 37, 3, 1.);
    const scene eight = make_scene(17, 11, 9, 60, 37, 8, 2.);
    const scene nine = make_scene(17, 11, 9, 30, 37, 9, 1.);

    check<float, FBP_INTERPOLATION_LINEAR, 1>(one, 1e-6, "linear");
    check<float, FBP_INTERPOLATION_LINEAR, 1>(fine, 5e-6, "linear, samples close");
    check<float, FBP_INTERPOLATION_LINEAR, 2>(three, 1e-6, "linear, 3 frames by 2");
    check<float, FBP_INTERPOLATION_LINEAR, 4>(three, 1e-6, "linear, 3 frames by 4");
    check<float, FBP_INTERPOLATION_LINEAR, 8>(eight, 2e-6, "linear, 8 frames");
    check<float, FBP_INTERPOLATION_LINEAR, 10>(nine, 1e-6, "linear, 9 frames by 10");
    check<float, FBP_INTERPOLATION_NEAREST, 1>(one, 1e-6, "nearest");
    check<float, FBP_INTERPOLATION_CUBIC, 1>(one, 1e-6, "cubic");
    check<float, FBP_INTERPOLATION_CUBIC, 2>(three, 1e-6, "cubic, 3 frames by 2");
    check<double, FBP_INTERPOLATION_LINEAR, 1>(one, 1e-14, "double");
    check<double, FBP_INTERPOLATION_CUBIC, 4>(three, 1e-14, "double, cubic, 3 frames");
    return 0;
}
