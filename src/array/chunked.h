/** @file chunked.h  An output that is a folder of chunks with smaller levels: OME-Zarr (internal).
 *
 * PATH.part is the folder until it is complete.  In it, the file "L/Z/Y/X" is a chunk of level L.
 * Slices are put into plain chunks as they come.  If chunks are compressed, a plain one is called
 * "L/Z/Y/X.part"; it is packed when it is complete, and removed when all of its layer are packed.
 *
 * A layer of chunks that has all its slices is raised: its means of 2 x 2 x 2 voxels go into the
 * next level, where they are half a layer.  Layers whose slices several processes write are raised
 * by the last of these.  Chunks of level 0 that processes share are boundary blocks
 * (array/shared_output.h): only one process at a time writes a chunk.
 *
 * sink_files.c and shared_output.c call chunked.c, which calls chunk_files.c.
 */
#ifndef FBP_SRC_ARRAY_CHUNKED_H
#define FBP_SRC_ARRAY_CHUNKED_H

#include "array/sink.h"

/** What has been done with a layer of chunks. */
enum { FBP_LAYER_RAISED = 1, FBP_LAYER_PACKED = 2 };

struct fbp_chunked {
    struct fbp_levels levels;
    const struct fbp_chunk_format *format;
    int compression;                        /**< level of zlib; 0: chunks stay plain */
    size_t chunk_bytes;                     /**< of a plain chunk */
    size_t threads;                         /**< that raise or pack a layer, at most */
    unsigned char *done[FBP_LEVELS_MOST];   /**< flags of each layer; under the sink's lock */
    size_t *put;                            /**< slices that were put into each layer of level 0 */
    unsigned char *halves[FBP_LEVELS_MOST]; /**< layers that this process raised into each layer */
    pthread_mutex_t turn;                   /**< one layer is raised and packed at a time */
    pthread_mutex_t unpacking;              /**< and one chunk unpacked */
};

/* --- The image (chunked.c) --- */

/** Set s->chunked of a sink whose sizes are set; no file is opened.  level_bytes: as in
 *  fbp_sink_params. */
fbp_status fbp_chunked_create(struct fbp_sink *s, const struct fbp_chunk_format *format,
                              uint64_t level_bytes);
void fbp_chunked_destroy(struct fbp_chunked **chunked);

/** Check that the name is free, or that of an image without other files in its folder. */
fbp_status fbp_chunked_check(const char *path);

/** Create PATH.part as s->fd; open an existing one (s->fd -1: it does not exist). */
fbp_status fbp_chunked_begin(struct fbp_sink *s);
fbp_status fbp_chunked_reopen(struct fbp_sink *s);

/** Remove PATH.part, and an image that was to be replaced, if they are `ours`, or empty. */
fbp_status fbp_chunked_clear(const struct fbp_sink *s, const struct fbp_part_inputs *inputs,
                             bool ours);
void fbp_chunked_remove(const struct fbp_sink *s);

/** Finish a replacement that a kill has stopped: remove the old image if the new one is there, else
 *  rename it back. */
fbp_status fbp_chunked_settle_old(const struct fbp_sink *s);

/** Check that the disk has space for all chunks that do not exist yet. */
fbp_status fbp_chunked_room(const struct fbp_sink *s);

/** Count slices [z0, z0 + nz) as put; layers that are complete by that are raised and packed. */
fbp_status fbp_chunked_count(struct fbp_sink *s, size_t z0, size_t nz);

/** Take what a journal says about layers of another process, whose chunks are on disk. */
void fbp_chunked_take_line(const struct fbp_sink *s, const char *line);

/** Check that all chunks of a layer exist.  remedy: as in fbp_chunk_check(). */
fbp_status fbp_chunked_check_layer(const struct fbp_sink *s, size_t level, size_t layer,
                                   const char *remedy);

/** Raise and pack all layers that are not yet; all slices have been put. */
fbp_status fbp_chunked_complete(struct fbp_sink *s);

/** Publish a complete image: text files, sync, rename. */
fbp_status fbp_chunked_publish(struct fbp_sink *s);

/* --- Samples and chunks (chunk_files.c); k: place x, y, z of a chunk in its level --- */

/** Write or read bytes [at, at + n) of level 0 in the order [z][y][x], whole samples. */
fbp_status fbp_chunked_put(const struct fbp_sink *s, uint64_t at, const void *data, size_t n);
fbp_status fbp_chunked_get(const struct fbp_sink *s, uint64_t at, void *out, size_t n);

/** Write bytes [at, at + n) of a plain chunk. */
fbp_status fbp_chunk_put(const struct fbp_sink *s, size_t level, const size_t k[3], size_t at,
                         const void *data, size_t n);

/** Read a whole chunk, packed or plain. */
fbp_status fbp_chunk_read(const struct fbp_sink *s, size_t level, const size_t k[3], void *out);

/** Disk space that a plain chunk takes [bytes]; 0: it does not exist. */
uint64_t fbp_chunk_taken(const struct fbp_sink *s, size_t level, const size_t k[3]);

/** FBP_ERR_IO if a chunk that was written, packed or plain, does not exist or has another size.
 *  remedy: continues "or remove PATH.part"; NULL: "* and start again". */
fbp_status fbp_chunk_check(const struct fbp_sink *s, size_t level, const size_t k[3],
                           const char *remedy);

/** Pack a plain chunk into a file beside it.  scratch: fbp_chunk_packed_bytes(). */
fbp_status fbp_chunk_pack(const struct fbp_sink *s, size_t level, const size_t k[3],
                          const void *plain, void *scratch);
size_t fbp_chunk_packed_bytes(const struct fbp_chunked *c);

/** Remove the plain file of a packed chunk. */
void fbp_chunk_drop(const struct fbp_sink *s, size_t level, const size_t k[3]);

#endif /* FBP_SRC_ARRAY_CHUNKED_H */
