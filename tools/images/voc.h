#pragma once

#include <string>
#include <string_view>

#include "records/store/image_tree.h"
#include "tools/images/annotations.h"

namespace infeed {

// Parses the XML of an image; the classes have no labels yet. Throws DataError,
// without an origin, that names the element.
[[nodiscard]] ImageObjects ParseVoc(std::string_view xml,
                                    const AnnotationOptions& options);

// Lists the images of a data set in the form of Pascal VOC with their boxes: of
// each VOC2012/{JPEGImages,Annotations} in the folder the images in its lists
// ImageSets/Main/{train,val,test}.txt, with SegmentationClass/NAME.png where
// there is one; else all images with an XML file beside them, or in the folder
// "annotations" in the place of "images".
//
// A class's label is its place among the sorted names, or its line in the
// options' class list, from 1. Throws DataError that names file and element,
// IoError, UsageError.
[[nodiscard]] ImageTree ReadVoc(const std::string& folder,
                                const AnnotationOptions& options);

}  // namespace infeed
