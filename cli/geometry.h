/** @file geometry.h Options --centre, --offset, --tilt, --sod, --sdd, --flip-u, --flip-v and
 * --reverse, which correct the geometry of a scan (commands recon, plan and geometry), and the
 * input of the commands `fbp geometry show`, `check` and `convert`. Implemented in geometry.c.
 * Used by: cmd_calibrate.c, cmd_geometry.c, geometry.c, recon.h. */
#ifndef FBP_CLI_GEOMETRY_H
#define FBP_CLI_GEOMETRY_H

#include "choices.h"
#include "cli.h"

#include "fbp/scan.h"

#include <math.h>

/** Initial values of geometry options, indexed by enum fbp_adjust; NaN: the option is not given. */
// clang-format off
#define ADJUST_NONE {NAN, NAN, NAN, NAN, NAN}
/** Rows of an option table: --centre, --offset, --tilt, --sod and --sdd, in the member f of struct
 * S, a double[FBP_ADJUSTS]. centre_arg: metavariable of --centre; more: end of its help. */
#define ADJUST_OPTIONS(S, f, centre_arg, more) \
    OPT(S, f[FBP_ADJUST_CENTRE], .name = "centre", .arg = centre_arg, .min = -FBP_SIDE_MAX, .max = FBP_SIDE_MAX, \
        .fallback = "from the scan file", \
        .help = "detector column of the rotation axis; the first column is 0" more), \
    OPT(S, f[FBP_ADJUST_OFFSET], .name = "offset", .arg = "MM", .min = -FBP_PLACE_MM_MAX, .max = FBP_PLACE_MM_MAX, \
        .fallback = "from the scan file", \
        .help = "shift of the detector's centre along its rows; another way to give --centre"), \
    OPT(S, f[FBP_ADJUST_TILT], .name = "tilt", .arg = "DEG", .min = -FBP_TURN_DEG_MAX, .max = FBP_TURN_DEG_MAX, \
        .fallback = "0", .help = "rotate the detector about its normal, in addition to the scan's angle"), \
    OPT(S, f[FBP_ADJUST_SOD], .name = "sod", .arg = "MM", .min = FBP_DISTANCE_MM_MIN, .max = FBP_DISTANCE_MM_MAX, \
        .fallback = "from the scan file", \
        .help = "distance from source to rotation axis; --sdd stays as it is"), \
    OPT(S, f[FBP_ADJUST_SDD], .name = "sdd", .arg = "MM", .min = FBP_DISTANCE_MM_MIN, .max = FBP_DISTANCE_MM_MAX, \
        .fallback = "from the scan file", .help = "distance from source to detector")
// clang-format on

/** Check that --centre and --offset are not both given.  @return OPT_GO_ON, or OPT_USAGE after an
 *  error message. */
int adjust_check(const struct command *self, const double values[FBP_ADJUSTS]);

/** Check that the value of the geometry option `which` is possible for the kind and the panel of a
 * scan. what: first words of the error message. @return 0, or 1 after an error message. */
int adjust_check_value(const char *what, const struct fbp_scan *scan, enum fbp_adjust which,
                       double value);

/** Remove values that options give from the scan's guessed facts (fbp_scan_confirm()). */
void adjust_confirm(struct fbp_scan *scan, const double values[FBP_ADJUSTS]);

/** Check all given geometry options (values other than NaN), and apply them to the scan. @return 0,
 * or 1 after an error message. */
int adjust_scan(struct fbp_scan *scan, const double values[FBP_ADJUSTS]);

/** Apply --flip-u (reverse the order of the columns), --flip-v (rows) and --reverse (direction of
 * rotation) to a scan. @return 0, or 1 after an error message. */
int adjust_flip(struct fbp_scan *scan, bool u, bool v, bool reverse);

/** Input of a command `fbp geometry …`: path, and options that complete or correct it. */
struct geometry_from {
    const char *path, *format, *origin;
    size_t detector[2];
    double pitch[2];
    bool flip_u, flip_v, reverse;
    double adjust[FBP_ADJUSTS]; /**< --centre, --offset, --tilt, --sod, --sdd; NaN: those of the
                                   file */
};

#define GEOMETRY_FROM         \
    {                         \
        .adjust = ADJUST_NONE \
    }

// clang-format off
/** Rows of an option table: the input of a command `fbp geometry …`, stored in the member `from`
 * (struct geometry_from) of struct S. */
#define GEOMETRY_FROM_OPTIONS(S) \
    OPT(S, from.path, .name = "from", .positional = true, .required = true, \
        .help = "a scan file, or a geometry file of another program"), \
    OPT(S, from.format, .name = "from-format", .arg = "NAME", .list = choices_geometry_read, \
        .fallback = "by content, then by name", .help = "format to read"), \
    OPT(S, from.detector, .name = "detector", .arg = "UxV", .min = 1, .max = FBP_SIDE_MAX, \
        .help = "columns x rows of the detector, if the file does not contain them"), \
    OPT(S, from.pitch, .name = "pitch", .arg = "MM|U,V", .min = FBP_PITCH_MM_MIN, .max = FBP_PITCH_MM_MAX, \
        .help = "distance between detector pixels [mm], if the file does not contain it"), \
    OPT(S, from.origin, .name = "matrix-origin", .arg = "center|corner", .fallback = "center", \
        .help = "for 3x4 matrices: the point (0, 0) is the centre, or the corner, of the first pixel"), \
    OPT(S, from.flip_u, .name = "flip-u", .help = "reverse the order of the detector columns"), \
    OPT(S, from.flip_v, .name = "flip-v", .help = "reverse the order of the detector rows"), \
    OPT(S, from.reverse, .name = "reverse", .help = "reverse the direction of rotation"), \
    ADJUST_OPTIONS(S, from.adjust, "COLUMN", "")
// clang-format on

/** Check that --matrix-origin is center or corner, and that --centre and --offset are not both
 * given. @return OPT_GO_ON, or OPT_USAGE after an error message. */
int geometry_check_usage(const struct command *self, const struct geometry_from *from);

/** Load the input of a command `fbp geometry …` (a file, or the only scan file in a folder), apply
 * flips and geometry options, and print warnings about guessed facts. @return 0, or 1 after an
 * error message. */
int geometry_load(const struct geometry_from *from, struct fbp_scan *scan, bool quiet);

/** Write a scan file, with angles and distances if these describe the views, else with a table of
 * views. @return 0, or 1 after an error message. */
int geometry_save(const struct fbp_scan *scan, const char *path);

#endif /* FBP_CLI_GEOMETRY_H */
