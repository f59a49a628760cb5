/* Arithmetic in phantom files: 1.2*cos(15), -(2+3)/4.  Recursive descent; nesting is limited, for
 * the text is not trusted. */
#include "phantom/file.h"

#include "base/vec.h"

#include <ctype.h>
#include <string.h>

enum { DEEPEST = 32 };

static fbp_status sum(struct fbp_phantom_text *text, int depth, double *out);

static double apply(const char *name, double x)
{
    const double angle = x * (FBP_PI / 180);

    if (strcmp(name, "sin") == 0)
        return sin(angle);
    if (strcmp(name, "cos") == 0)
        return cos(angle);
    return strcmp(name, "tan") == 0 ? tan(angle) : sqrt(x);
}

static fbp_status function(struct fbp_phantom_text *text, int depth, double *out)
{
    char name[16];

    fbp_phantom_word(text, name, sizeof name);
    if (strcmp(name, "sin") != 0 && strcmp(name, "cos") != 0 && strcmp(name, "tan") != 0 &&
        strcmp(name, "sqrt") != 0)
        return fbp_phantom_wrong(text, "'%s' is no function: use sin, cos, tan (of degrees), sqrt",
                                 name);
    fbp_phantom_blanks(text);
    if (!fbp_phantom_take(text, '('))
        return fbp_phantom_wrong(text, "%s is not followed by '('", name);
    FBP_TRY(sum(text, depth + 1, out));
    if (!fbp_phantom_take(text, ')'))
        return fbp_phantom_wrong(text, "%s( is not closed by ')'", name);
    *out = apply(name, *out);
    return FBP_OK;
}

static fbp_status factor(struct fbp_phantom_text *text, int depth, double *out)
{
    *out = 0;
    if (depth > DEEPEST)
        return fbp_phantom_wrong(text, "more than %d expressions in one another", DEEPEST);
    fbp_phantom_blanks(text);
    if (fbp_phantom_take(text, '+'))
        return factor(text, depth + 1, out);
    if (fbp_phantom_take(text, '-')) {
        FBP_TRY(factor(text, depth + 1, out));
        *out = -*out;
        return FBP_OK;
    }
    if (fbp_phantom_take(text, '(')) {
        FBP_TRY(sum(text, depth + 1, out));
        return fbp_phantom_take(text, ')') ? FBP_OK
                                           : fbp_phantom_wrong(text, "'(' is not closed by ')'");
    }
    if (isalpha((unsigned char)*text->at))
        return function(text, depth, out);
    return fbp_phantom_number(text, out);
}

static fbp_status product(struct fbp_phantom_text *text, int depth, double *out)
{
    FBP_TRY(factor(text, depth, out));
    for (;;) {
        double right = 0;
        fbp_phantom_blanks(text);
        const bool times = fbp_phantom_take(text, '*');
        if (!times && !fbp_phantom_take(text, '/'))
            return FBP_OK;
        FBP_TRY(factor(text, depth, &right));
        *out = times ? *out * right : *out / right;
    }
}

static fbp_status sum(struct fbp_phantom_text *text, int depth, double *out)
{
    FBP_TRY(product(text, depth, out));
    for (;;) {
        double right = 0;
        const bool plus = fbp_phantom_take(text, '+');
        if (!plus && !fbp_phantom_take(text, '-'))
            return FBP_OK;
        FBP_TRY(product(text, depth, &right));
        *out += plus ? right : -right;
    }
}

fbp_status fbp_phantom_expression(struct fbp_phantom_text *text, double *out)
{
    FBP_TRY(sum(text, 0, out));
    return isfinite(*out) ? FBP_OK : fbp_phantom_wrong(text, "an expression is not finite");
}
