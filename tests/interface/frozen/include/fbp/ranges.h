/** @file ranges.h  What numbers may be, ends included, whichever way they come in: scan files,
 * files of other programs, options, structs.  Wide enough for any apparatus, in any unit that is
 * taken for mm; beyond them a number is a slip of the pen or damage, and what is computed from it
 * overflows, or has no end.
 */
#ifndef FBP_RANGES_H
#define FBP_RANGES_H

/** Pitch of pixels, sides of voxels [mm]. */
#define FBP_PITCH_MM_MIN 1e-9
#define FBP_PITCH_MM_MAX 1e6
/** Source to axis, source to detector [mm]. */
#define FBP_DISTANCE_MM_MIN 1e-6
#define FBP_DISTANCE_MM_MAX 1e12
/** Size of any coordinate, offset or centre, of either sign [mm]. */
#define FBP_PLACE_MM_MAX 1e12
/** Size of an angle, or a step of angles, of either sign [degrees]: turns may add up. */
#define FBP_ANGLE_DEG_MAX 1e9
/** Size of a panel's turn and of its skew, of either sign, not reached [degrees]. */
#define FBP_TURN_DEG_MAX 90.
#define FBP_SKEW_DEG_MAX 45.
/** Columns or rows of a panel, voxels along a side. */
#define FBP_SIDE_MAX 1e9
/** Views of a scan. */
#define FBP_VIEWS_MAX 1e7
/** Samples of all views together, voxels of a volume. */
#define FBP_SAMPLES_MAX 4e15
/** Bytes: of a limit of memory, before the samples of a headerless file. */
#define FBP_BYTES_MAX 9e15
/** Intensity without an object. */
#define FBP_I0_MIN 1e-30
#define FBP_I0_MAX 1e30
/** Depth of the iso-centre in a matrix of filtered views. */
#define FBP_DEPTH_MIN 1e-30
#define FBP_DEPTH_MAX 1e30
/** Attenuation of water [1/mm]. */
#define FBP_MU_MIN 1e-9
#define FBP_MU_MAX 1e9
/** Size of a value of a volume, of either sign: windows, ranges of output. */
#define FBP_VALUE_MAX 1e30
/** Factor of densities, of either sign. */
#define FBP_SCALE_MAX 1e12
/** Photons without an object, of simulated noise. */
#define FBP_NOISE_MIN   1.
#define FBP_NOISE_MAX   1e15
#define FBP_THREADS_MAX 4096.
/** Time to wait [s]. */
#define FBP_SECONDS_MAX 1e9

#endif /* FBP_RANGES_H */
