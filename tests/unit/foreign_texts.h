/* Geometry files of other programs, as text. */
#ifndef FBP_TEST_FOREIGN_TEXTS_H
#define FBP_TEST_FOREIGN_TEXTS_H

/* TIGRE's geometry as JSON */
static const char tigre_json[] =
    "{\"mode\": \"cone\", \"DSD\": 1500, \"DSO\": [1000, 1001, 1002],\n"
    "\"nDetector\": [4, 6], \"dDetector\": [0.7, 0.8],\n"
    "\"sDetector\": [2.8, 4.8], \"nVoxel\": [3, 4, 5],\n"
    "\"dVoxel\": [1, 2, 3], \"offOrigin\": [7, 8, 9],\n"
    "\"offDetector\": [1.5, -2], \"COR\": 0.25, \"rotDetector\": [0, 0, 0],\n"
    "\"accuracy\": 0.5, \"filter\": null,\n"
    "\"angles\": [0, 1.5707963267948966, 3.141592653589793]}\n";

/* Nikon's .xtekct */
static const char nikon_xtekct[] =
    "[XTekCT]\r\nName=walnut 1\r\nVoxelsX=100\r\nDetectorPixelsX=200\r\n"
    "DetectorPixelsY=160\r\nDetectorPixelSizeX=0.2\r\n"
    "DetectorPixelSizeY=0.25\r\nSrcToObject=100\r\nSrcToDetector=800\r\n"
    "DetectorOffsetX=1.5\r\nDetectorOffsetY=-2.25\r\n"
    "CentreOfRotationTop=0\r\nCentreOfRotationBottom=0\r\n"
    "InitialAngle=0\r\nAngularStep=90\r\nProjections=4\r\n"
    "WhiteLevel=60000\r\nInputFolderName=\r\n[Other]\r\nName=no\r\n";

/* a log of Bruker's */
static const char bruker_log[] =
    "[System]\r\nScanner=SkyScan1275\r\nCamera Pixel Size (um)=75.0\r\nCamera X/Y Ratio=1.0000\r\n"
    "[User]\r\nUser Name=SkyScan\r\n"
    "[Acquisition]\r\nFilename Prefix=embryo_~00\r\nNumber Of Files=  4\r\n"
    "Number Of Rows= 100\r\nNumber Of Columns= 120\r\nFilename Index Length=8\r\n"
    "Partial Width=OFF\r\nCamera binning=2x2\r\nOptical Axis (line)=  40\r\n"
    "Object to Source (mm)=25\r\nCamera to Source (mm)=286.0\r\n"
    "Image Pixel Size (um)=7.5\r\nImage Format=TIFF\r\nDepth (bits)=16\r\n"
    "Rotation Step (deg)=90\r\nUse 360 Rotation=YES\r\nRandom Movement=OFF (30)\r\n"
    "Rotation Direction=CC\r\nScanning Trajectory=ROUND\r\n"
    "[Reconstruction]\r\nReconstruction Program=NRecon\r\n";

/* a volume of phoenix datos|x, with v.vol */
static const char volume_vgi[] =
    "{volume1}\r\n[representation]\r\nsize = 4 3 2\r\nbitsperelement = 8\r\n"
    "datatype = unsigned integer\r\n[file1]\r\nRegionOfInterestStart = 0 0 0\r\n"
    "FileFormat = raw\r\nSize = 4 3 2\r\nName = v.vol\r\n"
    "Datatype = unsigned integer\r\nBitsPerElement = 16\r\ndatarange = 0 65535\r\n"
    "{volumeprimitive9}\r\n[geometry]\r\nresolution = 0.05 0.05 0.06\r\nscale = 1 1 1\r\n"
    "unit = mm\r\n[volume]\r\nvolume = volume1\r\n";

