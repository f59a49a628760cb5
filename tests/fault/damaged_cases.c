/* The table of damaged files that damaged.c gives to the command; fault/damaged.expected has the
 * messages. */
#include "damaged_cases.h"
#include "damaged_prj.h"

/* ---- arrays */
#define S     "NDims = 3\nDimSize = 2 2 2\n"
#define T     "ElementType = MET_UCHAR\n"
#define L     "ElementDataFile = LOCAL\n"
#define EIGHT "12345678"

#define MHA(name, text)                                                      \
    {                                                                        \
        .what = "MHA: " name, .command = INFO, .file = "a.mha", .data = text \
    }
#define MHD(name, text)                                                      \
    {                                                                        \
        .what = "MHD: " name, .command = INFO, .file = "a.mhd", .data = text \
    }
#define BYTES(kind, name, to, path, bytes)                                                         \
    {                                                                                              \
        .what = kind ": " name, .command = to, .file = path, .data = bytes, .n = sizeof(bytes) - 1 \
    }

/* Version, length, header; sizes are those of the text. */
#define NPY(name, bytes) BYTES("NPY", name, INFO, "a.npy", "\x93NUMPY" bytes)
#define DICT             "{'descr': '<f4', 'fortran_order': False, 'shape': "

/* Headers of 23 x 17 and of 1000 x 500 pixels, each with its checksum. */
#define PNG_SMALL "\000\000\000\027\000\000\000\021\020\000\000\000\000\103\210\264\042"
#define PNG_LARGE "\000\000\003\350\000\000\001\364\010\000\000\000\000\213\103\130\361"
/* A hundred zeros. */
#define PNG_STREAM                                                                                 \
    "\000\000\000\014\111\104\101\124\170\234\143\140\240\075\000\000\000\144\000\001\206\144\074" \
    "\065"
#define PNG(name, bytes) BYTES("PNG", name, INFO, "a.png", "\x89PNG\r\n\x1a\n\0\0\0\15IHDR" bytes)
#define PNG_END          "\0\0\0\0IEND\xae\x42\x60\x82"

/* Version 5, little endian; class, sizes and an empty name. */
#define SPACES9 "         "
#define MAT(name, bytes)                                                                        \
    BYTES("MAT", name, INFO, "a.mat",                                                           \
          "MATLAB 5.0 MAT-file" SPACES9 SPACES9 SPACES9 SPACES9 SPACES9 SPACES9 SPACES9 SPACES9 \
              SPACES9 SPACES9 SPACES9 "      \0\1IM" bytes)
#define MAT_ARRAY(class, sizes) \
    "\6\0\0\0\10\0\0\0" class "\0\0\0\0\0\0\0\5\0\0\0\10\0\0\0" sizes "\1\0\1\0a\0\0\0"

/* ---- scans */
#define DETECTOR  "\"detector\":{\"pitch_mm\":0.8},"
#define DISTANCES "\"source_to_axis_mm\":500,\"source_to_detector_mm\":900,"
#define ANGLES    "\"angles_deg\":{\"start\":0,\"step\":72}"
#define HEAD      "{\"fbp_scan\":1,\"projections\":\"p.mha\","
#define SCAN(name, text)                                                        \
    {                                                                           \
        .what = "scan: " name, .command = RECON, .file = "s.json", .data = text \
    }
/* The message lists all formats. */
#define LISTS(name, text)                                                                          \
    {                                                                                              \
        .what = "scan: " name, .command = RECON, .file = "s.json", .data = text, .until = "(known" \
    }
/* Five views of 24 samples along five directions; more keys, or others. */
#define ROWS                                                                                       \
    "{\"fbp_scan\":1,\"kind\":\"planes\",\"projections\":\"p.raw\",\"raw\":{\"type\":\"float32\"," \
    "\"shape\":[5,1,24]},"
#define STEP  "\"spacing_mm\":0.5,"
#define ALONG "\"directions\":[[1,0,0],[0,1,0],[0,0,1],[0.6,0.8,0],[0,0.6,-0.8]]"
const char damaged_planes[] = ROWS STEP ALONG ",\"weights\":[1,1,1,1,1]}";
#define SHAPE(name, text)                                                                 \
    {                                                                                     \
        .what = "response: " name, .command = RESPONSE, .file = "shape.csv", .data = text \
    }
#define PLUS(name, text) SCAN(name, HEAD DETECTOR DISTANCES ANGLES "," text "}")

#define D10(x) x x x x x x x x x x

/* ---- geometry */
#define TEXT(name, text)                                                             \
    {                                                                                \
        .what = "matrices: " name, .command = CONVERT, .file = "g.txt", .data = text \
    }
