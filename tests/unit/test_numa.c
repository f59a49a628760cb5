/* Checks which NUMA node a device belongs to, by a simulated /sys, and which memory policy is set
 * for pages. */
#include "base/system.h"
#include "test.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define SYS     FBP_TEST_DIR "/numa"
#define DEVICE  SYS "/bus/pci/devices/0000:1a:00.0"
#define SYSTEM  SYS "/devices/system/node"
#define BUS_ID  "0000:1A:00.0" /* as CUDA writes it */
#define MAX_BIT 1025

static void plant(const char *folder, const char *name, const char *text)
{
    char part[500];
    for (const char *at = folder + 1; *at; at++)
        if (*at == '/') {
            snprintf(part, sizeof part, "%.*s", (int)(at - folder), folder);
            (void)mkdir(part, 0777);
        }
    (void)mkdir(folder, 0777);
    AUTO_FREE char *path = printed("%s/%s", folder, name);
    (void)unlink(path);
    if (!text)
        return;
    put_file(path, text, strlen(text));
}

TEST(the_node_of_a_device)
{
    static const struct {
        const char *text;
        int node;
    } cases[] = {{"1\n", 1},   {"0\n", 0}, {"-1\n", -1},   {"12", 12},
                 {"", -1},     {"\n", -1}, {"x\n", -1},    {"1x\n", -1},
                 {NULL, -1},   {" 1", -1}, {"1024\n", -1}, {"99999999999999999999\n", -1},
                 {"1 2\n", -1}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plant(DEVICE, "numa_node", cases[i].text);
        assert_int_equal(fbp_numa_node(SYS, BUS_ID), cases[i].node);
    }
    plant(DEVICE, "numa_node", "1\n");
    assert_int_equal(fbp_numa_node(SYS, "0000:1b:00.0"), -1);
    assert_int_equal(fbp_numa_node(SYS, ""), -1);
    assert_int_equal(fbp_numa_node(SYS, "../devices/0000:1a:00.0"), -1);
    assert_int_equal(fbp_numa_node(SYS, "../"), -1);
    assert_int_equal(fbp_numa_node(SYS "/nowhere", BUS_ID), -1);
}

/* Pages are placed only where there is a choice. */
TEST(several_nodes)
{
    static const struct {
        const char *online;
        int near;
    } cases[] = {{"0-1\n", 1},  {"0,2\n", 1}, {"0-1,4-7\n", 1}, {"0\n", -1},
                 {"1-1\n", -1}, {"", -1},     {NULL, -1},       {"0-\n", -1},
                 {"1-0\n", -1}, {"0,\n", -1}, {"all\n", -1}};

    plant(DEVICE, "numa_node", "1\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plant(SYSTEM, "online", cases[i].online);
        assert_int_equal(fbp_numa_near(SYS, BUS_ID), cases[i].near);
    }
    plant(SYSTEM, "online", "0-1\n");
    plant(DEVICE, "numa_node", "-1\n");
    assert_int_equal(fbp_numa_near(SYS, BUS_ID), -1);
}

/* The policy of a page, or of this thread if address is NULL; -1: the system does not say. */
static int policy(void *address, unsigned long *nodes)
{
    unsigned long mask[MAX_BIT / 64 + 1] = {0};
    int mode = -1;

    if (syscall(SYS_get_mempolicy, &mode, mask, (long)MAX_BIT, address,
                address ? (long)MPOL_F_ADDR : 0L) != 0)
        return -1;
    *nodes = mask[0];
    return mode;
}

static void set_policy(int mode, unsigned long nodes)
{
    const long bits = mode == MPOL_DEFAULT ? 0 : 8 * (long)sizeof nodes;

    assert_int_equal(syscall(SYS_set_mempolicy, (long)mode, bits ? &nodes : NULL, bits), 0);
}

static bool may_not_be_asked(void)
{
    unsigned long nodes;

    if (policy(NULL, &nodes) == MPOL_DEFAULT && fbp_numa_begin(0)) {
        fbp_numa_end();
        return false;
    }
    print_message("skipped: memory cannot be placed here\n");
    return true;
}

TEST(memory_is_placed)
{
    enum { BYTES = 1 << 20 };
    unsigned long nodes = 0;

    if (may_not_be_asked())
        skip();
    char *m = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(m != MAP_FAILED);
    fbp_numa_place(m, BYTES, -1);
    assert_int_equal(policy(m, &nodes), MPOL_DEFAULT);
    fbp_numa_place(m, BYTES, 0);
    assert_int_equal(policy(m, &nodes), MPOL_PREFERRED);
    assert_int_equal(nodes, 1);
    assert_int_equal(policy(m + BYTES - 1, &nodes), MPOL_PREFERRED);
    memset(m, 1, BYTES);
    fbp_numa_place(m, BYTES, 1000); /* no such node: as before */
    fbp_numa_place(m, BYTES, 100000);
    assert_int_equal(m[BYTES - 1], 1);
    assert_int_equal(munmap(m, BYTES), 0);
}

TEST(a_thread_asks_near_for_a_while)
{
    unsigned long nodes = 0;

    if (may_not_be_asked())
        skip();
    assert_false(fbp_numa_begin(-1));
    assert_true(fbp_numa_begin(0));
    assert_int_equal(policy(NULL, &nodes), MPOL_PREFERRED);
    assert_int_equal(nodes, 1);
    fbp_numa_end();
    assert_int_equal(policy(NULL, &nodes), MPOL_DEFAULT);
    assert_false(fbp_numa_begin(1000)); /* there is none: nothing to be ended */
    assert_int_equal(policy(NULL, &nodes), MPOL_DEFAULT);
}

/* numactl --interleave=0 fbp … stays as it was asked for. */
TEST(what_the_user_placed_stays)
{
    enum { BYTES = 1 << 16 };
    unsigned long nodes = 0;

    if (may_not_be_asked())
        skip();
    char *m = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(m != MAP_FAILED);
    set_policy(MPOL_INTERLEAVE, 1);
    assert_false(fbp_numa_begin(0));
    fbp_numa_place(m, BYTES, 0);
    assert_int_equal(policy(NULL, &nodes), MPOL_INTERLEAVE);
    const int of_memory = policy(m, &nodes);
    set_policy(MPOL_DEFAULT, 0);
    assert_int_equal(of_memory, MPOL_DEFAULT); /* no policy of its own: that of the thread */
    assert_int_equal(munmap(m, BYTES), 0);
}

TEST_MAIN(NULL, NULL)
