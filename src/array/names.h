/** @file names.h  Lists of the files that the name of an array describes: one file, a folder of
 * views, or a pattern with two numbers (internal; names.c, numbered.c).
 *
 * Included by source.c and source_stack.c, which open these files, by src/scan, which counts and
 * numbers them, and by sinks and the plan, which check that no output replaces an input.
 */
#ifndef FBP_SRC_ARRAY_NAMES_H
#define FBP_SRC_ARRAY_NAMES_H

#include "array/file/format.h"
#include "fbp/array.h"

/* numbered.c: numbers in the names of files */

/** Numbers in the names of sorted files; all members are 0 if the names differ in more than
 * numbers. */
struct fbp_numbering {
    bool counted; /**< One number differs in all names, and determines the order of the files. */
    /** [n] position of each file in the complete sequence, counted from 0, missing files included;
     * NULL: no number is missing, or the numbers do not count the files */
    size_t *places;
    char gaps[200];   /**< message about missing numbers; "": none */
    char order[40];   /**< name of the ordering number if several change; "" */
    size_t n_columns; /**< numbers per name that change */
    double *columns;  /**< [n_columns][n] values of these numbers */
    int digits[8];    /**< decimals of each column */
    size_t counter;   /**< index of the column that orders the files, if `counted` */
};

/**
 * Sort the paths of n files by the number that counts them. Numbers may have a sign and decimals; a
 * date with its time is one number. If several numbers change, the one with equal steps determines
 * the order.
 *
 * where  folder, for messages
 * @return FBP_ERR_INVALID if two numbers may count the files and their orders differ; FBP_ERR_NOMEM
 */
fbp_status fbp_number_files(char **paths, size_t n, const char *where, struct fbp_numbering *out);
void fbp_numbering_clear(struct fbp_numbering *numbering);

/** Copy the name of a file to out[256] with '#' in place of each number. */
void fbp_number_skeleton(const char *name, char *out);

/* names.c: files of a pattern or a folder */

struct fbp_file_names {
    struct fbp_pattern pattern;
    char **list; /**< paths of a folder's files; NULL: the name is a pattern */
    size_t n;
    struct fbp_numbering numbering; /**< numbering of a folder's files */
    char note[300];                 /**< note if only some files were chosen; "" */
};

/**
 * List the files of a pattern or a folder; the result keeps a pointer to `path`. "views/p_*.tif"
 * counts as a folder if no file has this name. A folder is read as files of its most frequent
 * format, in the order of fbp_number_files(), without hidden files and folders.
 *
 * raw: if a folder has no file of a known format, its files are read as headerless files
 */
fbp_status fbp_names_open(struct fbp_file_names *out, const char *path, bool raw);
/** malloc'ed path of file k of a folder or pattern; NULL when out of memory. */
char *fbp_names_get(const struct fbp_file_names *names, size_t k);
void fbp_names_close(struct fbp_file_names *names);

/** Whether the name is a folder of files, or a pattern: a name with a placeholder for a number
 *  (%d, or %0Nd padded with zeros to N digits), the first and the last number, "views/%04d.mha 1
 *  360". */
bool fbp_names_many_files(const char *path);

/** Number of files of a pattern; 0: no pattern, or its last number is below the first.
 */
size_t fbp_stack_count(const char *pattern);

/** malloc'ed name of a pattern's file k; NULL: no such file, or out of memory. */
char *fbp_stack_name(const char *pattern, size_t k);

/** Get the numbering of the *n files of a folder; zeros for a pattern. raw: the files have no
 * headers. Free it by fbp_numbering_clear(). */
fbp_status fbp_stack_numbering(const char *path, bool raw, struct fbp_numbering *out, size_t *n);

/** Iterator over the files of a pattern or a folder, or over the single file of an array, whether
 * they exist or not. Initialize .path, and the status to FBP_OK. */
struct fbp_files {
    const char *path;
    bool stop; /**< set by the loop body to end the loop */
    bool begun, stack;
    struct fbp_file_names names;
    size_t k;   /**< index of the next file */
    char *file; /**< current file */
};

/** Get the next file of the iterator. NULL: no more files, or *st is an error, which the loop body
 * may also set. If names cannot be listed, *st is an error, because unknown files could be
 * overwritten. The loop must run until NULL. */
const char *fbp_files_next(struct fbp_files *files, fbp_status *st);

/** Whether a new file of this name, or a stack of this pattern, would later be read as one of the
 *  files of a pattern or folder, or change the choice of its files. */
fbp_status fbp_stack_joins(const char *path, const char *file, bool *out);

/** Add sizes, times and names (without folders) of a file, or of all files of a folder or pattern,
 * to the hash *h; missing files also change the hash. */
fbp_status fbp_stack_hash(uint64_t *h, const char *path);

/** Record the states of all files of an array for fbp_file_states_check(). Stops at a missing file
 * with FBP_OK, because opening the source reports that file. */
fbp_status fbp_watch_array(struct fbp_file_states *watch, const char *array);

/* names.c: outputs compared with inputs */

/** Add names, sizes and times of all input files to the hash *h. */
fbp_status fbp_inputs_hash(uint64_t *h, const struct fbp_inputs *inputs);

/** Whether writing `file` would replace an input or one of its files. Existing files are compared
 *  by device and inode, others by name. */
fbp_status fbp_input_has(const char *input, const char *file, bool *is);

/** fbp_input_has(), or whether writing `file` would add a file to an input that is a folder or a
 *  pattern. */
fbp_status fbp_input_is(const char *input, const char *file, bool *is);

/** Append the names of all files that an array is read from. The array is opened for that; if
 * opening fails, only its name is appended. path NULL: nothing is appended. */
fbp_status fbp_inputs_add_array(struct fbp_inputs *inputs, const char *path,
                                const struct fbp_raw *raw);

/** Function that appends all files that are read, including files that other files refer to. */
typedef fbp_status fbp_all_inputs_fn(struct fbp_inputs *all, const void *user);

/** Whether writing an output of this name would replace input files, or be read as one of them.
 * Names are compared first; `add_all`, which opens arrays, is called only if files of the output
 * exist. True also if an error, with a message, prevents the check. */
bool fbp_inputs_hit(const struct fbp_inputs *named, fbp_all_inputs_fn *add_all, const void *user,
                    const char *output);

/** True if `file` is an input file of the array at the path `array`, or would become one, and must
 *  not be written; otherwise as fbp_scan_reads().  `array` may be any other input file, too. */
bool fbp_array_reads(const char *array, const char *file);

#endif /* FBP_SRC_ARRAY_NAMES_H */
