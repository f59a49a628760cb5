/** @file stack.h  Views in a file each: a pattern of names, or a folder, as one source (internal).
 */
#ifndef FBP_SRC_STACK_H
#define FBP_SRC_STACK_H

#include "array/file/format.h"

/** Is this a pattern, "views/%04d.mha 1 360": a name with a place for a number (%d, or %0Nd padded
 *  with zeros to N digits), and the first and the last number?  Or a folder? */
bool fbp_stack_is(const char *path);

/** A pattern, with its numbers or without? */
bool fbp_stack_is_pattern(const char *path);

/** The number of files of a pattern; 0 if it is none, or its numbers run down. */
size_t fbp_stack_count(const char *pattern);

/** malloc'ed name of a pattern's file k; NULL if there is none, or no memory. */
char *fbp_stack_name(const char *pattern, size_t k);

/** Return true to go on. */
typedef bool fbp_stack_fn(void *user, const char *file);

/** Each file of a pattern or a folder, or the one file that holds an array, there or not.  An error
 *  if not all of their names can be had: what is not seen here is not spared. */
fbp_status fbp_stack_each(const char *path, fbp_stack_fn *fn, void *user);

/** Would a file of this name, or a stack of this pattern, be one of the files of a pattern or
 * folder next time, or change which of them are taken? */
fbp_status fbp_stack_joins(const char *path, const char *file, bool *joins);

/** The files that are there of what an output would write: itself, or those that fit a pattern
 *  without numbers. */
fbp_status fbp_stack_each_there(const char *output, fbp_stack_fn *fn, void *user);

/** Hash name, size and time of a file, or of all files of a stack, onto *h; those that are missing
 *  count, too. */
fbp_status fbp_stack_hash(uint64_t *h, const char *path);

/** Fill in src, whose path is a pattern or a folder.  raw: n[2] is the number of files or 0, the
 * rest holds for each file.  All files are looked at; of a growing source the first, if it has a
 * header. */
fbp_status fbp_stack_open(struct fbp_source *src, const struct fbp_raw *raw);

#endif /* FBP_SRC_STACK_H */
