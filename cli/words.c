/* Table of option and command names of other programs (aliases) with their meaning in fbp, and the
 * functions that search it: word_meaning() for options, word_command() for commands.
 * Used by: opt.c, opt_help.c, program.c. */
#include "words.h"

#include <ctype.h>
#include <string.h>

#define IN_SCAN "this is given in the scan file (docs/scan.md; fbp init FOLDER writes one)"
#define DISTANCES \
    "--sod is the distance from source to rotation axis, --sdd from source to detector"

// clang-format off
const struct word word_table[] = {
    {"h help usage ? man", NULL, NULL, WORD_HELP, false},
    {"V version", NULL, NULL, WORD_VERSION, false},
    {"verbose v progress", NULL, NULL, WORD_IGNORED, false},
    {"silent no-progress", "quiet", NULL, WORD_UNKNOWN, false},
    {"debug log-level", NULL, "there are no further messages; all are printed unless -q is given", WORD_UNKNOWN, false},

    {"out outfile output-file out-file outname result dest destination O", "output", NULL, WORD_UNKNOWN, false},
    {"i in input infile input-file file filename scan source path folder dir directory data", ".", NULL, WORD_UNKNOWN, false},
    {"overwrite replace yes y f", "force", NULL, WORD_UNKNOWN, false},
    {"format output-format ext extension", NULL, "the ending of the file name selects the format; --output-type selects the type of stored values", WORD_UNKNOWN, false},
    {"dtype datatype type bit-depth bits", "output-type", NULL, WORD_UNKNOWN, false},
    {"range output-window", "output-range", NULL, WORD_UNKNOWN, false},
    {"compression zip gzip", "compress", NULL, WORD_UNKNOWN, false},
    {"picture thumbnail png", "preview", NULL, WORD_UNKNOWN, false},

    {"center rotation-centre rotation-center centre-of-rotation center-of-rotation rotation-axis-column", "centre", NULL, WORD_UNKNOWN, true},
    {"cor axis rotation-axis", NULL, "this name is ambiguous; --centre is the detector column of the rotation axis, --offset the position of the panel's centre in mm", WORD_UNKNOWN, false},
    {"find-center find-centre auto-center auto-centre", NULL, "fbp recon --centre auto finds the column of the axis", WORD_UNKNOWN, false},
    {"pixel pixel-size pixelsize pixel-pitch pixel-spacing detector-pitch detector-pixel-size px du", "pitch", IN_SCAN ": \"pitch_mm\" of its \"detector\"", WORD_UNKNOWN, true},
    {"voxel-size voxelsize voxels voxel-spacing voxel-pitch", "voxel", NULL, WORD_UNKNOWN, false},
    {"spacing resolution", NULL, "this name is ambiguous; --voxel is the voxel size of the volume, --pitch the pixel distance of the detector", WORD_UNKNOWN, false},
    {"sad dso source-to-axis source-axis source-to-object source-object source-to-isocentre source-to-isocenter source-to-axis-mm source-to-rotation-axis dist-source-center dist-source-centre", "sod", IN_SCAN ": \"source_to_axis_mm\"", WORD_UNKNOWN, true},
    {"dsd source-to-detector source-detector source-to-detector-mm source-to-image source-image", "sdd", IN_SCAN ": \"source_to_detector_mm\"", WORD_UNKNOWN, true},
    {"sid", NULL, "means source to axis in some programs, source to detector in others; " DISTANCES, WORD_UNKNOWN, false},
    {"odd dod oid origin-detector object-to-detector axis-to-detector", NULL, DISTANCES ", which is the sum of source to axis and axis to detector", WORD_UNKNOWN, false},
    {"detector-offset offset-x offset-u", "offset", IN_SCAN ": \"offset_mm\" of its \"detector\"", WORD_UNKNOWN, false},
    {"roll detector-tilt detector-rotation detector-angle rotate", "tilt", IN_SCAN ": \"tilt_deg\" of its \"detector\"", WORD_UNKNOWN, false},
    {"flipu flip-x fliplr flip-lr flip-horizontal", "flip-u", NULL, WORD_UNKNOWN, false},
    {"flipv flip-y flipud flip-ud flip-vertical", "flip-v", NULL, WORD_UNKNOWN, false},
    {"flip mirror", NULL, "--flip-u reverses the columns, --flip-v the rows, --reverse the direction of rotation; fbp geometry check shows the effect of each", WORD_UNKNOWN, false},
    {"clockwise cw ccw counter-clockwise anticlockwise reverse-rotation invert-rotation reverse-angles negate-angles", "reverse", NULL, WORD_UNKNOWN, false},
    {"scan-range angle-range angular-range scan-arc", "arc", IN_SCAN ": \"angles_deg\"", WORD_UNKNOWN, false},
    {"start-angle first-angle", "start", IN_SCAN ": \"angles_deg\"", WORD_UNKNOWN, false},
    {"angle angles angles-deg theta thetas arc start step", NULL, IN_SCAN ": \"angles_deg\"", WORD_UNKNOWN, false},
    {"projections projs views", NULL, IN_SCAN ": \"projections\"", WORD_UNKNOWN, false},
    {"n-views nviews num-views n-projections num-projections nproj n-proj n-angles num-angles", NULL, "fbp simulate has --views K for the number of views; for a scan it follows from its files, and --views 0:100 uses only some of them", WORD_UNKNOWN, false},
    {"geometry geometry-file geom matrices matrix raw i0 kind", NULL, IN_SCAN, WORD_UNKNOWN, false},
    {"dark darks dark-field flat flats flat-field white whites open-beam", NULL, IN_SCAN "; -log is then applied", WORD_UNKNOWN, false},
    {"log minus-log neglog no-log no-minus-log linearize", NULL, "-log is applied if the scan file has any of \"dark\", \"flat\", \"i0\"; without them, the values are used as line integrals", WORD_UNKNOWN, false},
    {"panel detector-size panel-size", "detector", IN_SCAN, WORD_UNKNOWN, false},

    {"dimension dimensions dims dim shape volume-size nvoxel", "size", NULL, WORD_UNKNOWN, false},
    {"slices plane", "slice", NULL, WORD_UNKNOWN, false},

    {"binning rebin downsample", "bin", NULL, WORD_UNKNOWN, false},
    {"subsample view-step stride", "every", NULL, WORD_UNKNOWN, false},
    {"crop region-of-interest", "roi", NULL, WORD_UNKNOWN, false},
    {"volume-center", "volume-centre", NULL, WORD_UNKNOWN, false},
    {"filter-type filter-name filter-window window apodisation apodization ramp", "filter", NULL, WORD_UNKNOWN, false},
    {"cut-off cutoff-frequency frequency freq", "cutoff", NULL, WORD_UNKNOWN, false},
    {"weights weighting", "angular-weights", NULL, WORD_UNKNOWN, false},
    {"parker wang short-scan half-scan offset-weights displaced-detector", NULL, "Parker's and Wang's weights are applied if the geometry needs them; fbp geometry check shows which", WORD_UNKNOWN, false},
    {"hounsfield mu-water muwater water", "hu", NULL, WORD_UNKNOWN, false},
    {"iterations iteration iter iters niter n-iter num-iter n-iterations maxiter relaxation lambda tv",
     NULL, "filtered backprojection has no iterations; omit this option", WORD_UNKNOWN, false},
    {"algorithm algo alg method fdk fbp recon-method", NULL, "fbp has one method, filtered backprojection (FDK for cone beams); omit this option", WORD_UNKNOWN, false},
    {"search scan-centre tune", "sweep", NULL, WORD_UNKNOWN, false},

    {"gpu cuda gpus gpu-id gpu-ids use-gpu device-id", NULL, "give --device cuda (of several cards, cuda:1 is the second); fbp devices lists them", WORD_UNKNOWN, false},
    {"cpu no-gpu use-cpu", NULL, "give --device cpu", WORD_UNKNOWN, false},
    {"backend platform", "device", NULL, WORD_UNKNOWN, false},
    {"j t jobs cores cpus ncores n-threads num-threads nthreads threads-number nproc num-workers workers", "threads", NULL, WORD_UNKNOWN, false},
    {"mem ram max-memory memory-limit max-ram", "memory", NULL, WORD_UNKNOWN, false},
    {"tmp tmpdir temp cache cache-dir temporary spill", "scratch", NULL, WORD_UNKNOWN, false},
    {"gpu-memory vram gpu-mem max-gpu-memory", "device-memory", NULL, WORD_UNKNOWN, false},
    {"fp16 half-precision fp32 single double float32 float16", NULL, "--precision exact, fast, half or double selects the precision of the computation, --output-type the type of stored values", WORD_UNKNOWN, false},

    {"dry-run dryrun estimate", "plan", NULL, WORD_UNKNOWN, false},
    {"continue restart recover", "resume", NULL, WORD_UNKNOWN, false},
    {"watch live online wait", "follow", NULL, WORD_UNKNOWN, false},
    {"timeout", "follow-timeout", NULL, WORD_UNKNOWN, false},

    {"range contrast level levels clim greylevels graylevels", "window", NULL, WORD_UNKNOWN, false},
    {"vmin vmax min max lo hi black white-level", NULL, "give --window LO,HI", WORD_UNKNOWN, false},
    {"color colour cmap colormap colourmap", NULL, "fbp draws grey images only", WORD_UNKNOWN, false},
    {"maximum max-intensity projection", "mip", NULL, WORD_UNKNOWN, false},
    {"radius within", "inside", NULL, WORD_UNKNOWN, false},
    {"tol rtol atol epsilon", "tolerance", NULL, WORD_UNKNOWN, false},
    {"random-seed rng", "seed", NULL, WORD_UNKNOWN, false},
    {"poisson photons photon-count", "noise", NULL, WORD_UNKNOWN, false},
    {"ground-truth reference-volume", "truth", NULL, WORD_UNKNOWN, false},
    {"object phantom-file", "phantom", NULL, WORD_UNKNOWN, false},
    {"from-type input-format", "from-format", NULL, WORD_UNKNOWN, false},
    {"to to-type", "to-format", NULL, WORD_UNKNOWN, false},
};
// clang-format on
const size_t word_table_length = sizeof word_table / sizeof *word_table;

