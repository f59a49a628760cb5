/** @file report.h HTML page about one run of fbp recon (--report FILE.html): functions that begin,
 * write and end the page, also for a failed run. Implemented in report.c.
 * Used by: cmd_recon.c, report.c. */
#ifndef FBP_CLI_REPORT_H
#define FBP_CLI_REPORT_H

#include "page/page.h"
#include "recon.h"

/** State of the HTML page that --report requests, from the start of the command to its end. */
struct recon_report {
    int argc; /**< words of the command line after "fbp recon": argv[argc] */
    char **argv;
    char folder[4096];   /**< temporary folder for drawings, in the folder of the page; "": none */
    char timeline[4200]; /**< file of the timeline of the run (SVG) */
    double began;        /**< start of the command [s since 1970] */
    bool computed;       /**< the run has completed the volume */
    bool written;        /**< true: report_write() was called, with or without success */
};

/** Begin the page before anything is loaded: store the command line and later messages. */
void report_begin(struct recon_report *report, int argc, char **argv);
/** Before the plan is run, create the temporary folder, and set the file for the timeline of the
 * run: that of --timeline, else a temporary file. Returns 0, or 1 after an error was reported. */
int report_draws(struct recon_report *report, const struct recon_args *a, fbp_plan *plan);
/** Write the page a->report after a successful run. Returns 0, or 1 after an error was reported. */
int report_write(struct recon_report *report, const struct recon_args *a,
                 const struct fbp_scan *scan, const struct recon_result *result);
/** Write a page about a failed run to a->report, with the error, which was already reported.
 * Nothing is written after a signal, after report_write(), or if a->report may be an input file.
 * scan, plan: NULL if the run failed before they existed. */
void report_failed(struct recon_report *report, const struct recon_args *a,
                   const struct fbp_scan *scan, const struct fbp_plan_summary *plan);
/** Remove the temporary folder with the drawings of the page. */
void report_end(struct recon_report *report);

#endif /* FBP_CLI_REPORT_H */
