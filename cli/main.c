/* main() of the program fbp, started by the user. All work is in program.c; the table of commands
 * is in commands.c. */
#include "program.h"

int main(int argc, char **argv)
{
    return program_main(&program_fbp, argc, argv);
}
