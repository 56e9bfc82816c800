#pragma once

#include <span>

#include "pipeline/options/objects.h"
#include "pipeline/slots/sample.h"
#include "preprocess/recipe/geometry.h"

namespace infeed {

// Reads a sample's boxes from the columns behind those of InputOptions::fields
// into sample.boxes, in pixels of an image of that size, and returns them.
// Throws DataError for lists that are not as specified. Requires:
// objects.is_on(), and the sample's fields were read.
std::span<const float> ReadSampleBoxes(const ObjectsSpec& objects,
                                       const ImageSize& source, Sample& sample);

// Reads the boxes, puts those in the sample's image into the first of these
// columns, and filters the lists of the objects with them. Throws and requires
// as ReadSampleBoxes().
void FollowObjects(const ObjectsSpec& objects, const Geometry& geometry,
                   const ImageSize& output, Sample& sample);

}  // namespace infeed
