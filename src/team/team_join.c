/* Was this process started alone?  The launcher's variables say so. */
#include "team/mpi_module.h"
#include "team/team_parts.h"

#include "base/environment.h"
#include "base/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MODULE[] = "libfbp_mpi.so", SYMBOL[] = "fbp_mpi_team";

/* How long ranks wait for each other to start [s]: machines may be slow.  The first who gives up
 * speaks, and its launcher ends the others. */
static const double PATIENCE = 300, LATER = 2;

/* How many processes a launcher says that it has started, or which one this is; 0: it says nothing.
 */
static size_t told(enum fbp_variable variable)
{
    const char *number = fbp_environment(variable);

    return number ? strtoul(number, NULL, 10) : 0;
}

/* path  of a module that the environment names; NULL: the one for Open MPI */
static fbp_status load(struct fbp_team_functions *out, const char *path)
{
    void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : fbp_open_beside(MODULE);
    char why[400] = "";
    fbp_mpi_fn *entry;

    if (!handle && path)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "FBP_TEAM_MODULE: %s: give the path of a module",
                        dlerror());
    if (!handle)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "team: this process is one of several that were started together, and the "
                        "module %s cannot be loaded (%s): install it beside the library, with Open "
                        "MPI, or start one process",
                        MODULE, dlerror());
    *(void **)&entry = dlsym(handle, SYMBOL); /* as POSIX has it */
    if (!entry)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "%s is not the module of this program: reinstall",
                        path ? path : MODULE);
    const size_t rank = told(FBP_ENV_PMIX_RANK);
    const double patience = PATIENCE + LATER * (double)rank;
    if (!entry(FBP_MPI_MODULE_VERSION, patience, fbp_stopped, out, why, sizeof why))
        return fbp_fail(fbp_stopped() && rank > 0 ? FBP_ERR_CANCELLED : FBP_ERR_UNSUPPORTED,
                        "team: %s", why);
    return FBP_OK;
}

/* How many processes mpirun of Open MPI, or srun --mpi=pmix, has started; 0: it does not say. */
static size_t told_size(void)
{
    return told(fbp_environment(FBP_ENV_MPI_SIZE) ? FBP_ENV_MPI_SIZE : FBP_ENV_SLURM_TASKS);
}

/* Started by one of them, with others? */
static bool by_open_mpi(void)
{
    if (fbp_environment(FBP_ENV_MPI_SIZE))
        return told_size() > 1;
    return fbp_environment(FBP_ENV_PMIX_RANK) && told_size() != 1;
}

/* By who lets them not talk to each other?  Launchers start their daemons by srun, so that what
 * Slurm says counts last. */
static fbp_status by_others(void)
{
    const size_t tasks = told(FBP_ENV_SLURM_TASKS);

    if (fbp_environment(FBP_ENV_MPI_SIZE) || fbp_environment(FBP_ENV_PMIX_RANK))
        return FBP_OK;
    if (fbp_environment(FBP_ENV_PMI_RANK))
        return told(FBP_ENV_PMI_SIZE) == 1
                   ? FBP_OK
                   : fbp_fail(FBP_ERR_UNSUPPORTED,
                              "team: this process was started by another MPI's launcher (PMI_RANK "
                              "is set): use mpirun of Open MPI, or srun --mpi=pmix");
    if (tasks > 1)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "team: srun has started %zu processes that know nothing of each other: use "
                        "srun --mpi=pmix, or give each a part of its own (--part), or start one; "
                        "if each has another volume, unset SLURM_STEP_NUM_TASKS",
                        tasks);
    return FBP_OK;
}

/* Each of several that see none of the others would compute the whole volume. */
static fbp_status alone(void)
{
    if (told_size() <= 1)
        return FBP_OK;
    return fbp_fail(
        FBP_ERR_UNSUPPORTED,
        "team: the launcher has started %zu processes, and MPI knows this one only: use "
        "mpirun of the Open MPI that %s is built with, or srun --mpi=pmix; if one "
        "process is meant, unset OMPI_COMM_WORLD_SIZE, PMIX_RANK and "
        "SLURM_STEP_NUM_TASKS",
        told_size(), MODULE);
}

fbp_status fbp_team_join(fbp_team **out)
{
    FBP_GIVEN(out);
    const char *module = fbp_environment(FBP_ENV_TEAM_MODULE);
    struct fbp_team_functions functions = {.struct_size = sizeof functions};

    fbp_message_clear();
    *out = NULL;
    if (!module && !by_open_mpi())
        return by_others();
    FBP_TRY(load(&functions, module));
    if (functions.size > 1)
        return fbp_team_create(out, &functions);
    functions.close(functions.user, 0);
    return module ? FBP_OK : alone();
}
