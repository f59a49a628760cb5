/** @file chunked.h  An output that is a folder of chunks, a file each, with smaller levels of it
 * (internal).
 *
 * PATH.part is the folder until it is complete.  In it "L/Z/Y/X" is a chunk of level L.  Slices
 * that come are put into plain chunks, at their places.  Where chunks are compressed, a plain one
 * is called "L/Z/Y/X.part"; it is packed when it is complete, and removed when all of its layer
 * are.
 *
 * A layer of chunks that has all its slices is raised: its means go into the next level, which has
 * half a layer more then.  What one process cannot raise, because others have some of its slices,
 * the last one does.  Chunks of level 0 that processes share are like pages that they share
 * (array/joint.h): a stripe is a layer, and their slices go to the files of edges.  So every chunk
 * has one process at a time that writes it.
 */
#ifndef FBP_SRC_CHUNKED_H
#define FBP_SRC_CHUNKED_H

#include "array/sink.h"

/** What has been done with a layer of chunks. */
enum { FBP_LAYER_RAISED = 1, FBP_LAYER_PACKED = 2 };

struct fbp_chunked {
    struct fbp_levels levels;
    const struct fbp_chunk_format *format;
    int compression;                        /**< 0: plain */
    size_t chunk_bytes;                     /**< of a plain one */
    size_t threads;                         /**< the most that raise or pack a layer */
    unsigned char *done[FBP_LEVELS_MOST];   /**< flags of each layer; under the sink's lock */
    size_t *put;                            /**< slices that were put into each layer of level 0 */
    unsigned char *halves[FBP_LEVELS_MOST]; /**< how many of its layers were raised into it here */
    pthread_mutex_t turn;                   /**< one layer is raised and packed at a time */
    pthread_mutex_t unpacking;              /**< and one chunk unpacked */
};

/** s->chunked of a sink whose sizes are set; no file is opened.  level_bytes: as in
 *  fbp_sink_params. */
fbp_status fbp_chunked_create(struct fbp_sink *s, const struct fbp_chunk_format *format,
                              uint64_t level_bytes);
void fbp_chunked_destroy(struct fbp_chunked **chunked);

/* --- memory (chunked_memory.c) --- */

enum { FBP_CHUNK_THREADS = 8 };

/** The longest side of a chunk: FBP_CHUNK, an even number, as pairs of samples lie in one chunk. */
size_t fbp_chunk_edge(void);

/** Bytes of a plain chunk. */
size_t fbp_chunk_bytes(const struct fbp_levels *levels, enum fbp_type type);

/** How many threads may raise or pack a layer in so much memory, 1 to FBP_CHUNK_THREADS; and what
 *  so many take. */
size_t fbp_chunk_threads(size_t chunk_bytes, bool compressed, uint64_t bytes);
uint64_t fbp_chunk_level_bytes(size_t chunk_bytes, bool compressed, size_t threads);

/* --- the folder (chunked_folder.c) --- */

/** Is the name free, or that of such an image without anything else in its folder? */
fbp_status fbp_chunked_check(const char *path);

/** Remove PATH.part, and what was to be replaced, if they are `ours`, or empty; others are refused.
 */
fbp_status fbp_chunked_clear(const struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                             bool ours);

/** An image that stepped aside for this one, when its process was killed: the new one is there, or
 * it comes back. */
fbp_status fbp_chunked_settle_old(const struct fbp_sink *s);

/** Create PATH.part as s->fd. */
fbp_status fbp_chunked_begin(struct fbp_sink *s);

/** Open the one that an earlier run or another process of ours left; s->fd -1: it is gone. */
fbp_status fbp_chunked_reopen(struct fbp_sink *s);

/** Is there room on the disk for all that is not there yet? */
fbp_status fbp_chunked_room(const struct fbp_sink *s);

/** All chunks are there: text files, sync, and the name. */
fbp_status fbp_chunked_publish(struct fbp_sink *s);

/** Remove PATH.part. */
void fbp_chunked_remove(const struct fbp_sink *s);

/* --- samples (chunked_box.c) --- */

/** Bytes [at, at + n) of level 0, in the order [z][y][x]. */
fbp_status fbp_chunked_put(const struct fbp_sink *s, uint64_t at, const void *data, size_t n);
fbp_status fbp_chunked_get(const struct fbp_sink *s, uint64_t at, void *out, size_t n);

/* --- chunks (chunked_file.c) --- */

/** A plain chunk of level 0, open; who writes creates it where it is not there. */
typedef fbp_status fbp_chunk_use_fn(void *user, int fd);
fbp_status fbp_chunk_use(const struct fbp_sink *s, const size_t k[3], bool write,
                         fbp_chunk_use_fn *fn, void *user);

/** Bytes [at, at + n) of a plain chunk; k: its place x, y, z in a level. */
fbp_status fbp_chunk_put(const struct fbp_sink *s, size_t level, const size_t k[3], size_t at,
                         const void *data, size_t n);

/** Bytes that a plain chunk has on the disk; 0: it is not there. */
uint64_t fbp_chunk_taken(const struct fbp_sink *s, size_t level, const size_t k[3]);

/** FBP_ERR_IO: a chunk that was written, packed or plain, is not there, or of another size. remedy:
 *  continues "or remove PATH.part"; NULL: and start again. */
fbp_status fbp_chunk_check(const struct fbp_sink *s, size_t level, const size_t k[3],
                           const char *remedy);

/** A whole chunk, packed or plain. */
fbp_status fbp_chunk_read(const struct fbp_sink *s, size_t level, const size_t k[3], void *out);

/** Pack a plain chunk, beside it.  scratch: fbp_chunk_packed_bytes(). */
fbp_status fbp_chunk_pack(const struct fbp_sink *s, size_t level, const size_t k[3],
                          const void *plain, void *scratch);
size_t fbp_chunk_packed_bytes(const struct fbp_chunked *c);

/** The plain one of a packed chunk is not needed any more. */
void fbp_chunk_drop(const struct fbp_sink *s, size_t level, const size_t k[3]);

/* --- layers (chunked_layers.c) --- */

/** Slices [z0, z0 + nz) have been put: layers that are complete by that are raised and packed. */
fbp_status fbp_chunked_count(struct fbp_sink *s, size_t z0, size_t nz);

/** All chunks of a layer are there. */
fbp_status fbp_chunked_check_layer(const struct fbp_sink *s, size_t level, size_t layer,
                                   const char *remedy);

/** All slices have been put: whatever has not been raised and packed yet. */
fbp_status fbp_chunked_complete(struct fbp_sink *s);

/** What a journal says of layers, of processes whose chunks are on the disk. */
void fbp_chunked_take_line(const struct fbp_sink *s, const char *line);

#endif /* FBP_SRC_CHUNKED_H */
