/** @file faults.h  The driver of faults: its commands, and files before and after them. */
#ifndef FBP_TESTS_FAULTS_H
#define FBP_TESTS_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FAULT_QUICK = 1,    /**< one of the few of the ordinary tests */
    FAULT_VARIES = 2,   /**< what it prints is not the same every time */
    FAULT_EVERY = 4,    /**< every malloc() of it fails once in the ordinary tests */
    FAULT_REFUSED = 8,  /**< never done, whatever fails: it would write over what it reads, say */
    FAULT_ZEROS = 16,   /**< libhdf5 takes zeros where a read ends too early */
    FAULT_CALLOC = 32,  /**< every calloc() of it fails once in the ordinary tests */
    FAULT_FILES = 64,   /**< and so does every call of it that changes a file */
    FAULT_RESUME = 128, /**< what it leaves is also taken up by --resume */
    FAULT_BEGINS = 256  /**< it is "--part 1/2", and 2/2 finishes it */
};

/** A command: its words, in a folder whose neighbour ../in holds the inputs. */
struct fault_case {
    const char *name;
    const char *words;  /**< with spaces between them */
    const char *before; /**< this folder's files are in the command's when it begins; or NULL */
    unsigned flags;
};

/** The table of commands; words is NULL after the last. */
extern const struct fault_case fault_cases[];

/** What is run once, in folder in/, to have inputs; ends with NULL. */
extern const char *const fault_inputs[];

/** A folder of in/ that the fuzzer's seeds are in, and what is done with each of them ("info
 *  ../in/%s"); words NULL after the last. */
struct fault_seeds {
    const char *folder, *words;
    unsigned flags;
};
extern const struct fault_seeds fault_seeds[];

/** Texts and seeds into the folder `in`, which is the current one. */
void fault_make_inputs(void);

/** Start the command with the library `inject` in it; commands run in folders of `folder`. */
void fault_start(const char *folder, const char *fbp, const char *inject);

/** End it. */
void fault_end(void);

/** A path below that folder; good until the next but one. */
const char *fault_path(const char *name);

/** The folder of runs is as it is when the command begins. */
void fault_begin(const struct fault_case *c);

/** Learn what the command leaves without a fault; false: it does not end as it should. */
bool fault_take_reference(const struct fault_case *c);

/** What is wrong with a run that ended so after the n-th call of a kind had failed; NULL: nothing.
 */
const char *fault_check(const struct fault_case *c, int kind, long n, int status);

/** What the last command said on standard error. */
extern char fault_line[4096];

/** How many runs there were. */
extern unsigned long fault_runs;

/**
 * Run a command in a folder of the work folder; its output goes to FOLDER.out and FOLDER.err.
 *
 * kind  of fault_kinds; -1: no fault
 * n, on the n-th call fails, and all after it
 * @return its status as of waitpid(); -1 if it did not end, or left a child behind
 */
int fault_run(const char *folder, const char *words, int kind, long n, bool on);
int fault_run_whole(const char *folder, const char *words);

/** How many calls failed in the last run. */
long fault_fired(void);

/** Files below a folder. */
struct fault_files {
    struct fault_file {
        char name[200];
        uint64_t hash;
        bool varies;     /**< not the same in two runs without a fault */
        bool has_slices; /**< a journal that speaks of slices */
    } * file;
    size_t n;
};

/** The files below a folder, in order of their names, with hashes of what they hold.  A journal of
 *  parts has a random number at the end of its name, which is left out. */
struct fault_files fault_list(const char *folder);
const struct fault_file *fault_find(const struct fault_files *files, const char *name);

/** Is a file as it is in this list? */
bool fault_is_whole(const struct fault_file *f, const struct fault_files *of);

/** Remove everything in a folder; copy a folder's files into one that is there, or one file. */
void fault_empty(const char *folder);
void fault_copy(const char *from, const char *to);
void fault_copy_file(const char *from, const char *to);

/** A file's text, at most so much of it; "" if there is none. */
void fault_text(const char *path, char *out, size_t room);
uint64_t fault_hash(const char *path);

#endif /* FBP_TESTS_FAULTS_H */