struct word_meaning word_meaning(const struct command *c, const char *text)
{
    struct word_meaning m = {WORD_UNKNOWN, NULL, NULL};
    char word[48];
    size_t n = 0;

    /* Spell the word like the table of aliases: '-' for '_', lower case unless one letter. */
    for (; text[n] && n + 1 < sizeof word; n++)
        word[n] = (char)(text[n] == '_' ? '-'
                         : text[1]      ? tolower((unsigned char)text[n])
                                        : text[n]);
    word[n] = '\0';
    /* the word may be an option in capitals or with underscores */
    m.option = opt_find(c, word, n);
    for (size_t i = 0; i < word_table_length && !m.option && m.kind == WORD_UNKNOWN; i++) {
        const struct word *w = &word_table[i];
        if (!opt_is_listed(w->words, word))
            continue;
        m.kind = w->kind;
        for (size_t k = 0; w->options && k < c->n_opts && !m.option; k++)
            if (c->opts[k].positional ? strcmp(w->options, ".") == 0
                                      : opt_is_listed(w->options, c->opts[k].name))
                m.option = &c->opts[k];
        m.sentence = w->sentence;
        if (m.kind == WORD_UNKNOWN && m.sentence)
            m.kind = WORD_SENTENCE;
    }
    if (m.option)
        m.kind = WORD_OPTION;
    return m;
}

