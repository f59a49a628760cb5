/** @file folder.h  fbp_folder_load() loads the scan in a folder: from its scan file or, if there is
 * none, by guesses from the names and contents of its files.  For programs and the Python binding;
 * `fbp recon FOLDER` requires a scan file.
 */
#ifndef FBP_FOLDER_H
#define FBP_FOLDER_H

#include "fbp/scan.h"

FBP_BEGIN

/** Facts about the scan in a folder that the caller knows; 0 or NULL: unknown. */
struct fbp_folder_known {
    size_t struct_size;
    size_t kind; /**< 1 + the type of the measured integrals (enum fbp_kind); 0: unknown */
    double pitch_mm, sod_mm, sdd_mm;
    double arc_deg; /**< angle that all views together cover [degrees]; 0: unknown */
    /** Folder in which `fbp init` stores the guessed scan file; paths in the scan file are relative
     * to this folder.  NULL: the current directory.  fbp_folder_load() ignores it. */
    const char *base;
    /** Function that receives a note for each guess and a warning for each unreadable file; NULL:
     * notes and warnings are omitted. */
    fbp_log_fn *log;
    void *user;
    double i0;      /**< intensity of the beam without an object; 0: unknown */
    bool sinograms; /**< true: projections are stored as sinograms (fbp_scan.sinograms) */
};

/**
 * Load the scan file in a folder or, if there is none, a guessed scan file, whose assumptions are
 * stored in out->assumed.  out->path is the path of the scan file, or FOLDER/scan.json for a guess.
 *
 * known  `base` is ignored; if there is a scan file, only pitch_mm, log and user are used; may be
 *        NULL
 * @return as fbp_scan_load(); FBP_ERR_INVALID also if the folder has several scan files, or neither
 *         a scan file nor projections.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_folder_load(struct fbp_scan *out, const char *folder,
                                                  const struct fbp_folder_known *known);

FBP_END

#endif /* FBP_FOLDER_H */
