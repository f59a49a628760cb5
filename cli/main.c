#include "program.h"

int main(int argc, char **argv)
{
    return program_main(&program_fbp, argc, argv);
}
