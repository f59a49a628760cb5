/* Views and volumes in the memory of a card: the same bits as from the host's memory, after what
 * the caller's stream does, from two threads, and a thousand times without growth.  Skipped without
 * a card. */
#include "recon/fixture.h"

#include <cuda_runtime_api.h>
#include <pthread.h>

enum { N = 64, VIEWS = 48, CALLS = 1000, TURNS = 20 };

#define CUDA_OK(expr) assert_int_equal(expr, cudaSuccess)

/* A plan, and views and volume in the host's memory and on the card. */
struct job {
    struct fbp_scan scan;
    struct fbp_array_info info;
    fbp_source *like;
    fbp_plan *plan;
    float *views, *right, *got;
    size_t n_samples, n_voxels;
    void *card_views, *card_volume;
    cudaStream_t stream;
};

static void copy_to_host(float *to, const struct job *j)
{
    CUDA_OK(cudaMemcpy(to, j->card_volume, j->n_voxels * sizeof *to, cudaMemcpyDeviceToHost));
}

static void open_job(struct job *j, enum fbp_precision precision, float factor)
{
    fbp_sink *sink;
    fbp_source *source;

    *j = (struct job){.scan = circle_scan(VIEWS, N, 7)};
    j->scan.volume = (struct fbp_grid){{N, N - 3, N + 5}, {3.1, 2.9, 3.3}, {3, -2, 5}};
    simulate_head(&j->scan, 90);
    j->views = read_array(j->scan.projections);
    j->n_samples = (size_t)N * N * VIEWS;
    for (size_t i = 0; i < j->n_samples; i++)
        j->views[i] *= factor;
    j->n_voxels = grid_size(&j->scan.volume);
    j->info = (struct fbp_array_info){.struct_size = sizeof j->info,
                                      .n = {N, N, VIEWS},
                                      .type = FBP_F32,
                                      .row_order = FBP_ROWS_BOTTOM_UP};
    OK(fbp_source_memory(&j->like, NULL, &j->info));
    OK(fbp_plan_create(
        &j->plan, &j->scan,
        fbp_recon_params(.device = "cuda:0", .precision = precision, .input.source = j->like)));
    j->right = malloc(j->n_voxels * sizeof *j->right);
    j->got = malloc(j->n_voxels * sizeof *j->got);
    assert_true(j->right && j->got);
    OK(fbp_source_memory(&source, j->views, &j->info));
    OK(fbp_sink_memory(&sink, j->right, FBP_F32, j->scan.volume.n));
    OK(fbp_plan_run_to(j->plan, source, sink, NULL));
    fbp_sink_close(&sink);
    fbp_source_close(&source);
    CUDA_OK(cudaMalloc(&j->card_views, j->n_samples * sizeof *j->views));
    CUDA_OK(cudaMalloc(&j->card_volume, j->n_voxels * sizeof *j->got));
    CUDA_OK(cudaStreamCreateWithFlags(&j->stream, cudaStreamNonBlocking));
}

static void close_job(struct job *j)
{
    fbp_plan_destroy(&j->plan);
    fbp_source_close(&j->like);
    CUDA_OK(cudaStreamDestroy(j->stream));
    CUDA_OK(cudaFree(j->card_views));
    CUDA_OK(cudaFree(j->card_volume));
    drop_scan(&j->scan);
    free(j->views);
    free(j->right);
    free(j->got);
}

static void CUDART_CB wait_a_little(void *user)
{
    usleep(20000);
}

/* Views come late, in the caller's stream. */
static void run_once(struct job *j, bool late, struct fbp_report *report)
{
    CLEANUP(fbp_source_close) fbp_source *source = NULL;
    fbp_sink *sink;

    if (late) {
        CUDA_OK(cudaMemsetAsync(j->card_views, 0, j->n_samples * sizeof *j->views, j->stream));
        CUDA_OK(cudaMemsetAsync(j->card_volume, 0xff, j->n_voxels * sizeof *j->got, j->stream));
        CUDA_OK(cudaLaunchHostFunc(j->stream, wait_a_little, NULL));
        CUDA_OK(cudaMemcpyAsync(j->card_views, j->views, j->n_samples * sizeof *j->views,
                                cudaMemcpyHostToDevice, j->stream));
    }
    OK(fbp_source_device_memory(&source, j->card_views, &j->info, "cuda", j->stream));
    OK(fbp_sink_device_memory(&sink, j->card_volume, FBP_F32, j->scan.volume.n, "cuda", j->stream));
    OK(fbp_plan_run_to(j->plan, source, sink, report));
    fbp_sink_close(&sink);
}

static void check(const struct job *j)
{
    copy_to_host(j->got, j);
    if (memcmp(j->got, j->right, j->n_voxels * sizeof *j->got) != 0)
        fail_msg("another volume: %.1f dB", psnr_db(j->got, j->right, j->n_voxels));
}