/* a scan description of phoenix datos|x */
static const char phoenix_pca[] =
    "[General]\r\nVersion=2.8.2.20099\r\nVersion-pca=2\r\nSystemName=v|tome|x m\r\n"
    "[Geometry]\r\nFDD=800\r\nFOD=100\r\nMagnification=8\r\nVoxelSizeX=0.025\r\n"
    "VoxelSizeY=0.025\r\nCalibValue=0.000\r\ncx=59.50000000\r\ncy=49.50000000\r\n"
    "DetectorRot=0.00000000\r\nTilt=0.00000000\r\nOld_CalibValue=0\r\n"
    "[CT]\r\nType=0\r\nNumberImages=4\r\nStartImg=5\r\nRotationSector=360.00000000\r\n"
    "NoRotation=0\r\nNrImgDone=5\r\n[Trajectory]\r\nActive=0\r\n"
    "[CalibValue]\r\nNumberImages=18\r\n"
    "[Image]\r\nTop=0\r\nLeft=10\r\nBottom=99\r\nRight=129\r\nDimX=120\r\nDimY=100\r\n"
    "Rotation=0\r\nMirrorX=0\r\nMirrorY=0\r\nBitPP=16\r\nFreeRay=3401\r\n"
    "[Detector]\r\nPixelsizeX=0.20000000\r\nPixelsizeY=0.20000000\r\nNrPixelsX=140\r\n"
    "NrPixelsY=100\r\n";

/* A scenario of CTSimU's */
#define XYZ(x, y, z)                                                        \
    "{\"x\": {\"value\": " #x ", \"unit\": \"mm\"}, \"y\": {\"value\": " #y \
    ", \"unit\": \"mm\"}, "                                                 \
    "\"z\": {\"value\": " #z ", \"unit\": \"mm\"}}"
#define DIRECTION(x, y, z) \
    "{\"x\": {\"value\": " #x "}, \"y\": {\"value\": " #y "}, \"z\": {\"value\": " #z "}}"

static const char ctsimu_scenario[] =
    "{\"file\": {\"file_type\": \"CTSimU Scenario\"},\n"
    "\"geometry\": {\n"
    " \"detector\": {\"center\": " XYZ(
        400, 3,
        0) ",\n"
           "  \"vector_u\": " DIRECTION(0, -1, 0) ", \"vector_w\": " DIRECTION(
               2, 0,
               0) ",\n"
                  "  \"deviations\": []},\n"
                  " \"source\": {\"type\": \"cone\", \"center\": " XYZ(
                      0, 0,
                      0) ",\n"
                         "  \"vector_u\": " DIRECTION(0, -1, 0) ", \"vector_w\": " DIRECTION(
                             1, 0,
                             0) "},\n"
                                " \"stage\": {\"center\": " XYZ(
                                    300, 0,
                                    0) ",\n"
                                       "  \"vector_u\": " DIRECTION(
                                           1, 0,
                                           0) ", \"vector_w\": " DIRECTION(0, 0,
                                                                           1) ",\n"
                                                                              "  \"deviations\": "
                                                                              "null}},\n"
                                                                              "\"detector\": "
                                                                              "{\"columns\": "
                                                                              "{\"value\": 6, "
                                                                              "\"unit\": \"px\"}, "
                                                                              "\"rows\": "
                                                                              "{\"value\": 4, "
                                                                              "\"unit\": \"px\"},\n"
                                                                              " \"pixel_pitch\": "
                                                                              "{\"u\": {\"value\": "
                                                                              "0.8, \"unit\": "
                                                                              "\"mm\"}, \"v\": "
                                                                              "{\"value\": 700, "
                                                                              "\"unit\": "
                                                                              "\"um\"}}},\n"
                                                                              "\"acquisition\": "
                                                                              "{\"start_angle\": "
                                                                              "{\"value\": 0, "
                                                                              "\"unit\": "
                                                                              "\"deg\"},\n"
                                                                              " \"stop_angle\": "
                                                                              "{\"value\": 180, "
                                                                              "\"unit\": \"deg\"}, "
                                                                              "\"direction\": "
                                                                              "\"CCW\",\n"
                                                                              " \"number_of_"
                                                                              "projections\": 3, "
                                                                              "\"include_final_"
                                                                              "angle\": true,\n"
                                                                              " \"pixel_binning\": "
                                                                              "{\"u\": 1, \"v\": "
                                                                              "1}}}\n";

