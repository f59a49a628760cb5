/** @file reads.h  Outputs against what is read, so that nothing is written over it (internal). */
#ifndef FBP_SRC_READS_H
#define FBP_SRC_READS_H

#include "array/file/inputs.h"
#include "fbp/array.h"

/** Hash names, sizes and times of all files onto *h. */
fbp_status fbp_inputs_hash(uint64_t *h, const struct fbp_inputs *inputs);

/** Would writing the file `file` replace an input of this name, or one of its files, or become one
 *  of a folder's or pattern's files?  By device and inode: a link, or another way to write the
 * path, is the same file.  One that is still to come is known by its name only. */
fbp_status fbp_input_is(const char *input, const char *file, bool *is);

/** Append what an array is read from, which is opened for that; one that cannot be opened is what
 *  its name says.  path: NULL is nothing. */
fbp_status fbp_inputs_add_array(struct fbp_inputs *inputs, const char *path,
                                const struct fbp_raw *raw);

/** Append all that is read, of arrays what they lead to, too. */
typedef fbp_status fbp_all_inputs_fn(struct fbp_inputs *all, const void *user);

/** Would writing an output of this name replace or join what is read?  Asked of the names first;
 *  `add_all` opens arrays, and is called only if there are files of such an output.  True also
 *  where that cannot be found out, with a message. */
bool fbp_inputs_hit(const struct fbp_inputs *named, fbp_all_inputs_fn *add_all, const void *user,
                    const char *output);

#endif /* FBP_SRC_READS_H */
