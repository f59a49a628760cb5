/** @file system.h  Properties of the build and of the host: release and commit, clock, environment
 * variables, CPU, NUMA nodes, shared libraries.
 * Used by: bench/, cli/, array/, backend/, base/, pipeline/, prep/, team/. */
#ifndef FBP_SRC_BASE_SYSTEM_H
#define FBP_SRC_BASE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/** Monotonic time [s]. */
static inline double fbp_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** Return the time on `clock` that is `seconds` from now, as the deadline of
 * pthread_cond_timedwait(). */
static inline struct timespec fbp_deadline(clockid_t clock, double seconds)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += (long)(1e9 * seconds);
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/** Release and, if built from a repository, commit: "0.1.0 abcdef123456".  Two builds with
 * different texts may compute values with different bits. */
const char *fbp_build(void);

/** Open a shared library.  Folders searched, in this order: that of this library or program, its
 * ../lib, the installation folder of libraries, the folders of the system's loader.  NULL: not
 * found; dlerror() returns the reason. */
void *fbp_open_plugin(const char *file);

/* Environment variables */

/** All environment variables that the library reads; docs/recipes.md describes them for users. */
enum fbp_variable {
    FBP_ENV_KERNEL = 0,  /**< name of a backprojection kernel; ignored if --kernel is given or the
                            scan excludes the kernel */
    FBP_ENV_CPU,         /**< highest instruction set that may be used: c, avx2, avx512 or neon */
    FBP_ENV_FFT,         /**< cufft: the CUDA backend uses cuFFT for rows of all lengths */
    FBP_ENV_SHAPE,       /**< index of a GPU kernel's block shape */
    FBP_ENV_TUNE,        /**< 0: kernel speeds are not measured, and none are stored in the cache */
    FBP_ENV_GL_SHADERS,  /**< folder of shader files *.glsl that replace the built-in ones, for
                            --device gl */
    FBP_ENV_GL_BLOCK,    /**< limit of the size of an OpenGL storage buffer block, for --device gl
                            [bytes] */
    FBP_ENV_CUDA_HOME,   /**< folder of CUDA, to find cuFFT */
    FBP_ENV_CUDA_PATH,   /**< folder of CUDA, to find cuFFT, in addition to CUDA_HOME */
    FBP_ENV_CACHE,       /**< parent folder of the cache (base/cache.h) */
    FBP_ENV_HOME,        /**< home folder; its .cache is used if XDG_CACHE_HOME is not set */
    FBP_ENV_HDF5_PREFIX, /**< search path for files that an HDF5 file refers to */
    FBP_ENV_TEAM_MODULE, /**< file of the module that transports messages between processes */
    FBP_ENV_MPI_SIZE,    /**< number of processes, set by mpirun of Open MPI */
    FBP_ENV_PMIX_RANK,   /**< rank, set by srun --mpi=pmix */
    FBP_ENV_PMI_RANK,    /**< rank, set by launchers of other MPI libraries */
    FBP_ENV_PMI_SIZE,    /**< number of processes, set by launchers of other MPI libraries */
    FBP_ENV_SLURM_TASKS, /**< number of processes, set by srun */
    FBP_ENV_RATES,       /**< data rates for the choice of a grid of processes: "net=25GB/s …" */
    FBP_ENV_STRIPE,      /**< stripe of a shared output file [bytes] */
    FBP_ENV_CHUNK,       /**< greatest side of a chunk of OME-Zarr; default 64 */
    FBP_N_VARIABLES
};

/** Value of an environment variable; NULL if it is not set. */
const char *fbp_environment(enum fbp_variable variable);

/* The CPU */

enum fbp_cpu_flag {
    FBP_CPU_AVX2 = 1u << 0,
    FBP_CPU_AVX512 = 1u << 1,
    /** Gather instructions of the CPU are faster than eight loads; results do not depend on it. */
    FBP_CPU_GATHER = 1u << 2,
    FBP_CPU_NEON = 1u << 3,
    /** The CPU has AVX-512 VNNI; results do not depend on it. */
    FBP_CPU_VNNI = 1u << 4,
};

/** Features of the processor as a set of enum fbp_cpu_flag, limited to the instruction set that the
 * environment variable FBP_CPU=c|avx2|avx512|neon names (for tests). */
unsigned fbp_cpu_flags(void);

/** Name of the highest instruction set in `flags`: "avx512", "avx2", "neon", or "c" (plain C). */
const char *fbp_cpu_level(unsigned flags);

/** Size of a core's second-level cache [bytes]; 512 KiB if the system does not report it. */
unsigned long fbp_cpu_level2_bytes(void);

/** Model name of the processor; "" if the system does not report it. */
const char *fbp_cpu_model(char *buf, unsigned long n);

/*
 * NUMA nodes: a device copies fastest from and to the memory of its own node
 *
 * A node is only preferred: if its memory is full, the system uses pages of another node.  A memory
 * policy that the user has set (numactl) is not changed.  If the system forbids the calls, for
 * example in a container, the functions have no effect.
 */

/** Folder in which the system describes its devices; tests pass another folder. */
#define FBP_SYS "/sys"

/** NUMA node of a PCI device such as "0000:18:00.0", in upper or lower case; -1: unknown. */
int fbp_numa_node(const char *sys, const char *bus_id);

/** Return the NUMA node of a PCI device (fbp_numa_node()), but -1 if the host has only one node. */
int fbp_numa_near(const char *sys, const char *bus_id);

/** Prefer a NUMA node for pages of `memory` that are not allocated yet; no effect if node < 0.
 * memory: address of the first page. */
void fbp_numa_place(void *memory, size_t bytes, int node);

/** Prefer a NUMA node for new pages of the calling thread until fbp_numa_end().  Returns false if
 * nothing was changed; fbp_numa_end() must then not be called. */
bool fbp_numa_begin(int node);
void fbp_numa_end(void);

#endif /* FBP_SRC_BASE_SYSTEM_H */
