/* CTSimU: a scenario and the metadata of what was made of it are two files that belong together. */
#include "array/file/bytes.h"
#include "scan/file/scan_inputs.h"
#include "scan/file/scan_json.h"
#include "scan/format/ctsimu.h"

#include "base/base.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char scenario_type[] = "CTSimU Scenario", metadata_type[] = "CTSimU Metadata";

static bool is_type(const cJSON *root, const char *type)
{
    const char *found = fbp_ct_type(root);

    return found && strcmp(found, type) == 0;
}

/* A file beside another one; NULL if it is not there. */
static fbp_status find(const char *base, const char *name, char **out)
{
    bool there = false;
    char *path = fbp_path_join(base, name);
    const fbp_status st = fbp_is_there(path, &there);

    *out = there ? path : NULL;
    if (!there)
        free(path);
    return st;
}

static fbp_status read_typed(const char *path, const char *type, cJSON **out)
{
    FBP_TRY(fbp_json_read(path, out));
    if (is_type(*out, type))
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID, "%s: file.file_type is not \"%s\": is it the right file?",
                    path, type);
}

/* "tetra.json" -> "tetra_metadata.json", beside it or in projections/; NULL: there is none. */
static fbp_status metadata_of(const char *scenario, char **found)
{
    static const char *const folders[] = {"", "projections/"};
    const char *name = fbp_base_name(scenario);
    const char *dot = strrchr(name, '.');
    const size_t n = dot ? (size_t)(dot - name) : strlen(name);

    *found = NULL;
    for (size_t i = 0; !*found && i < sizeof folders / sizeof *folders; i++) {
        char *beside = fbp_format("%s%.*s_metadata.json", folders[i], (int)n, name);
        const fbp_status st = beside ? find(scenario, beside, found) : fbp_fail_nomem(n, "a path");
        free(beside);
        FBP_TRY(st);
    }
    return FBP_OK;
}

static fbp_status load_scenario(struct fbp_scan *out, const char *path, const cJSON *root,
                                const struct fbp_geometry_known *known)
{
    cJSON *metadata = NULL;

    FBP_TRY(fbp_ct_scenario(out, path, root, known));
    char *beside;
    FBP_TRY(metadata_of(path, &beside));
    if (!beside)
        return FBP_OK; /* a geometry without projections */
    fbp_status st = read_typed(beside, metadata_type, &metadata);
    if (st == FBP_OK)
        st = fbp_ct_metadata(out, beside, metadata);
    if (st == FBP_OK)
        st = fbp_scan_add_file(out, beside);
    cJSON_Delete(metadata);
    free(beside);
    return st;
}

/* The scenario that metadata name: where they say, or under that name beside them. */
static fbp_status scenario_of(const char *path, const char *name, char **found)
{
    const char *slash = strrchr(name, '/');

    FBP_TRY(find(path, name, found));
    return *found || !slash ? FBP_OK : find(path, slash + 1, found);
}

static fbp_status load_metadata(struct fbp_scan *out, const char *path, const cJSON *root,
                                const struct fbp_geometry_known *known)
{
    const cJSON *name = fbp_ct_at(root, "acquisition_geometry.path_to_CTSimU_JSON");
    const cJSON *embedded = fbp_ct_at(root, "simulation.ctsimu_scenario");
    char *found = NULL;
    cJSON *scenario = NULL;
    fbp_status st;

    if (cJSON_IsString(name))
        FBP_TRY(scenario_of(path, name->valuestring, &found));
    if (found) {
        st = read_typed(found, scenario_type, &scenario);
        if (st == FBP_OK)
            st = fbp_ct_scenario(out, found, scenario, known);
    } else if (embedded) {
        st = fbp_ct_scenario(out, path, embedded, known);
    } else {
        st = fbp_fail(FBP_ERR_INVALID,
                      "%s: acquisition_geometry.path_to_CTSimU_JSON: %s is not there, and no "
                      "scenario is embedded: put the scenario beside this file",
                      path, cJSON_IsString(name) ? name->valuestring : "a scenario");
    }
    if (st == FBP_OK)
        st = fbp_ct_metadata(out, path, root);
    if (st == FBP_OK && found)
        st = fbp_scan_add_file(out, found);
    cJSON_Delete(scenario);
    free(found);
    return st;
}

static bool detect(const char *path, const unsigned char *head, size_t n)
{
    (void)path;
    return memmem(head, n, scenario_type, sizeof scenario_type - 1) ||
           memmem(head, n, metadata_type, sizeof metadata_type - 1);
}

static fbp_status load(struct fbp_scan *out, const char *path,
                       const struct fbp_geometry_known *known)
{
    cJSON *root = NULL;
    fbp_status st;

    FBP_TRY(fbp_json_read(path, &root));
    if (is_type(root, metadata_type))
        st = load_metadata(out, path, root, known);
    else if (is_type(root, scenario_type))
        st = load_scenario(out, path, root, known);
    else
        st = fbp_fail(FBP_ERR_INVALID,
                      "%s: file.file_type: expected \"%s\" or \"%s\": is it one of CTSimU?", path,
                      scenario_type, metadata_type);
    cJSON_Delete(root);
    return st;
}

const struct fbp_geometry_format fbp_geometry_ctsimu = {
    .name = "ctsimu",
    .about = "CTSimU scenarios and metadata",
    .extensions = ".json",
    .detect = detect,
    .load = load,
};
