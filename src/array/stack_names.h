/** @file stack_names.h  Which files a name stands for: a pattern, a folder, or one file (internal).
 */
#ifndef FBP_SRC_STACK_NAMES_H
#define FBP_SRC_STACK_NAMES_H

#include "array/file/watch.h"
#include "array/numbered.h"
#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Is this a pattern, "views/%04d.mha 1 360": a name with a place for a number (%d, or %0Nd padded
 *  with zeros to N digits), and the first and the last number?  Or a folder? */
bool fbp_stack_is(const char *path);

/** A pattern, with its numbers or without? */
bool fbp_stack_is_pattern(const char *path);

/** The number of files of a pattern; 0 if it is none, or its numbers run down. */
size_t fbp_stack_count(const char *pattern);

/** malloc'ed name of a pattern's file k; NULL if there is none, or no memory. */
char *fbp_stack_name(const char *pattern, size_t k);

/** Get the numbering of a folder's n files; zeros for a pattern.  raw: its files have no headers.
 *  Free by fbp_numbering_clear(). */
fbp_status fbp_stack_numbering(const char *path, bool raw, struct fbp_numbering *out, size_t *n);

/** Return true to go on. */
typedef bool fbp_stack_fn(void *user, const char *file);

/** Each file of a pattern or a folder, or the one file that holds an array, there or not.  An error
 *  if not all of their names can be had: what is not seen here is not spared. */
fbp_status fbp_stack_each(const char *path, fbp_stack_fn *fn, void *user);

/** Would a file of this name, or a stack of this pattern, be one of the files of a pattern or
 * folder next time, or change which of them are taken? */
fbp_status fbp_stack_joins(const char *path, const char *file, bool *out);

/** The files that are there of what an output would write: itself, or those that fit a pattern
 *  without numbers. */
fbp_status fbp_stack_each_there(const char *output, fbp_stack_fn *fn, void *user);

/** Hash size and time of a file, or of all files of a stack, and their names without folders, onto
 *  *h; those that are missing count, too. */
fbp_status fbp_stack_hash(uint64_t *h, const char *path);

/** Note the file, or all files, of an array.  Of one that is not there, which is for whoever opens
 *  it to say, none behind it are noted. */
fbp_status fbp_watch_array(struct fbp_watch *watch, const char *array);

#endif /* FBP_SRC_STACK_NAMES_H */
