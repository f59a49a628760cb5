/* damaged FBP DIR EXPECTED: every case of the table (damaged_cases.h) through the command.  Exit
 * status 1, one line that names the file, nothing written.  Cases and messages are compared with
 * the file EXPECTED, or written there if FBP_UPDATE is set.
 * damaged FBP DIR mutate STEP: whole files of every format, cut at every STEPth byte and with each
 * of these bytes changed: 0 or 1, never a signal, 5 s or 1 GiB. */
#include "base/system.h"
#include "fuzz/harness.h"

#include "damaged_cases.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 5, LARGEST = 1 << 16 };

static const char *fbp;
static unsigned failures, runs;
static char message[4096]; /* what the last command said on standard error */

static void complain(const char *what, const char *why)
{
    printf("FAILED: %s: %s: %s\n", what, why, message);
    failures++;
}

static void put(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(data, 1, n, f) != n || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static size_t get(const char *path, char *out, size_t room)
{
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(out, 1, room, f) : 0;

    if (f)
        fclose(f);
    return n;
}

static unsigned count_files(void)
{
    unsigned n = 0;
    DIR *dir = opendir(".");

    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n;
}

static void limit(int what, rlim_t value)
{
    const struct rlimit l = {value, value};

    (void)setrlimit((__rlimit_resource_t)what, &l);
}

static _Noreturn void be_command(const char *file, enum damaged_command command)
{
    const char *const info[] = {"fbp", "info", file, NULL};
    const char *const recon[] = {"fbp", "recon",     file, "-o",        "out.mha", "-q", "--device",
                                 "cpu", "--threads", "1",  "--preview", "out.png", NULL};
    const char *const convert[] = {"fbp", "geometry", "convert", file,         "-o",  "out.json",
                                   "-q",  "--pitch",  "0.8,0.7", "--detector", "6x4", NULL};
    const char *const response[] = {"fbp",     "recon", DAMAGED_PLANES, "--response", file, "-o",
                                    "out.mha", "-q",    "--device",     "cpu",        NULL};
    const char *const *const all[] = {info, recon, convert, response};
    const char *const *argv = all[command];
    const int null = open("/dev/null", O_RDONLY);

    dup2(null, 0);
    dup2(open("../out", O_WRONLY | O_CREAT | O_TRUNC, 0666), 1);
    dup2(open("../err", O_WRONLY | O_CREAT | O_TRUNC, 0666), 2);
    limit(RLIMIT_CPU, 2 * SECONDS);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, (rlim_t)1 << 28);
    alarm(4 * SECONDS);
    execv(fbp, (char *const *)(uintptr_t)argv);
    _exit(127);
}

/* Exit status; -1 and a complaint if it ended by a signal or took too much. */
static int run(const char *file, enum damaged_command command, const char *what)
{
    struct rusage usage;
    int status;
    const double t0 = fbp_seconds();
    const pid_t child = fork();

    if (child == 0)
        be_command(file, command);
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("fork");
        exit(1);
    }
    runs++;
    message[get("../err", message, sizeof message - 1)] = '\0';
    const double cpu = (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec;
    if (!WIFEXITED(status)) {
        complain(what, strsignal(WTERMSIG(status)));
        return -1;
    }
    if (cpu > SECONDS || fbp_seconds() - t0 > 3 * SECONDS) /* others may use the machine */
        complain(what, "took too long");
    if (usage.ru_maxrss > 1 << 20)
        complain(what, "took more than 1 GiB");
    return WEXITSTATUS(status);
}

static void check_refused(const struct damaged_case *c, int status, unsigned files)
{
    const char *line = strchr(message, '\n');
    char out[8];

    if (status != 1)
        complain(c->what, status == 0 ? "was accepted" : "wrong exit status");
    if (!line || line[1])
        complain(c->what, "not one line");
    if (!strstr(message, c->names ? c->names : c->file))
        complain(c->what, "does not name the file");
    if (get("../out", out, sizeof out) > 0)
        complain(c->what, "wrote to standard output");
    if (count_files() != files)
        complain(c->what, "left a file");
}

static const char *const command_names[] = {"info", "recon", "convert", "recon --response"};

