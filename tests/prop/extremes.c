/* extremes FBP FOLDER [EVERY]: extreme values in every number of a scan file, and in every numeric
 * option that the commands' help lists.  A run ends (60 s are far more than any takes), with 0, 1
 * or 2, not by a signal, with one sentence unless 0, and with at most 1 GiB.  EVERY: each so
 * many-th value alone, another one for each number. */
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 60, MOST_KIB = 1 << 20, WORDS = 24 };

static const char *const values[] = {"0",
                                     "-0",
                                     "5e-324",
                                     "1e-300",
                                     "1e-17",
                                     "1e-9",
                                     "1e-6",
                                     "1e6",
                                     "1e7",
                                     "1e9",
                                     "1e12",
                                     "1e17",
                                     "1e300",
                                     "1e999",
                                     "-1",
                                     "-1e-17",
                                     "-1e17",
                                     "inf",
                                     "nan",
                                     "2147483648",
                                     "4294967296",
                                     "9007199254740992",
                                     "18446744073709551615"};
enum { N_VALUES = sizeof values / sizeof *values };

static const char *fbp;
static unsigned long every = 1, turn;
static int n_runs, n_wrong;
static char output[1 << 16];

static bool taken(void)
{
    return turn++ % every == 0;
}

static int sentences(void)
{
    int n = 0;

    for (const char *at = output; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        n += strncmp(at, "fbp: ", 5) == 0;
        if (!*at)
            break;
    }
    return n;
}

static void complain(char **words, const char *what)
{
    printf("WRONG: %s:", what);
    for (; *words; words++)
        printf(" %s", *words);
    printf("\n%.400s\n", output);
    n_wrong++;
}

