/** @file mock.h  A pretended device: memory and queues of its own, the CPU's arithmetic (internal).
 *
 * Memory is filled with a poison no upload can contain, queues are threads that run late, and every
 * read of poison is an error.  A pipeline that forgets a transfer or an order fails here, on any
 * machine; one that passes can drive a real device.
 */
#ifndef FBP_SRC_MOCK_H
#define FBP_SRC_MOCK_H

#include "backend/link_meter.h"

#include "backend/backend.h"

#include <stdatomic.h>

enum { FBP_MOCK_DEVICES = 4 };

/** The links that it pretends to have; 0: of FBP_MOCK_LINKS. */
struct fbp_mock_links {
    double up, down; /**< bytes a second of one device */
    double bus;      /**< both ways of one device together */
    double host;     /**< of all devices together */
    double peer;     /**< from one device to another */
    double within;   /**< of copies within a device */
    /** Bit FBP_MOCK_DEVICES * i + j: device i has no direct copies to j. */
    unsigned no_peers;
    uint64_t fail_rate; /**< this measurement of a rate (counted from 1) fails */
    unsigned place;     /**< where the devices are: another place, other links */
};

#define FBP_MOCK_LINKS                                                                      \
    {                                                                                       \
        .up = 50e9, .down = 40e9, .bus = 80e9, .host = 100e9, .peer = 300e9, .within = 1e12 \
    }

/** Mistakes that tests plant; all zero in normal use. */
struct fbp_mock_plant {
    uint64_t drop_upload; /**< this upload (counted from 1) is forgotten */
    uint64_t drop_after;  /**< this ordering between queues is forgotten */
    uint64_t drop_wait;   /**< this host wait returns at once */
    bool reaches_nothing; /**< no memory of the caller's is copied from or to */
    bool no_memory;       /**< the device has none left */
    bool keep_batches;    /**< filtered ones may be backprojected again (benchmarks) */
    unsigned delay_us;    /**< every command starts up to this late */
    unsigned slow_stage;  /**< 1 + stage: that queue's commands start ten times as late */
    unsigned held_device; /**< 1 + index: it computes nothing until the others have begun */
    uint64_t held_slabs;  /**< so many slabs in all, fbp_mock_slabs */
    uint64_t fail_call[FBP_MOCK_DEVICES];    /**< of a device: this call (counted from 1), or */
    uint64_t fail_command[FBP_MOCK_DEVICES]; /**< … this command of its queues, when it is run */
    uint64_t free_bytes[FBP_MOCK_DEVICES];   /**< that a device has free; 0: not known */
    bool other_sort[FBP_MOCK_DEVICES];       /**< it has another name than the others */
    uint64_t most_bytes[3];                  /**< that a buffer of a purpose holds; 0: any */
    bool no_tables;                          /**< none can be had */
    struct fbp_rates rates;                  /**< what the division of the work counts with */
    struct fbp_mock_links links;
};

extern struct fbp_mock_plant fbp_mock_plant;

/** Bytes that all mock devices have uploaded. */
extern atomic_uint_fast64_t fbp_mock_uploaded;

/** Bytes of filtered views that they have copied from one another. */
extern atomic_uint_fast64_t fbp_mock_shared;

/** How often fail_call or fail_command was met. */
extern atomic_uint_fast64_t fbp_mock_failures;

/** Slabs that each of them has begun. */
extern atomic_uint_fast64_t fbp_mock_slabs[FBP_MOCK_DEVICES];

/** Rates of links that were measured. */
extern atomic_uint_fast64_t fbp_mock_measured;

/** Memory of the caller's on devices, mock_far.c: host memory by an address that no program can
 *  use, and only the device's own commands know how to.  It lies on the first device. */
void *fbp_mock_far(void *host);

/** Where such an address leads to; others as they are. */
void *fbp_mock_near(const void *memory);

/** Bytes that were copied from there to the host's memory, and back; how often the work of the
 *  caller's queue, an atomic_bool that is true until it is done, was waited for. */
extern atomic_uint_fast64_t fbp_mock_copied, fbp_mock_settled;

extern const struct fbp_far_access fbp_mock_far_access;

/** mock_links.c */
extern const struct fbp_link_meter fbp_mock_link_meter;

#endif /* FBP_SRC_MOCK_H */
