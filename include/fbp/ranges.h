/** @file ranges.h  Valid ranges of numbers in scan files, files of other programs, options and
 * structs.  The ends are valid, unless a comment states otherwise.  base/base.h includes it for all
 * folders of src.
 *
 * The ranges are wide enough for every apparatus, also if its unit is not mm.  A number out of
 * range is a typing error or a sign of a damaged file; computing with it would overflow, or take
 * very long.
 */
#ifndef FBP_RANGES_H
#define FBP_RANGES_H

/** Pitch of pixels, side of a voxel [mm]. */
#define FBP_PITCH_MM_MIN 1e-9
#define FBP_PITCH_MM_MAX 1e6
/** Distance from source to axis, or from source to detector [mm]. */
#define FBP_DISTANCE_MM_MIN 1e-6
#define FBP_DISTANCE_MM_MAX 1e12
/** Greatest magnitude of a coordinate, offset or centre [mm]. */
#define FBP_PLACE_MM_MAX 1e12
/** Greatest angle, or step between angles, in magnitude [degrees]; several turns are valid. */
#define FBP_ANGLE_DEG_MAX 1e9
/** Limits of the magnitude of a panel's rotation and of its skew [degrees]; the limit itself is not
 * valid. */
#define FBP_TURN_DEG_MAX 90.
#define FBP_SKEW_DEG_MAX 45.
/** Greatest number of columns or rows of a panel, or of voxels along one side of a volume. */
#define FBP_SIDE_MAX 1e9
/** Greatest number of views of a scan. */
#define FBP_VIEWS_MAX 1e7
/** Greatest number of samples of all views together, or of voxels of a volume. */
#define FBP_SAMPLES_MAX 4e15
/** Greatest memory limit, and greatest number of bytes before the samples of a raw file. */
#define FBP_BYTES_MAX 9e15
/** Intensity without an object. */
#define FBP_I0_MIN 1e-30
#define FBP_I0_MAX 1e30
/** Depth w of the iso-centre, by the third row of the 3x4 matrix, in a view that is stored already
 * filtered. */
#define FBP_DEPTH_MIN 1e-30
#define FBP_DEPTH_MAX 1e30
/** Attenuation of water [1/mm]. */
#define FBP_MU_MIN 1e-9
#define FBP_MU_MAX 1e9
/** Greatest magnitude of an end of an output range or grey window, and of a fill value. */
#define FBP_VALUE_MAX 1e30
/** Greatest magnitude of a factor of densities. */
#define FBP_SCALE_MAX 1e12
/** Simulated noise: number of photons per pixel without an object. */
#define FBP_NOISE_MIN 1.
#define FBP_NOISE_MAX 1e15
/** Simulated noise: greatest standard deviation, in the unit of the projections. */
#define FBP_NOISE_SD_MAX 1e12
/** Gradient of an EPR image [G/cm]. */
#define FBP_GRADIENT_MIN 1e-6
#define FBP_GRADIENT_MAX 1e6
/** Decay constant of a simulated signal [time points]. */
#define FBP_DECAY_MIN 1e-3
#define FBP_DECAY_MAX 1e9
/** Greatest number of threads. */
#define FBP_THREADS_MAX 4096.
/** Greatest waiting time [s]. */
#define FBP_SECONDS_MAX 1e9

#endif /* FBP_RANGES_H */