#define CAMERA "-2.5 1000 0 1250 -1.5 0 1000 750 -.001 0 0 .5\n"

/* ---- phoenix datos|x and Volume Graphics: p.raw has 480 bytes */
#define VGI(name, text)                                                      \
    {                                                                        \
        .what = "VGI: " name, .command = INFO, .file = "a.vgi", .data = text \
    }
#define VOXELS "[file1]\nSize = 6 4 5\nDatatype = float\n"
#define PCA(name, text)                                                         \
    {                                                                           \
        .what = "PCA: " name, .command = CONVERT, .file = "a.pca", .data = text \
    }
#define OPENCT(name, text)                                                          \
    {                                                                               \
        .what = "openCT: " name, .command = CONVERT, .file = "a.json", .data = text \
    }
#define OF_PANEL                                                \
    "{\"OpenCTJSON\":{},\"geometry\":{\"detectorPixel\":[6,4]," \
    "\"detectorSize\":[6,4]},\"projections\":"
#define LENGTHS "[Geometry]\nFDD=800\nFOD=100\n[Image]\nDimX=6\nDimY=4\n"
#define PIXELS  "[Detector]\nPixelsizeX=0.2\nPixelsizeY=0.2\n"
#define TURN    "[CT]\nNumberImages=5\nRotationSector=360\n"

/* ---- BES3T: 120 zeros of four bytes are beside b.dsc, nothing is beside a.dsc */
#define DESC   "#DESC\t1.2\nBSEQ\tBIG\nIKKF\tREAL\nIRFMT\tF\n"
#define POINTS "XPTS\t24\nYPTS\t5\n"
#define FIELD  "XUNI\t'G'\nXTYP\tIDX\nXMIN\t330\nXWID\t23\n"
#define ANGLED ".DVC grdUnit, 1.0\nFirstAlpha 36 deg\nNrOfAlpha 5\nNrOfBeta 1\n"
#define DSC(name, to, text)                                                  \
    {                                                                        \
        .what = "BES3T: " name, .command = to, .file = "b.dsc", .data = text \
    }

/* ---- prj.mat (damaged_prj.c) */
#define PRJ(name, how)                                                            \
    {                                                                             \
        .what = "prj.mat: " name, .command = RECON, .file = "prj.mat", .put = how \
    }

/* ---- RabbitCT: magic, version, columns, rows, views, references */
#define RCT(name, bytes) BYTES("RabbitCT", name, INFO, "a.rctd", bytes)

