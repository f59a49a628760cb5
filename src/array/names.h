/** @file names.h  The files of a stack: a pattern with two numbers, or all of a folder (internal).
 */
#ifndef FBP_SRC_NAMES_H
#define FBP_SRC_NAMES_H

#include "array/file/pattern.h"
#include "array/numbered.h"

struct fbp_names {
    struct fbp_pattern pattern;
    char **list; /**< paths of a folder's files, or of some; NULL: the pattern */
    size_t n;
    struct fbp_numbering numbering; /**< of a folder */
    char note[300];                 /**< of a folder: what was taken */
};

/** A folder, or files of one as a shell names them, "views/p_*.tif", where no file is called so? */
bool fbp_names_is_folder(const char *path);

/**
 * The files of a pattern, which keeps `path`, or of a folder: those of the format that most of its
 * files have, in the order of numbered.h.  Hidden files and folders do not count.
 *
 * raw: a folder without any file of a known format is taken for one of headerless files.
 */
fbp_status fbp_names_open(struct fbp_names *out, const char *path, bool raw);
/** malloc'ed path of file k; NULL when out of memory. */
char *fbp_names_get(const struct fbp_names *names, size_t k);
void fbp_names_close(struct fbp_names *names);

#endif /* FBP_SRC_NAMES_H */
