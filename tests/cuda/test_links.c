/* Links of the cards that are here, and on which node of the host their pinned memory lies. Skipped
 * without a card. */
#include "backend/cuda/cuda.h"
#include "test.h"

#include <sys/syscall.h>

enum { PAGE = 4096, SOME = 64, MOST = 4 };

static const struct fbp_module_host host = {.fail = fbp_fail,
                                            .environment = fbp_environment,
                                            .pool_create = fbp_pool_create,
                                            .pool_destroy = fbp_pool_destroy,
                                            .pool_for = fbp_pool_for,
                                            .numa_node = fbp_numa_node,
                                            .numa_near = fbp_numa_near,
                                            .numa_place = fbp_numa_place,
                                            .numa_begin = fbp_numa_begin,
                                            .numa_end = fbp_numa_end,
                                            .keeps_buffers = fbp_keeps_buffers};

static int n_cards;
static const int cards[MOST] = {0, 1, 2, 3};

static double rate_of(void *meter, int from, int to)
{
    const struct fbp_flow flow = {from, to};
    double rate = 0;

    OK(cuda_link_rate(meter, &flow, 1, &rate));
    print_message("%2d to %2d: %.1f GB/s\n", from, to, 1e-9 * rate);
    return rate;
}

/* Bytes of a copy as sharing makes it. */
static bool arrives(int to, int from)
{
    unsigned char *there = NULL, *here = NULL, out[SOME];
    bool ok = true;

    assert_int_equal(cudaSetDevice(from), cudaSuccess);
    assert_int_equal(cudaMalloc((void **)&there, SOME), cudaSuccess);
    assert_int_equal(cudaMemset(there, 0x3c, SOME), cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    assert_int_equal(cudaSetDevice(to), cudaSuccess);
    assert_int_equal(cudaMalloc((void **)&here, SOME), cudaSuccess);
    assert_int_equal(cudaMemcpyPeer(here, to, there, from, SOME), cudaSuccess);
    assert_int_equal(cudaMemcpy(out, here, SOME, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int i = 0; i < SOME; i++)
        ok = ok && out[i] == 0x3c;
    assert_int_equal(cudaFree(here), cudaSuccess);
    assert_int_equal(cudaFree(there), cudaSuccess);
    return ok;
}

/* Before anything else reaches from card to card: what is found is kept for the process. */
TEST(wrong_copies_are_not_used)
{
    if (n_cards < 2) {
        print_message("skipped: one card\n");
        skip();
    }
    cuda_peer_fault = 1; /* direct ones; through the host they are right */
    OK(cuda_peer_reach(0, 1));
    assert_int_equal(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess); /* nobody has it */
    assert_int_equal(cudaDeviceDisablePeerAccess(1), cudaSuccess);
    assert_true(arrives(0, 1));
    cuda_peer_fault = 2; /* neither */
    assert_fails(cuda_peer_reach(1, 0), FBP_ERR_DEVICE, "to device 1 arrives damaged");
    assert_int_equal(cuda_peer_fault, 0);
    OK(cuda_peer_reach(0, 1)); /* as before */
    fbp_message_clear();
}

TEST(all_links_have_rates)
{
    void *meter = NULL;
    double both = 0;

    OK(cuda_link_open(&meter, cards, (size_t)n_cards));
    for (int i = 0; i < n_cards; i++) {
        const struct fbp_flow two[2] = {{FBP_HOST, i}, {i, FBP_HOST}};
        const double up = rate_of(meter, FBP_HOST, i), down = rate_of(meter, i, FBP_HOST);
        OK(cuda_link_rate(meter, two, 2, &both));
        assert_true(up > 1e8 && down > 1e8 && both > 1e8);
        assert_true(rate_of(meter, i, i) > up);
        for (int j = 0; j < n_cards; j++)
            if (i != j && cuda_link_connect(meter, (size_t)i, (size_t)j))
                assert_true(rate_of(meter, i, j) > 1e8);
    }
    cuda_link_close(&meter);
    assert_null(meter);
}

static size_t free_bytes(void)
{
    size_t available = 0, total = 0;

    assert_int_equal(cudaSetDevice(0), cudaSuccess);
    assert_int_equal(cudaMemGetInfo(&available, &total), cudaSuccess);
    return available;
}

TEST(nothing_is_left)
{
    void *meter = NULL;
    size_t before = 0;

    for (int i = 0; i < 3; i++) {
        if (i == 1)
            before = free_bytes();
        OK(cuda_link_open(&meter, cards, 1));
        cuda_link_close(&meter);
    }
    assert_true(free_bytes() + (1 << 20) >= before);
}

TEST(cards_are_told_apart)
{
    char names[MOST][200], again[200];

    for (int i = 0; i < n_cards; i++) {
        assert_true(cuda_link_identify(i, names[i], sizeof names[i]));
        assert_true(cuda_link_identify(i, again, sizeof again));
        print_message("%s\n", names[i]);
        assert_string_equal(names[i], again);
        assert_null(strpbrk(names[i], "\t\n"));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(names[i], names[j]);
    }
    assert_false(cuda_link_identify(1000, again, sizeof again));
    assert_int_equal(cudaGetLastError(), cudaSuccess);
}

/* Of SOME pages of a block, how many are on that node; -1: the system does not say. */
static int pages_on(char *memory, size_t bytes, int node)
{
    void *pages[SOME];
    int nodes[SOME], n = 0;

    for (size_t i = 0; i < SOME; i++)
        pages[i] = memory + bytes / SOME / PAGE * PAGE * i;
    if (syscall(SYS_move_pages, 0, (unsigned long)SOME, pages, NULL, nodes, 0) != 0)
        return -1;
    for (int i = 0; i < SOME; i++)
        n += nodes[i] == node;
    return n;
}

/* Large blocks, which this library touches, and small ones, which the driver makes. */
TEST(pinned_memory_is_near)
{
    static const size_t sizes[] = {(size_t)256 << 20, (size_t)8 << 20};

    for (int i = 0; i < n_cards; i++) {
        const int node = cuda_node_of(i);
        assert_int_equal(cudaSetDevice(i), cudaSuccess);
        for (size_t k = 0; k < 2; k++) {
            char *m = not_null(cuda_pin(sizes[k], 4, node));
            const int n = pages_on(m, sizes[k], node);
            print_message("card %d, node %d (-1: only one, or not known): %d of %d pages of %zu "
                          "MiB are there\n",
                          i, node, n, SOME, sizes[k] >> 20);
            if (k == 0 && node >= 0 && n >= 0)
                assert_true(n > SOME / 2);
            cuda_unpin(m);
        }
    }
}

int main(int argc, char **argv)
{
    gpu_host = &host;
    if (cudaGetDeviceCount(&n_cards) != cudaSuccess || n_cards == 0) {
        print_message("skipped: no card\n");
        return 77;
    }
    if (n_cards > MOST)
        n_cards = MOST;
    return run_file_tests(argc, argv, NULL, NULL);
}
