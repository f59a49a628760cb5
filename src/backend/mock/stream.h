/** @file stream.h  A device queue as a thread: commands in order, tickets to wait for (internal).
 */
#ifndef FBP_SRC_MOCK_STREAM_H
#define FBP_SRC_MOCK_STREAM_H

#include "base/base.h"

struct mock_stream;

typedef fbp_status mock_command_fn(void *user);

fbp_status mock_stream_create(struct mock_stream **out, unsigned delay_us);
/** Finishes what was submitted first. */
void mock_stream_destroy(struct mock_stream **stream);

/** Run what was submitted and end the thread; nothing may be submitted any more. */
void mock_stream_drain(struct mock_stream *s);

/** Queue fn(user); user is freed after it ran.  Does not wait.  If the run of the thread that calls
 *  is stopped (base/stop.h), what has not begun is left out, and waiting says FBP_ERR_CANCELLED. */
fbp_status mock_stream_submit(struct mock_stream *stream, mock_command_fn *fn, void *user);
/** Another run begins: that the last one was stopped is forgotten.  The stream must be at rest. */
void mock_stream_go_on(struct mock_stream *stream);
/** Block until all that was submitted has run, or was left out. */
void mock_stream_finish(struct mock_stream *stream);
/** Number of commands submitted so far: a mark is past when that many have run. */
uint64_t mock_stream_ticket(struct mock_stream *stream);
/** Later commands of `stream` start when `other` has passed `ticket`. */
fbp_status mock_stream_after(struct mock_stream *stream, struct mock_stream *other,
                             uint64_t ticket);
/** Block until `ticket` is past; the stream's first failure, with its message. */
fbp_status mock_stream_wait(struct mock_stream *stream, uint64_t ticket);

#endif /* FBP_SRC_MOCK_STREAM_H */