/* Metadata beside it */
static const char ctsimu_metadata[] =
    "{\"file\": {\"file_type\": \"CTSimU Metadata\"},\n"
    "\"output\": {\"projections\": {\"filename\": \"p.raw\", \"number\": 3, \"max_intensity\": "
    "60000,\n"
    " \"datatype\": \"uint16\", \"byteorder\": \"big\", \"headersize\": {\"file\": 8, \"image\": "
    "0},\n"
    " \"dimensions\": {\"x\": {\"value\": 6, \"unit\": \"px\"}, \"y\": {\"value\": 4, \"unit\": "
    "\"px\"}},\n"
    " \"dark_field\": {\"number\": 1, \"filename\": \"dark.raw\", \"projections_corrected\": "
    "false},\n"
    " \"flat_field\": {\"number\": 3, \"filename\": \"flat_%04d.raw\", \"projections_corrected\": "
    "false},\n"
    " \"bad_pixel_map\": {\"filename\": null}},\n"
    " \"tomogram\": {\"dimensions\": {\"x\": {\"value\": 5}, \"y\": {\"value\": 6}, \"z\": "
    "{\"value\": 7}},\n"
    "  \"voxelsize\": {\"x\": {\"value\": 0.1, \"unit\": \"cm\"}, \"y\": {\"value\": 2}, \"z\": "
    "{\"value\": 3}}}},\n"
    "\"acquisition_geometry\": {\"path_to_CTSimU_JSON\": \"../elsewhere/m.json\"}}\n";

/* An openCT file as CTSimU's toolbox writes it: source at 300 mm, panel 400 mm away from it, pixels
 * of 0.8 x 0.7 mm; in the second view the stage has turned by 90 degrees. */
static const char openct_json[] =
    "{\"OpenCTJSON\": {\"versionMajor\": 1, \"variant\": \"FreeTrajectoryCBCTScan\"},\n"
    "\"units\": {\"length\": \"Millimeter\", \"angle\": \"Degree\"},\n"
    "\"projections\": {\"numProjections\": 2, \"intensityDomain\": true,\n"
    " \"images\": {\"dataType\": \"UInt16\", \"fileType\": \"TIFF\", \"directory\": \"a\",\n"
    "  \"files\": [\"p_0009.tif\", \"p_0010.tif\"]},\n"
    " \"detectorCoordinateFrame\": \"OriginAtDetectorCenter.VerticalAxisRunningDownwards\",\n"
    " \"detectorCoordinateDimension\": \"Length\",\n"
    " \"matrices\": [[[-0.01, 1.3333333333333333, 0, 3], [0, 0, -1.3333333333333333, 0],\n"
    "   [-0.0033333333333333335, 0, 0, 1]],\n"
    "  [[1.3333333333333333, 0.01, 0, 3], [0, 0, -1.3333333333333333, 0],\n"
    "   [0, 0.0033333333333333335, 0, 1]]]},\n"
    "\"geometry\": {\"detectorPixel\": [6, 4], \"detectorSize\": [4.8, 2.8],\n"
    " \"mirrorDetectorAxis\": \"\", \"totalAngle\": 180},\n"
    "\"corrections\": {\"brightImages\": {\"directory\": \"\", \"files\": [\"flat.tif\"]},\n"
    " \"darkImage\": {\"file\": \"b/dark.tif\"}, \"badPixelMask\": null}}\n";

/* As plastimatch 1.9.4 wrote it: drr -G --sad 700 --sid 1100 -r "24 32" -z "240 256"
 * -c "10 17.5", its second view. */
static const char plastimatch_txt[] =
    "    1.00000000e+01     1.75000000e+01\n"
    "   -8.90671819e-02    -4.54646798e-02     0.00000000e+00     0.00000000e+00\n"
    "    0.00000000e+00     0.00000000e+00    -1.25000000e-01     0.00000000e+00\n"
    "    4.13315270e-04    -8.09701654e-04     0.00000000e+00     6.36363636e-01\n"
    "    7.00000000e+02\n    1.10000000e+03\n"
    "    4.54646798e-01    -8.90671819e-01    -0.00000000e+00\n"
    "Extrinsic\n"
    "   -8.90671819e-01    -4.54646798e-01     0.00000000e+00     0.00000000e+00\n"
    "   -0.00000000e+00    -0.00000000e+00    -1.00000000e+00     0.00000000e+00\n"
    "    4.54646798e-01    -8.90671819e-01    -0.00000000e+00     7.00000000e+02\n"
    "    0.00000000e+00     0.00000000e+00     0.00000000e+00     1.00000000e+00\n"
    "Intrinsic\n"
    "    1.00000000e-01     0.00000000e+00     0.00000000e+00     0.00000000e+00\n"
    "    0.00000000e+00     1.25000000e-01     0.00000000e+00     0.00000000e+00\n"
    "    0.00000000e+00     0.00000000e+00     9.09090909e-04     0.00000000e+00\n";

#endif /* FBP_TEST_FOREIGN_TEXTS_H */
