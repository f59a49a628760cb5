/*
 * first: the volume of scan.json, as volume.mha.
 *
 *     cc first.c $(pkg-config --cflags --libs fbp) -o first
 *     fbp simulate --size 64 --views 90 -o scan.json && ./first
 */
#include <fbp/fbp.h>

#include <stdio.h>

int main(void)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct fbp_report report = {.struct_size = sizeof report};
    fbp_plan *plan = NULL;

    fbp_status status = fbp_scan_load(&scan, "scan.json", NULL);
    if (status == FBP_OK)
        status = fbp_plan_create(&plan, &scan, fbp_recon_params(.filter = FBP_FILTER_HANN));
    if (status == FBP_OK)
        status = fbp_plan_run(plan, "volume.mha", &report);
    if (status == FBP_OK)
        printf("values from %g to %g in %.2f s\n", report.min, report.max, report.total);
    else
        fprintf(stderr, "%s\n", fbp_message());
    fbp_plan_destroy(&plan);
    fbp_scan_clear(&scan);
    return status != FBP_OK;
}