TEST(bits_are_the_same)
{
    static const enum fbp_precision precisions[] = {FBP_PRECISION_EXACT, FBP_PRECISION_FAST,
                                                    FBP_PRECISION_HALF};

    for (int i = 0; i < 3; i++) {
        struct fbp_report r = {.struct_size = sizeof r};
        struct job j;
        open_job(&j, precisions[i], 1);
        run_once(&j, true, &r);
        check(&j);
        assert_int_equal(r.dead_views, 0);
        assert_true(r.max > 0);
        close_job(&j);
    }
}

TEST(calls_do_not_grow)
{
    struct job j;
    size_t before = 0, after = 0, total;

    open_job(&j, FBP_PRECISION_DEFAULT, 1);
    run_once(&j, true, NULL);
    CUDA_OK(cudaMemGetInfo(&before, &total));
    for (int i = 0; i < CALLS; i++)
        run_once(&j, false, NULL);
    CUDA_OK(cudaMemGetInfo(&after, &total));
    check(&j);
    if (after < before)
        fail_msg("%d calls took %zu bytes of the card", CALLS, before - after);
    close_job(&j);
}

static void *turns(void *user)
{
    for (int i = 0; i < TURNS; i++) {
        run_once(user, i % 4 == 0, NULL);
        check(user);
    }
    return NULL;
}

TEST(two_threads_two_streams)
{
    struct job jobs[2];
    pthread_t thread;

    open_job(&jobs[0], FBP_PRECISION_DEFAULT, 1);
    open_job(&jobs[1], FBP_PRECISION_DEFAULT, 2);
    assert_int_equal(pthread_create(&thread, NULL, turns, &jobs[0]), 0);
    (void)turns(&jobs[1]);
    pthread_join(thread, NULL);
    close_job(&jobs[0]);
    close_job(&jobs[1]);
}

TEST(memory_is_known)
{
    const size_t bytes = 1 << 20;
    void *card, *managed, *pinned;
    float plain[4];

    CUDA_OK(cudaMalloc(&card, bytes));
    CUDA_OK(cudaMallocManaged(&managed, bytes, cudaMemAttachGlobal));
    CUDA_OK(cudaMallocHost(&pinned, bytes));
    assert_int_equal(fbp_device_of_memory("cuda", card, bytes), 0);
    assert_int_equal(fbp_device_of_memory("cuda", (char *)card + bytes / 2, bytes / 2), 0);
    assert_int_equal(fbp_device_of_memory("cuda", managed, bytes), 0);
    assert_int_equal(fbp_device_of_memory("cuda", pinned, bytes), -1);
    assert_int_equal(fbp_device_of_memory("cuda", plain, sizeof plain), -1);
    CUDA_OK(cudaFree(card));
    CUDA_OK(cudaFree(managed));
    CUDA_OK(cudaFreeHost(pinned));
}

/* A stream to hand to another library: what that does in it is awaited, and the thread keeps its
 * device. */
TEST(queues_are_waited_for)
{
    struct job j;
    void *queue = NULL;
    int device = -1, n = 0;

    open_job(&j, FBP_PRECISION_DEFAULT, 1);
    CUDA_OK(cudaGetDeviceCount(&n));
    CUDA_OK(cudaSetDevice(0));
    OK(fbp_device_queue_create(&queue, "cuda", n - 1));
    CUDA_OK(cudaGetDevice(&device));
    assert_int_equal(device, 0);
    CUDA_OK(cudaLaunchHostFunc(queue, wait_a_little, NULL));
    assert_int_equal(cudaStreamQuery(queue), cudaErrorNotReady);
    OK(fbp_device_queue_wait("cuda", queue));
    CUDA_OK(cudaStreamQuery(queue));
    fbp_device_queue_destroy("cuda", queue);
    assert_int_equal(fbp_device_queue_create(&queue, "cuda", n), FBP_ERR_DEVICE);
    assert_null(queue);
    close_job(&j);
}

/* Volumes go to the card from any device, and views come from it. */
TEST(other_devices_copy_through_the_host)
{
    struct job j;

    open_job(&j, FBP_PRECISION_DEFAULT, 1);
    fbp_plan_destroy(&j.plan);
    OK(fbp_plan_create(&j.plan, &j.scan,
                       fbp_recon_params(.device = "cpu", .input.source = j.like)));
    run_once(&j, true, NULL);
    copy_to_host(j.got, &j);
    assert_true(psnr_db(j.got, j.right, j.n_voxels) > 60);
    close_job(&j);
}

int main(int argc, char **argv)
{
    int n = 0;

    if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) {
        printf("there is no card\n");
        return 77;
    }
    return run_file_tests(argc, argv, NULL, NULL);
}
