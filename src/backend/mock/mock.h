/** @file mock.h  A pretended device for tests (--device mock): memory and queues of its own, the
 * CPU device's arithmetic (internal).
 *
 * Memory is filled with a poison no upload can contain, queues are threads that run late, and every
 * read of poison is an error.  A pipeline that forgets a transfer or an order fails here, on any
 * machine; one that passes can drive a real device.  mock.c is the device, mock_stream.c its
 * queues, mock_memory.c memory of the caller's on it and its links.
 */
#ifndef FBP_SRC_MOCK_H
#define FBP_SRC_MOCK_H

#include "backend/backend.h"
#include "backend/link_meter.h"

#include <stdatomic.h>

enum { FBP_MOCK_DEVICES = 4 };

/** Pretended rates of the links [bytes/s]; 0: the usual one, mock_memory.c. */
struct fbp_mock_links {
    double up, down;    /**< to and from one device */
    double bus;         /**< both directions of one device together */
    double host;        /**< all devices together */
    double peer;        /**< from one device to another */
    double within;      /**< copies within a device */
    unsigned no_peers;  /**< bit FBP_MOCK_DEVICES * i + j: no direct copies from device i to j */
    uint64_t fail_rate; /**< number of the measurement of a rate that fails, from 1; 0: none */
    unsigned place;     /**< location in the machine, a part of the identity of all links */
};

/** Injected faults and properties; all zero in normal use.  Calls are counted from 1. */
struct fbp_mock_faults {
    uint64_t drop_upload; /**< number of the upload that is omitted */
    uint64_t drop_after;  /**< number of the order between queues that is omitted */
    bool reaches_nothing; /**< no memory of the caller's is copied from or to */
    bool no_memory;       /**< every allocation fails */
    bool keep_batches;    /**< filtered batches may be backprojected again (benchmarks) */
    unsigned delay_us;    /**< greatest delay of a command */
    unsigned slow_stage;  /**< 1 + stage whose commands have ten times that delay */
    unsigned held_device; /**< 1 + index of a device that waits for the others to begin */
    uint64_t held_slabs;  /**< number of slabs the others must begin, fbp_mock_slabs */
    uint64_t fail_call[FBP_MOCK_DEVICES];    /**< first call of a device that fails */
    uint64_t fail_command[FBP_MOCK_DEVICES]; /**< first command of its queues that fails */
    uint64_t free_bytes[FBP_MOCK_DEVICES];   /**< free memory of a device; 0: unknown */
    bool other_sort[FBP_MOCK_DEVICES];       /**< name differs from the other devices' */
    uint64_t most_bytes[3];                  /**< greatest buffer by purpose; 0: no limit */
    bool no_tables;                          /**< memory beside buffers cannot be allocated */
    struct fbp_rates rates;                  /**< times reported to the plan */
    struct fbp_mock_links links;
};

extern struct fbp_mock_faults fbp_mock_faults;

/** Counters of all mock devices: uploaded bytes, bytes of filtered views copied between devices,
 *  injected failures, measured rates, slabs begun by each device. */
extern atomic_uint_fast64_t fbp_mock_uploaded, fbp_mock_shared, fbp_mock_failures,
    fbp_mock_measured, fbp_mock_slabs[FBP_MOCK_DEVICES];

/** Bytes copied between the caller's memory on devices and the host. */
extern atomic_uint_fast64_t fbp_mock_copied;

/** Memory of the caller's on the first device: host memory by an address that no program can use,
 *  and that only the device's own commands translate. */
void *fbp_mock_device_memory(void *host);

/** The host address of such memory; other addresses unchanged. */
void *fbp_mock_host_memory(const void *memory);

extern const struct fbp_device_memory_access fbp_mock_memory_access;
extern const struct fbp_link_meter fbp_mock_link_meter;

/** The arithmetic of the device. */
extern const struct fbp_backend fbp_backend_cpu;

/** A device queue as a thread: commands run in order, and tickets count them. */
struct mock_stream;

typedef fbp_status mock_command_fn(void *user);

/** delay_us: greatest delay of a command. */
fbp_status mock_stream_create(struct mock_stream **out, unsigned delay_us);
/** Run all submitted commands and end the thread; nothing may be submitted afterwards. */
void mock_stream_drain(struct mock_stream *s);
/** Drain, then free. */
void mock_stream_destroy(struct mock_stream **stream);

/** Queue fn(user) and return; user is freed after it ran.  If the run of the calling thread is
 *  stopped (base/threads.h), commands that have not begun are omitted, and waiting returns
 *  FBP_ERR_CANCELLED. */
fbp_status mock_stream_submit(struct mock_stream *stream, mock_command_fn *fn, void *user);
/** Forget that the last run was stopped; the stream must be idle. */
void mock_stream_go_on(struct mock_stream *stream);
/** Block until all submitted commands have run, or were omitted. */
void mock_stream_finish(struct mock_stream *stream);
/** Number of commands submitted so far: a mark is past when that many have run. */
uint64_t mock_stream_ticket(struct mock_stream *stream);
/** Later commands of `stream` start when `other` has passed `ticket`. */
fbp_status mock_stream_after(struct mock_stream *stream, struct mock_stream *other,
                             uint64_t ticket);
/** Block until `ticket` is past; returns the stream's first failure, with its message. */
fbp_status mock_stream_wait(struct mock_stream *stream, uint64_t ticket);

#endif /* FBP_SRC_MOCK_H */
