/* Checks the runs, columns and counts of a region (struct fbp_region) against its voxels, for
 * random regions. */
#include "geometry/volume.h"
#include "test.h"

enum { NX = 19, NY = 7, NZ = 23, N = NX * NY * NZ };

static unsigned char wanted[NZ][NY][NX];

static fbp_status row(void *user, size_t y, size_t z, struct fbp_interval *out, size_t *n)
{
    *n = 0;
    for (uint32_t x = 0; x < NX; x++)
        if (wanted[z][y][x]) {
            if (*n > 0 && out[*n - 1].end == x)
                out[*n - 1].end++;
            else
                out[(*n)++] = (struct fbp_interval){x, x + 1};
        }
    return FBP_OK;
}

static unsigned draw(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* Single voxels, blocks, and slices that are like the one below. */
static void draw_voxels(unsigned *seed)
{
    memset(wanted, 0, sizeof wanted);
    for (unsigned i = draw(seed) % 40; i > 0; i--)
        wanted[draw(seed) % NZ][draw(seed) % NY][draw(seed) % NX] = 1;
    for (unsigned i = draw(seed) % 4; i > 0; i--) {
        const size_t x = draw(seed) % NX, y = draw(seed) % NY, z = draw(seed) % NZ;
        for (size_t k = z; k < NZ && k < z + 9; k++)
            for (size_t j = y; j < NY && j < y + 3; j++)
                memset(&wanted[k][j][x], 1, (NX - x + 1) / 2);
    }
    for (unsigned i = draw(seed) % 5; i > 0; i--) {
        const size_t z = 1 + draw(seed) % (NZ - 1);
        memcpy(wanted[z], wanted[z - 1], sizeof wanted[z]);
    }
}

static bool has(const struct fbp_region *r, size_t x, size_t y, size_t z)
{
    size_t n, within = 0;
    const struct fbp_interval *runs = fbp_region_row(r, y, z, &n);

    for (size_t i = 0; i < n; i++) {
        assert_true(runs[i].first < runs[i].end && runs[i].end <= NX);
        assert_true(i == 0 || runs[i].first > runs[i - 1].end);
        within += x >= runs[i].first && x < runs[i].end;
    }
    return within > 0;
}

static void check(const struct fbp_region *r, const size_t box[3][2])
{
    uint64_t count = 0;

    for (size_t z = 0; z < NZ; z++) {
        for (size_t y = 0; y < NY; y++)
            for (size_t x = 0; x < NX; x++) {
                const bool in = wanted[z][y][x] && x >= box[0][0] && x < box[0][1] &&
                                y >= box[1][0] && y < box[1][1] && z >= box[2][0] && z < box[2][1];
                assert_int_equal(has(r, x, y, z), in);
                count += in;
                wanted[z][y][x] = in;
            }
        assert_int_equal(fbp_region_count(r, 0, z + 1), count);
    }
    assert_int_equal(r->z1 > 0, count > 0);
    assert_int_equal(fbp_region_count(r, r->z0, r->z1), count);
    assert_true(count == 0 || (fbp_region_count(r, r->z0, r->z0 + 1) > 0 &&
                               fbp_region_count(r, r->z1 - 1, r->z1) > 0));
    for (size_t i = 0; i < (size_t)NX * NY; i++) {
        uint32_t first = 0, end = 0;
        for (uint32_t z = NZ; z-- > 0;)
            if (wanted[z][i / NX][i % NX]) {
                first = z;
                end = end ? end : z + 1;
            }
        assert_int_equal(r->columns[i].end, end);
        assert_true(end == 0 || r->columns[i].first == first);
    }
}

TEST(voxels_are_found_again)
{
    unsigned seed = 1;

    for (int i = 0; i < 300; i++) {
        static const size_t n[3] = {NX, NY, NZ};
        size_t box[3][2] = {{0, NX}, {0, NY}, {0, NZ}};
        struct fbp_region *r, *again;
        for (int a = 0; a < 3 && i % 3 == 0; a++) {
            box[a][0] = draw(&seed) % n[a];
            box[a][1] = box[a][0] + 1 + draw(&seed) % (n[a] - box[a][0]);
        }
        draw_voxels(&seed);
        OK(fbp_region_create(&r, n, (const size_t(*)[2])box, row, NULL));
        check(r, (const size_t(*)[2])box); /* voxels beside the box are gone now */
        OK(fbp_region_create(&again, n, (const size_t(*)[2])box, row, NULL));
        assert_int_equal(fbp_region_hash(7, r), fbp_region_hash(7, again));
        fbp_region_destroy(&again);
        wanted[box[2][0]][box[1][0]][box[0][0]] ^= 1;
        OK(fbp_region_create(&again, n, (const size_t(*)[2])box, row, NULL));
        assert_int_not_equal(fbp_region_hash(7, r), fbp_region_hash(7, again));
        fbp_region_destroy(&again);
        fbp_region_destroy(&r);
    }
}

static fbp_status fails(void *user, size_t y, size_t z, struct fbp_interval *out, size_t *n)
{
    *n = 0;
    return z == 3 ? FBP_ERR_IO : FBP_OK;
}

TEST(a_failed_row_ends_it)
{
    static const size_t n[3] = {NX, NY, NZ}, box[3][2] = {{0, NX}, {0, NY}, {0, NZ}};
    CLEANUP(fbp_region_destroy) struct fbp_region *r = NULL;

    assert_int_equal(fbp_region_create(&r, n, box, fails, NULL), FBP_ERR_IO);
    assert_null(r);
}

TEST_MAIN(NULL, NULL)
