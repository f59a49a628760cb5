/* Checks, without an OpenGL context, that shader texts avoid constructs that some drivers refuse
 * and that Mesa, on which the other tests run, accepts. */
#include "backend/gl/program.h"
#include "test.h"

#define COMPILER "glslangValidator"

static const char *text_of(const char *name)
{
    if (name[0] == '#')
        return name;
    for (const struct gl_text_built *b = gl_texts_built; b->name; b++)
        if (strcmp(b->name, name) == 0)
            return b->text;
    fail_msg("there is no text %s", name);
    return NULL;
}

static void write_program(const struct gl_program *p, int shape, const char *path)
{
    char text[GL_SHAPE_TEXT] = "";
    FILE *f = not_null(fopen(path, "w"));

    if (p->shapes)
        gl_shape_text(&p->shapes[shape], text);
    fprintf(f, "#version 430 core\n%s", text);
    for (size_t i = 0; i < GL_PROGRAM_TEXTS && p->texts[i]; i++)
        fputs(text_of(p->texts[i]), f);
    assert_int_equal(fclose(f), 0);
}

/* Does it compile?  If not, prints what the compiler says. */
static bool compiles(const char *path)
{
    char command[4608], line[512];
    snprintf(command, sizeof command, COMPILER " -S comp '%s' 2>&1", path);
    FILE *out = not_null(popen(command, "r"));

    AUTO_FREE char *said = calloc(1, 1 << 16);
    size_t n = 0;
    while (said && fgets(line, sizeof line, out))
        n += (size_t)snprintf(said + n, n < 65000 ? (1 << 16) - n : 0, "%s", line);
    const bool fine = pclose(out) == 0;
    if (!fine)
        print_message("%s", said);
    return fine;
}

static bool has_compiler(void)
{
    return system("command -v " COMPILER " >/dev/null") == 0;
}

TEST(every_program_is_glsl)
{
    size_t refused = 0;

    if (!has_compiler())
        skip();
    AUTO_FREE char *path = printed(FBP_TEST_DIR "/%d-program.comp", (int)getpid());
    for (const struct gl_program *p = gl_program_list; p < gl_program_list + GL_N_PROGRAMS; p++) {
        for (int shape = 0; shape == 0 || shape < p->n_shapes; shape++) {
            write_program(p, shape, path);
            if (!compiles(path)) {
                print_message("program \"%s\", shape %d, is refused\n", p->name, shape);
                refused++;
            }
        }
    }
    unlink(path);
    assert_int_equal(refused, 0);
}

/* That the compiler would have said so. */
TEST(what_is_not_is_refused)
{
    if (!has_compiler())
        skip();
    AUTO_FREE char *path = printed(FBP_TEST_DIR "/%d-wrong.comp", (int)getpid());
    FILE *f = not_null(fopen(path, "w"));
    fputs("#version 430 core\nlayout(local_size_x = 1) in;\n"
          "layout(std430, binding = 0) writeonly buffer B { uint b[]; };\n"
          "void main() { b[0] = b[1]; }\n",
          f);
    assert_int_equal(fclose(f), 0);
    assert_false(compiles(path));
    unlink(path);
}

/* Is there an assignment to an element whose value is assigned to another one? */
static bool assigns_twice(const char *statement, size_t n)
{
    bool assigned = false;

    for (size_t i = 0; i + 4 <= n; i++) {
        if (memcmp(statement + i, ", ", 2) == 0)
            assigned = false; /* another one begins */
        if (memcmp(statement + i, "] = ", 4) != 0)
            continue;
        if (assigned)
            return true;
        assigned = true;
    }
    return false;
}

/* NVIDIA's driver takes "a = b = c" for reading b, and refuses it where b may only be written. */
TEST(values_are_assigned_once)
{
    static const char wrong[] = "b[0] = b[1] = 0u", right[] = "b[0] = 0u, b[1] = 1u";
    size_t found = 0;

    assert_true(assigns_twice(wrong, strlen(wrong)));
    assert_false(assigns_twice(right, strlen(right)));
    for (const struct gl_text_built *b = gl_texts_built; b->name; b++)
        for (const char *at = b->text; *at;
             at += strcspn(at, ";{}") + (at[strcspn(at, ";{}")] != 0))
            if (assigns_twice(at, strcspn(at, ";{}"))) {
                print_message("%s.glsl: %.*s\n", b->name, (int)strcspn(at, ";{}"), at);
                found++;
            }
    assert_int_equal(found, 0);
}

TEST_MAIN(NULL, NULL)
