/** @file sizes.h  Structs that cross the border of the library (internal).
 *
 * Each begins with `size_t struct_size`, which the caller sets to the size of the struct that it
 * was built with, of inputs and outputs alike.  A smaller one, of an older caller, is completed
 * with zeros; of a larger one, of a newer caller, everything that this library does not know must
 * be zero; of an output no more is written than the caller has room for.  Inside the library
 * structs are whole.
 */
#ifndef FBP_SRC_SIZES_H
#define FBP_SRC_SIZES_H

#include "base/private.h"
#include "base/status.h"

#include <stddef.h>

/** Bytes of a struct up to and with a field. */
#define FBP_BYTES_TO(type, field) (offsetof(type, field) + sizeof((*(type *)0).field))

/* The last field of each struct in the first release (parameters of a reconstruction: what was
 * there before it): a caller's struct is never smaller. */
#define FBP_FIRST_array_info           FBP_BYTES_TO(struct fbp_array_info, taken)
#define FBP_FIRST_centre               FBP_BYTES_TO(struct fbp_centre, uncertainty)
#define FBP_FIRST_circle               FBP_BYTES_TO(struct fbp_circle, skew_rad)
#define FBP_FIRST_comparison           FBP_BYTES_TO(struct fbp_comparison, mean_b)
#define FBP_FIRST_corrections          FBP_BYTES_TO(struct fbp_corrections, beam_hardening)
#define FBP_FIRST_curve                FBP_BYTES_TO(struct fbp_curve, best)
#define FBP_FIRST_device_info          FBP_BYTES_TO(struct fbp_device_info, driver)
#define FBP_FIRST_directions           FBP_BYTES_TO(struct fbp_directions, n)
#define FBP_FIRST_folder_known         FBP_BYTES_TO(struct fbp_folder_known, user)
#define FBP_FIRST_geometry_facts       FBP_BYTES_TO(struct fbp_geometry_facts, rise_error)
#define FBP_FIRST_geometry_format_info FBP_BYTES_TO(struct fbp_geometry_format_info, extensions)
#define FBP_FIRST_geometry_known       FBP_BYTES_TO(struct fbp_geometry_known, header_origin_mm)
#define FBP_FIRST_meridians            FBP_BYTES_TO(struct fbp_meridians, most)
#define FBP_FIRST_cluster              FBP_BYTES_TO(struct fbp_cluster, binds)
#define FBP_FIRST_part                 FBP_BYTES_TO(struct fbp_part, missing)
#define FBP_FIRST_picture_params       FBP_BYTES_TO(struct fbp_picture_params, shown)
#define FBP_FIRST_preparation          FBP_BYTES_TO(struct fbp_preparation, places)
#define FBP_FIRST_recon_params         FBP_BYTES_TO(struct fbp_recon_params, user)
#define FBP_FIRST_report               FBP_BYTES_TO(struct fbp_report, exposure)
#define FBP_FIRST_scan                 FBP_BYTES_TO(struct fbp_scan, n_assumed)
#define FBP_FIRST_scan_known           FBP_BYTES_TO(struct fbp_scan_known, pitch_mm)
#define FBP_FIRST_sheet_params         FBP_BYTES_TO(struct fbp_sheet_params, hi)
#define FBP_FIRST_simulate_params      FBP_BYTES_TO(struct fbp_simulate_params, at_centres)
#define FBP_FIRST_sink_functions       FBP_BYTES_TO(struct fbp_sink_functions, concurrent)
#define FBP_FIRST_source_functions     FBP_BYTES_TO(struct fbp_source_functions, concurrent)
#define FBP_FIRST_team_functions       FBP_BYTES_TO(struct fbp_team_functions, user)
#define FBP_FIRST_sink_params          FBP_BYTES_TO(struct fbp_sink_params, range)

/** A caller's struct, of which `least` bytes are needed, into `own` of n bytes. */
FBP_PRIVATE_API fbp_status fbp_take_struct(const char *name, void *own, size_t n,
                                           const void *theirs, size_t least);

/** Can a result be written to a caller's struct?  To be asked before anything is computed. */
fbp_status fbp_check_struct(const char *name, const void *theirs, size_t least);

/** `own` of n bytes into a caller's struct, which was checked. */
void fbp_give_struct(void *theirs, const void *own, size_t n);

/** The same for a struct fbp_WHAT, whose name in messages is that of its type. */
#define FBP_TAKE(what, own, theirs) \
    fbp_take_struct("fbp_" #what, own, sizeof(struct fbp_##what), theirs, FBP_FIRST_##what)
#define FBP_CHECK(what, theirs)     fbp_check_struct("fbp_" #what, theirs, FBP_FIRST_##what)
#define FBP_GIVE(what, theirs, own) fbp_give_struct(theirs, own, sizeof(struct fbp_##what))

/** Element i of a caller's list, whose first element says how large each of them is. */
static inline void *fbp_listed(void *first, size_t i)
{
    return (char *)first + i * *(const size_t *)first;
}

#endif /* FBP_SRC_SIZES_H */
