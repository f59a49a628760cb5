/*
 * Single-stage backprojection of plane integrals, with the list of arguments that Qiao et al.
 * (2015) have for a kernel that MATLAB's CUDAKernel launches.  Compiled into s4.cu, as PTX for
 * MATLAB, and as C for tests/unit/test_epr_kernels.c.  Everything is double, as there.
 *
 * object      [N x N x N], column-major: voxel (m, n, k) is object[k N^2 + n N + m]; is added to
 * projection  [S x Q], column-major: filtered and weighted, sample s of projection q is
 *             projection[q S + s]
 * GX, GY, GZ  [Q]: unit vectors of the gradients
 * d_object    distance of voxels: that of index m, from 0, lies at (m + 1 - N/2) d_object
 * d_proj      distance of samples, in the same unit: t = 0 is at sample S/2
 *
 * This text is also C but for a few words, and keeps to what MATLAB reads of a kernel's prototype.
 */

/*
 * As the paper describes it: one thread per voxel, blocks of N threads, a grid of N x N blocks; a
 * branch; every projection is added to the object in global memory.  Therefore N is at most 1024.
 * N/2 is exact, because the paper's N is a double.  S/2 is that of whole numbers, and S has to be
 * even.
 */
extern "C" __global__ void fbp_epr_paper(double *object, const double *projection, const double *GX,
                                         const double *GY, const double *GZ, double d_object, int N,
                                         double d_proj, int Q, int S)
{
    const int m = (int)threadIdx.x, n = (int)blockIdx.x, k = (int)blockIdx.y;
    const int index = k * N * N + n * N + m;
    const double x = (m + 1 - 0.5 * N) * d_object, y = (n + 1 - 0.5 * N) * d_object,
                 z = (k + 1 - 0.5 * N) * d_object;

    for (int q = 0; q < Q; q++) {
        const double t = (x * GX[q] + y * GY[q] + z * GZ[q]) / d_proj + S / 2;
        const int t1 = (int)floor(t), t2 = (int)ceil(t);
        if (t1 >= 0 && t2 <= S - 1) {
            const double value1 = projection[q * S + t1], value2 = projection[q * S + t2];
            object[index] += value1 + (t - t1) * (value2 - value1);
        }
    }
}

/* The paper's kernel without its branch: a projection without a sample at the voxel adds 0. */
extern "C" __global__ void fbp_epr_no_branch(double *object, const double *projection,
                                             const double *GX, const double *GY, const double *GZ,
                                             double d_object, int N, double d_proj, int Q, int S)
{
    const int m = (int)threadIdx.x, n = (int)blockIdx.x, k = (int)blockIdx.y;
    const int index = k * N * N + n * N + m;
    const double x = (m + 1 - 0.5 * N) * d_object, y = (n + 1 - 0.5 * N) * d_object,
                 z = (k + 1 - 0.5 * N) * d_object;

    for (int q = 0; q < Q; q++) {
        const double t = (x * GX[q] + y * GY[q] + z * GZ[q]) / d_proj + S / 2;
        const double at = fmin(fmax(t, 0.0), S - 1.0);
        const int t1 = (int)floor(at), t2 = (int)ceil(at);
        const double value1 = projection[q * S + t1], value2 = projection[q * S + t2];
        object[index] += at >= t && at <= t ? value1 + (t - t1) * (value2 - value1) : 0.0;
    }
}

/* Sum of all projections at the position (x, y, z). Outside the samples of a projection, the
 * nearest sample is read and a selection replaces it by 0, without a branch. */
static __device__ double fbp_epr_sum(const double *projection, const double *GX, const double *GY,
                                     const double *GZ, double x, double y, double z, double d_proj,
                                     int Q, int S)
{
    const double centre = 0.5 * S, last = S - 1;
    double sum = 0;

    for (int q = 0; q < Q; q++, projection += S) {
        const double t = (x * GX[q] + y * GY[q] + z * GZ[q]) / d_proj + centre;
        const double at = fmin(fmax(floor(t), 0.0), last);
        const int t1 = (int)at, t2 = t1 + (at < last);
        const double value = projection[t1] + (t - at) * (projection[t2] - projection[t1]);
        sum += t >= 0 && t <= last ? value : 0.0;
    }
    return sum;
}

/*
 * The same sums, for any N, S and launch: threads take voxel after voxel, a sum stays in a register
 * until all projections are in it, and halves are exact.
 */
extern "C" __global__ void fbp_epr_registers(double *object, const double *projection,
                                             const double *GX, const double *GY, const double *GZ,
                                             double d_object, int N, double d_proj, int Q, int S)
{
    const long long side = N, voxels = side * side * side;
    const long long threads = (long long)gridDim.x * gridDim.y * blockDim.x;
    const double middle = 0.5 * N - 1;
    long long i = ((long long)blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;

    for (; i < voxels; i += threads)
        object[i] += fbp_epr_sum(projection, GX, GY, GZ, ((double)(i % side) - middle) * d_object,
                                 ((double)(i / side % side) - middle) * d_object,
                                 ((double)(i / side / side) - middle) * d_object, d_proj, Q, S);
}
