#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "pipeline/memory/batch.h"
#include "pipeline/options/options.h"
#include "preprocess/recipe/label_image.h"
#include "preprocess/recipe/pair.h"
#include "preprocess/recipe/recipe.h"
#include "records/example/imagenet_example.h"

namespace infeed {

// What the views of a sample are made of.
struct ViewSource {
  const ImagenetExampleView& example;
  SampleKey key;
  std::span<const std::byte> seek_index;  // of the example's JPEG, or none
  BoxSource boxes;                        // empty: the sample has no boxes
  std::span<std::uint32_t> words;         // ScratchWords()
};

// Makes the views of a sample beside its image (InputOptions::views), one after
// the other. Owns their decoders; views with the same preprocessing share one.
// One thread at a time: each worker has its own.
class ViewFiller {
 public:
  // Requires: options are checked.
  explicit ViewFiller(const InputOptions& options);

  // Finds the encoded images of views with keys of their own, as views into the
  // payload. Throws DataError if one is missing.
  void Find(std::span<const std::byte> payload);

  // Fills the slot's views and their geometry; returns the work of all
  // together. Throws DataError that names the view. Requires: Find() was called
  // for the sample, and the slot's image is filled.
  FillCounts Fill(const ViewSource& source, int slot, Batch& batch);

 private:
  struct View {
    std::uint32_t draws = 0;                  // SampleKey::view
    std::size_t preprocessor = 0;             // of images
    std::span<const std::byte> encoded = {};  // under a key of its own
    // The view whose draws it has; its geometry is the present sample's.
    std::optional<FollowedOutput> followed = {};
  };

  // Fill one view; its geometry is in the counts.
  FillCounts FillImage(std::size_t view, const ViewSource& source, int slot,
                       Batch& batch);
  FillCounts FillLabels(std::size_t view, const ViewSource& source, int slot,
                        Batch& batch);
  FillCounts FillWords(const View& view, const ViewSource& source,
                       std::span<std::uint32_t> words);

  const std::vector<ViewSpec> specs_;
  const bool hashes_pixels_;
  std::vector<View> views_;
  std::vector<Preprocessor> preprocessors_;
  LabelScratch labels_;
};

}  // namespace infeed
