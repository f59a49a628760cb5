/* Makes projections of linear accelerators (.his, .hnc, .hnd, .xim) and their XML files, by the
 * description of the formats. Shared by unit tests, tests of reconstructions and seeds of the
 * fuzzer. */
#ifndef FBP_TEST_LINAC_FILES_H
#define FBP_TEST_LINAC_FILES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A file in memory: [n] bytes, of which `room` are allocated. */
struct bytes {
    unsigned char *p;
    size_t n, room;
};

static inline void add(struct bytes *b, const void *data, size_t n)
{
    while (b->n + n > b->room) {
        b->room = 2 * b->room + 1024;
        b->p = realloc(b->p, b->room);
        if (!b->p)
            abort();
    }
    if (data)
        memcpy(b->p + b->n, data, n);
    else
        memset(b->p + b->n, 0, n);
    b->n += n;
}

static inline void add_u16(struct bytes *b, uint16_t x)
{
    add(b, &x, sizeof x);
}

static inline void add_i32(struct bytes *b, int32_t x)
{
    add(b, &x, sizeof x);
}

static inline void set_bytes(struct bytes *b, size_t at, const void *data, size_t n)
{
    memcpy(b->p + at, data, n);
}

/* Compress w x h samples: the codes of the differences, two bits each, and the samples. The
 * difference is that of neighbours in a row, minus the same of the row before. */
static inline void compress_samples(const int32_t *p, size_t w, size_t h, struct bytes *codes,
                                    struct bytes *samples)
{
    unsigned code = 0, n_codes = 0;

    add(samples, p, 4 * (w + 1));
    for (size_t i = w + 1; i < w * h; i++) {
        const int64_t d = ((int64_t)p[i] - p[i - 1]) - ((int64_t)p[i - w] - p[i - w - 1]);
        const int8_t one = (int8_t)d;
        const int16_t two = (int16_t)d;
        const int32_t four = (int32_t)d;
        unsigned c = 2;
        if (d >= -128 && d <= 127)
            c = 0;
        else if (d >= -32768 && d <= 32767)
            c = 1;
        add(samples, c == 0 ? (const void *)&one : c == 1 ? (const void *)&two : &four, 1u << c);
        code |= c << 2 * (n_codes % 4);
        if (++n_codes % 4 == 0 || i + 1 == w * h) {
            const unsigned char byte = (unsigned char)code;
            add(codes, &byte, 1);
            code = 0;
        }
    }
}

/* Header of .hnc and .hnd, followed by zeros up to `size`. */
static inline void add_hn_header(struct bytes *b, const char *magic, size_t w, size_t h,
                                 double pitch, double angle_deg, size_t size)
{
    const uint32_t n[2] = {(uint32_t)w, (uint32_t)h};

    add(b, NULL, size);
    set_bytes(b, 0, magic, strlen(magic));
    set_bytes(b, 120, n, sizeof n);
    set_bytes(b, 352, &pitch, 8);
    set_bytes(b, 360, &pitch, 8);
    set_bytes(b, 432, &angle_deg, 8);
}

static inline struct bytes make_hnd(const int32_t *p, size_t w, size_t h, double pitch,
                                    double angle_deg)
{
    struct bytes out = {0}, samples = {0};

    add_hn_header(&out, "VARIAN_VA_INTERNAL_HND_1.0", w, h, pitch, angle_deg, 1024);
    compress_samples(p, w, h, &out, &samples);
    add(&out, samples.p, samples.n);
    free(samples.p);
    return out;
}

static inline struct bytes make_hnc(const int32_t *p, size_t w, size_t h, double pitch,
                                    double angle_deg)
{
    struct bytes out = {0};

    add_hn_header(&out, "VARIAN_VA_INTERNAL_HNC_1.0", w, h, pitch, angle_deg, 512);
    for (size_t i = 0; i < w * h; i++)
        add_u16(&out, (uint16_t)p[i]);
    return out;
}

/* Property of an .xim file of type double, or int32 if whole is not 0. */
static inline void add_property(struct bytes *b, const char *name, double x, int32_t whole)
{
    add_i32(b, (int32_t)strlen(name));
    add(b, name, strlen(name));
    add_i32(b, whole ? 0 : 1);
    add(b, whole ? (const void *)&whole : &x, whole ? 4 : 8);
}

