#include "pipeline/slots/view_filler.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "base/error.h"
#include "pipeline/slots/rgb_slot.h"
#include "pipeline/slots/slot_fingerprint.h"
#include "preprocess/pixels/pixel_hash.h"

namespace infeed {
namespace {

using Clock = std::chrono::steady_clock;

// Bytes of a decoded mask and of the decoder for each of its pixels.
constexpr std::int64_t kMaskPixelBytes = 4;

template <typename T>
std::span<T> As(std::span<std::byte> bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

std::string NameOf(std::size_t view) {
  return "view " + std::to_string(view + 1) + ": ";
}

// Calls work for a view; names the view in its errors.
template <typename Work>
void Named(std::size_t view, const Work& work) {
  try {
    work();
  } catch (const DataError& error) {
    throw DataError(NameOf(view) + error.reason());
  }
}

// The geometry of the view that a view follows. Requires: it follows one.
const Geometry& FollowedGeometry(const ViewSpec& spec, int slot, Batch& batch) {
  return batch.geometry(
      static_cast<std::size_t>(*spec.draws))[static_cast<std::size_t>(slot)];
}

}  // namespace

ViewFiller::ViewFiller(const InputOptions& options)
    : specs_(options.views),
      hashes_pixels_(options.input_hash == InputHash::kPixels) {
  const std::vector<PreprocessOptions> distinct = ViewPreprocessing(options);
  for (const PreprocessOptions& preprocess : distinct) {
    preprocessors_.emplace_back(preprocess, options.training,
                                UseOfWords(options));
  }
  for (const ViewSpec& spec : specs_) {
    const auto number = static_cast<std::uint32_t>(views_.size() + 1);
    const auto found = std::ranges::find(distinct, spec.preprocess);
    View view = {
        .draws = number,
        .preprocessor = static_cast<std::size_t>(found - distinct.begin())};
    if (spec.draws) {
      const auto followed = static_cast<std::size_t>(*spec.draws);
      view.draws = followed == 0 ? 0 : views_[followed - 1].draws;
      const PreprocessOptions& earlier = PreprocessOf(options, *spec.draws);
      view.followed = {
          .geometry = {},
          .size = earlier.image_size,
          .gives_framing = SharesFraming(spec.preprocess, earlier)};
    }
    views_.push_back(view);
  }
}

void ViewFiller::Find(std::span<const std::byte> payload) {
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (!specs_[i].key.empty()) {
      Named(i, [&] { views_[i].encoded = ImageUnder(payload, specs_[i].key); });
    }
  }
}

FillCounts ViewFiller::Fill(const ViewSource& source, int slot, Batch& batch) {
  FillCounts counts;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    Named(i, [&] {
      const FillCounts filled = specs_[i].is_labels()
                                    ? FillLabels(i, source, slot, batch)
                                    : FillImage(i, source, slot, batch);
      batch.geometry(i + 1)[static_cast<std::size_t>(slot)] = filled.geometry;
      counts.Add(filled);
    });
  }
  return counts;
}

FillCounts ViewFiller::FillImage(std::size_t view, const ViewSource& source,
                                 int slot, Batch& batch) {
  const std::span<std::byte> bytes = batch.slot_view(view, slot);
  std::optional<FollowedOutput>& followed = views_[view].followed;
  if (followed) {
    followed->geometry = FollowedGeometry(specs_[view], slot, batch);
  }
  const auto fill = [&](std::span<std::uint32_t> words) {
    return FillWords(views_[view], source, words);
  };
  FillCounts counts =
      batch.content() == BatchContent::kRgb
          ? FillRgbSlot(source.words, As<std::uint8_t>(bytes), fill)
          : fill(As<std::uint32_t>(bytes));
  if (!counts.warning.empty()) {
    counts.warning.insert(0, NameOf(view));
  }
  return counts;
}

FillCounts ViewFiller::FillWords(const View& view, const ViewSource& source,
                                 std::span<std::uint32_t> words) {
  SampleKey key = source.key;
  key.view = view.draws;
  Preprocessor& preprocessor = preprocessors_[view.preprocessor];
  const FollowedOutput* const followed =
      view.followed ? &*view.followed : nullptr;
  if (!view.encoded.empty()) {
    return preprocessor.Fill(view.encoded, key, words, {}, nullptr,
                             source.boxes, followed);
  }
  const ImagenetExampleView& example = source.example;
  return example.packed.empty()
             ? preprocessor.Fill(example.encoded, key, words, source.seek_index,
                                 nullptr, source.boxes, followed)
             : preprocessor.CopyPacked(example.packed, example.height,
                                       example.width, key, words, {}, followed);
}

FillCounts ViewFiller::FillLabels(std::size_t view, const ViewSource& source,
                                  int slot, Batch& batch) {
  const Clock::time_point start = Clock::now();
  const ViewSpec& spec = specs_[view];
  FillCounts counts;
  counts.geometry = FollowedGeometry(spec, slot, batch);
  const std::span<const std::byte> png = views_[view].encoded.empty()
                                             ? source.example.encoded
                                             : views_[view].encoded;
  const JpegLimits& limits = spec.preprocess.limits;
  const std::int64_t max_pixels =
      std::min(limits.max_pixels, limits.max_memory_bytes / kMaskPixelBytes);
  const std::span<std::byte> bytes = batch.slot_view(view, slot);
  const auto fill = [&]<typename Label>(std::span<Label> labels) {
    infeed::FillLabels(png, counts.geometry, spec.preprocess.image_size,
                       static_cast<Label>(spec.fill), max_pixels, labels_,
                       labels);
  };
  if (spec.content == ViewContent::kLabels8) {
    fill(As<std::uint8_t>(bytes));
  } else {
    fill(As<std::int32_t>(bytes));
  }
  counts.made =
      HashChain(HashGeometry(counts.geometry, spec.preprocess.image_size))
          .Add(png.size())
          .Add(spec.fill)
          .hash();
  if (hashes_pixels_) {
    counts.AddPixels(HashPixels(bytes));
  }
  counts.decode = Clock::now() - start;
  return counts;
}

}  // namespace infeed
