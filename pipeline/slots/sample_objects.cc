#include "pipeline/slots/sample_objects.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "preprocess/recipe/boxes.h"

namespace infeed {

std::span<const float> ReadSampleBoxes(const ObjectsSpec& objects,
                                       const ImageSize& source,
                                       Sample& sample) {
  const std::size_t keys = objects.boxes.size();
  const std::size_t fields = sample.specs.size() - keys;
  std::array<std::span<const float>, 4> columns;
  for (std::size_t i = 0; i < keys; ++i) {
    columns[i] = sample.fields[fields + i].floats;
  }
  ReadBoxes(std::span(columns).first(keys), objects.format,
            objects.is_normalized, source, sample.boxes);
  return sample.boxes;
}

void FollowObjects(const ObjectsSpec& objects, const Geometry& geometry,
                   const ImageSize& output, Sample& sample) {
  const std::size_t fields = sample.specs.size() - objects.boxes.size();
  ReadSampleBoxes(objects, geometry.source, sample);
  const std::size_t boxes = sample.boxes.size() / 4;
  FollowBoxes(geometry, output, objects.filter, sample.boxes, sample.kept);
  for (std::size_t i = 0; i < fields; ++i) {
    const FieldSpec& field = sample.specs[i];
    if (std::ranges::find(objects.lists, field.key, &FieldSpec::key) !=
        objects.lists.end()) {
      FieldColumn& column = sample.fields[i];
      CheckOnePerBox(field.key, static_cast<std::size_t>(column.values()),
                     boxes);
      column.Keep(sample.kept);
    }
  }
  sample.fields[fields].floats.swap(sample.boxes);
}

}  // namespace infeed
