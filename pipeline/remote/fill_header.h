#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/options/options.h"
#include "pipeline/remote/messages.h"
#include "preprocess/recipe/geometry.h"
#include "records/example/fields.h"

namespace infeed {

// What a reply has before the bytes of its slots. Vectors have a place for each
// slot; what a declined one has in them is not sent.
struct FillHeader {
  FillNote note = {};
  std::uint64_t declined = 0;
  std::vector<std::int32_t> labels = {};
  std::vector<std::uint32_t> sums = {};
  std::vector<std::uint64_t> fingerprints = {};
  std::vector<std::vector<Geometry>> geometry = {};  // of the image and views
  // ListsOf() (slot_parts.h).
  std::vector<std::vector<FieldColumn>> lists = {};

  [[nodiscard]] bool is_declined(std::size_t slot) const {
    return (declined >> slot & 1) != 0;
  }
};

// specs: of the columns but the last. Requires: geometry is empty where there
// are no images.
[[nodiscard]] std::string Serialize(const FillHeader& header,
                                    const std::vector<FieldSpec>& specs);

// Throws DataError for what is no header for so many slots of the stream.
[[nodiscard]] FillHeader ParseFillHeader(const std::string& bytes,
                                         const InputOptions& options,
                                         std::size_t slots);

// The longest such header.
[[nodiscard]] std::size_t MostHeaderBytes(const InputOptions& options,
                                          std::size_t slots);

}  // namespace infeed
