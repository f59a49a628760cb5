/* Command `fbp devices` (cmd_devices), which commands.c lists and program.c runs: prints the
 * devices that can reconstruct (CPU, GPUs), and the reason why others cannot.
 * Used by: commands.c. */
#include "cli.h"

#include "base/text.h"

struct devices_args {
    bool json;
};

static const struct opt table[] = {
    OPT(struct devices_args, json, .name = "json", .help = "print one JSON object"),
};

enum { MAX_DEVICES = 64 };

static int run(const struct command *self, int argc, char **argv)
{
    struct devices_args a = {0};
    static struct fbp_device_info d[MAX_DEVICES] = {{.struct_size = sizeof *d}};
    char bytes[24];

    OPT_TRY(opt_parse(self, &a, argc, argv));
    size_t n = fbp_devices(d, MAX_DEVICES);
    n = n < MAX_DEVICES ? n : MAX_DEVICES;
    if (a.json) {
        cJSON *root = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(root, "devices");
        for (size_t i = 0; list && i < n; i++) {
            cJSON *one = cJSON_CreateObject();
            cJSON_AddStringToObject(one, "name", d[i].name);
            cJSON_AddStringToObject(one, "text", d[i].text);
            cJSON_AddBoolToObject(one, "usable", d[i].reason[0] == '\0');
            cJSON_AddStringToObject(one, "reason", d[i].reason);
            cJSON_AddStringToObject(one, "driver", d[i].driver);
            cli_json_add(one, {"memory_bytes", (double)d[i].memory_bytes},
                         {"free_bytes", (double)d[i].free_bytes});
            cJSON_AddStringToObject(one, "bus_id", d[i].bus_id);
            if (d[i].numa_node >= 0)
                cJSON_AddNumberToObject(one, "numa_node", d[i].numa_node);
            cJSON_AddItemToArray(list, one);
        }
        return cli_json(root, false);
    }
    for (size_t i = 0; i < n; i++) {
        printf("%-8s %s", d[i].name, d[i].text);
        if (d[i].driver[0])
            printf(", driver %s", d[i].driver);
        if (d[i].bus_id[0])
            printf(", PCI %s", d[i].bus_id);
        if (d[i].numa_node >= 0)
            printf(", NUMA node %d", d[i].numa_node);
        if (d[i].memory_bytes)
            printf(", %s", fbp_bytes_text(bytes, sizeof bytes, d[i].memory_bytes));
        if (d[i].free_bytes)
            printf(", %s free", fbp_bytes_text(bytes, sizeof bytes, d[i].free_bytes));
        if (d[i].reason[0])
            printf("%snot usable: %s", d[i].text[0] ? "; " : "", d[i].reason);
        putchar('\n');
    }
    return 0;
}

const struct command cmd_devices = {
    .name = "devices",
    .summary = "list usable devices, and why others cannot be used",
    .usage = "[--json]",
    .about =
        "The names are those for --device. The default is the first GPU by CUDA, else the first by "
        "OpenGL in hardware, else the CPU. On a "
        "GPU, each process needs some 300 MiB of the free memory for the driver's own context; "
        "--device-memory does not count them.",
    .examples = "  fbp devices\n"
                "  fbp recon scan.json -o volume.mha --device cpu\n",
    COMMAND_OPTS(table),
    .run = run,
};
