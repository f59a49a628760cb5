/* Properties of the host: release and commit of this build (fbp_build()), environment variables,
 * instruction sets and caches of the CPU, NUMA nodes. Also places memory on a NUMA node, and opens
 * shared libraries (system.h).
 * Used by: bench/, array/, backend/, base/, pipeline/, prep/, team/. */
#include "base/system.h"

#include "fbp/version.h"

#include "commit.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__linux__)
#    include <linux/mempolicy.h>
#    include <sys/syscall.h>
#endif

const char *fbp_build(void)
{
    return FBP_VERSION " " FBP_COMMIT;
}

/* Relative path from the folder of installed programs to that of libraries, such as "../lib64/". */
#ifndef FBP_BIN_TO_LIB
#    define FBP_BIN_TO_LIB "../lib/"
#endif

void *fbp_open_plugin(const char *file)
{
    static const char *const folders[] = {"", "../lib/", FBP_BIN_TO_LIB};
    static const char here; /* address by which dladdr() finds the file of the program or library
                               that contains this function */
    char own[4096] = "", path[4096];
    void *handle = NULL;
    Dl_info self;

    if (dladdr(&here, &self) && self.dli_fname) {
        /* The name of a program that was found on PATH has no folder: read its path from /proc.
         */
        if (strchr(self.dli_fname, '/'))
            snprintf(own, sizeof own, "%s", self.dli_fname);
        else if (readlink("/proc/self/exe", own, sizeof own - 1) < 0)
            own[0] = '\0';
    }
    const char *slash = strrchr(own, '/');
    for (size_t i = 0; slash && !handle && i < sizeof folders / sizeof *folders; i++) {
        const int n =
            snprintf(path, sizeof path, "%.*s%s%s", (int)(slash - own) + 1, own, folders[i], file);
        if (n > 0 && (size_t)n < sizeof path)
            handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return handle ? handle : dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

/* Environment variables */

static const char *const variables[FBP_N_VARIABLES] = {
    [FBP_ENV_KERNEL] = "FBP_KERNEL",
    [FBP_ENV_CPU] = "FBP_CPU",
    [FBP_ENV_FFT] = "FBP_FFT",
    [FBP_ENV_SHAPE] = "FBP_SHAPE",
    [FBP_ENV_TUNE] = "FBP_TUNE",
    [FBP_ENV_GL_SHADERS] = "FBP_GL_SHADERS",
    [FBP_ENV_GL_BLOCK] = "FBP_GL_BLOCK",
    [FBP_ENV_CUDA_HOME] = "CUDA_HOME",
    [FBP_ENV_CUDA_PATH] = "CUDA_PATH",
    [FBP_ENV_CACHE] = "XDG_CACHE_HOME",
    [FBP_ENV_HOME] = "HOME",
    [FBP_ENV_HDF5_PREFIX] = "HDF5_VDS_PREFIX",
    [FBP_ENV_TEAM_MODULE] = "FBP_TEAM_MODULE",
    [FBP_ENV_MPI_SIZE] = "OMPI_COMM_WORLD_SIZE",
    [FBP_ENV_PMIX_RANK] = "PMIX_RANK",
    [FBP_ENV_PMI_RANK] = "PMI_RANK",
    [FBP_ENV_PMI_SIZE] = "PMI_SIZE",
    [FBP_ENV_SLURM_TASKS] = "SLURM_STEP_NUM_TASKS",
    [FBP_ENV_RATES] = "FBP_RATES",
    [FBP_ENV_STRIPE] = "FBP_STRIPE",
    [FBP_ENV_CHUNK] = "FBP_CHUNK",
};

const char *fbp_environment(enum fbp_variable variable)
{
    return getenv(variables[variable]);
}

/* The CPU */

unsigned fbp_cpu_flags(void)
{
    const char *level = fbp_environment(FBP_ENV_CPU);
    unsigned flags = 0;

#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        flags |= FBP_CPU_AVX2;
    if (flags && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        flags |= FBP_CPU_AVX512;
    if (flags & FBP_CPU_AVX512 && __builtin_cpu_supports("avx512vnni"))
        flags |= FBP_CPU_VNNI;
    if (flags && __builtin_cpu_is("intel"))
        flags |= FBP_CPU_GATHER;
#elif defined(__aarch64__)
    flags = FBP_CPU_NEON;
#endif
    if (level && strcmp(level, "c") == 0)
        flags = 0;
    else if (level && strcmp(level, "avx2") == 0)
        flags &= ~(unsigned)(FBP_CPU_AVX512 | FBP_CPU_VNNI);
    return flags;
}

const char *fbp_cpu_level(unsigned flags)
{
    return flags & FBP_CPU_AVX512 ? "avx512"
           : flags & FBP_CPU_AVX2 ? "avx2"
           : flags & FBP_CPU_NEON ? "neon"
                                  : "c";
}

const char *fbp_cpu_model(char *buf, unsigned long n)
{
    static const char key[] = "model name";
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");

    buf[0] = '\0';
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, key, sizeof key - 1) == 0 && colon) {
            snprintf(buf, n, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (f)
        fclose(f);
    return buf;
}

unsigned long fbp_cpu_level2_bytes(void)
{
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? (unsigned long)bytes : 512ul << 10;
}

/* NUMA nodes, by system calls, because libnuma is often missing. */

enum {
    MAX_PATH = 512,
    MAX_LINE = 256,
    MAX_NODES = 1024,
    WORD_BITS = 8 * sizeof(unsigned long),
    WORDS = MAX_NODES / WORD_BITS
};

/* Read the first line of the file `name` in the folder `sys`; false if it is missing. */
static bool read_line(const char *sys, const char *name, char line[MAX_LINE])
{
    char path[MAX_PATH];

    if (snprintf(path, sizeof path, "%s/%s", sys, name) >= (int)sizeof path)
        return false;
    FILE *file = fopen(path, "r");
    const bool ok = file && fgets(line, MAX_LINE, file);
    if (file)
        (void)fclose(file);
    return ok;
}

int fbp_numa_node(const char *sys, const char *bus_id)
{
    char name[MAX_PATH], line[MAX_LINE], *end;

    /* Reject ids that are no PCI bus ids, because the path must not leave the folder `sys`. */
    if (!*bus_id || strspn(bus_id, "0123456789abcdefABCDEF:.") != strlen(bus_id) ||
        strstr(bus_id, "..") ||
        snprintf(name, sizeof name, "bus/pci/devices/%s/numa_node", bus_id) >= (int)sizeof name)
        return -1;
    for (char *c = name; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (!read_line(sys, name, line) || !isdigit((unsigned char)line[0]))
        return -1;
    const unsigned long node = strtoul(line, &end, 10);
    return node < MAX_NODES && (*end == '\n' || *end == '\0') ? (int)node : -1;
}

int fbp_numa_near(const char *sys, const char *bus_id)
{
    char line[MAX_LINE], separator;
    int first, second;

    /* The file lists the nodes, such as "0-3,8"; a machine with one node has no distant memory. */
    if (!read_line(sys, "devices/system/node/online", line) ||
        sscanf(line, "%d%c%d", &first, &separator, &second) != 3 || second <= first)
        return -1;
    return fbp_numa_node(sys, bus_id);
}

/* Make the bit mask of a NUMA node for system calls; false: the node is unknown (negative or above
 * 1023), or a memory policy is set already (for example by numactl). */
static bool make_mask(unsigned long mask[WORDS], int node)
{
    int mode = MPOL_DEFAULT;

    if (node < 0 || node >= MAX_NODES ||
        syscall(SYS_get_mempolicy, &mode, NULL, 0UL, NULL, 0UL) != 0 || mode != MPOL_DEFAULT)
        return false;
    memset(mask, 0, WORDS * sizeof *mask);
    mask[node / WORD_BITS] = 1UL << node % WORD_BITS;
    return true;
}

/* mbind() and set_mempolicy() use one bit less of a mask than the number that they are given. */

void fbp_numa_place(void *memory, size_t bytes, int node)
{
    unsigned long mask[WORDS];

    if (make_mask(mask, node))
        (void)syscall(SYS_mbind, memory, bytes, (long)MPOL_PREFERRED, mask, (long)MAX_NODES + 1,
                      0L);
}

bool fbp_numa_begin(int node)
{
    unsigned long mask[WORDS];

    return make_mask(mask, node) &&
           syscall(SYS_set_mempolicy, (long)MPOL_PREFERRED, mask, (long)MAX_NODES + 1) == 0;
}

void fbp_numa_end(void)
{
    (void)syscall(SYS_set_mempolicy, (long)MPOL_DEFAULT, NULL, 0L);
}
