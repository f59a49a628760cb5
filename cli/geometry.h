/** @file geometry.h  Input of the sub-commands `fbp geometry show`, `check` and `convert`: options
 * and loading of a scan or geometry file.  Implemented in geometry_from.c. */
#ifndef FBP_CLI_GEOMETRY_H
#define FBP_CLI_GEOMETRY_H

#include "adjust.h"
#include "choices.h"

/** Path of the input, and the options that complete or correct its contents. */
struct geometry_from {
    const char *path, *format, *origin;
    size_t detector[2];
    double pitch[2];
    bool flip_u, flip_v, reverse;
    double adjust[FBP_ADJUSTS]; /**< corrections (adjust.h); NaN: the file's value */
};

/** Initial value of a struct geometry_from. */
#define GEOMETRY_FROM         \
    {                         \
        .adjust = ADJUST_NONE \
    }

// clang-format off
/** Option table rows for the member `from` of struct S. */
#define GEOMETRY_FROM_OPTIONS(S)                                                                  \
    OPT(S, from.path, .name = "from", .positional = true, .required = true,                       \
        .help = "a scan, or a geometry file"),                                                    \
    OPT(S, from.format, .name = "from-format", .arg = "NAME", .list = choices_geometry_read,      \
        .fallback = "by content, then by name", .help = "format to read"),                        \
    OPT(S, from.detector, .name = "detector", .arg = "UxV", .min = 1, .max = FBP_SIDE_MAX,        \
        .help = "columns x rows of the detector, if the file does not contain them"),             \
    OPT(S, from.pitch, .name = "pitch", .arg = "MM|U,V", .min = FBP_PITCH_MM_MIN, .max = FBP_PITCH_MM_MAX, \
        .help = "distance between detector pixels [mm], if the file does not contain it"),        \
    OPT(S, from.origin, .name = "matrix-origin", .arg = "center|corner", .fallback = "center",    \
        .help = "if 3x4 matrices are read: is (0, 0) the centre or the corner of the first "      \
                "pixel?"),                                                                        \
    OPT(S, from.flip_u, .name = "flip-u", .help = "reverse the order of the detector columns"),   \
    OPT(S, from.flip_v, .name = "flip-v", .help = "reverse the order of the detector rows"),      \
    OPT(S, from.reverse, .name = "reverse", .help = "reverse the direction of rotation"),         \
    ADJUST_OPTIONS(S, from.adjust, "COLUMN", "")
// clang-format on

/** Check the options.  @return OPT_GO_ON, or OPT_USAGE after an error message. */
int geometry_check_usage(const struct command *self, const struct geometry_from *from);

/** Load the file (or the only scan in a folder), flip and adjust its geometry, and print warnings
 *  about guessed facts.  @return 0, or 1 after an error message. */
int geometry_load(const struct geometry_from *from, struct fbp_scan *scan, bool quiet);

#endif /* FBP_CLI_GEOMETRY_H */
