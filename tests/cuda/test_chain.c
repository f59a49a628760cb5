/*
 * The kernels that filter pairs of rows on a GPU, alone: every length against the sum in double,
 * what a row's partner does to it, and that a row is the same in any launch.
 */
#include "recon/fixture.h"

#include "backend/cuda/filter_kernels.h"
#include "filter/filter.h"

enum { VIEWS = 6, ROWS = 3, PAIRS = VIEWS / 2 * ROWS };

#define CUDA(call)                                                \
    do {                                                          \
        const cudaError_t cuda_ = (call);                         \
        if (cuda_ != cudaSuccess)                                 \
            fail_msg("%s: %s", #call, cudaGetErrorString(cuda_)); \
    } while (0)

/* Rows of n columns in ROWS rows of VIEWS views, and what their filter needs. */
struct bank {
    size_t n, length;
    struct fbp_filter_design design;
    float *rows, *image, *lines; /* of the host */
    void *device[7];
    size_t n_device;
    struct cuda_chain chain;
};

static void *on_device(struct bank *b, const void *data, size_t bytes)
{
    void **to = &b->device[b->n_device++];

    assert_true(b->n_device <= sizeof b->device / sizeof *b->device);
    CUDA(cudaMalloc(to, bytes));
    CUDA(data ? cudaMemcpy(*to, data, bytes, cudaMemcpyHostToDevice) : cudaMemset(*to, 0, bytes));
    return *to;
}

static float *random_values(size_t n, double least, double most)
{
    float *x = not_null(malloc(n * sizeof *x));

    for (size_t i = 0; i < n; i++)
        x[i] = (float)(least + (most - least) * rand() / RAND_MAX);
    return x;
}

/* The response at every frequency, the 1/length of the way back included. */
static void put_tables(struct bank *b)
{
    const size_t n = b->length, turns = gpu_chain_twiddles(n);
    AUTO_FREE float *response = malloc(n * sizeof *response);
    AUTO_FREE float2 *factors = malloc(turns * sizeof *factors);

    assert_true(response && factors);
    for (size_t i = 0; i < n; i++) {
        const size_t f = gpu_chain_frequency(n, i);
        double sum = b->design.kernel[0];
        for (size_t k = 1; k <= b->design.half_width; k++)
            sum += 2 * b->design.kernel[k] * cos(2 * PI * (double)(f * k % n) / (double)n);
        response[i] = (float)(sum / (double)n);
    }
    for (size_t i = 0; i < turns; i++) {
        const double angle = -2 * PI * gpu_chain_twiddle(n, i);
        factors[i] = (float2){(float)cos(angle), (float)sin(angle)};
    }
    b->chain.response = on_device(b, response, n * sizeof *response);
    b->chain.turns = on_device(b, factors, turns * sizeof *factors);
}

/* Views 2i + 1 are `size` times as large as views 2i. */
static void open_bank(struct bank *b, size_t n, size_t length, float size)
{
    *b = (struct bank){.n = n, .length = length};
    OK(fbp_filter_design(&b->design, FBP_FILTER_RAM_LAK, 1, n, 0));
    b->rows = random_values(VIEWS * ROWS * n, -1, 1);
    for (size_t i = 0; i < VIEWS * ROWS * n; i++)
        if (i / n / ROWS % 2)
            b->rows[i] *= size;
    b->image = random_values(ROWS * n, 0.5, 1);
    b->lines = random_values(VIEWS * n, 0.5, 1);
    b->chain = (struct cuda_chain){
        .pairs = {.raw = {.samples = on_device(b, b->rows, VIEWS * ROWS * n * sizeof(float)),
                          .n_views = VIEWS,
                          .load_rows = ROWS,
                          .n_columns = (unsigned)n},
                  .weights = {.image = on_device(b, b->image, ROWS * n * sizeof(float)),
                              .lines = on_device(b, b->lines, VIEWS * n * sizeof(float))},
                  .n = PAIRS,
                  .turns = 1,
                  .part_views = VIEWS,
                  .n_groups = VIEWS,
                  .n_rows = ROWS},
        .out = on_device(b, NULL, PAIRS * n * sizeof(float2)),
        .stride = (unsigned)n,
        .n_columns = (unsigned)n};
    b->chain.prep.not_finite = on_device(b, NULL, 2 * sizeof(uint64_t));
    b->chain.prep.clipped = b->chain.prep.not_finite + 1;
    put_tables(b);
    CUDA(cuda_chain_open(length));
}

static void close_bank(struct bank *b)
{
    for (size_t i = 0; i < b->n_device; i++)
        CUDA(cudaFree(b->device[i]));
    fbp_filter_design_clear(&b->design);
    free(b->rows);
    free(b->image);
    free(b->lines);
}

static float2 *filter(const struct bank *b, size_t first, size_t n)
{
    float2 *out = not_null(malloc(n * b->n * sizeof *out));
    struct cuda_chain chain = b->chain;

    chain.pairs.first = (unsigned)first;
    chain.pairs.n = (unsigned)n;
    CUDA(cuda_filter_rows(&chain, b->length, NULL));
    CUDA(cudaMemcpy(out, chain.out, n * b->n * sizeof *out, cudaMemcpyDeviceToHost));
    return out;
}

/* Greatest error of a pair's row against the sum in double, as a part of its greatest sample. */
static double error_of(const struct bank *b, size_t pair, size_t second, const float2 *out)
{
    const size_t n = b->n, row = pair % ROWS, view = pair / ROWS * 2 + second;
    const float *x = b->rows + (view * ROWS + row) * n;
    const float *image = b->image + row * n, *line = b->lines + view * n;
    double *in = not_null(malloc(n * sizeof *in)), worst = 0, peak = 0;

    for (size_t c = 0; c < n; c++) {
        in[c] = (double)(x[c] * (image[c] * line[c]));
        peak = fmax(peak, fabs(in[c]));
    }
    for (size_t c = 0; c < n; c++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += b->design.kernel[i > c ? i - c : c - i] * in[i];
        const double d = fabs(sum - (double)(second ? out[c].y : out[c].x));
        worst = d > worst || isnan(d) ? d : worst;
    }
    free(in);
    return worst / peak;
}

static size_t most_shared(void)
{
    int bytes = 0;

    CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    return (size_t)bytes;
}

TEST(errors_are_of_the_last_place)
{
    static const size_t columns[] = {1,    2,    7,    255,  256,  257,  512,  700, 768,
                                     1000, 1248, 1280, 1500, 2047, 2560, 3000, 4096};

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const size_t length =
            gpu_chain_length(columns[i], most_shared() - cuda_chain_static_bytes());
        struct bank b;
        double worst = 0;
        if (length == 0) /* this device has not the memory for it */
            continue;
        open_bank(&b, columns[i], length, 1);
        float2 *out = filter(&b, 0, PAIRS);
        for (size_t pair = 0; pair < PAIRS; pair += 4)
            for (size_t second = 0; second < 2; second++)
                worst = fmax(worst, error_of(&b, pair, second, out + pair * columns[i]));
        print_message("%4zu columns, %4zu points: error %.1e of a row's greatest sample\n",
                      columns[i], length, worst);
        if (!(worst <= 1.4e-7))
            fail_msg("%zu columns: error %.2e", columns[i], worst);
        free(out);
        close_bank(&b);
    }
}

