/** @file numa.h  Which part of the host's memory is near a device, and how to get pages of it
 * (internal).
 *
 * A machine with several processors has memory at each of them, its NUMA nodes.  A node is
 * preferred and never insisted on: where it is full, pages come from another.  A program whose
 * memory the user has placed (numactl) is left alone.  Where the system does not allow any of this,
 * as in some containers, pages come from anywhere: none of these functions fails.
 */
#ifndef FBP_SRC_NUMA_H
#define FBP_SRC_NUMA_H

#include <stdbool.h>
#include <stddef.h>

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

#endif /* FBP_SRC_NUMA_H */
