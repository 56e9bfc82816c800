#pragma once

#include <string>
#include <string_view>

#include "records/example/builder.h"
#include "records/example/imagenet_example.h"
#include "tools/convert/image_encoder.h"
#include "tools/images/annotations.h"

namespace infeed {

// Throws DataError, with the reason in the EXIF data if it is there, unless the
// boxes of the annotations are those of the encoded image.
void CheckAnnotatedSize(const ImageObjects& annotations,
                        const EncodedImage& image);

// Throws DataError, naming the file of the mask, unless it is a PNG of the
// image's size by its header. mask: its bytes.
void CheckMask(const ImageObjects& annotations, std::string_view mask,
               const ImagenetExample& image);

// Returns the Example of an image with boxes, in parts: the keys of `example`
// but for those of the class, and the keys of its objects in
// docs/converter.md. Boxes are stored in pixels. mask: the bytes of
// annotations.mask.
[[nodiscard]] ExampleParts BuildObjectExample(const ImagenetExample& example,
                                              const ImageObjects& annotations,
                                              std::string_view mask);

// Bytes that are equal for equal objects.
[[nodiscard]] std::string ObjectsKey(const ImageObjects& annotations);

}  // namespace infeed
