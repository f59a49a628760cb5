/* main() of the program fbp: calls program_main() (program.c) with the table of commands
 * (commands.c). */
#include "program.h"

int main(int argc, char **argv)
{
    return program_main(&program_fbp, argc, argv);
}
