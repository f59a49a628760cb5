/* The --report page of a run that failed: the error, and what was known before. Called by
 * cmd_recon.c. */
#include "recon_report.h"

#include "say.h"
#include "signals.h"

#include "array/file/outfile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Is there no file, or an older page of fbp, which may be replaced? */
static bool is_free(const char *path)
{
    static const char mark[] = "<meta name=\"generator\" content=\"fbp ";
    char head[4096] = "";
    struct stat info;

    if (stat(path, &info) != 0)
        return true;
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(head, 1, sizeof head - 1, f) : 0;
    if (f)
        (void)fclose(f);
    head[n] = '\0';
    return strstr(head, mark) != NULL;
}

static void put_failure(struct markup *m, const struct recon_report *report)
{
    markup_put(m, "<section aria-label=\"Failure\">\n<h2>This run failed</h2>\n"
                  "<p class=\"problem\" role=\"alert\">");
    markup_escaped(m, say_first_error());
    markup_printf(m, "</p>\n<p class=\"facts\">%s</p>\n</section>\n",
                  report->computed ? "The volume was already complete, and has been kept."
                                   : "This run wrote no volume.");
}

/* Add the sections for which data exist. Further errors are ignored. */
static void put_known(struct markup *m, const struct recon_report *report,
                      const struct recon_args *a, const struct fbp_scan *scan,
                      const struct fbp_plan_summary *plan)
{
    struct markup drawing = {0};

    if (plan)
        report_chosen(m, a, plan);
    else
        markup_put(m, "<p class=\"facts\">The run failed before any settings were chosen.</p>\n");
    if (plan && *report->folder && report_geometry(&drawing, report, scan, plan) == FBP_OK &&
        drawing.bytes)
        markup_add(m, drawing.bytes, drawing.n);
    markup_clear(&drawing);
    if (scan)
        report_inputs(m, a, scan);
    report_again(m, report, plan);
}

void report_failed(struct recon_report *report, const struct recon_args *a,
                   const struct fbp_scan *scan, const struct fbp_plan_summary *plan)
{
    char title[600];
    struct page page = {.title = title};
    struct markup text = {0};

    if (report->written || signals_status() != 0 || (!a->loaded && !is_free(a->report)))
        return;
    snprintf(title, sizeof title, "Failed: reconstruction of %.500s", a->scan);
    put_failure(&page.before, report);
    report_said(&page.before, NULL);
    put_known(&page.after, report, a, scan, plan);
    page_put(&text, &page);
    page_clear(&page);
    const bool saved = !text.failed && fbp_text_save(a->report, text.bytes, true) == FBP_OK;
    (void)saved; /* the error of the run was already reported */
    markup_clear(&text);
}
