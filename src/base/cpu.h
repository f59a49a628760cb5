/** @file cpu.h  Instruction sets and NUMA nodes of the host (internal). */
#ifndef FBP_SRC_CPU_H
#define FBP_SRC_CPU_H

#include <stdbool.h>
#include <stddef.h>

/* Which instruction sets may be used. */

enum fbp_cpu_flag {
    FBP_CPU_AVX2 = 1u << 0,
    FBP_CPU_AVX512 = 1u << 1,
    FBP_CPU_GATHER = 1u << 2, /**< gathers are quicker than eight loads; changes no bit */
};

/** What the processor has, lowered by FBP_CPU=c|avx2|avx512 (for tests). */
unsigned fbp_cpu_flags(void);

/** Name of the highest set level: "c", "avx2", "avx512". */
const char *fbp_cpu_level(unsigned flags);

/** Bytes of a core's second-level cache; 512 KiB where the system does not say. */
unsigned long fbp_cpu_level2_bytes(void);

/** The processor's own name; "" where the system does not say. */
const char *fbp_cpu_model(char *buf, unsigned long n);

/* Which part of the host's memory is near a device, and how to get pages of it
 *.
 *
 * A machine with several processors has memory at each of them, its NUMA nodes.  A node is
 * preferred and never insisted on: where it is full, pages come from another.  A program whose
 * memory the user has placed (numactl) is left alone.  Where the system does not allow any of this,
 * as in some containers, pages come from anywhere: none of these functions fails.
 */

/** Where the system says what there is; tests plant another folder. */
#define FBP_SYS "/sys"

/** The node that a device on PCI is at, such as "0000:18:00.0", in upper or lower case; -1: not
 *  known. */
int fbp_numa_node(const char *sys, const char *bus_id);

/** The same where pages are to be placed: -1 if there is only one node. */
int fbp_numa_near(const char *sys, const char *bus_id);

/** Pages of this memory that are not there yet are to come from a node; nothing if that is < 0.
 *  memory is the beginning of a page. */
void fbp_numa_place(void *memory, size_t bytes, int node);

/** Pages that the calling thread asks for are to come from a node, up to fbp_numa_end().  False:
 *  nothing was changed, and nothing is to be ended. */
bool fbp_numa_begin(int node);
void fbp_numa_end(void);

#endif /* FBP_SRC_CPU_H */
