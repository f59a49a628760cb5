/* json_get KEY[.KEY…] <FILE: print a member of the one JSON object on standard input, for the
 * shell tests.  Fails if the text is not exactly one JSON value or the member is not there. */
#include <cjson/cJSON.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_all(FILE *f)
{
    size_t n = 0, size = 1 << 20;
    char *text = malloc(size);

    if (!text)
        return NULL;
    n = fread(text, 1, size - 1, f);
    text[n] = '\0';
    return text;
}

static const cJSON *find(const cJSON *at, char *path)
{
    for (char *key = strtok(path, "."); at && key; key = strtok(NULL, ".")) {
        char *end;
        const long index = strtol(key, &end, 10);
        at = *end ? cJSON_GetObjectItemCaseSensitive(at, key) : cJSON_GetArrayItem(at, (int)index);
    }
    return at;
}

int main(int argc, char **argv)
{
    char *text = read_all(stdin);
    cJSON *root = text ? cJSON_ParseWithOpts(text, NULL, 1) : NULL;
    const cJSON *item = argc == 2 ? find(root, argv[1]) : root;
    char *out = item ? cJSON_PrintUnformatted(item) : NULL;
    const int rc = out ? 0 : 1;

    if (!root)
        fprintf(stderr, "json_get: not one JSON value: %s\n", text ? text : "");
    else if (!item)
        fprintf(stderr, "json_get: no member %s in %s\n", argc == 2 ? argv[1] : "", text);
    if (out)
        puts(cJSON_IsString(item) ? item->valuestring : out);
    free(out);
    free(text);
    cJSON_Delete(root);
    return rc;
}
