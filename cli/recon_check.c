/* Checks of the options of fbp recon and fbp plan against each other, and of the names of output
 * files (extension, writable folder), before a file is opened. recon_choose_part() parses --part,
 * and takes the number for `auto` from variables of a batch system. Other functions classify the
 * requested output, such as recon_is_picture(). Functions of type int return OPT_GO_ON, or an exit
 * status after an error was reported.
 * Used by: bench/predict/, cli/. */
#include "choices.h"
#include "recon.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool recon_is_file(const char *output)
{
    return strcmp(output, "null:") != 0 && strcmp(output, "hash:") != 0;
}

/* Check that the folder of the output file `path` exists and is writable. */
static int check_folder(const char *path)
{
    if (cli_has_folder(path))
        return OPT_GO_ON;
    return cli_error(
        "%s: the output folder is missing or read-only; create it, or make it writable", path);
}

/* Check the file name that the option --NAME gives, if any: extension, writable folder. */
static int check_name(const struct command *self, const char *option, const char *path,
                      const char *extension)
{
    if (!path)
        return OPT_GO_ON;
    if (!cli_ends_with(path, extension))
        return opt_usage(self, "--%s: expected a name that ends in %s, got \"%s\"", option,
                         extension, path);
    return check_folder(path);
}

/* True if the output is one grey PNG picture, not voxel values (--output-type, stacks). */
static bool is_png(const struct recon_args *a)
{
    return a->output && cli_ends_with(a->output, ".png") && !cli_is_stack(a->output) &&
           !a->p.output.type;
}

bool recon_one_slice(const struct recon_args *a)
{
    return a->slice.given && a->slice.single;
}

bool recon_is_box(const struct recon_args *a)
{
    return a->roi[0].given || (a->slice.given && !a->slice.single);
}

int recon_check_part(const struct command *self, const struct recon_args *a)
{
    if (a->slice.given && a->roi[0].given)
        return opt_usage(self, "--roi already selects slices; omit --slice");
    return OPT_GO_ON;
}

bool recon_is_picture(const struct recon_args *a)
{
    const struct opt_range *r = a->slice.given ? &a->slice : &a->roi[2];

    return r->given && r->end == r->first + 1 && is_png(a);
}

/* Environment variables in which batch systems store the number of a task in a job array. */
static const char *const arrays[] = {"SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "PBS_ARRAYID",
                                     "SGE_TASK_ID"};

/* Read the first n characters as a whole number of 1 to 19 digits; false: no such number. */
static bool read_number(const char *text, size_t n, size_t *out)
{
    char digits[20];
    char *end;

    if (n == 0 || n >= sizeof digits || strspn(text, "0123456789") < n)
        return false;
    memcpy(digits, text, n);
    digits[n] = '\0';
    *out = (size_t)strtoull(digits, &end, 10);
    return *end == '\0';
}

int recon_choose_part(const struct command *self, struct recon_args *a)
{
    const char *slash = a->part ? strchr(a->part, '/') : NULL;
    const char *whole_only = a->sweep              ? "--sweep"
                             : a->preview          ? "--preview"
                             : a->report           ? "--report"
                             : recon_is_picture(a) ? "a picture"
                                                   : NULL;
    const size_t n = slash ? (size_t)(slash - a->part) : 0;

    if (!a->part)
        return OPT_GO_ON;
    const bool found = n == 4 && memcmp(a->part, "auto", n) == 0;
    if (!slash || (!found && !read_number(a->part, n, &a->p.cluster.part)) ||
        !read_number(slash + 1, strlen(slash + 1), &a->p.cluster.n_parts) ||
        a->p.cluster.n_parts == 0)
        return opt_usage(
            self, "--part: expected PART/NUMBER OF PARTS, such as 3/16 or auto/16, got \"%s\"",
            a->part);
    if (whole_only)
        return opt_usage(self,
                         "--part: %s needs the whole volume; omit it, and run fbp view when all "
                         "parts are complete",
                         whole_only);
    if (isinf(a->p.output.range[0]))
        return opt_usage(self, "--part: --output-range auto needs the whole volume; give the "
                               "range, such as --output-range 0,0.05");
    /* Values that are no numbers are skipped: SGE sets "undefined" outside a job array. */
    for (size_t i = 0; found && i < sizeof arrays / sizeof *arrays; i++) {
        const char *text = getenv(arrays[i]);
        if (!text || !read_number(text, strlen(text), &a->p.cluster.part))
            continue;
        if (a->p.cluster.part >= 1 && a->p.cluster.part <= a->p.cluster.n_parts)
            return OPT_GO_ON;
        return cli_error(
            "--part %s: %s is %s, but parts count from 1; submit a job array of tasks 1 to %zu",
            a->part, arrays[i], text, a->p.cluster.n_parts);
    }
    if (found)
        return cli_error("--part %s: none of the variables %s, %s, %s and %s is a number; run fbp "
                         "in a job array, or give the part, such as --part 1/%zu",
                         a->part, arrays[0], arrays[1], arrays[2], arrays[3], a->p.cluster.n_parts);
    if (a->p.cluster.part < 1 || a->p.cluster.part > a->p.cluster.n_parts)
        return cli_error("--part %s does not exist; parts count from 1 to %zu", a->part,
                         a->p.cluster.n_parts);
    return OPT_GO_ON;
}

