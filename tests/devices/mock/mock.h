/** @file mock.h  A simulated device for tests (--device mock), with its own memory and queues and
 * the arithmetic of the CPU device (internal).  Tests include this file to inject faults.
 *
 * Device memory is filled with a poison value that no upload contains, queues are threads that run
 * commands with a delay, and a read of poison is an error.  If the pipeline omits a transfer or a
 * wait, the run fails on any machine; a pipeline that passes can drive a real device.
 * mock.c: the device; mock_stream.c: its queues; mock_memory.c: the caller's memory on the device,
 * and its links.
 */
#ifndef FBP_SRC_MOCK_H
#define FBP_SRC_MOCK_H

#include "backend/backend.h"

#include <stdatomic.h>

/** Number of simulated devices. */
enum { FBP_MOCK_DEVICES = 4 };

/** Simulated rates of the links [bytes/s]; 0: default of mock_memory.c. */
struct fbp_mock_links {
    double up, down;   /**< to and from one device */
    double bus;        /**< both directions of one device together */
    double host;       /**< all devices together */
    double peer;       /**< from one device to another */
    double within;     /**< copies within a device */
    unsigned no_peers; /**< bit FBP_MOCK_DEVICES * i + j set: no direct copies from device i to j */
    uint64_t fail_rate; /**< the measurement of a rate that fails, counted from 1; 0: none */
    unsigned place;     /**< position in the machine, part of the text that identifies a device */
};

/** Injected faults and properties; all zero in normal use.  Calls are counted from 1. */
struct fbp_mock_faults {
    uint64_t drop_upload; /**< the upload that is omitted; 0: none */
    uint64_t drop_after;  /**< the call of after() that is omitted; 0: none */
    bool reaches_nothing; /**< reaches() is false for all memory */
    bool no_memory;       /**< every allocation fails */
    bool keep_batches;    /**< filtered batches may be backprojected again (benchmarks) */
    unsigned start_ms;    /**< duration of each discovery of the devices [ms] */
    unsigned delay_us;    /**< greatest delay of a command [microseconds] */
    unsigned slow_stage;  /**< 1 + stage whose commands have ten times that delay; 0: none */
    unsigned held_device; /**< 1 + index of a device that waits until the others have begun
                                 held_slabs slabs; 0: none */
    uint64_t held_slabs;  /**< sum of fbp_mock_slabs of the other devices */
    uint64_t fail_call[FBP_MOCK_DEVICES];    /**< call of a slot from which on all fail; 0: none */
    uint64_t fail_command[FBP_MOCK_DEVICES]; /**< command of its queues from which on all fail */
    uint64_t free_bytes[FBP_MOCK_DEVICES];   /**< free memory of a device; 0: unknown */
    bool other_sort[FBP_MOCK_DEVICES];       /**< text of describe() differs from other devices */
    uint64_t most_bytes[3]; /**< greatest buffer by enum fbp_purpose; 0: no limit */
    bool no_tables;         /**< holds() is false for buffer NULL */
    struct fbp_rates rates; /**< result of rates() */
    struct fbp_mock_links links;
};

/** Faults of all mock devices; set by tests. */
extern struct fbp_mock_faults fbp_mock_faults;

/** Counters of all mock devices: uploaded bytes, bytes of filtered views copied between devices,
 *  injected failures, measured rates, slabs begun by each device. */
extern atomic_uint_fast64_t fbp_mock_uploaded, fbp_mock_shared, fbp_mock_failures,
    fbp_mock_measured, fbp_mock_slabs[FBP_MOCK_DEVICES];

/** Bytes copied between the caller's memory on devices and the host. */
extern atomic_uint_fast64_t fbp_mock_copied;

/** Returns simulated memory of the caller on the first device: the host address with a bit that no
 *  valid address has; only commands of the device convert it back. */
void *fbp_mock_device_memory(void *host);

/** Returns the host address of such memory; other addresses unchanged. */
void *fbp_mock_host_memory(const void *memory);

extern const struct fbp_device_memory_access fbp_mock_memory_access;
extern const struct fbp_link_meter fbp_mock_link_meter;

/** The CPU device, whose slots do the arithmetic. */
extern const struct fbp_backend fbp_backend_cpu;

/** A queue of the device, mock_stream.c: a thread that runs commands in order.  Ticket n stands for
 * the end of the n-th command. */
struct mock_stream;

typedef fbp_status mock_command_fn(void *user);

/** delay_us: greatest delay of a command [microseconds]. */
fbp_status mock_stream_create(struct mock_stream **out, unsigned delay_us);
/** Waits for all submitted commands and ends the thread; no command may be submitted afterwards. */
void mock_stream_drain(struct mock_stream *s);
/** Drains and frees the stream, and sets *stream to NULL. */
void mock_stream_destroy(struct mock_stream **stream);

/** Queues fn(user) and returns; user is freed afterwards.  If the run of the calling thread is
 *  cancelled (base/threads.h), commands that have not begun are omitted, and mock_stream_wait()
 *  returns FBP_ERR_CANCELLED. */
fbp_status mock_stream_submit(struct mock_stream *stream, mock_command_fn *fn, void *user);
/** Clears the status FBP_ERR_CANCELLED of the last run; the stream must be idle. */
void mock_stream_go_on(struct mock_stream *stream);
/** Waits until all submitted commands have run or were omitted. */
void mock_stream_finish(struct mock_stream *stream);
/** Returns the number of commands submitted so far: the ticket of the last one. */
uint64_t mock_stream_ticket(struct mock_stream *stream);
/** Commands submitted to `stream` from now on start after `ticket` of `other`. */
fbp_status mock_stream_after(struct mock_stream *stream, struct mock_stream *other,
                             uint64_t ticket);
/** Waits for `ticket`; returns the stream's first failure, with its message. */
fbp_status mock_stream_wait(struct mock_stream *stream, uint64_t ticket);

#endif /* FBP_SRC_MOCK_H */
