/** @file folder_files.h  What lies in a folder, and the scan file that it suggests (internal). */
#ifndef FBP_SRC_FOLDER_FILES_H
#define FBP_SRC_FOLDER_FILES_H

#include "fbp/folder.h"

#include "array/numbered.h"
#include "base/base.h"

/** Files of one name but for a number, or a single one. */
struct fbp_init_series {
    char *path;                 /**< of the first file */
    char *before;               /**< path up to the number */
    char *after;                /**< from there on; "" of a single file */
    int digits;                 /**< of the number with leading zeros; 0: none are put before it */
    size_t first, last;         /**< numbers; a single file: both 0 */
    size_t missing;             /**< files left out, behind a gap in the numbers */
    char *glob;                 /**< name of all files, "p_[0-9]*.tif"; NULL: as above */
    struct fbp_numbering order; /**< of these */
    uint64_t bytes;             /**< of the first file */
    struct fbp_array_info info; /**< of all together; n[2] == 0: not an array that can be read */
    bool volume;                /**< in 1/mm or HU */
    char *why;                  /**< a file named as an array is that cannot be read: why; NULL */
};

enum fbp_init_role {
    FBP_INIT_PROJECTIONS,
    FBP_INIT_DARK,
    FBP_INIT_FLAT,
    FBP_INIT_BAD,
    FBP_INIT_ANGLES,
    FBP_INIT_VOLUME, /**< slices of a volume, which are not used */
    FBP_INIT_ROLES
};

/** All of a folder and of the folders in it. */
struct fbp_init_folder {
    const char *path;
    size_t n;
    struct fbp_init_series *series;
};

/** What a look at a folder did not get to see, and who is told of it. */
struct fbp_init_state {
    fbp_log_fn *log;
    void *user;
    bool lost_own, lost_foreign, lost_memory;
    char unread[1200]; /**< of the first file that cannot be opened: why; else "" */
};

/** From now on it is that of this thread; returns the one before. */
struct fbp_init_state *fbp_init_begin(struct fbp_init_state *next);
/** A line for people. */
void fbp_init_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void fbp_init_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** Does a name end as those of arrays that are written, or of geometries of other programs? */
bool fbp_init_is_array(const char *path);
bool fbp_init_is_geometry(const char *path);

/** Look at a folder.  Free by fbp_init_clear(). */
fbp_status fbp_init_look(const char *path, struct fbp_init_folder *out);
void fbp_init_clear(struct fbp_init_folder *folder);

/** A look at a file did not succeed: says so if the file cannot be read. */
void fbp_init_failed(fbp_status st);

/** Did a look at a file, which may be anything, succeed?  Here, where analysers see what it means.
 */
static inline bool fbp_init_tried(fbp_status st)
{
    if (st != FBP_OK)
        fbp_init_failed(st);
    return st == FBP_OK;
}

/** FBP_ERR_IO if a file or folder could not be opened. */
fbp_status fbp_init_check_read(void);

/** False once memory was missing for a look: what was not found may be there. */
bool fbp_init_is_complete(void);

/** Say that a file or folder cannot be read, for the reason in errno. */
void fbp_init_unreadable(const char *path);

/** A file that may be a scan cannot be read, or names projections that cannot. */
void fbp_init_lost_scan(const char *path);

/** False after that: the scan that is looked for may be one of those.  own: one of this program's
 *  was found, and files of other programs do not matter. */
bool fbp_init_has_scans(bool own);

/** What a name suggests: a folder or file called flats, white_0001, df … */
enum fbp_init_role fbp_init_role_of(const char *path);

/** "path" of one file, the pattern "before%04dafter first last", or the glob; free(). */
char *fbp_init_pattern(const struct fbp_init_series *series);

/** What is taken for what; NULL: nothing. */
struct fbp_init_found {
    const struct fbp_init_series *of[FBP_INIT_ROLES];
};

/** The largest array whose name says nothing else is the projections; others of its panel by their
 *  names. */
void fbp_init_assign(const struct fbp_init_folder *folder, struct fbp_init_found *out);

/** Is there something to guess? */
fbp_status fbp_init_check_need(const struct fbp_init_folder *folder,
                               const struct fbp_init_found *found);

/** Is the file of a series a whole scan: one of this program, or of another? */
bool fbp_init_is_whole_scan(const struct fbp_init_series *s,
                            const struct fbp_init_series *projections);

/** Why there are no projections: a failure. */
fbp_status fbp_init_no_projections(const struct fbp_init_folder *folder);

/** Say which arrays are not used. */
void fbp_init_say_rest(const struct fbp_init_folder *folder, const struct fbp_init_found *found);

/** Path below the folder. */
const char *fbp_init_inside(const struct fbp_init_folder *folder, const char *path);

#endif /* FBP_SRC_FOLDER_FILES_H */
