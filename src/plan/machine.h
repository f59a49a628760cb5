/** @file machine.h  What the devices of a machine share (internal; pure).
 *
 * What one device does by itself, its backend knows (struct fbp_rates).  Several of them share the
 * host's memory and its links, and files.
 */
#ifndef FBP_SRC_MACHINE_H
#define FBP_SRC_MACHINE_H

#include <stddef.h>

/** Rates in bytes a second; 0: not known, that of the device alone, or no limit. */
struct fbp_machine {
    double up, down;         /**< host to device, device to host: of one device, alone */
    double up_all, down_all; /**< of all devices together */
    double both;             /**< each way, of one device that is used both ways at once */
    double both_all;         /**< each way, of all devices, while any are used the other way, too */
    double peer;             /**< from device to device; 0: there is no such link */
    double read, write; /**< of the views' and the volume's files, all devices together; 0: they
                           are in memory that devices reach */
    double begin;       /**< seconds before a run's first command */
    size_t sharers; /**< processes that share the views of a slab: each adds up and writes its part
                       of every block; 0: 1 */
    double sum;     /**< partial volumes that one of them gets of the others, as fast as it gives
                       them its own */
    int sum_cores;  /**< that compute, of which one is taken by that; 0: none is */
};

#endif /* FBP_SRC_MACHINE_H */
