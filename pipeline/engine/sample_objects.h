#pragma once

#include "pipeline/engine/sample.h"
#include "pipeline/options/objects.h"
#include "preprocess/recipe/geometry.h"

namespace infeed {

// Replaces the boxes that were read for a sample, in the columns behind those
// of InputOptions::fields, by those in its image, in the first of these
// columns; filters the lists of the objects with them. Throws DataError for
// lists that are not as specified. Requires: objects.is_on(), and the sample's
// fields were read.
void FollowObjects(const ObjectsSpec& objects, const Geometry& geometry,
                   const ImageSize& output, Sample& sample);

}  // namespace infeed
