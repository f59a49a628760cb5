/* Sections of the --report page: input files, and what is needed to repeat the run (command,
 * program, system, devices). Called by recon_report.c and report_failed.c. */
#include "recon_report.h"

#include "commit.h"
#include "fbp/version.h"

#include "base/text.h"
#include "geometry/kind.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void put_time(char *buf, size_t n, time_t t)
{
    struct tm utc;

    if (!gmtime_r(&t, &utc) || strftime(buf, n, "%Y-%m-%d %H:%M:%S UTC", &utc) == 0)
        snprintf(buf, n, "?");
}

/* stat() of a file, also of the file in "FILE:DATA SET"; false: a pattern or a missing file. */
static bool add_run(const char *path, struct stat *out)
{
    char file[4096];
    size_t n = strlen(path);

    if (stat(path, out) == 0)
        return true;
    while (n > 0 && n < sizeof file) {
        while (n > 0 && path[n - 1] != ':')
            n--;
        if (n == 0)
            return false;
        memcpy(file, path, --n);
        file[n] = '\0';
        if (stat(file, out) == 0)
            return true;
    }
    return false;
}

static void put_input(struct markup *m, const char *role, const char *path)
{
    struct stat info;
    char size[24], when[40];

    if (!path)
        return;
    markup_printf(m, "<tr><th scope=\"row\">%s</th><td>", role);
    markup_escaped(m, path);
    markup_put(m, "</td><td>");
    if (!add_run(path, &info))
        markup_put(m, "several files");
    else if (S_ISDIR(info.st_mode))
        markup_put(m, "a folder");
    else {
        put_time(when, sizeof when, info.st_mtime);
        markup_printf(m, "%s, of %s", fbp_bytes_text(size, sizeof size, (uint64_t)info.st_size),
                      when);
    }
    markup_put(m, "</td></tr>\n");
}

void report_inputs(struct markup *m, const struct recon_args *a, const struct fbp_scan *scan)
{
    struct stat info;

    markup_put(m, "<section aria-label=\"Inputs\">\n<h2>Files that were read</h2>\n<table "
                  "class=\"card\"><tbody>\n");
    put_input(m, "scan", a->scan);
    for (size_t i = 0; i < scan->n_files; i++)
        put_input(m, "geometry", scan->files[i]);
    put_input(m, "projections", scan->projections);
    put_input(m, "dark", scan->dark);
    put_input(m, "flat", scan->flat);
    put_input(m, "bad pixels", scan->bad_pixels);
    put_input(m, "reference", scan->reference);
    put_input(m, "profile", scan->preparation ? scan->preparation->profile : NULL);
    if (a->p.region.shape && stat(a->p.region.shape, &info) == 0)
        put_input(m, "region", a->p.region.shape);
    put_input(m, "response", a->p.epr.response);
    markup_put(m, "</tbody></table>\n");
    markup_printf(m, "<p class=\"facts\">%s beam: %zu views of %zu x %zu pixels",
                  fbp_kind_name(scan->kind), scan->n_views, scan->panel.n_columns,
                  scan->panel.n_rows);
    if (scan->every > 1 || scan->bin > 1)
        markup_printf(m, ", from %zu of %zu x %zu", scan->stored_views, scan->stored.n_columns,
                      scan->stored.n_rows);
    markup_put(m, ".</p>\n</section>\n");
}

static void put_device(struct markup *m, const char *name, const char *text, const char *driver)
{
    markup_put(m, "<tr><th scope=\"row\">device</th><td>");
    markup_say(m, "%s: %s%s%s", name, text, *driver ? ", driver " : "", driver);
    markup_put(m, "</td></tr>\n");
}

/* The name of the processor, from /proc/cpuinfo. */
static void put_processor(struct markup *m, const char *name)
{
    static const char key[] = "model name";
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[300] = "";

    while (f && fgets(line, sizeof line, f) && strncmp(line, key, strlen(key)) != 0)
        line[0] = '\0';
    if (f)
        (void)fclose(f);
    line[strcspn(line, "\n")] = '\0';
    const char *colon = strchr(line, ':');
    if (colon)
        put_device(m, name, colon + 1 + strspn(colon + 1, " "), "");
}

/* The devices that computed. fbp_devices() starts all drivers, so it is called only after a run on
 * a GPU. */
static void put_devices(struct markup *m, const struct fbp_plan_summary *p)
{
    enum { MOST = 16 };
    const bool is_host = strcmp(p->backend, "cpu") == 0 || strcmp(p->backend, "ref") == 0 ||
                         strcmp(p->backend, "mock") == 0;
    struct fbp_device_info *all = is_host ? NULL : calloc(MOST, sizeof *all);
    size_t n = 0;

    if (is_host)
        put_processor(m, p->backend);
    if (all) {
        all[0].struct_size = sizeof *all;
        n = fbp_devices(all, MOST);
    }
    for (size_t i = 0; i < n && i < MOST; i++)
        if (strncmp(all[i].name, p->backend, strlen(p->backend)) == 0 && !all[i].reason[0])
            put_device(m, all[i].name, all[i].text, all[i].driver);
    free(all);
}

void report_again(struct markup *m, const struct recon_report *report,
                  const struct fbp_plan_summary *plan)
{
    char folder[4096], when[40];
    struct utsname system = {0};

    markup_put(m, "<section aria-label=\"Again\">\n<h2>How to repeat this run</h2>\n<pre>");
    if (getcwd(folder, sizeof folder))
        markup_say(m, "cd %s\n", folder);
    markup_escaped(m, report->command);
    markup_put(m, "</pre>\n<table class=\"card\"><tbody>\n");
    put_time(when, sizeof when, (time_t)report->began);
    markup_printf(m, "<tr><th scope=\"row\">begun</th><td>%s</td></tr>\n", when);
    markup_put(m, "<tr><th scope=\"row\">program</th><td>");
    markup_say(m, "fbp %s, library %s, commit %s", FBP_VERSION, fbp_version(), FBP_COMMIT);
    markup_put(m, "</td></tr>\n");
    if (uname(&system) == 0) {
        markup_put(m, "<tr><th scope=\"row\">system</th><td>");
        markup_say(m, "%s %s, %s", system.sysname, system.release, system.machine);
        markup_put(m, "</td></tr>\n");
    }
    if (plan)
        put_devices(m, plan);
    markup_put(
        m, "</tbody></table>\n<p class=\"facts\">The same command on the same files gives the same "
           "values, bit for bit, with the same release, kind of device and instruction set; the "
           "numbers of threads and slabs and the memory limits do not matter.</p>\n</section>\n");
}