static void run(char **words)
{
    struct rusage used;
    int status;
    const pid_t child = fork();

    if (child == 0) {
        const int err = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        const int out = open("/dev/null", O_WRONLY);
        dup2(out, 1);
        dup2(err, 2);
        alarm(SECONDS);
        execv(fbp, words);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child)
        exit(1);
    n_runs++;
    /* What a run wrote to standard error. */
    FILE *f = fopen("err", "r");
    const size_t n = f ? fread(output, 1, sizeof output - 1, f) : 0;
    output[n] = '\0';
    if (f)
        fclose(f);
    if (WIFSIGNALED(status))
        complain(words, WTERMSIG(status) == SIGALRM ? "does not end" : "died by a signal");
    else if (WEXITSTATUS(status) > 2)
        complain(words, "exit status");
    else if (WEXITSTATUS(status) > 0 && sentences() != 1)
        complain(words, "not one sentence");
    if (used.ru_maxrss > MOST_KIB)
        complain(words, "more than 1 GiB");
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

/* Scans: @ is where the value goes. */

#define DATA "\"fbp_scan\": 1, \"projections\": \"p.mha\""
#define RING "\"source_to_axis_mm\": 300, \"source_to_detector_mm\": 500"
#define TURN "\"angles_deg\": {\"start\": 0, \"step\": 45}"
static const char *const scans[] = {
    "{\"fbp_scan\": @, \"projections\": \"p.mha\"}",
    "{" DATA ", \"detector\": {\"pitch_mm\": @}, " RING ", " TURN "}",
    "{" DATA ", \"detector\": {\"pitch_mm\": [1, @]}, " RING ", " TURN "}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1, \"offset_mm\": [@, 0]}, " RING ", " TURN "}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1, \"offset_mm\": [0, @]}, " RING ", " TURN "}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1, \"tilt_deg\": [@, 0, 0]}, " RING ", " TURN "}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1, \"tilt_deg\": [0, @, 0]}, " RING ", " TURN "}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1, \"tilt_deg\": [0, 0, @]}, " RING ", " TURN "}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1, \"skew_deg\": @}, " RING ", " TURN "}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1, \"columns\": @}, " RING ", " TURN "}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1, \"rows\": @}, " RING ", " TURN "}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1}, \"source_to_axis_mm\": @, "
    "\"source_to_detector_mm\": 500, " TURN "}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1}, \"source_to_axis_mm\": 300, "
    "\"source_to_detector_mm\": @, " TURN "}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1}, " RING ", \"angles_deg\": {\"start\": @, "
    "\"step\": 45}}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1}, " RING ", \"angles_deg\": {\"start\": 0, "
    "\"step\": @}}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1}, " RING
    ", \"angles_deg\": [0, 45, 90, @, 180, 225, 270, 315]}",
    "{" DATA ", \"kind\": \"parallel\", \"detector\": {\"pitch_mm\": @}, \"angles_deg\": {"
    "\"start\": 0, \"step\": 22.5}}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1}, " RING ", " TURN ", \"i0\": @}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1}, " RING ", " TURN ", \"volume\": {\"size\": @}}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1}, " RING ", " TURN
    ", \"volume\": {\"size\": [2, 2, @]}}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1}, " RING ", " TURN
    ", \"volume\": {\"size\": [2, 2, @], \"voxel_mm\": 1e-9}}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1}, " RING ", " TURN
    ", \"volume\": {\"size\": [@, 2, 2], \"voxel_mm\": 1e-9}}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1}, " RING ", " TURN
    ", \"volume\": {\"voxel_mm\": @}}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1}, " RING ", " TURN
    ", \"volume\": {\"voxel_mm\": [1, 1, @]}}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1}, " RING ", " TURN
    ", \"volume\": {\"size\": 4, \"voxel_mm\": @}}",
    "{" DATA ", \"detector\": {\"pitch_mm\": 1}, " RING ", " TURN
    ", \"volume\": {\"size\": 4, \"voxel_mm\": 1, \"centre_mm\": [0, @, 0]}}",
    "{\"fbp_scan\": 1, \"projections\": \"p.mha\", \"raw\": {\"type\": \"float32\", \"shape\": [@, "
    "6, 8]}, \"detector\": {\"pitch_mm\": 1}, " RING ", " TURN "}",
    "{\"fbp_scan\": 1, \"projections\": \"p.raw\", \"raw\": {\"type\": \"float32\", \"shape\": [8, "
    "@, 8]}, \"detector\": {\"pitch_mm\": 1}, " RING ", " TURN "}",
    "{\"fbp_scan\": 1, \"projections\": \"p.raw\", \"raw\": {\"type\": \"float32\", \"shape\": [8, "
    "6, 8], \"header_bytes\": @}, \"detector\": {\"pitch_mm\": 1}, " RING ", " TURN "}",
};

static void with(const char *pattern, const char *value, char *out, size_t n)
{
    const char *at = strchr(pattern, '@');

    snprintf(out, n, "%.*s%s%s", (int)(at - pattern), pattern, value, at + 1);
}

/* A volume that is tall and thin is a volume, and takes as long as it does: it is planned only. */
static void scan_files(void)
{
    static const char *const commands[][7] = {
        {"recon", "x.json", "-o", "null:", "-q", "--memory=800M"},
        {"geometry", "check", "x.json"},
        {"plan", "x.json", "--memory=800M"}};
    char text[1000], *words[WORDS] = {(char *)(uintptr_t)fbp};

    for (size_t s = 0; s < sizeof scans / sizeof *scans; s++)
        for (int v = 0; v < N_VALUES; v++)
            for (int c = strstr(scans[s], "\"size\": [") ? 1 : 0, n = 0; n < 2; c++, n++) {
                if (!taken())
                    continue;
                with(scans[s], values[v], text, sizeof text);
                put("x.json", text);
                for (int i = 0; i < 7; i++)
                    words[i + 1] = (char *)(uintptr_t)commands[c][i];
                const int wrong = n_wrong;
                run(words);
                if (n_wrong > wrong)
                    printf("  %s\n", text);
            }
}

/* Options. */

static const struct {
    const char *name, *words; /* what a good run needs beside the option */
} commands[] = {
    {"recon", "s.json -o null: -q"},
    {"plan", "s.json"},
    {"simulate", "-o sim.json --size 4 --views 4"},
    {"init", "p.mha -o i.json --force"},
    {"view", "v.mha -o v.png --mip"},
    {"compare", "v.mha v.mha"},
    {"geometry show", "s.json"},
    {"geometry check", "s.json"},
    {"geometry convert", "s.json -o g.xml --force"},
    {"rabbitct make", "-o r.rctd --views 4 --detector 8x6 --references 0"},
};

/* The value in each place of a metavariable such as "LO,HI", "UxV" or "K|FROM:TO"; false if it is
 * no number that an option takes. */
static bool fill(const char *meta, const char *value, char *out, size_t n)
{
    static const char *const texts[] = {"FILE", "VOLUME", "NAME", "PATH", "FOLDER",
                                        "SCAN", "DIR",    "TEXT", "KEY",  "FORMAT"};
    const char *bar = strrchr(meta, '|');
    size_t used = 0;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strncmp(meta, texts[i], strlen(texts[i])) == 0)
            return false;
    if (bar && !isupper((unsigned char)bar[1]))
        meta = "N"; /* "COLUMN|auto" */
    else if (bar)
        meta = bar + 1;
    out[0] = '\0';
    for (const char *at = meta; *at && used + 32 < n; at++) {
        const bool between = *at == ',' || *at == ':' || (*at == 'x' && at > meta);
        if (between)
            used += (size_t)snprintf(out + used, n - used, "%c", *at);
        else if (at == meta || strchr(",:x", at[-1]))
            used += (size_t)snprintf(out + used, n - used, "%s", value);
    }
    return true;
}

