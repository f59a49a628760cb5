/** @file folder.h  Scans in folders: find the scan file of a folder, or guess one.
 */
#ifndef FBP_FOLDER_H
#define FBP_FOLDER_H

#include "fbp/scan.h"

FBP_BEGIN

/** Known facts about the scan in a folder; 0 or NULL: unknown. */
struct fbp_folder_known {
    size_t struct_size;
    size_t kind; /**< 1 + enum fbp_kind; 0: unknown */
    double pitch_mm, sod_mm, sdd_mm;
    double arc_deg; /**< angle that the views cover; 0: unknown */
    /** Folder in which the guessed scan file will be stored; its paths are relative to this folder.
     *  NULL: the current directory. */
    const char *base;
    /** Receives each guess as a note, and each unreadable file as a warning; NULL: none. */
    fbp_log_fn *log;
    void *user;
};

/**
 * Find the scan file in a folder or in a subfolder.  A scan file of fbp is preferred to a file of
 * another program.
 *
 * @param[out] path   path of the file, free with free(); NULL, with FBP_OK, if `folder` is not a
 *                    folder
 * @param      known  only `log` and `user` are used; may be NULL
 * @return FBP_ERR_INVALID: no scan file (the message lists the contents and a remedy), or several;
 *         FBP_ERR_IO, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_folder_scan(char **path, const char *folder,
                                                  const struct fbp_folder_known *known);

/**
 * Guess a scan file, as text, for a folder without one.  Projections are the largest array or
 * series of numbered files; darks, flats, bad pixels and angles are recognized by their names, a
 * geometry by its size.  The text has a comment before the key of each guess, and lists assumptions
 * in "assumed".
 *
 * @param[out] text  JSON, free with free()
 * @return FBP_ERR_INVALID: the folder has no projections, or already has a scan file; FBP_ERR_IO,
 *         FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_folder_guess(char **text, const char *folder,
                                                   const struct fbp_folder_known *known);

/**
 * Load the scan file in a folder or, if there is none, a guessed scan file, whose assumptions are
 * stored in out->assumed.  out->path is the path of the scan file, or FOLDER/scan.json for a guess.
 *
 * known  `base` is ignored; if there is a scan file, only pitch_mm, log and user are used; may be
 *        NULL
 * @return as fbp_folder_scan(), fbp_folder_guess() and fbp_scan_load().
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_folder_load(struct fbp_scan *out, const char *folder,
                                                  const struct fbp_folder_known *known);

FBP_END

#endif /* FBP_FOLDER_H */