static int check_sweep(const struct command *self, const struct recon_args *a)
{
    if (!a->sweep)
        return a->curve ? opt_usage(self, "--curve needs --sweep") : OPT_GO_ON;
    if (a->preview || a->timeline || a->p.output.resume || a->p.input.follow ||
        a->p.output.compress || a->plan || a->water[3] > 0 || a->roi[0].given || a->p.region.shape)
        return opt_usage(
            self, "--sweep writes only a contact sheet; omit --preview, --timeline, --resume, "
                  "--follow, --compress, --plan, --roi, --region and --hu-from-roi");
    if (!a->output || !cli_ends_with(a->output, ".png"))
        return opt_usage(self, "--sweep: expected -o FILE.png, for the contact sheet, got \"%s\"",
                         a->output ? a->output : "");
    OPT_TRY(check_name(self, "curve", a->curve, ".svg"));
    return check_folder(a->output);
}

static int check_output(const struct command *self, const struct recon_args *a)
{
    const char *slash = cli_ends_with(a->output, "/") ? "" : "/";
    struct stat info;
    const bool is_folder = !*slash || (stat(a->output, &info) == 0 && S_ISDIR(info.st_mode));

    if (recon_is_picture(a) && a->preview)
        return opt_usage(self,
                         "--preview: the output itself is an image of a slice; omit --preview");
    if (recon_is_picture(a) && (a->p.output.compress || a->p.output.resume))
        return opt_usage(
            self, "--compress and --resume apply to volumes in files, not to \"%s\"; omit them",
            a->output);
    if (recon_is_picture(a) && check_folder(a->output) != OPT_GO_ON)
        return 1;
    if (!recon_is_picture(a) && is_png(a))
        return opt_usage(
            self,
            "-o: \"%s\" is an image of one slice; give --slice K too, or write a volume, such as "
            "v.mha, with --preview FILE.png, or give --output-type to store values",
            a->output);
    if (is_folder && !cli_is_volume_folder(a->output))
        return opt_usage(self,
                         "-o: \"%s\" is a folder; name a file in it, such as %s%svolume.mha, or "
                         "one file per slice, %s%s%%04d.tif",
                         a->output, a->output, slash, a->output, slash);
    if (recon_is_file(a->output) && !recon_is_picture(a) && !cli_is_volume(a->output))
        return opt_usage(self, "-o: expected a name that ends in %s, or null: or hash:, got \"%s\"",
                         cli_volumes(), a->output);
    if (a->p.output.compress && recon_is_file(a->output) && !cli_can_compress(a->output))
        return opt_usage(self, "--compress: expected -o FILE%s, got \"%s\"", cli_packed(),
                         a->output);
    return OPT_GO_ON;
}

/* Check the name of the output like fbp recon. The folder is not checked for arrays in a file
 * ("v.h5:/a/b"), nor for stacks and volume folders, which fbp recon creates. */
int recon_check_planned(const struct command *self, const struct recon_args *a)
{
    if (!a->output)
        return OPT_GO_ON;
    OPT_TRY(check_output(self, a));
    if (!strchr(a->output, ':') && !cli_is_stack(a->output) && !cli_is_volume_folder(a->output))
        return check_folder(a->output);
    return OPT_GO_ON;
}

int recon_check(const struct command *self, const struct recon_args *a)
{
    OPT_TRY(adjust_check(self, a->adjust));
    OPT_TRY(recon_check_part(self, a));
    OPT_TRY(check_sweep(self, a));
    if (!isnan(a->water[3])) {
        if (!(a->water[3] > 0))
            return opt_usage(self, "--hu-from-roi: expected a radius above 0, got \"%g\"",
                             a->water[3]);
        if (a->p.mu_water > 0)
            return opt_usage(self,
                             "--hu-from-roi measures the value that --hu gives; omit one of them");
        if (a->unit != FBP_UNIT_MM)
            return opt_usage(self,
                             "--hu-from-roi: Hounsfield units have no length unit; omit --unit");
        if (a->p.input.follow || a->plan)
            return opt_usage(self,
                             "--hu-from-roi needs a first pass over the complete scan; omit %s",
                             a->plan ? "--plan" : "--follow");
    }
    if (a->report && (a->plan || a->sweep))
        return opt_usage(self, "--report describes a complete run; omit %s",
                         a->plan ? "--plan" : "--sweep");
    OPT_TRY(check_name(self, "report", a->report, ".html"));
    if (a->sweep)
        return OPT_GO_ON;
    if (a->p.input.follow && centre_is_auto(a->adjust))
        return opt_usage(
            self, "--centre auto needs the complete scan; omit --follow, or give the column");
    if (a->p.input.follow && (a->every > 1 || a->bin > 1 || a->views || a->skip))
        return opt_usage(self,
                         "--follow uses all views in the order of their arrival; omit --every, "
                         "--bin, --views and --skip");
    if (a->p.input.follow && a->p.output.resume)
        return opt_usage(self, "--resume needs a complete scan; omit --follow");
    if (a->plan && (a->preview || a->timeline))
        return opt_usage(self, "--plan computes no data that could be drawn; omit %s",
                         a->preview ? "--preview" : "--timeline");
    if (a->plan)
        return recon_check_planned(self, a);
    if (!a->output)
        return opt_usage(self, "-o VOLUME is missing");
    OPT_TRY(check_output(self, a));
    OPT_TRY(check_name(self, "timeline", a->timeline, ".svg"));
    if (a->preview && !recon_is_file(a->output))
        return opt_usage(self, "--preview needs a volume on disk; expected -o FILE, got \"%s\"",
                         a->output);
    return check_name(self, "preview", a->preview, ".png");
}
