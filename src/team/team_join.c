/* fbp_team_join(), a public function (fbp/team.h): finds out from environment variables whether a
 * launcher (mpirun, srun) has started this process with others, and connects the processes by the
 * module libfbp_mpi.so.
 * Used by: cli/team.c. */
#include "team/team.h"

#include "base/base.h"
#include "base/system.h"

#include <dlfcn.h>

static const char MODULE[] = "libfbp_mpi.so";

/* Rank r gives up after PATIENCE + r LATER [s] if not all ranks have started: the lowest rank gives
 * up first and reports the error, and its launcher then ends the other ranks. */
static const double PATIENCE = 300, LATER = 2;

/* Read a number from an environment variable, such as a number of processes; 0: not set. */
static size_t number_in(enum fbp_variable variable)
{
    const char *number = fbp_environment(variable);

    return number ? strtoul(number, NULL, 10) : 0;
}

fbp_status fbp_team_join(fbp_team **out)
{
    FBP_REQUIRE(out);
    const char *module = fbp_environment(FBP_ENV_TEAM_MODULE);
    const bool by_mpirun = fbp_environment(FBP_ENV_MPI_SIZE),
               by_pmix = fbp_environment(FBP_ENV_PMIX_RANK);
    /* Use Slurm's number of processes only if mpirun sets none: mpirun starts its daemons by srun,
     * which sets the number of daemons. */
    const size_t tasks = number_in(FBP_ENV_SLURM_TASKS);
    const size_t started = by_mpirun ? number_in(FBP_ENV_MPI_SIZE) : tasks;
    struct fbp_team_functions functions = {.struct_size = sizeof functions};

    fbp_message_clear();
    *out = NULL;
    if (module || (by_mpirun ? started > 1 : by_pmix && started != 1)) {
        void *handle = module ? dlopen(module, RTLD_NOW | RTLD_LOCAL) : fbp_open_plugin(MODULE);
        const size_t rank = number_in(FBP_ENV_PMIX_RANK);
        char why[400] = "";
        fbp_mpi_fn *entry;
        if (!handle && module)
            return FBP_UNSUPPORTED("FBP_TEAM_MODULE: %s; give the path of a module", dlerror());
        if (!handle)
            return FBP_UNSUPPORTED(
                "team: several processes were started together, but the module %s cannot be loaded "
                "(%s); install the package libfbp-mpi, or build fbp again after installing Open "
                "MPI "
                "(package libopenmpi-dev), or start one process",
                MODULE, dlerror());
        *(void **)&entry = dlsym(handle, "fbp_mpi_team"); /* POSIX allows this conversion */
        if (!entry)
            return FBP_UNSUPPORTED("%s belongs to another release of fbp; reinstall fbp",
                                   module ? module : MODULE);
        if (!entry(FBP_MPI_MODULE_VERSION, PATIENCE + LATER * (double)rank, fbp_stopped, &functions,
                   why, sizeof why))
            return fbp_fail(fbp_stopped() && rank > 0 ? FBP_ERR_CANCELLED : FBP_ERR_UNSUPPORTED,
                            "team: %s", why);
        if (functions.size > 1)
            return fbp_team_create(out, &functions);
        functions.close(functions.user, 0);
        if (module || started <= 1)
            return FBP_OK;
        /* Without a connection by MPI, each of the processes would compute the whole volume. */
        return FBP_UNSUPPORTED(
            "team: the launcher has started %zu processes, but MPI reports only one; use mpirun of "
            "the Open MPI with which %s was built, or srun --mpi=pmix; to run one process, unset "
            "OMPI_COMM_WORLD_SIZE, PMIX_RANK and SLURM_STEP_NUM_TASKS",
            started, MODULE);
    }
    if (by_mpirun || by_pmix)
        return FBP_OK;
    if (fbp_environment(FBP_ENV_PMI_RANK))
        return number_in(FBP_ENV_PMI_SIZE) == 1
                   ? FBP_OK
                   : FBP_UNSUPPORTED(
                         "team: this process was started by the launcher of another MPI "
                         "(PMI_RANK is set); use mpirun of Open MPI, or srun --mpi=pmix");
    if (tasks > 1)
        return FBP_UNSUPPORTED(
            "team: srun has started %zu processes without a connection between them; "
            "use srun --mpi=pmix, or give each its own part (--part), or start one; if "
            "each computes another volume, unset SLURM_STEP_NUM_TASKS",
            tasks);
    return FBP_OK;
}
