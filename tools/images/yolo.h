#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "records/store/image_tree.h"
#include "tools/images/annotations.h"
#include "tools/images/key_points.h"

namespace infeed {

// Parses a label file. Equal lines count once, as in Ultralytics. Throws
// DataError, without an origin, that names the line. key_point_numbers: of the
// key points that follow each box of a pose data set and are left out; 0: none.
// signs: receives the lines; null: not wanted.
[[nodiscard]] std::vector<AnnotatedObject> ParseYolo(
    std::string_view text, std::size_t key_point_numbers = 0,
    KeyPointSigns* signs = nullptr);

// Lists the images of a folder with the boxes in their label files: the image's
// path with .txt, and its last folder "images" named "labels". A line is a
// class from 0 and the box's centre, width and height in parts of the image's
// sides, or the corners of a polygon, which give a box. With `kpt_shape` in the
// options or the folder's data.yaml all are boxes with key points, which are
// left out; with neither, lines that may be such boxes or polygons are an
// error. Without a label file an image has no objects. The splits are those of
// FindYoloSplits().
//
// A class's label is its number + 1. Names are in the options' class list, else
// in the data.yaml files, which must agree, or in the folder's classes.txt,
// else the numbers are the names. Throws DataError that names file and line,
// IoError, UsageError.
[[nodiscard]] ImageTree ReadYolo(const std::string& folder,
                                 const AnnotationOptions& options);

}  // namespace infeed
