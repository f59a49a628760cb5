/** @file environment.h  Variables of the environment: the library reads these and no others
 * (internal).
 *
 * What each does stands in one table in environment.c, and for users in docs/recipes.md.
 */
#ifndef FBP_SRC_ENVIRONMENT_H
#define FBP_SRC_ENVIRONMENT_H

enum fbp_variable {
    FBP_ENV_KERNEL = 0,
    FBP_ENV_CPU,
    FBP_ENV_FFT,
    FBP_ENV_SHAPE,
    FBP_ENV_TUNE,
    FBP_ENV_GL_SHADERS,
    FBP_ENV_GL_BLOCK,
    FBP_ENV_GL_CONTEXTS,
    FBP_ENV_CUDA_HOME,
    FBP_ENV_CUDA_PATH,
    FBP_ENV_CACHE,
    FBP_ENV_HOME,
    FBP_ENV_HDF5_PREFIX,
    FBP_ENV_TEAM_MODULE,
    FBP_ENV_MPI_SIZE,
    FBP_ENV_PMIX_RANK,
    FBP_ENV_PMI_RANK,
    FBP_ENV_PMI_SIZE,
    FBP_ENV_SLURM_TASKS,
    FBP_ENV_RATES,
    FBP_ENV_STRIPE,
    FBP_ENV_CHUNK,
    FBP_N_VARIABLES
};

/** Its value now; NULL if it is not set. */
const char *fbp_environment(enum fbp_variable variable);

#endif /* FBP_SRC_ENVIRONMENT_H */