static void run_case(const struct damaged_case *c, FILE *table)
{
    if (c->put)
        c->put(c->file);
    else
        put(c->file, c->data, c->n ? c->n : strlen(c->data));
    const unsigned files = count_files();
    const int status = run(c->file, c->command, c->what);
    check_refused(c, status, files);
    unlink(c->file);
    char *const rest = c->until ? strstr(message, c->until) : NULL;
    if (rest)
        *rest = '\0';
    message[strcspn(message, "\n")] = '\0';
    fprintf(table, "%s (%s)\n    %s\n", c->what, command_names[c->command], message);
}

static int run_table(const char *expected)
{
    size_t n;
    const struct damaged_case *cases = damaged_cases(&n);
    const char *name = getenv("FBP_UPDATE") ? expected : "../table";
    static char now[LARGEST], then[LARGEST];
    FILE *table = fopen(name, "w");

    if (!table) {
        perror(name);
        return 1;
    }
    put(DAMAGED_PLANES, damaged_planes, strlen(damaged_planes));
    for (size_t i = 0; i < n; i++)
        run_case(&cases[i], table);
    fclose(table);
    const size_t a = get(name, now, sizeof now - 1), b = get(expected, then, sizeof then - 1);
    fwrite(now, 1, a, stdout);
    printf("%zu cases\n", n);
    if (a == b && memcmp(now, then, a) == 0)
        return failures > 0;
    printf("FAILED: these are not the messages of %s:\n", expected);
    fflush(stdout);
    execlp("diff", "diff", "-u", expected, name, (char *)NULL);
    return 1;
}

/* Cut or changed at byte k, in one of some ways. */
static void mutate(const char *file, enum damaged_command command, char *data, size_t n, size_t k)
{
    static const unsigned char with[] = {0x00, 0xff, '9', '-'};
    const char keep = data[k];
    char what[200];

    for (size_t way = 0; way <= sizeof with; way++) {
        snprintf(what, sizeof what, "%s (%s), byte %zu, way %zu", file, command_names[command], k,
                 way);
        if (way > 0)
            data[k] = (char)with[way - 1];
        put(file, data, way > 0 ? n : k);
        data[k] = keep;
        const unsigned files = count_files();
        const int status = run(file, command, what);
        if (status > 1)
            complain(what, "neither 0 nor 1");
        unlink("out.mha");
        unlink("out.png");
        if (status != 0 && count_files() != files)
            complain(what, "left a file");
        if (status == 1 && command != RECON && !strstr(message, file)) /* else "geometry: ..." */
            complain(what, "does not name the file");
        unlink("out.json");
        unlink(file);
    }
}

static void mutate_seeds(const struct fuzz_target *t, enum damaged_command command, size_t step)
{
    static char data[LARGEST];
    char path[600];
    DIR *dir = opendir("../seeds");

    for (const struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "../seeds/%s", e->d_name);
        const size_t n = e->d_name[0] == '.' ? 0 : get(path, data, sizeof data);
        for (size_t k = 0; k < n && k < 512; k += step)
            mutate(t->file, command, data, n, k);
        if (n)
            unlink(path);
    }
    if (dir)
        closedir(dir);
}

static int run_mutations(size_t step)
{
    static struct fuzz_target all[FUZZ_TARGETS];
    const size_t n = fuzz_targets(all);

    for (size_t i = 0; i < n && step > 0; i++) {
        const unsigned before = runs;
        fuzz_seeds(&all[i], "../seeds");
        if (strncmp(all[i].name, "array.", 6) == 0)
            mutate_seeds(&all[i], INFO, step);
        else if (strncmp(all[i].name, "geometry.", 9) == 0)
            mutate_seeds(&all[i], CONVERT, step);
        else if (strcmp(all[i].name, "scan") == 0)
            mutate_seeds(&all[i], RECON, step);
        (void)!system("rm -f ../seeds/*");
        if (runs > before)
            printf("%s: %u runs\n", all[i].name, runs - before);
        fflush(stdout);
    }
    printf("%u runs\n", runs);
    return failures > 0;
}

int main(int argc, char **argv)
{
    char command[700], expected[600];

    if (argc < 4)
        return 2;
    fbp = argv[1];
    if (!realpath(argv[3], expected))
        snprintf(expected, sizeof expected, "%s", argv[3]);
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s/in' '%s/seeds'", argv[2],
             argv[2], argv[2]);
    if (system(command) != 0 || chdir(argv[2]) != 0 || chdir("in") != 0)
        return 2;
    fuzz_companions(".");
    return argc > 4 ? run_mutations((size_t)strtoul(argv[4], NULL, 10)) : run_table(expected);
}