/* Values of an .xim file, in its units: cm and degrees. norm 0: no dose chamber. */
struct xim {
    double pitch_cm, angle_deg, lat_cm, lng_cm;
    int32_t norm;
};

static inline struct bytes make_xim(const int32_t *p, size_t w, size_t h, const struct xim *x)
{
    static const char text[] = "kV";
    struct bytes out = {0}, codes = {0}, samples = {0};

    compress_samples(p, w, h, &codes, &samples);
    add(&out, "VMS.XI\0\0", 8);
    add_i32(&out, 1);
    add_i32(&out, (int32_t)w);
    add_i32(&out, (int32_t)h);
    add_i32(&out, 32);
    add_i32(&out, 4);
    add_i32(&out, 1);
    add_i32(&out, (int32_t)codes.n);
    add(&out, codes.p, codes.n);
    add_i32(&out, (int32_t)samples.n);
    add(&out, samples.p, samples.n);
    add_i32(&out, (int32_t)(4 * w * h));
    add_i32(&out, 3); /* bins of the histogram */
    add(&out, NULL, 12);
    add_i32(&out, x->norm ? 8 : 7);
    add_i32(&out, 4);
    add(&out, "Mode", 4);
    add_i32(&out, 2); /* text */
    add_i32(&out, sizeof text);
    add(&out, text, sizeof text);
    add_i32(&out, 6);
    add(&out, "Curves", 6);
    add_i32(&out, 4); /* doubles */
    add_i32(&out, 16);
    add(&out, NULL, 16);
    add_property(&out, "PixelWidth", x->pitch_cm, 0);
    add_property(&out, "PixelHeight", x->pitch_cm, 0);
    add_property(&out, "KVSourceRtn", x->angle_deg, 0);
    add_property(&out, "KVDetectorLat", x->lat_cm, 0);
    add_property(&out, "KVDetectorLng", x->lng_cm, 0);
    if (x->norm)
        add_property(&out, "KVNormChamber", 0, x->norm);
    free(codes.p);
    free(samples.p);
    return out;
}

/* A .his file of n_images images; p: numbers as they are stored. */
static inline struct bytes make_his(const int32_t *p, size_t w, size_t h, size_t n_images)
{
    const uint16_t head[34] = {
        0x7000, 68, 100, 0, 0, 32, 1, 1, (uint16_t)w, (uint16_t)h, (uint16_t)n_images, [16] = 4};
    struct bytes out = {0};

    add(&out, head, sizeof head);
    add(&out, NULL, 32);
    for (size_t i = 0; i < w * h * n_images; i++)
        add_u16(&out, (uint16_t)p[i]);
    return out;
}

static const char projection_info_xml[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<Scan><Version>1.0</Version>\n"
    "<CalibratedSAD>1000.0</CalibratedSAD><CalibratedSID>1500.0</CalibratedSID>\n"
    "<CalibratedDetectorOffsetX>1.5</CalibratedDetectorOffsetX>\n"
    "<CalibratedDetectorOffsetY>-0.75</CalibratedDetectorOffsetY>\n"
    "<DetectorPosLat>20</DetectorPosLat><FanType>FullFan</FanType></Scan>\n";

static const char scan_xml[] =
    "<?xml version=\"1.0\"?>\n<Scan Version=\"2.0\" xmlns=\"http://baden.varian.com/cr.xsd\">\n"
    "<Acquisitions><SAD>1000</SAD><SID>1500</SID><Fan>Full</Fan>\n"
    "<Bowtie>Full Fan</Bowtie></Acquisitions></Scan>\n";

static const char frames_xml[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ProjectionSet>\n"
    "<Patient><ID>A &amp; B</ID></Patient><Image><kV>120</kV></Image>\n<Frames>\n"
    "<Frame><Seq>1</Seq><GantryAngle>-180</GantryAngle><UCentre>1.5</UCentre>"
    "<VCentre>-2.25</VCentre></Frame>\n"
    "<Frame><Seq>2</Seq><GantryAngle>10.25</GantryAngle><UCentre>1.75</UCentre>"
    "<VCentre>-2.5</VCentre></Frame>\n"
    "</Frames></ProjectionSet>\n";

#endif /* FBP_TEST_LINAC_FILES_H */