/* What a row's partner is, from 10^30 times smaller to 10^30 times larger, does not show in it. */
TEST(partners_do_not_leak)
{
    static const float sizes[] = {0, 1e-30f, 1e-10f, 1e-3f, 1e5f, 1e30f};
    static const size_t columns[] = {40, 300, 1000};

    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 6; k++) {
            struct bank b;
            open_bank(&b, columns[i],
                      gpu_chain_length(columns[i], most_shared() - cuda_chain_static_bytes()),
                      sizes[k]);
            float2 *out = filter(&b, 0, PAIRS);
            for (size_t second = 0; second < (sizes[k] > 0 ? 2 : 1); second++) {
                const double error = error_of(&b, 1, second, out + columns[i]);
                if (!(error <= 2e-7))
                    fail_msg("%zu columns, partner of size %g: error %.1e", columns[i],
                             (double)sizes[k], error);
            }
            for (size_t c = 0; sizes[k] == 0 && c < PAIRS * columns[i]; c++)
                assert_true(out[c].y == 0);
            free(out);
            close_bank(&b);
        }
}

TEST(rows_are_the_same_in_any_launch)
{
    struct bank b;

    open_bank(&b, 600, gpu_chain_length(600, most_shared() - cuda_chain_static_bytes()), 3);
    float2 *all = filter(&b, 0, PAIRS);
    for (size_t first = 0; first < PAIRS; first += 2) {
        AUTO_FREE float2 *some = filter(&b, first, first + 2 < PAIRS ? 2 : 1);
        assert_memory_equal(some, all + first * b.n, b.n * sizeof *some);
    }
    free(all);
    close_bank(&b);
}

int main(int argc, char **argv)
{
    if (!usable("cuda"))
        return 77;
    return run_file_tests(argc, argv, NULL, NULL);
}
