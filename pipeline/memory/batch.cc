#include "pipeline/memory/batch.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/rounding.h"
#include "pipeline/memory/page_memory.h"

namespace infeed {
namespace {

// A cache line, and the alignment of the widest SIMD store.
constexpr std::size_t kSlotAlignment = 64;

constexpr std::size_t Aligned(std::size_t bytes) {
  return RoundUp(bytes, kSlotAlignment);
}

// Bytes of a slot's image or choice.
std::size_t ImageBytes(const ImageSize& image_size, BatchContent content) {
  switch (content) {
    case BatchContent::kPixels:
      return image_size.pixels() * sizeof(std::uint32_t);
    case BatchContent::kRgb:
      return image_size.pixels() * 3;
    case BatchContent::kNone:
      return 0;
    case BatchContent::kChoices:
      break;
  }
  return sizeof(std::uint32_t);
}

// Bytes of a slot's view.
std::size_t ViewBytes(const ViewShape& view, BatchContent content) {
  switch (view.content) {
    case ViewContent::kImage:
      return ImageBytes(view.image_size, content);
    case ViewContent::kLabels8:
      return view.image_size.pixels();
    case ViewContent::kLabels32:
      break;
  }
  return view.image_size.pixels() * sizeof(std::int32_t);
}

// Where the parts of a batch lie.
struct Layout {
  struct Fixed {
    std::size_t rows_at;
    std::size_t row_bytes;
    std::size_t lengths_at;
  };

  struct View {
    std::size_t at;
    std::size_t bytes;
  };

  std::size_t images;  // bytes
  std::size_t labels_at;
  std::size_t weights_at;
  std::vector<Fixed> fixed;  // of each field; of ragged ones without rows
  std::vector<View> views;
  std::size_t bytes;

  explicit Layout(const BatchSpec& spec) {
    Check(spec.size > 0 && spec.image_size.shorter() > 0,
          "a batch holds something");
    const std::size_t count = static_cast<std::size_t>(spec.size);
    images = count * ImageBytes(spec.image_size, spec.content);
    labels_at = Aligned(images);
    weights_at = labels_at + Aligned(count * sizeof(std::int32_t));
    bytes = weights_at + Aligned(count * sizeof(float));
    for (const FieldSpec& field : spec.fields) {
      const std::size_t row = field.IsFixed() ? field.row_bytes() : 0;
      const std::size_t lengths_at = bytes + Aligned(count * row);
      fixed.push_back(
          {.rows_at = bytes, .row_bytes = row, .lengths_at = lengths_at});
      bytes = lengths_at +
              (field.IsFixed() ? Aligned(count * sizeof(std::int64_t)) : 0);
    }
    for (const ViewShape& view : spec.views) {
      views.push_back(
          {.at = bytes, .bytes = count * ViewBytes(view, spec.content)});
      bytes += Aligned(views.back().bytes);
    }
  }
};

// The part of the slot in a batch's images.
template <typename Element>
std::span<Element> PartOf(std::span<Element> images, int slot, int size) {
  Check(slot >= 0 && slot < size, "the slot is in the batch");
  const std::size_t part = images.size() / static_cast<std::size_t>(size);
  return images.subspan(static_cast<std::size_t>(slot) * part, part);
}

// Fills a slot's view: with black, or the fill of labels.
void FillView(const ViewShape& view, std::span<std::byte> slot) {
  if (view.content == ViewContent::kLabels32) {
    for (std::size_t at = 0; at < slot.size(); at += sizeof(std::int32_t)) {
      std::memcpy(&slot[at], &view.fill, sizeof(std::int32_t));
    }
    return;
  }
  std::ranges::fill(slot, view.content == ViewContent::kImage
                              ? std::byte{0}
                              : static_cast<std::byte>(view.fill));
}

}  // namespace

struct Batch::Memory {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): unused, or set.
  struct Unpin {
    BatchMemory::Hook unpin;
    std::size_t bytes;
    void operator()(std::byte* memory) const { unpin({memory, bytes}); }
  };

  // Throws what hooks.pin throws.
  Memory(std::size_t bytes, const BatchMemory& hooks)
      : pages(std::make_shared<const PageMemory>(bytes)) {
    if (hooks.pin) {
      const std::span<std::byte> all = pages->bytes();
      hooks.pin(all);
      pinned = {all.data(), Unpin{hooks.unpin, all.size()}};
    }
  }

  std::shared_ptr<const PageMemory> pages;
  std::unique_ptr<std::byte, Unpin> pinned;  // After pages: destroyed first.
};