bool word_shown(const char *option, char *buf, size_t n)
{
    for (size_t i = 0; i < word_table_length; i++)
        if (word_table[i].shown && strcmp(word_table[i].options, option) == 0) {
            snprintf(buf, n, "%.*s", (int)strcspn(word_table[i].words, " "), word_table[i].words);
            return true;
        }
    return false;
}

const char *word_command(const char *word)
{
    static const struct {
        const char *words, *command;
    } commands_meant[] = {
        {"reconstruct reconstruction rec fdk fbp backproject run", "recon"},
        {"sim phantom project forward", "simulate"},
        {"show picture display plot preview image png", "view"},
        {"diff cmp rmse", "compare"},
        {"stat header ls inspect describe file identify", "info"},
        {"convert geometry-convert import export", "geometry convert"},
        {"check validate verify", "geometry check"},
        {"draw", "geometry show"},
        {"benchmark time", "bench"},
        {"device gpu gpus cuda list-devices", "devices"},
        {"guess start new create", "init"},
        {"estimate dry-run", "plan"},
        {"centre center sweep", "recon --sweep"},
    };

    for (size_t i = 0; i < sizeof commands_meant / sizeof *commands_meant; i++)
        if (opt_is_listed(commands_meant[i].words, word))
            return commands_meant[i].command;
    return NULL;
}
