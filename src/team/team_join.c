/* Was this process started alone?  The launcher's variables say so. */
#include "team/mpi_module.h"
#include "team/team_parts.h"

#include "base/beside.h"
#include "base/environment.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MODULE[] = "libfbp_mpi.so", SYMBOL[] = "fbp_mpi_team";

static fbp_status load(struct fbp_team_functions *out)
{
    void *handle = fbp_open_beside(MODULE);
    char why[400] = "";
    fbp_mpi_fn *entry;

    if (!handle)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "team: this process is one of several that were started together, and the "
                        "module %s cannot be loaded (%s): install it beside the library, with Open "
                        "MPI, or start one process",
                        MODULE, dlerror());
    *(void **)&entry = dlsym(handle, SYMBOL); /* as POSIX has it */
    if (!entry)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "%s is not the module of this program: reinstall",
                        MODULE);
    if (!entry(FBP_MPI_MODULE_VERSION, out, why, sizeof why))
        return fbp_fail(FBP_ERR_UNSUPPORTED, "team: %s", why);
    return FBP_OK;
}

/* Started by mpirun of Open MPI, or by srun --mpi=pmix, with others? */
static bool by_open_mpi(void)
{
    const char *size = fbp_environment(FBP_ENV_MPI_SIZE);

    return size ? strtoul(size, NULL, 10) > 1 : fbp_environment(FBP_ENV_PMIX_RANK) != NULL;
}

fbp_status fbp_team_join(fbp_team **out)
{
    const char *sockets = fbp_environment(FBP_ENV_TEAM);
    struct fbp_team_functions functions = {.struct_size = sizeof functions};

    fbp_message_clear();
    *out = NULL;
    if (sockets)
        FBP_TRY(team_sockets(&functions, sockets));
    else if (by_open_mpi())
        FBP_TRY(load(&functions));
    else if (fbp_environment(FBP_ENV_PMI_RANK))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "team: this process was started by another MPI's launcher (PMI_RANK is "
                        "set): use mpirun of Open MPI, or srun --mpi=pmix");
    else
        return FBP_OK;
    if (functions.size > 1)
        return fbp_team_create(out, &functions);
    functions.close(functions.user, 0);
    return FBP_OK;
}
