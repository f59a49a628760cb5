/** @file share.h  What all devices of a renderer share: one group of contexts, and memory of the
 * host in it (internal).
 *
 * Memory that one plan was given is reached by all others on the renderer, as CUDA's pinned memory
 * is.  So all contexts of a renderer are made beside one that is there as long as any of them; a
 * thread with this context makes and drops buffers that are memory of the host.
 */
#ifndef FBP_SRC_GL_SHARE_H
#define FBP_SRC_GL_SHARE_H

#include "backend/gl/buffer.h"
#include "backend/gl/egl.h"

struct gl_share;

/** Use what devices of this renderer share; the first one makes it.  Thread-safe, as is all below.
 */
fbp_status gl_share_enter(struct gl_share **out, int index);
/** The last one closes it.  What was not given back is gone then. */
void gl_share_leave(struct gl_share **share);

/** The context beside which others are made. */
const struct gl_egl *gl_share_context(const struct gl_share *share);

/** Memory of the host; `what` it is for, for a message. */
fbp_status gl_share_alloc(struct gl_share *share, size_t bytes, const char *what, void **out);
/** Let go a buffer of some share, which gl_part_held() or its user held; NULL: nothing.  When
 * nobody holds it any more it is dropped. */
void gl_share_let_go(void *buffer);

#endif /* FBP_SRC_GL_SHARE_H */
