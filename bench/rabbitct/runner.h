/** @file runner.h  The struct and the functions that RabbitCT's runners and modules share; module.c
 * implements the functions.
 *
 * The layout is that of the benchmark's interface on 64-bit systems (Rohkohl, Keck, Hofmann,
 * Hornegger, Med. Phys. 36, 2009), release 1.0.3.  Earlier runners hand over a shorter struct:
 * release 1.0 has the fields up to f_L, 1.0.1 and 1.0.2 those up to adv_pProjBuffers.  It does not
 * say which; only a runner of 1.0.3 calls RCTPrepareAlgorithm().
 */
#ifndef FBP_BENCH_RABBITCT_RUNNER_H
#define FBP_BENCH_RABBITCT_RUNNER_H

#include <stdbool.h>
#include <stddef.h>

#define RABBITCT_EXPORT __attribute__((visibility("default")))

struct rabbitct_data {
    unsigned L;        /**< voxels a side: 128, 256, 512, 1024 */
    unsigned S_x, S_y; /**< columns and rows of an image */
    double *A_n;       /**< matrix of this view, 3x4, column by column */
    float *I_n;        /**< its image [S_y][S_x] */
    float R_L, O_L;    /**< voxel size and coordinate of voxel 0, mm */
    float *f_L; /**< the volume [z][y][x]; NULL after RCTLoadAlgorithm(): the runner allocates it */
    /* since 1.0.1 */
    unsigned adv_numProjBuffers; /**< images that the runner keeps in memory at a time */
    float **adv_pProjBuffers; /**< pointers to the images; NULL after RCTLoadAlgorithm(): the runner
                                 allocates them */
    /* since 1.0.3 */
    unsigned adv_N, adv_projNumber;   /**< views, and which this one is */
    double **adv_ppProjMatrixBuffers; /**< all matrices */
    unsigned adv_numAvailProjs;       /**< images in memory now */
    unsigned adv_firstProjOfSubset;   /**< this view is the first of the images in memory */
};

_Static_assert(sizeof(struct rabbitct_data) == 88 && offsetof(struct rabbitct_data, A_n) == 16 &&
                   offsetof(struct rabbitct_data, R_L) == 32 &&
                   offsetof(struct rabbitct_data, f_L) == 40 &&
                   offsetof(struct rabbitct_data, adv_numProjBuffers) == 48 &&
                   offsetof(struct rabbitct_data, adv_N) == 64 &&
                   offsetof(struct rabbitct_data, adv_ppProjMatrixBuffers) == 72 &&
                   offsetof(struct rabbitct_data, adv_numAvailProjs) == 80,
               "the layout of the benchmark's interface");

/** Bytes of the struct in releases 1.0, 1.0.1 and 1.0.2, 1.0.3. */
enum { RABBITCT_BYTES_0 = 48, RABBITCT_BYTES_1 = 64, RABBITCT_BYTES_3 = 88 };

/** Timed apart, before RCTLoadAlgorithm(); matrices are there, images are not. */
RABBITCT_EXPORT bool RCTPrepareAlgorithm(struct rabbitct_data *data);
/** Not timed; may set f_L and adv_pProjBuffers. */
RABBITCT_EXPORT bool RCTLoadAlgorithm(struct rabbitct_data *data);
/** Timed, once a view. */
RABBITCT_EXPORT bool RCTAlgorithmBackprojection(struct rabbitct_data *data);
/** Not timed; f_L is complete afterwards. */
RABBITCT_EXPORT bool RCTFinishAlgorithm(struct rabbitct_data *data);
RABBITCT_EXPORT bool RCTUnloadAlgorithm(struct rabbitct_data *data);

typedef bool rabbitct_call(struct rabbitct_data *data);

#endif /* FBP_BENCH_RABBITCT_RUNNER_H */
