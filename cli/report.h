/** @file report.h  fbp recon --report: an HTML page about one run. Called by cmd_recon.c. */
#ifndef FBP_CLI_REPORT_H
#define FBP_CLI_REPORT_H

#include "page/page.h"
#include "recon.h"

/** State of a report, from the start of the command to its end. */
struct recon_report {
    char command[8192];  /**< command line, quoted for a shell; cut with "…" if too long */
    char folder[4096];   /**< temporary folder of drawings, beside the report; "": none */
    char timeline[4200]; /**< file name of the timeline (SVG) */
    double began;        /**< start of the command [s since 1970] */
    bool computed;       /**< the volume is complete */
    bool written;        /**< report_write() was called, with or without success */
};

/** Begin a report before anything is loaded: store the command line, and from now on all notes and
 * warnings. */
void report_begin(struct recon_report *report, int argc, char **argv);
/** Request a timeline from the plan before its run, in a->timeline or a temporary file. Returns 0,
 * or 1 after an error was reported. */
int report_draws(struct recon_report *report, const struct recon_args *a, fbp_plan *plan);
/** Write a->report after a successful run. Returns 0, or 1 after an error was reported. */
int report_write(struct recon_report *report, const struct recon_args *a,
                 const struct fbp_scan *scan, const struct recon_result *result);
/** Write a page about a failed run to a->report; the error, already reported, is at its top. Writes
 * nothing after a signal, after report_write(), or if a->report may be an input file.
 * scan, plan: NULL if the run failed before they existed */
void report_failed(struct recon_report *report, const struct recon_args *a,
                   const struct fbp_scan *scan, const struct fbp_plan_summary *plan);
/** Remove the temporary folder. */
void report_end(struct recon_report *report);

#endif /* FBP_CLI_REPORT_H */
