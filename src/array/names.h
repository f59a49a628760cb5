/** @file names.h  The files that a name stands for: one file, a pattern with two numbers, or a
 * folder (internal).
 *
 * Sources open them, scans count and number them, and outputs must not replace them.
 */
#ifndef FBP_SRC_ARRAY_NAMES_H
#define FBP_SRC_ARRAY_NAMES_H

#include "array/file/format.h"
#include "fbp/array.h"

/* --- Numbers in the names of files (numbered.c) --- */

/** What the numbers in the names of sorted files say; zeros if the names are not alike. */
struct fbp_numbering {
    bool counted;     /**< one number differs in all names, and orders the files */
    size_t *places;   /**< [n] position of each file among all that were numbered, from 0; NULL: no
                           number is missing, or the numbers are no count */
    char gaps[200];   /**< a sentence about missing numbers; "": none */
    char order[40];   /**< which of several changing numbers orders the files; else "" */
    size_t n_columns; /**< changing numbers per name */
    double *columns;  /**< [n_columns][n] their values */
    int digits[8];    /**< decimals of each column */
    size_t counter;   /**< column that orders the files, if `counted` */
};

/**
 * Sort the paths of n files by the number that counts them.  Numbers may have a sign and decimals;
 * a date with its time is one number.  If several numbers change, the one that counts in even steps
 * orders the files.
 *
 * where  folder, for messages
 * @return FBP_ERR_INVALID if two numbers may count the files and their orders differ;
 *         FBP_ERR_NOMEM
 */
fbp_status fbp_number_files(char **paths, size_t n, const char *where, struct fbp_numbering *out);
void fbp_numbering_clear(struct fbp_numbering *numbering);

/** The name of a file with '#' for each number, into out[256]. */
void fbp_number_skeleton(const char *name, char *out);

/* --- Files of a pattern or a folder (names.c) --- */

struct fbp_file_names {
    struct fbp_pattern pattern;
    char **list; /**< paths of a folder's files; NULL: the pattern */
    size_t n;
    struct fbp_numbering numbering; /**< of a folder */
    char note[300];                 /**< of a folder: a sentence about the files that were chosen */
};

/**
 * Find the files of a pattern, which keeps `path`, or of a folder.  "views/p_*.tif" is a folder,
 * too, if no file has this name.  A folder stands for the files of the format that most of its
 * files have, in the order of fbp_number_files(), without hidden files and folders.
 *
 * raw: a folder without any file of a known format is one of headerless files
 */
fbp_status fbp_names_open(struct fbp_file_names *out, const char *path, bool raw);
/** malloc'ed path of file k; NULL when out of memory. */
char *fbp_names_get(const struct fbp_file_names *names, size_t k);
void fbp_names_close(struct fbp_file_names *names);

/** Whether the name is a folder of files, or a pattern: a name with a place for a number (%d, or
 *  %0Nd padded with zeros to N digits), the first and the last number, "views/%04d.mha 1 360". */
bool fbp_names_many_files(const char *path);

/** Number of files of a pattern; 0 for other names, and if its numbers run down. */
size_t fbp_stack_count(const char *pattern);

/** malloc'ed name of a pattern's file k; NULL if there is none, or no memory. */
char *fbp_stack_name(const char *pattern, size_t k);

/** Get the numbering of a folder's n files; zeros for a pattern.  raw: its files have no headers.
 *  Free by fbp_numbering_clear(). */
fbp_status fbp_stack_numbering(const char *path, bool raw, struct fbp_numbering *out, size_t *n);

/** A loop over the files of a pattern or a folder, or the one file that holds an array, whether
 * they exist or not.  Begin with .path, and st FBP_OK. */
struct fbp_files {
    const char *path;
    bool stop; /**< set by the body of the loop to end it */
    bool begun, stack;
    struct fbp_file_names names;
    size_t k;   /**< next file */
    char *file; /**< the current one */
};

/** Get the next file; NULL: there is none, or *st, which the body may set, is an error: also if not
 *  all names can be found, because unseen files could be overwritten.  The loop must run until
 *  then. */
const char *fbp_files_next(struct fbp_files *files, fbp_status *st);

/** Whether a new file of this name, or a stack of this pattern, would be one of the files of a
 *  pattern or folder next time, or change which of them are chosen. */
fbp_status fbp_stack_joins(const char *path, const char *file, bool *out);

/** Hash size and time of a file, or of all files of a stack, and their names without folders, onto
 *  *h; missing files count, too. */
fbp_status fbp_stack_hash(uint64_t *h, const char *path);

/** Note the file, or all files, of an array for fbp_file_states_check().  At a missing file, which
 * the source's opening reports, this ends with FBP_OK. */
fbp_status fbp_watch_array(struct fbp_file_states *watch, const char *array);

/* --- Outputs against inputs (names.c) --- */

/** Hash names, sizes and times of all files onto *h. */
fbp_status fbp_inputs_hash(uint64_t *h, const struct fbp_inputs *inputs);

/** Whether writing `file` would replace an input of this name or one of its files, or become one of
 *  a folder's or pattern's files.  Existing files are compared by device and inode, others by
 *  name. */
fbp_status fbp_input_is(const char *input, const char *file, bool *is);

/** Append the files that an array is read from.  The array is opened for that; if it cannot be, its
 *  name is appended.  path NULL: nothing. */
fbp_status fbp_inputs_add_array(struct fbp_inputs *inputs, const char *path,
                                const struct fbp_raw *raw);

/** Appends all files that are read, of arrays also those that they lead to. */
typedef fbp_status fbp_all_inputs_fn(struct fbp_inputs *all, const void *user);

/** Whether writing an output of this name would replace or join files that are read.  The names are
 *  compared first; `add_all` opens arrays, and is called only if files of the output exist.  True
 *  also if an error, with a message, prevents an answer. */
bool fbp_inputs_hit(const struct fbp_inputs *named, fbp_all_inputs_fn *add_all, const void *user,
                    const char *output);

#endif /* FBP_SRC_ARRAY_NAMES_H */
