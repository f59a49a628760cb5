/** @file imagej.h  ImageJ's description of a TIFF stack: lines "key=value" behind "ImageJ=…"
 * (internal).
 *
 * The format that ImageJ's FileSaver writes and tifffile, Bio-Formats and napari read.  Lengths are
 * in the description's unit; XResolution and YResolution count pixels in one of them, whatever
 * ResolutionUnit says.
 */
#ifndef FBP_SRC_IMAGEJ_H
#define FBP_SRC_IMAGEJ_H

#include "array/file/format.h"

/**
 * malloc'ed description of a volume: images, slices, unit, spacing, origin (in voxels), what
 * integers stand for, and, as "fbp=…", the line of array/file/describe.h, which other programs
 * ignore. NULL when out of memory.
 */
char *fbp_imagej_describe(const struct fbp_array_info *info);

/** Is text[n] such a description, of whichever program? */
bool fbp_imagej_is(const char *text, size_t n);

/** Slices that it tells of; 1 if it tells nothing. */
size_t fbp_imagej_slices(const char *text, size_t n);

/**
 * Fill in what the description tells of *info, whose n and type are known: all of its line "fbp=…",
 * else place, scale and unit by ImageJ's own keys.
 *
 * per_unit: XResolution and YResolution; 0: none
 * is_one: is it one?
 * @return FBP_ERR_NOMEM
 */
fbp_status fbp_imagej_described(const char *text, size_t n, const double per_unit[2],
                                struct fbp_array_info *info, bool *is_one);

#endif /* FBP_SRC_IMAGEJ_H */
