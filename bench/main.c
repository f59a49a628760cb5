/* main() of the program fbp-bench, which `fbp bench …` and `fbp rabbitct …` start. */
#include "bench/commands.h"

int main(int argc, char **argv)
{
    return program_main(&program_bench, argc, argv);
}