static const struct damaged_case cases[] = {
    MHA("empty", "\n"),
    MHA("ends in the first key", "NDims = 3\nDimS"),
    MHA("ends in the sizes", "NDims = 3\nDimSize = 2 2"),
    MHA("ends behind the sizes", S),
    MHA("ends in the type", S "ElementType = MET_"),
    MHA("ends behind the type", S T),
    MHA("ends in LOCAL", S T "ElementDataFile = LOC"),
    MHA("no samples", S T L),
    MHA("the last sample is missing", S T L "1234567"),
    MHA("a size of 0", "NDims = 3\nDimSize = 2 0 2\n" T L EIGHT),
    MHA("a negative size", "NDims = 3\nDimSize = 2 -2 2\n" T L EIGHT),
    MHA("a size that is no number", "NDims = 3\nDimSize = 2 nan 2\n" T L EIGHT),
    MHA("a huge size", "NDims = 3\nDimSize = 4294967296 4294967296 4294967296\n" T L EIGHT),
    MHA("sizes whose product wraps to 8",
        "NDims = 3\nDimSize = 4611686018427387906 4 1\n" T L EIGHT),
    MHA("a spacing of 0", S T "ElementSpacing = 1 0 1\n" L EIGHT),
    MHA("an infinite spacing", S T "ElementSpacing = 1 inf 1\n" L EIGHT),
    MHA("an offset that is no number", S T "Offset = 0 nan 0\n" L EIGHT),
    MHA("an unknown type", S "ElementType = MET_COMPLEX\n" L EIGHT),
    MHA("several channels", S T "ElementNumberOfChannels = 3\n" L EIGHT),
    MHA("text as samples", S T "BinaryData = False\n" L "1 2 3 4 5 6 7 8"),
    MHA("compressed, but plain samples", S T "CompressedData = True\n" L EIGHT),
    MHA("a compressed stream that is cut",
        S T "CompressedData = True\nCompressedDataSize = 4\n" L "\x78\x9c\x63\x64"),
    MHA("a header larger than the file", S T "HeaderSize = 9223372036854775807\n" L EIGHT),
    MHA("five dimensions, two of the last", "NDims = 5\nDimSize = 2 2 1 1 2\n" T L EIGHT),
    MHA("integers of 64 bits", "NDims = 2\nDimSize = 1 1\nElementType = MET_LONG_LONG\n" L EIGHT),
    MHA("two dimensions, three sizes", "NDims = 2\nDimSize = 2 2 2\n" T L EIGHT),
    MHD("samples in a file that is not there", S T "ElementDataFile = none.raw\n"),
    MHD("names itself",
        "NDims = 3\nDimSize = 2 2 2\nElementType = MET_DOUBLE\nElementDataFile = a.mhd\n"),
    MHD("names a folder", S T "ElementDataFile = .\n"),
    MHD("names a device", S T "ElementDataFile = /dev/zero\n"),
    MHD("a list", S T "ElementDataFile = LIST\nslice.raw\n"),

    VGI("no samples", "[file1]\n"),
    VGI("no type", "[file1]\nSize = 6 4 5\nName = p.raw\n"),
    VGI("an unknown type", "[file1]\nSize = 6 4 5\nName = p.raw\nDatatype = rgb\n"),
    VGI("no sizes", "[file1]\nName = p.raw\nDatatype = float\n"),
    VGI("huge sizes", "[file1]\nSize = 99999999999 4 99999999999\nName = p.raw\n"
                      "Datatype = float\n"),
    VGI("a size of 0", "[file1]\nSize = 6 0 5\nName = p.raw\nDatatype = float\n"),
    VGI("samples in a file that is not there", VOXELS "Name = none.vol\n"),
    VGI("samples in two files", VOXELS "Name = p.raw\n[file2]\nName = p.raw\n"),
    VGI("names a folder", VOXELS "Name = .\n"),
    VGI("a header larger than the file", VOXELS "Name = p.raw\nSkipHeader = 1e15\n"),
    VGI("a header that is no number", VOXELS "Name = p.raw\nSkipHeader = nan\n"),
    VGI("a mirror image", VOXELS "Name = p.raw\nMirror = 0 0 1\n"),
    VGI("a spacing of 0", VOXELS "Name = p.raw\n[geometry]\nresolution = 1 1 0\n"),
    VGI("a spacing in inches",
        VOXELS "Name = p.raw\n[geometry]\nresolution = 1 1 1\nunit = inch\n"),

    NPY("ends behind the magic", ""),
    NPY("ends behind the version", "\x01\x00"),
    NPY("ends in the length", "\x01\x00\x30"),
    NPY("ends in the header", "\x01\x00\x46\x00" DICT),
    NPY("an unknown version", "\x09\x00\x46\x00" DICT "(2, 2, 2)}"),
    NPY("a length beyond the file", "\x01\x00\xff\xff" DICT "(2, 2, 2)}\n"),
    NPY("no samples", "\x01\x00\x3d\x00" DICT "(2, 2, 2)} \n"),
    NPY("a huge shape", "\x01\x00\x58\x00" DICT "(4294967296, 4294967296, 4294967296)}   \n"),
    NPY("an empty shape", "\x01\x00\x36\x00" DICT "()}  \n"),
    NPY("objects", "\x01\x00\x3c\x00{'descr': '|O', 'fortran_order': False, 'shape': (2, 2, 2)}\n"),

    NPY("complex numbers without the last",
        "\x01\x00\x3d\x00{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1, 2)} \n" EIGHT),
    NPY("complex numbers of another size",
        "\x01\x00\x3d\x00{'descr': '<c4', 'fortran_order': False, 'shape': (1, 1, 2)} \n" EIGHT),

    PNG("ends in the header", ""),
    PNG("a text of 2 GiB", PNG_SMALL "\x7f\xff\xff\xfftEXtKey" PNG_END),
    PNG("sizes that no stream of its length becomes", PNG_LARGE PNG_STREAM PNG_END),
    MAT("fewer values than its sizes say",
        "\16\0\0\0\70\0\0\0" MAT_ARRAY("\13", "\2\0\0\0\0\0\0\5") "\4\0\0\0\10\0\0\0" EIGHT),
    MAT("an array without sizes",
        "\16\0\0\0\30\0\0\0\6\0\0\0\10\0\0\0\6\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0"),
    MAT("complex, where real numbers are expected",
        "\16\0\0\0\130\0\0\0\6\0\0\0\10\0\0\0\7\10\0\0\0\0\0\0\5\0\0\0\10\0\0\0\2\0\0\0\2\0\0\0"
        "\1\0\1\0a\0\0\0\7\0\0\0\20\0\0\0" EIGHT EIGHT "\7\0\0\0\20\0\0\0" EIGHT EIGHT),
    DSC("ends behind the byte order", INFO, "#DESC\nBSEQ\tBIG\n"),
    {.what = "BES3T: a .DSC without its .DTA",
     .command = INFO,
     .file = "a.dsc",
     .data = DESC POINTS},
    DSC("no number of points", INFO, DESC),
    DSC("points of 0", INFO, DESC "XPTS\t0\nYPTS\t5\n"),
    DSC("points that are no number", INFO, DESC "XPTS\t2e\nYPTS\t5\n"),
    DSC("fewer points than the samples beside it", INFO, DESC "XPTS\t24\nYPTS\t4\n"),
    DSC("more points than the samples beside it", INFO, DESC "XPTS\t24\nYPTS\t6\n"),
    DSC("a product that wraps", INFO, DESC "XPTS\t1000000\nYPTS\t1000000\nZPTS\t1000000\n"),
    DSC("no byte order", INFO, "#DESC\nIKKF\tREAL\nIRFMT\tF\n" POINTS),
    DSC("an unknown byte order", INFO, "#DESC\nBSEQ\tMIDDLE\nIRFMT\tF\n" POINTS),
    DSC("an unknown type", INFO, "#DESC\nBSEQ\tBIG\nIRFMT\tA\n" POINTS),
    DSC("several data sets", INFO, "#DESC\nBSEQ\tBIG\nIKKF\tREAL,REAL\nIRFMT\tF,F\n" POINTS),
    DSC("complex, where as many real numbers are", INFO,
        "#DESC\nBSEQ\tBIG\nIKKF\tCPLX\nIRFMT\tF\n" POINTS),
    DSC("another text", INFO, "#DESCRIPTION\n"),
    DSC("an image without its kind", RECON, DESC POINTS FIELD "#SPL\nGRAD\t14\n"),
    DSC("a two-dimensional image", RECON, DESC POINTS FIELD "#SPL\nGRAD\t14\nIMTY\t2D\n" ANGLED),
    DSC("no gradient", RECON, DESC POINTS FIELD "#SPL\nIMTY\t3D\n#DSL\n" ANGLED),
    DSC("a gradient of 0", RECON, DESC POINTS FIELD "#SPL\nGRAD\t0.0\nIMTY\t3D\n#DSL\n" ANGLED),
    DSC("no angles", RECON, DESC POINTS FIELD "#SPL\nGRAD\t14\nIMTY\t3D\n"),
    DSC("angles of another number", RECON,
        DESC POINTS FIELD "#SPL\nGRAD\t14\nIMTY\t3D\n#DSL\n.DVC grdUnit, 1.0\n"
                          "FirstAlpha 36 deg\nNrOfAlpha 4\nNrOfBeta 2\n"),
    DSC("all gradients in one plane", RECON,
        DESC POINTS FIELD "#SPL\nGRAD\t14\nIMTY\t3D\n#DSL\n" ANGLED),
    DSC("a field that does not move", RECON,
        DESC POINTS "XUNI\t'G'\nXMIN\t330\nXWID\t0\n#SPL\nGRAD\t14\nIMTY\t3D\n"),
    DSC("a field of unequal steps without its .XGF", RECON,
        DESC POINTS "XTYP\tIGD\nXUNI\t'G'\n#SPL\nGRAD\t14\nIMTY\t3D\n"),
    DSC("a field of several axes", RECON,
        DESC POINTS "XTYP\tNTUP\nXUNI\t'G'\n#SPL\nGRAD\t14\nIMTY\t3D\n"),
    DSC("an axis of times", RECON,
        DESC POINTS "XUNI\t'ns'\nXMIN\t0\nXWID\t1\n#SPL\nGRAD\t14\nIMTY\t3D\n"),
    PRJ("no axis B", prj_without_b),
    PRJ("no gradients", prj_without_g),
    PRJ("more gradients than projections", prj_more_g),
    PRJ("fewer places than samples", prj_short_b),
    PRJ("B falls back", prj_b_falls),
    PRJ("B of unequal steps", prj_b_uneven),
    PRJ("B with a NaN", prj_b_nan),
    PRJ("B in cm", prj_b_cm),
    PRJ("ends in its last variable", prj_cut),
    PRJ("ends behind the tag of its last variable", prj_cut_whole),
    PRJ("a gradient of 0", prj_g_zero),
    PRJ("an infinite gradient", prj_g_infinite),
    PRJ("all gradients in one plane", prj_g_flat),
    PRJ("one gradient four times", prj_g_same),
    RCT("ends in the magic", "Rabb"),
    RCT("ends in the header", "RabbitCT\0\0\0\0\x02\0\0\0"),
    {.what = "unknown: no known name",
     .command = INFO,
     .file = "a.xyz",
     .data = "some bytes",
     .until = "(known"},

    SCAN("empty", " "),
    SCAN("zero bytes of text", "\n"),
    SCAN("cut", "{\"fbp_scan\": 1, \"proj"),
    SCAN("no object", "[1, 2]"),
    SCAN("no version", "{\"projections\":\"p.mha\"}"),
    SCAN("a version to come", "{\"fbp_scan\":2,\"projections\":\"p.mha\"}"),
    SCAN("no projections", "{\"fbp_scan\":1}"),
    SCAN("projections that are not there", "{\"fbp_scan\":1,\"projections\":\"none.mha\"}"),
    LISTS("itself as projections", "{\"fbp_scan\":1,\"projections\":\"s.json\"}"),
    SCAN("itself as geometry", HEAD "\"geometry\":\"s.json\"}"),
    SCAN("no detector", HEAD DISTANCES ANGLES "}"),
    SCAN("a pitch of 0", HEAD "\"detector\":{\"pitch_mm\":0}," DISTANCES ANGLES "}"),
    SCAN("a pitch that is no number",
         HEAD "\"detector\":{\"pitch_mm\":\"x\"}," DISTANCES ANGLES "}"),
    SCAN("another number of columns",
         HEAD "\"detector\":{\"pitch_mm\":1,\"columns\":7}," DISTANCES ANGLES "}"),
    SCAN("no distances", HEAD DETECTOR ANGLES "}"),
    SCAN("a source in the axis",
         HEAD DETECTOR "\"source_to_axis_mm\":0,\"source_to_detector_mm\":900," ANGLES "}"),
    SCAN("a detector before the axis",
         HEAD DETECTOR "\"source_to_axis_mm\":500,\"source_to_detector_mm\":-900," ANGLES "}"),
    SCAN("a huge distance",
         HEAD DETECTOR "\"source_to_axis_mm\":1e400,\"source_to_detector_mm\":900," ANGLES "}"),
    SCAN("too few angles", HEAD DETECTOR DISTANCES "\"angles_deg\":[0, 1]}"),
    SCAN("angles that are no numbers",
         HEAD DETECTOR DISTANCES "\"angles_deg\":[0, 1, null, 3, 4]}"),
    SCAN("an angle that is too large",
         HEAD DETECTOR DISTANCES "\"angles_deg\":{\"start\":0,\"step\":1e308}}"),
    PLUS("an unknown key", "\"colour\":1"),
    PLUS("an unknown kind", "\"kind\":\"spiral\""),
    PLUS("a volume without voxels", "\"volume\":{\"size\":[0,1,1]}"),
    PLUS("a negative volume", "\"volume\":{\"size\":-4}"),
    {.what = "scan: a huge volume",
     .command = RECON,
     .file = "s.json",
     .data = HEAD DETECTOR DISTANCES ANGLES ",\"volume\":{\"size\":1e9,\"voxel_mm\":1e-9}}",
     .until = ", the limit"},
    SCAN("planes: no directions", ROWS "\"spacing_mm\":0.5}"),
    SCAN("planes: no spacing", ROWS ALONG "}"),
    SCAN("planes: too few directions", ROWS STEP "\"directions\":[[1,0,0],[0,1,0]]}"),
    SCAN("planes: directions that are not unit",
         ROWS STEP "\"directions\":[[1,0,0],[0,1,0],[0,0,1],[3,4,0],[0,0.6,-0.8]]}"),
    SCAN("planes: a direction that is no number",
         ROWS STEP "\"directions\":[[1,0,0],[0,1,0],[0,0,1],[0,0,null],[0,0.6,-0.8]]}"),
    SCAN("planes: a direction of two numbers",
         ROWS STEP "\"directions\":[[1,0,0],[0,1],[0,0,1],[1,0,0],[0,0.6,-0.8]]}"),
    SCAN("planes: all directions in one plane",
         ROWS STEP "\"directions\":[[1,0,0],[0,1,0],[0.6,0.8,0],[0.8,0.6,0],[0.8,-0.6,0]]}"),
    SCAN("planes: one direction five times",
         ROWS STEP "\"directions\":[[1,0,0],[1,0,0],[1,0,0],[-1,0,0],[1,0,0]]}"),
    SCAN("planes: directions in a file that is not there",
         ROWS STEP "\"directions\":\"none.csv\"}"),
    SCAN("planes: directions in an array of pictures", ROWS STEP "\"directions\":\"p.mha\"}"),
    SCAN("planes: an unknown set", ROWS STEP "\"directions\":{\"set\":\"fekete\",\"n\":5}}"),
    SCAN("planes: a set of another number",
         ROWS STEP "\"directions\":{\"set\":\"solid-angle\",\"n\":18}}"),
    SCAN("planes: a set that is huge",
         ROWS STEP "\"directions\":{\"set\":\"linear-angle\",\"n\":[1e6,1e6]}}"),
    SCAN("planes: a gradient of 0", ROWS STEP ALONG ",\"gradients\":[1,2,0,2,1]}"),
    SCAN("planes: a gradient vector of 0",
         ROWS STEP "\"gradients\":[[1,0,0],[0,1,0],[0,0,0],[0.6,0.8,0],[0,0.6,-0.8]]}"),
    SCAN("planes: gradients of another number", ROWS STEP ALONG ",\"gradients\":[1,2]}"),
    SCAN("planes: a spacing of 0", ROWS "\"spacing_mm\":0," ALONG "}"),
    SCAN("planes: samples beside the middle", ROWS STEP ALONG ",\"first_mm\":7}"),
    SCAN("planes: weights of another number", ROWS STEP ALONG ",\"weights\":[1,2,3]}"),
    SCAN("planes: a negative weight", ROWS STEP ALONG ",\"weights\":[1,2,-3,2,1]}"),
    SCAN("planes: weights of 0", ROWS STEP ALONG ",\"weights\":[0,0,0,0,0]}"),
    SCAN("planes: bands without rings", ROWS STEP ALONG ",\"weights\":\"bands\"}"),
    SCAN("planes: a reference spectrum of zeros", ROWS STEP ALONG ",\"reference\":\"dark.mha\"}"),
    SCAN("planes: a reference spectrum of another length",
         ROWS STEP ALONG ",\"reference\":\"small.mha\"}"),
    SCAN("planes: a reference spectrum that is not there",
         ROWS STEP ALONG ",\"reference\":\"none.npy\"}"),
    SCAN("planes: a reference spectrum without a cut-off",
         ROWS STEP ALONG ",\"reference\":\"flat.mha\"}"),
    SCAN("planes: a reference spectrum of views of several sweeps", ROWS STEP ALONG
         ",\"first_mm\":[-5.75,-5.7,-5.75,-5.75,-5.75],\"reference\":\"flat.mha\"}"),
    SCAN("planes: samples without a spacing are resampled from fewer places",
         ROWS ALONG ",\"prepare\":{\"resample\":[1,2,3]}}"),
    SCAN("planes: places that do not rise throughout", ROWS ALONG
         ",\"prepare\":{\"resample\":[1,2,3,4,5,6,7,8,9,10,11,10.5,13,14,15,16,17,18,19,20,21,22,"
         "23,24]}}"),
    SCAN("planes: a place that is no number", ROWS ALONG
         ",\"prepare\":{\"resample\":[1,2,3,4,5,6,7,8,9,10,11,null,13,14,15,16,17,18,19,20,21,22,"
         "23,24]}}"),
    SCAN("planes: places in a file that is not there",
         ROWS ALONG ",\"prepare\":{\"resample\":\"none.txt\"}}"),
    SCAN("planes: places and a spacing", ROWS STEP ALONG
         ",\"prepare\":{\"resample\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,"
         "23,24]}}"),
    SCAN("planes: an unknown step of preparation", ROWS STEP ALONG ",\"prepare\":{\"base\":1}}"),
    SCAN("planes: a preparation that is no object", ROWS STEP ALONG ",\"prepare\":\"baseline\"}"),
    SCAN("planes: a baseline of order 2", ROWS STEP ALONG ",\"prepare\":{\"baseline\":2}}"),
    SCAN("planes: a baseline beyond the row",
         ROWS STEP ALONG ",\"prepare\":{\"baseline\":0,\"baseline_samples\":[20,30]}}"),
    SCAN("planes: three numbers for the samples of a baseline",
         ROWS STEP ALONG ",\"prepare\":{\"baseline\":0,\"baseline_samples\":[0,3,20]}}"),
    SCAN("planes: a phase of real samples", ROWS STEP ALONG ",\"prepare\":{\"phase\":\"all\"}}"),
    SCAN("planes: a phase of an unknown sort",
         ROWS STEP ALONG ",\"prepare\":{\"phase\":\"both\"}}"),
    SCAN("planes: an FFT without gradients", ROWS ALONG ",\"prepare\":{\"fft\":32}}"),
    SCAN("planes: an FFT of unknown times",
         ROWS ALONG ",\"gradients\":[1,2,1,2,1],\"prepare\":{\"fft\":32}}"),
    SCAN("planes: an FFT shorter than the rows",
         ROWS ALONG ",\"gradients\":[1,2,1,2,1],\"prepare\":{\"fft\":16,\"dwell_us\":1}}"),
    SCAN("planes: an FFT of a huge length",
         ROWS ALONG ",\"gradients\":[1,2,1,2,1],\"prepare\":{\"fft\":1e12,\"dwell_us\":1}}"),
    SCAN("planes: an echo outside the row", ROWS ALONG
         ",\"gradients\":[1,2,1,2,1],\"prepare\":{\"fft\":32,\"dwell_us\":1,\"zero_sample\":24}}"),
    SCAN("planes: time 0 without an FFT", ROWS STEP ALONG ",\"prepare\":{\"zero_sample\":3}}"),
    SCAN("planes: an FFT of real samples",
         ROWS ALONG ",\"gradients\":[1,2,1,2,1],\"prepare\":{\"fft\":32,\"dwell_us\":1}}"),
    SCAN("planes: a profile that is not there",
         ROWS STEP ALONG ",\"prepare\":{\"profile\":\"none.npy\"}}"),
    SCAN("planes: a profile of another length",
         ROWS STEP ALONG ",\"prepare\":{\"profile\":\"small.mha\"}}"),
    SCAN("planes: a profile of zeros", ROWS STEP ALONG ",\"prepare\":{\"profile\":\"dark.mha\"}}"),
    SCAN("planes: a threshold without a profile",
         ROWS STEP ALONG ",\"prepare\":{\"profile_threshold\":0.5}}"),
    SCAN("planes: a threshold above the profile",
         ROWS STEP ALONG ",\"prepare\":{\"profile\":\"flat.mha\",\"profile_threshold\":2}}"),
    SCAN("planes: pictures as a table of views",
         "{\"fbp_scan\":1,\"kind\":\"planes\",\"projections\":\"p.mha?sinogram\"," STEP ALONG "}"),
    PLUS("beam hardening by a word", "\"beam_hardening\":\"water\""),
    PLUS("beam hardening without p", "\"beam_hardening\":[0,0.1]"),
    PLUS("beam hardening of zeros", "\"beam_hardening\":[0]"),
    PLUS("beam hardening of nine terms", "\"beam_hardening\":[1,2,3,4,5,6,7,8,9]"),
    PLUS("beam hardening of a huge term", "\"beam_hardening\":[1,1e12]"),
    PLUS("beam hardening of filtered views", "\"filtered\":true,\"beam_hardening\":[1,0.1]"),
    SCAN("planes: beam hardening", ROWS STEP ALONG ",\"beam_hardening\":[1,0.1]}"),
    PLUS("rings by a number", "\"rings\":5"),
    PLUS("rings by an unknown method", "\"rings\":\"fourier\""),
    PLUS("rings of an even wider median", "\"rings\":\"sorting:99999\""),
    PLUS("rings of few views", "\"rings\":\"wavelet\""),
    PLUS("rings of filtered views", "\"filtered\":true,\"rings\":\"sorting\""),
    SCAN("planes: rings", ROWS STEP ALONG ",\"rings\":\"sorting\"}"),
    PLUS("phases without an energy", "\"paganin\":{\"delta_beta\":300}"),
    PLUS("phases by a number", "\"paganin\":300"),
    PLUS("phases of another key", "\"paganin\":{\"delta_beta\":300,\"energy\":20}"),
    PLUS("phases of a negative ratio", "\"paganin\":{\"delta_beta\":-3,\"energy_kev\":20}"),
    PLUS("phases of a cone at a distance",
         "\"paganin\":{\"delta_beta\":3,\"energy_kev\":20,\"distance_mm\":5}"),
    PLUS("a preparation of a cone", "\"prepare\":{\"baseline\":1}"),
    SCAN("planes: an unknown grid", ROWS STEP ALONG ",\"grid\":\"paper\"}"),
    SCAN("planes: angles, too", ROWS STEP ALONG "," ANGLES "}"),
    SCAN("planes: four rows, and three frames",
         "{\"fbp_scan\":1,\"kind\":\"planes\",\"projections\":\"p.mha\",\"frames\":3," STEP ALONG
         "}"),
    PLUS("directions of a cone", ALONG),
    PLUS("frames of a cone", "\"frames\":4"),
    PLUS("a reference spectrum of a cone", "\"reference\":\"dark.mha\""),
    PLUS("a voxel of 0", "\"volume\":{\"size\":4,\"voxel_mm\":0}"),
    PLUS("no unattenuated intensity", "\"i0\":0"),
    PLUS("a dark that is not there", "\"dark\":\"none.mha\""),
    PLUS("a flat of another detector", "\"flat\":\"small.mha\""),
    PLUS("matrices beside a circle", "\"matrices\":\"m.txt\""),
    SCAN("matrices that are not there", HEAD DETECTOR "\"matrices\":\"none.txt\"}"),
    SCAN("a geometry that is not there", HEAD "\"geometry\":\"none.txt\"}"),
    LISTS("an array as geometry", HEAD DETECTOR "\"geometry\":\"p.raw\"}"),
    SCAN("raw of another size", "{\"fbp_scan\":1,\"projections\":\"p.raw\",\"raw\":{\"type\":"
                                "\"float32\",\"shape\":[5,4,7]}," DETECTOR DISTANCES ANGLES "}"),
    SCAN("raw of a huge size",
         "{\"fbp_scan\":1,\"projections\":\"p.raw\",\"raw\":{\"type\":"
         "\"float32\",\"shape\":[5e15,4e15,7]}," DETECTOR DISTANCES ANGLES "}"),
    SCAN("raw of an unknown type",
         "{\"fbp_scan\":1,\"projections\":\"p.raw\",\"raw\":{\"type\":"
         "\"complex64\",\"shape\":[5,4,6]}," DETECTOR DISTANCES ANGLES "}"),
    SCAN("a pattern without end",
         "{\"fbp_scan\":1,\"projections\":\"p%d.mha 1 999999999\"," DETECTOR DISTANCES ANGLES "}"),
    SCAN("nested 2000 deep", D10(D10(D10("[[")))),

    SHAPE("nothing", "# nothing\n"),
    SHAPE("one number a row", "0\n0.5\n1\n"),
    SHAPE("a word", "0,1\n0.5,half\n"),
    SHAPE("fractions that fall", "0,1\n0.5,1\n0.4,0\n"),
    SHAPE("a fraction twice", "0,1\n0.5,1\n0.5,0\n"),
    SHAPE("a frequency in place of a fraction", "0,1\n125,0\n"),
    SHAPE("a negative fraction", "-0.5,1\n0.5,0\n"),
    SHAPE("a factor that is no number", "0,1\n0.5,nan\n"),
    SHAPE("a factor that is too large", "0,1\n0.5,1e999\n"),

    PCA("nothing but a name", "[General]\nVersion-pca=2\n"),
    PCA("no distances", TURN PIXELS "[Image]\nDimX=6\nDimY=4\n"),
    PCA("no pixels", LENGTHS TURN),
    PCA("no range of angles", LENGTHS PIXELS "[CT]\nNumberImages=5\n"),
    PCA("no views", LENGTHS PIXELS "[CT]\nNumberImages=0\n"),
    PCA("a distance that is no number", TURN PIXELS "[Geometry]\nFDD=far\nFOD=1\n"
                                                    "[Image]\nDimX=6\nDimY=4\n"),
    PCA("an object behind the detector", TURN PIXELS "[Geometry]\nFDD=1\nFOD=2\n"
                                                     "[Image]\nDimX=6\nDimY=4\n"),
    PCA("a tilted axis", LENGTHS TURN PIXELS "[Geometry]\nTilt=30\n"),
    PCA("another path", LENGTHS TURN PIXELS "[Trajectory]\nActive=1\n"),

    OPENCT("a circle", "{\"OpenCTJSON\":{\"variant\":\"CircularTrajectoryCBCTScan\"}}"),
    OPENCT("no panel", "{\"OpenCTJSON\":{},\"geometry\":{\"detectorPixel\":[6,4]}}"),
    OPENCT("no matrices", OF_PANEL "{\"matrices\":null}}"),
    OPENCT("a matrix of words", OF_PANEL "{\"matrices\":[[\"a\",\"b\",\"c\"]]}}"),

    TEXT("none", "# nothing\n"),
    TEXT("eleven numbers", "1 2 3 4 5 6 7 8 9 10 11\n"),
    TEXT("thirteen numbers", CAMERA "7\n"),
    TEXT("a word", "1 2 3 four\n"),
    TEXT("not finite", "nan 1000 0 1250 -1.5 0 1000 750 -.001 0 0 .5\n"),
    TEXT("too large", "1e999 1000 0 1250 -1.5 0 1000 750 -.001 0 0 .5\n"),
    TEXT("zeros", "0 0 0 0 0 0 0 0 0 0 0 0\n"),
    TEXT("of no camera", CAMERA "1 0 0 0 1 0 0 0 1 0 0 0\n"),
};

const struct damaged_case *damaged_cases(size_t *n)
{
    *n = sizeof cases / sizeof *cases;
    return cases;
}
