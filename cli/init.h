/** @file init.h  What lies in a folder, and the scan file that it suggests. */
#ifndef FBP_CLI_INIT_H
#define FBP_CLI_INIT_H

#include "cli.h"

/** Files of one name but for a number, or a single one. */
struct init_series {
    char *path;                 /**< of the first file */
    char *before;               /**< path up to the number */
    char *after;                /**< from there on; "" of a single file */
    int digits;                 /**< of the number with leading zeros; 0: none are put before it */
    size_t first, last;         /**< numbers; a single file: both 0 */
    size_t missing;             /**< files left out, behind a gap in the numbers */
    uint64_t bytes;             /**< of the first file */
    struct fbp_array_info info; /**< of all together; n[2] == 0: not an array that can be read */
    bool volume;                /**< in 1/mm or HU */
    char *why;                  /**< a file named as an array is that cannot be read: why; NULL */
};

enum init_role {
    INIT_PROJECTIONS,
    INIT_DARK,
    INIT_FLAT,
    INIT_BAD,
    INIT_ANGLES,
    INIT_VOLUME, /**< slices of a volume, which are not used */
    INIT_ROLES
};

/** All of a folder and of the folders in it. */
struct init_folder {
    const char *path;
    size_t n;
    struct init_series *series;
};

/** What is told, and what is 0 or NULL where it is not. */
struct init_known {
    const char *folder, *output;
    unsigned kind; /**< 0: not told; else 1 + enum fbp_kind */
    double pitch, sod, sdd, arc;
    bool force; /**< replace an older scan file */
    bool json, quiet;
};

/** Look at a folder; quiet: what is left out as it is no file is not said.  Returns 0 or an exit
 * status.  Free by init_clear(). */
int init_look(const char *path, bool quiet, struct init_folder *out);
void init_clear(struct init_folder *folder);

/** A look at a file did not succeed: says so if the file cannot be read. */
void init_failed(fbp_status st);

/** Did a look at a file, which may be anything, succeed?  Here, where analysers see what it means.
 */
static inline bool init_tried(fbp_status st)
{
    if (st != FBP_OK)
        init_failed(st);
    return st == FBP_OK;
}

/** False once memory was missing for a look: what was not found may be there. */
bool init_is_complete(void);

/** Say that a file or folder cannot be read, for the reason in errno. */
void init_unreadable(const char *path);

/** A file that may be a scan cannot be read, or names projections that cannot. */
void init_lost_scan(const char *path);

/** False after that: the scan that is looked for may be one of those.  own: one of this program's
 *  was found, and files of other programs do not matter. */
bool init_has_scans(bool own);

/** What a name suggests: a folder or file called flats, white_0001, df … */
enum init_role init_role_of(const char *path);

/** "path" of one file, or the pattern "before%04dafter first last"; free(). */
char *init_pattern(const struct init_series *series);

/** What is taken for what; NULL: nothing. */
struct init_found {
    const struct init_series *of[INIT_ROLES];
};

/** The largest array whose name says nothing else is the projections; others of its panel by their
 *  names. */
void init_assign(const struct init_folder *folder, struct init_found *out);

/** Is there something to guess?  0, or an exit status, which has been said. */
int init_check_need(const struct init_folder *folder, const struct init_found *found);

/** Is the file of a series a whole scan: one of this program, or of another? */
bool init_is_whole_scan(const struct init_series *s, const struct init_series *projections);

/** Say why there are no projections; returns 1. */
int init_no_projections(const struct init_folder *folder);

/** Say which arrays are not used. */
void init_say_rest(const struct init_folder *folder, const struct init_found *found, bool quiet);

/** Path below the folder. */
const char *init_inside(const struct init_folder *folder, const char *path);

/** Write the scan file that a folder suggests; returns an exit status. */
int init_write(const struct init_folder *folder, const struct init_known *known);

#endif /* FBP_CLI_INIT_H */
