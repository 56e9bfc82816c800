#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "tools/images/coco.h"
#include "tools/images/voc.h"
#include "tools/images/yolo.h"

// Any text is, to the readers of COCO's, VOC's and YOLO's annotations, finite
// boxes, or a DataError.
namespace infeed {
namespace {

void CheckObject(const AnnotatedObject& object) {
  Check(std::ranges::all_of(object.box,
                            [](float side) { return std::isfinite(side); }),
        "a box is finite");
  Check(std::isfinite(object.area), "an area is finite");
}

void CheckCoco(std::string_view text) {
  const CocoFile coco = ParseCoco(text);
  Check(coco.names.size() == coco.images.size(), "each image has a name");
  for (const ImageObjects& image : coco.images) {
    for (const AnnotatedObject& object : image.objects) {
      CheckObject(object);
      Check(coco.labels.contains(object.label), "each label has a name");
    }
  }
}

void CheckVoc(std::string_view text) {
  const ImageObjects image = ParseVoc(text, {.voc_from_one = true});
  for (const AnnotatedObject& object : image.objects) {
    CheckObject(object);
    Check(!object.text.empty(), "each object has a class");
  }
}

void CheckYolo(std::string_view text) {
  for (const AnnotatedObject& object : ParseYolo(text)) {
    CheckObject(object);
    Check(object.label > 0, "labels begin at 1");
  }
}

}  // namespace
}  // namespace infeed

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (auto* check : {infeed::CheckCoco, infeed::CheckVoc, infeed::CheckYolo}) {
    try {
      check(text);
    } catch (const infeed::DataError& error) {
      infeed::Check(!error.reason().empty(), "an error says what is wrong");
    }
  }
  return 0;
}
