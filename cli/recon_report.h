/** @file recon_report.h  fbp recon --report: a page about one run. */
#ifndef FBP_CLI_RECON_REPORT_H
#define FBP_CLI_RECON_REPORT_H

#include "page/page.h"
#include "recon.h"

/** What a report needs from before the run. */
struct recon_report {
    char command[8192];  /**< as a shell takes it; longer ones end with "…" */
    char folder[4096];   /**< of drawings on their way, beside the report; "": none */
    char timeline[4200]; /**< where that is drawn */
    double began;        /**< seconds since 1970 */
    bool computed;       /**< the volume is complete */
    bool written;        /**< the page is, or it could not be */
};

/** Before anything is loaded, if there is to be a report: remember what is said. */
void report_begin(struct recon_report *report, int argc, char **argv);
/** The plan is made: its run draws a timeline, to a->timeline or for the report; 0, or 1: said. */
int report_draws(struct recon_report *report, const struct recon_args *a, fbp_plan *plan);
/** The run is done: write a->report; 0, or 1: said. */
int report_write(struct recon_report *report, const struct recon_args *a,
                 const struct fbp_scan *scan, const struct recon_result *result);
/** The run has failed, and why has been said: write a page that says so first, to a->report, unless
 * that may be an input.  scan, plan: NULL, or all that is known */
void report_failed(struct recon_report *report, const struct recon_args *a,
                   const struct fbp_scan *scan, const struct fbp_plan_summary *plan);
/** Remove what is left on its way. */
void report_end(struct recon_report *report);

/** Parts of the page: warnings, then notes; what was decided and why; the set-up; files that were
 * read; how to do it again.  result, plan: NULL where there is none */
void report_said(struct markup *m, const struct recon_result *result);
void report_chosen(struct markup *m, const struct recon_args *a,
                   const struct fbp_plan_summary *plan);
fbp_status report_geometry(struct markup *m, const struct recon_report *report,
                           const struct fbp_scan *scan, const struct fbp_plan_summary *plan);
void report_inputs(struct markup *m, const struct recon_args *a, const struct fbp_scan *scan);
void report_again(struct markup *m, const struct recon_report *report,
                  const struct fbp_plan_summary *plan);

#endif /* FBP_CLI_RECON_REPORT_H */
