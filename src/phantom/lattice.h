/** @file lattice.h  Where lines pierce a voxel (internal). */
#ifndef FBP_SRC_LATTICE_H
#define FBP_SRC_LATTICE_H

/* A row of voxels is pierced by N_LINES lines along x.  They stand on a Fibonacci lattice, which
 * resolves surfaces facing y or z to 1/89 of a voxel where a square grid as large has 1/9. */
enum { N_LINES = 89, LATTICE_STEP = 55, LATTICE_SHIFT = 27 }; /* the shift: point symmetry */

/** Place of line i in a voxel along y, -.5 to .5. */
static inline double fbp_lattice_y(int i)
{
    return (i + .5) / N_LINES - .5;
}

/** Place of line i in a voxel along z, -.5 to .5. */
static inline double fbp_lattice_z(int i)
{
    return fbp_lattice_y((i * LATTICE_STEP + LATTICE_SHIFT) % N_LINES);
}

#endif /* FBP_SRC_LATTICE_H */
