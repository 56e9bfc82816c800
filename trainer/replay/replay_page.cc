#include "trainer/replay/replay_page.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/charts/html_page.h"
#include "base/charts/svg_parts.h"
#include "base/count_text.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

constexpr int kHeight = 128;  // of a picture on the page
constexpr const char* kNone = "-";

std::string Picture(const WebPicture& picture, std::string_view name) {
  return picture.bytes.empty()
             ? kNone
             : fmt::format(
                   "<img height=\"{}\" alt=\"{}\" "
                   "src=\"data:{};base64,{}\">",
                   kHeight, name, picture.type, Base64(picture.bytes));
}

std::string LabelName(const ModelLabels& labels, std::int32_t label) {
  return label < 0 ? kNone : EscapeXml(labels.NameOf(label));
}

std::string RecordText(const SampleDescription& sample) {
  std::string text = fmt::format(
      "{}, record {}", EscapeXml(FileNameOf(sample.shard)), sample.number);
  return sample.file_name.empty() ? text
                                  : text + "<br>" + EscapeXml(sample.file_name);
}

std::string WindowText(const Geometry& geometry) {
  const Window& window = geometry.window;
  return fmt::format("{} × {} at ({}, {}) of {} × {}{}", window.width,
                     window.height, window.x, window.y, geometry.source.width,
                     geometry.source.height,
                     geometry.is_mirrored ? ", mirrored" : "");
}

std::string Augmentations(const ReplayedImage& image) {
  std::vector<std::string> texts;
  for (const std::string& step : image.sample.augmentations) {
    texts.push_back(EscapeXml(step));
  }
  if (image.partner >= 0) {
    texts.push_back(fmt::format("then mixed with slot {}: {:.3f} of the label",
                                image.partner, image.share));
  }
  return texts.empty() ? kNone : fmt::format("{}", fmt::join(texts, "<br>"));
}

std::vector<std::string> RowOf(const ReplayedImage& image,
                               const ModelLabels& labels) {
  const SampleDescription& sample = image.sample;
  const bool has_loss = image.result && sample.label >= 0;
  const std::string predicted =
      image.result
          ? fmt::format("{} {}", LabelName(labels, image.result->predicted),
                        HtmlPercent(image.result->probability))
          : kNone;
  return {Picture(image.seen, "as the network saw it"),
          Picture(image.record, "the record's image"),
          has_loss ? fmt::format("{:.3g}", image.result->loss) : kNone,
          LabelName(labels, sample.label),
          predicted,
          RecordText(sample),
          WindowText(sample.geometry),
          Augmentations(image),
          fmt::format("{} of rank {}", image.slot, image.rank)};
}

// ", 3 steps earlier": a checkpoint than its step; "": of the same step.
std::string AgeText(std::int64_t checkpoint, std::int64_t step) {
  return checkpoint == step
             ? ""
             : fmt::format(", {} {}",
                           CountText(std::abs(step - checkpoint), "step"),
                           checkpoint < step ? "earlier" : "later");
}

// What a reader must know of the results and of mixed images; "": nothing.
std::string Notes(const ReplayedStep& step) {
  std::string notes;
  if (step.checkpoint) {
    notes += fmt::format(
        "<p>Loss and prediction are of the network in evaluation form, with "
        "the weights of the checkpoint of step {}{}: the cross-entropy of each "
        "image, without label smoothing.</p>\n",
        *step.checkpoint, AgeText(*step.checkpoint, step.place.step));
  }
  if (std::ranges::any_of(step.images, [](const ReplayedImage& image) {
        return image.partner >= 0;
      })) {
    notes +=
        "<p>The step mixed each image with its neighbour on the device. The "
        "pictures, losses and predictions are those before mixing.</p>\n";
  }
  return notes;
}

std::string TilesOf(const ReplayedStep& step) {
  std::vector<std::string> tiles = {
      HtmlTile(std::to_string(step.place.step), "step"),
      HtmlTile(std::to_string(step.place.epoch), "epoch"),
      HtmlTile(std::to_string(step.place.number), "batch of the epoch"),
      HtmlTile(std::to_string(step.images.size()), "images"),
      HtmlTile(
          fmt::format("{} × {}", step.image_size.width, step.image_size.height),
          "pixels"),
      HtmlTile(std::to_string(step.world_size),
               step.world_size == 1 ? "rank" : "ranks")};
  return HtmlTiles(tiles);
}

}  // namespace

std::string ReplayPage(const ReplayedStep& step, const ModelLabels& labels) {
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t at : ShownImages(step)) {
    rows.push_back(RowOf(step.images[at], labels));
  }
  const std::string table =
      HtmlTable({"as the network saw it", "the record's image", "loss", "label",
                 "predicted", "record", "window", "augmentations", "slot"},
                rows, "text");
  std::string title = step.checkpoint ? "Worst first" : "In their order";
  if (rows.size() < step.images.size()) {
    title += fmt::format(": {} of {} images", rows.size(), step.images.size());
  }
  return HtmlPage(
      fmt::format("The batch of step {}", step.place.step),
      TilesOf(step) + HtmlCards({{title, Notes(step) + table, "wide"}}));
}

}  // namespace infeed
