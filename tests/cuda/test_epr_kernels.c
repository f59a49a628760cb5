/* The PTX that MATLAB's CUDAKernel loads, by the driver's own functions: both kernels give the sums
 * and what ref gives.  Skipped without a card. */
#include "unit/epr_kernels.h"

#include <cuda.h>
#include <dlfcn.h>

/* Of the driver, which is not linked: where there is none, the test still starts. */
static struct {
    CUresult (*init)(unsigned);
    CUresult (*device)(CUdevice *, int);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*current)(CUcontext);
    CUresult (*load)(CUmodule *, const void *);
    CUresult (*function)(CUfunction *, CUmodule, const char *);
    CUresult (*alloc)(CUdeviceptr *, size_t);
    CUresult (*release)(CUdeviceptr);
    CUresult (*clear)(CUdeviceptr, unsigned char, size_t);
    CUresult (*to)(CUdeviceptr, const void *, size_t);
    CUresult (*from)(void *, CUdeviceptr, size_t);
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, CUstream, void **, void **);
    CUresult (*wait)(void);
    CUresult (*words)(CUresult, const char **);
} cu;
static CUmodule module;

static bool find_driver(void)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    const struct {
        void *at;
        const char *name;
    } names[] = {{&cu.init, "cuInit"},
                 {&cu.device, "cuDeviceGet"},
                 {&cu.retain, "cuDevicePrimaryCtxRetain"},
                 {&cu.current, "cuCtxSetCurrent"},
                 {&cu.load, "cuModuleLoadData"},
                 {&cu.function, "cuModuleGetFunction"},
                 {&cu.alloc, "cuMemAlloc_v2"},
                 {&cu.release, "cuMemFree_v2"},
                 {&cu.clear, "cuMemsetD8_v2"},
                 {&cu.to, "cuMemcpyHtoD_v2"},
                 {&cu.from, "cuMemcpyDtoH_v2"},
                 {&cu.launch, "cuLaunchKernel"},
                 {&cu.wait, "cuCtxSynchronize"},
                 {&cu.words, "cuGetErrorString"}};

    for (size_t i = 0; lib && i < sizeof names / sizeof *names; i++) {
        void *f = dlsym(lib, names[i].name);
        memcpy(names[i].at, &f, sizeof f); /* a function's address, as POSIX has it */
        if (!f)
            return false;
    }
    return lib != NULL;
}

static void ok(CUresult result, const char *what)
{
    const char *words = "?";

    if (result == CUDA_SUCCESS)
        return;
    (void)cu.words(result, &words);
    fail_msg("%s: %s", what, words);
}

static int load_ptx(void **state)
{
    const char *carried = getenv("FBP_TEST_PTX"), *path = carried ? carried : FBP_EPR_PTX;
    FILE *f = fopen(path, "rb");
    AUTO_FREE char *text = calloc(1, 1 << 20);
    CUcontext context;
    CUdevice device;

    assert_true(f && text && fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    ok(cu.device(&device, 0), "a device");
    ok(cu.retain(&context, device), "during the computation");
    ok(cu.current(context), "during the computation");
    ok(cu.load(&module, text), path);
    return 0;
}

static CUdeviceptr send(const double *from, size_t n)
{
    CUdeviceptr there;

    ok(cu.alloc(&there, n * sizeof *from), "memory");
    ok(cu.to(there, from, n * sizeof *from), "an upload");
    return there;
}

/* As MATLAB's feval() does it: the arguments in their order. */
static void launch_on(const char *name, const struct epr_case *c, unsigned grid, unsigned block,
                      CUdeviceptr object)
{
    const size_t q = (size_t)c->Q;
    CUdeviceptr p = send(c->projection, q * (size_t)c->S);
    CUdeviceptr x = send(c->GX, q), y = send(c->GY, q), z = send(c->GZ, q);
    struct epr_case own = *c;
    void *arguments[] = {&object,       &p,     &x,          &y,     &z,
                         &own.d_object, &own.N, &own.d_proj, &own.Q, &own.S};
    CUfunction f;

    ok(cu.function(&f, module, name), name);
    ok(cu.launch(f, grid, grid, 1, block, 1, 1, 0, NULL, arguments, NULL), name);
    ok(cu.wait(), name);
    ok(cu.release(p), "memory");
    ok(cu.release(x), "memory");
    ok(cu.release(y), "memory");
    ok(cu.release(z), "memory");
}

static void launch(const char *name, const struct epr_case *c, unsigned grid, unsigned block,
                   double *object)
{
    const size_t n = epr_voxels(c);
    CUdeviceptr there = send(object, n);

    launch_on(name, c, grid, block, there);
    ok(cu.from(object, there, n * sizeof *object), "a download");
    ok(cu.release(there), "memory");
}

static double *new_object(const struct epr_case *c)
{
    double *object = not_null(calloc(epr_voxels(c), sizeof *object));

    return object;
}

static void check(const char *name, int N, int S, unsigned grid, unsigned block)
{
    for (int ends = 0; ends < 2; ends++) {
        struct epr_case c = epr_make(N, 208, S, ends);
        double *object = new_object(&c);
        launch(name, &c, grid, block, object);
        epr_check_sums(&c, object, 0);
        if (ends)
            epr_check_ref(&c, object);
        launch(name, &c, grid, block, object);
        for (size_t i = 0; i < epr_voxels(&c); i++)
            object[i] /= 2;
        epr_check_sums(&c, object, 0); /* a second launch has added the same */
        free(object);
        epr_free(&c);
    }
}

TEST(the_papers_kernel)
{
    check("fbp_epr_paper", 32, 56, 32, 32);
    check("fbp_epr_paper", 50, 80, 50, 50);
    check("fbp_epr_paper", 33, 56, 33, 33);
    check("fbp_epr_no_branch", 32, 56, 32, 32);
    check("fbp_epr_no_branch", 33, 56, 33, 33);
}

TEST(the_kernel_without_its_faults)
{
    check("fbp_epr_registers", 32, 56, 32, 32);
    check("fbp_epr_registers", 33, 57, 33, 33);
    check("fbp_epr_registers", 33, 57, 7, 256); /* any launch */
}

/* One thread a voxel of a row would want blocks of 1030.  The object stays on the card; some voxels
 * are looked at. */
TEST(more_than_1024_voxels_a_side)
{
    const size_t n = 1030, voxels = n * n * n;
    struct epr_case c = epr_make((int)n, 2, 2000, false);
    CUdeviceptr object;

    if (cu.alloc(&object, voxels * sizeof(double)) != CUDA_SUCCESS) {
        print_message("left out: the card has no %.1f GB\n", 8e-9 * (double)voxels);
        epr_free(&c);
        return;
    }
    ok(cu.clear(object, 0, voxels * sizeof(double)), "zeros");
    launch_on("fbp_epr_registers", &c, 1030, 256, object);
    for (size_t m = 0; m < n; m++) {
        const size_t y = n - 1 - m, z = m / 2;
        double value;
        ok(cu.from(&value, object + ((z * n + y) * n + m) * sizeof value, sizeof value), "a voxel");
        assert_true(fabs(value - epr_sum(&c, (int)m, (int)y, (int)z)) < 1e-11);
    }
    ok(cu.release(object), "memory");
    epr_free(&c);
}

int main(int argc, char **argv)
{
    if (!find_driver() || cu.init(0) != CUDA_SUCCESS) {
        puts("skipped: there is no card, or no driver for it");
        return 77;
    }
    return run_file_tests(argc, argv, load_ptx, NULL);
}