Batch::Batch(BatchSpec spec, const BatchMemory& memory)
    : spec_(std::move(spec)),
      records_(static_cast<std::size_t>(spec_.size), -1),
      positions_(static_cast<std::size_t>(spec_.size), -1),
      fingerprints_(static_cast<std::size_t>(spec_.size), 0),
      geometry_(1 + spec_.views.size(),
                std::vector<Geometry>(static_cast<std::size_t>(spec_.size))) {
  const Layout layout(spec_);
  memory_ = std::make_unique<Memory>(layout.bytes, memory);
  const std::size_t count = static_cast<std::size_t>(spec_.size);
  std::byte* const start = memory_->pages->bytes().data();
  if (spec_.content == BatchContent::kRgb) {
    rgb_ = {reinterpret_cast<std::uint8_t*>(start), layout.images};
  } else {
    pixels_ = {reinterpret_cast<std::uint32_t*>(start),
               layout.images / sizeof(std::uint32_t)};
  }
  labels_ = {reinterpret_cast<std::int32_t*>(start + layout.labels_at), count};
  weights_ = {reinterpret_cast<float*>(start + layout.weights_at), count};
  for (const Layout::Fixed& field : layout.fixed) {
    fixed_.push_back(
        {.rows = {start + field.rows_at, count * field.row_bytes},
         .lengths = {reinterpret_cast<std::int64_t*>(start + field.lengths_at),
                     field.row_bytes == 0 ? 0 : count},
         .row_bytes = field.row_bytes});
  }
  for (const Layout::View& view : layout.views) {
    views_.emplace_back(start + view.at, view.bytes);
  }
}

Batch::~Batch() = default;
Batch::Batch(Batch&&) noexcept = default;

std::unique_ptr<Batch> Batch::Clone() const {
  auto clone = std::make_unique<Batch>(spec_);
  std::ranges::copy(memory_->pages->bytes(),
                    clone->memory_->pages->bytes().begin());
  clone->CopyPlan(*this);
  return clone;
}

std::unique_ptr<Batch> Batch::ClonePlan() const {
  auto clone =
      std::make_unique<Batch>(BatchSpec{.size = spec_.size,
                                        .image_size = spec_.image_size,
                                        .content = BatchContent::kNone});
  clone->spec_ = spec_;
  clone->fixed_.resize(fixed_.size());
  clone->views_.resize(views_.size());
  clone->CopyPlan(*this);
  std::ranges::copy(labels_, clone->labels_.begin());
  std::ranges::copy(weights_, clone->weights_.begin());
  return clone;
}

std::shared_ptr<const PageMemory> Batch::memory() const {
  return memory_->pages;
}

std::int64_t Batch::MemoryBytes(const BatchSpec& spec) {
  return static_cast<std::int64_t>(PageMemory::RoundUp(Layout(spec).bytes));
}

std::span<std::uint32_t> Batch::slot_pixels(int slot) {
  Check(
      content() == BatchContent::kPixels || content() == BatchContent::kChoices,
      "the batch holds words");
  return PartOf(pixels_, slot, size());
}

std::span<std::uint8_t> Batch::slot_rgb(int slot) {
  Check(content() == BatchContent::kRgb, "the batch holds RGB bytes");
  return PartOf(rgb_, slot, size());
}

std::span<const std::byte> Batch::image_bytes() const {
  return content() == BatchContent::kRgb ? std::as_bytes(rgb_)
                                         : std::as_bytes(pixels_);
}

std::size_t Batch::slot_image_bytes() const {
  std::size_t bytes = image_bytes().size();
  for (const std::span<std::byte> view : views_) {
    bytes += view.size();
  }
  return bytes / labels_.size();
}

FieldPlace Batch::fixed_place(std::size_t field, int slot) {
  Check(slot >= 0 && slot < size(), "the slot is in the batch");
  Fixed& fixed = fixed_[field];
  const auto at = static_cast<std::size_t>(slot);
  return {.row = fixed.rows.subspan(at * fixed.row_bytes, fixed.row_bytes),
          .length = &fixed.lengths[at]};
}

std::span<std::byte> Batch::slot_view(std::size_t view, int slot) {
  return PartOf(views_[view], slot, size());
}

std::uint64_t Batch::fingerprint() const {
  return std::accumulate(fingerprints_.begin(), fingerprints_.end(),
                         std::uint64_t{0});
}

void Batch::BlankSlot(int slot) {
  if (content() == BatchContent::kRgb) {
    std::ranges::fill(slot_rgb(slot), std::uint8_t{0});
  } else if (content() != BatchContent::kNone) {
    std::ranges::fill(slot_pixels(slot), 0U);
  }
  for (std::size_t i = 0; i < fixed_.size(); ++i) {
    if (spec_.fields[i].IsFixed()) {
      const FieldPlace place = fixed_place(i, slot);
      FillWithPadding(spec_.fields[i], place.row);
      *place.length = 0;
    }
  }
  for (std::size_t i = 0; i < views_.size(); ++i) {
    FillView(spec_.views[i], slot_view(i, slot));
  }
  labels_[static_cast<std::size_t>(slot)] = -1;
  weights_[static_cast<std::size_t>(slot)] = 0;
  records_[static_cast<std::size_t>(slot)] = -1;
  fingerprints_[static_cast<std::size_t>(slot)] = 0;
  for (std::vector<Geometry>& view : geometry_) {
    view[static_cast<std::size_t>(slot)] = {};
  }
}

void Batch::CopyPlan(const Batch& from) {
  Check(size() == from.size() && views_.size() == from.views_.size(),
        "the batches have the same size and views");
  epoch = from.epoch;
  number = from.number;
  next = from.next;
  fed = from.fed;
  records_ = from.records_;
  positions_ = from.positions_;
  fingerprints_ = from.fingerprints_;
  fields_ = from.fields_;
  boxes_ = from.boxes_;
  geometry_ = from.geometry_;
}

}  // namespace infeed