static void try_option(const char *command, const char *more, const char *option, const char *meta)
{
    char line[600], value[400], *words[WORDS];

    for (int v = 0; v < N_VALUES; v++) {
        if (!fill(meta, values[v], value, sizeof value) || !taken())
            continue;
        snprintf(line, sizeof line, "%s %s --%s=%s", command, more, option, value);
        int n = 0;
        words[n++] = (char *)(uintptr_t)fbp;
        for (char *w = strtok(line, " "); w && n + 1 < WORDS; w = strtok(NULL, " "))
            words[n++] = w;
        words[n] = NULL;
        run(words);
    }
}

/* "      --size N|NxMxL        voxels …" */
static void options_of(const char *command, const char *more)
{
    static char help[1 << 16];
    char line[600];
    size_t found = 0;

    snprintf(line, sizeof line, "'%s' %s --help", fbp, command);
    FILE *f = popen(line, "r"); /* NOLINT(cert-env33-c): the program under test */
    const size_t n = f ? fread(help, 1, sizeof help - 1, f) : 0;
    if (!f || pclose(f) != 0) {
        printf("WRONG: no help of %s\n", command);
        n_wrong++;
        return;
    }
    help[n] = '\0';
    char *rest = help;
    for (char *l; (l = strsep(&rest, "\n")) != NULL;) {
        char option[64], meta[64];
        const char *at = strstr(l, "--");
        if (!at || at - l > 6 || sscanf(at, "--%63[a-z-] %63[^ ]", option, meta) != 2 ||
            at[2 + strlen(option)] != ' ' || !isupper((unsigned char)meta[0]) ||
            at[3 + strlen(option)] == ' ')
            continue;
        found++;
        try_option(command, more, option, meta);
    }
    if (found == 0) {
        printf("WRONG: no options in the help of %s\n", command);
        n_wrong++;
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: extremes FBP FOLDER [EVERY]\n", stderr);
        return 2;
    }
    fbp = argv[1];
    every = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
    (void)mkdir(argv[2], 0700);
    if (every == 0 || chdir(argv[2]) != 0)
        return 2;
    static const char *const made[] = {
        "simulate -o s.json --size 8 --views 8 --detector 8x6 --truth v.mha"};
    char line[600];
    FILE *raw = fopen("p.raw", "wb");
    static const float samples[8 * 6 * 8];
    if (!raw || fwrite(samples, sizeof samples, 1, raw) != 1 || fclose(raw) != 0)
        exit(1);
    snprintf(line, sizeof line, "'%s' %s > made 2>&1 && cp s.mha p.mha", fbp, made[0]);
    if (system(line) != 0) /* NOLINT(cert-env33-c) */
        exit(1);
    scan_files();
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        options_of(commands[i].name, commands[i].words);
    printf("%d runs, %d wrong\n", n_runs, n_wrong);
    return n_wrong > 0;
}
