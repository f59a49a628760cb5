/** @file eprit.h  What a prj.mat of an EPR laboratory holds, for its reader and its writer
 * (internal).
 *
 * P [samples x delays x projections], B [samples], G [projections x 3].  Beside them, in files that
 * this program has written: the unit of B, and the volume that is wanted.
 */
#ifndef FBP_SRC_EPRIT_H
#define FBP_SRC_EPRIT_H

#define EPRIT_UNIT   "B_unit"
#define EPRIT_MHZ    "MHz"
#define EPRIT_SIZE   "volume_size"
#define EPRIT_VOXEL  "volume_voxel_mm"
#define EPRIT_CENTRE "volume_centre_mm"

#endif /* FBP_SRC_EPRIT_H */
