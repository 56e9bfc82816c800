#include "bench/decoder/measures.h"

#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "base/seconds.h"
#include "bench/decoder/rivals.h"
#include "preprocess/jpeg/jpeg.h"
#include "preprocess/jpeg/reference.h"
#include "preprocess/pixels/pack.h"
#include "preprocess/recipe/crop.h"
#include "preprocess/recipe/recipe.h"
#include "preprocess/resize/sink.h"
#include "records/bytes/crc32c.h"
#include "records/example/imagenet_example.h"
#include "records/store/seek_feature.h"

namespace infeed {
namespace {

constexpr int kSize = 224;
constexpr const char* kLibjpeg = "libjpeg-turbo";
constexpr const char* kOpenCv = "OpenCV";

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

SampleKey KeyOf(std::size_t image, int epoch) {
  return {.epoch = static_cast<std::uint32_t>(epoch), .position = image};
}

template <typename Decoder>
void Decode(Decoder& decoder, const std::string& jpeg, const Window& window,
            RgbImage& image) {
  ImageSink sink(image);
  std::ignore = decoder.ReadHeader(BytesOf(jpeg));
  decoder.DecodeWindow(window, sink);
}

std::string RecordOf(const std::string& jpeg, const Window& whole,
                     const std::optional<JpegSeekIndex>& index) {
  ImagenetExample example;
  example.height = whole.height;
  example.width = whole.width;
  example.label = 1;
  example.encoded = jpeg;
  std::string sealed;
  if (index) {
    sealed = SealSeekIndex(SerializeSeekIndex(*index), BytesOf(jpeg));
    example.seek_index = sealed;
  }
  return BuildImagenetExample(example);
}

// The work of a record reader before the decode.
struct OpenedRecord {
  std::span<const std::byte> encoded;
  std::span<const std::byte> index;
};
OpenedRecord Opened(const std::string& record) {
  const std::span<const std::byte> bytes = BytesOf(record);
  const std::uint32_t crc = Crc32c(bytes);
  const ImagenetExampleView example = ParseImagenetExample(bytes);
  OpenedRecord opened{.encoded = example.encoded, .index = {}};
  if (!example.seek_index.empty()) {
    opened.index =
        OpenSeekIndex(example.seek_index, example.encoded, {bytes, crc}).body;
  }
  return opened;
}

}  // namespace

DecodeMeasures::DecodeMeasures(const std::vector<std::string>& jpegs,
                               const DecodeMeasureOptions& options)
    : options_(options) {
  ReferenceJpegDecoder reference;
  RgbImage pixels;
  for (const std::string& jpeg : jpegs) {
    Image image{.jpeg = jpeg};
    try {
      const JpegInfo info = reference.ReadHeader(BytesOf(jpeg));
      image.whole = {0, 0, info.height, info.width};
      Decode(reference, jpeg, image.whole, pixels);
    } catch (const DataError&) {
      continue;
    }
    for (int epoch = 0; epoch < options.epochs; ++epoch) {
      SampleRandom random(KeyOf(images_.size(), epoch), RandomStream::kCrop);
      image.windows.push_back(
          RandomCropWindow(image.whole.height, image.whole.width, random));
    }
    for (std::size_t i = 0; i < kRuns.size(); ++i) {
      image.indexes[i] = MakeSeekIndex(BytesOf(jpeg), kRuns[i]);
    }
    image.record = RecordOf(jpeg, image.whole, std::nullopt);
    image.indexed_record = RecordOf(jpeg, image.whole, image.indexes[0]);
    images_.push_back(std::move(image));
  }
  if (images_.empty()) {
    throw UsageError("none of the JPEGs can be decoded");
  }
}

std::vector<TaskTimes> DecodeMeasures::Measure(
    std::string_view what, std::size_t tasks,
    const std::vector<Contender>& contenders,
    const std::function<void(std::size_t)>& prepare) const {
  return MeasureInTurns(contenders, {.tasks = tasks,
                                     .repetitions = options_.repetitions,
                                     .prepare = prepare,
                                     .progress = [&](double done) {
                                       options_.progress(what, done);
                                     }});
}

void DecodeMeasures::AddWholeDecodes(SpeedReport& report) const {
  ReferenceJpegDecoder reference;
  JpegDecoder decoder;
  RgbImage image;
  const auto timed = [&](auto& with) {
    return Timed([&](std::size_t i) {
      Decode(with, images_[i].jpeg, images_[i].whole, image);
    });
  };
  const std::vector<TaskTimes> times =
      Measure("whole images", images_.size(),
              {{kLibjpeg, timed(reference)}, {"ours", timed(decoder)}});
  report.rows.push_back({.what = "whole image -> RGB",
                         .rival = kLibjpeg,
                         .theirs = Median(times[0]),
                         .ours = Median(times[1]),
                         .goal = 1.6});
}

void DecodeMeasures::AddWindowDecodes(SpeedReport& report) const {
  ReferenceJpegDecoder reference;
  JpegDecoder decoder;
  RgbImage image;
  std::vector<Contender> contenders = {{kLibjpeg, Timed([&](std::size_t i) {
                                          const Task task = TaskAt(i);
                                          Decode(reference, task.image->jpeg,
                                                 task.window(), image);
                                        })}};
  struct Kind {
    const char* what;
    double goal;
    int index;  // of kRuns, or -1
  };
  constexpr std::array<Kind, 4> kKinds = {
      {{"training window -> RGB, no index", 1.7, -1},
       {"training window -> RGB, row index", 2.7, 0},
       {"training window -> RGB, every 8th MCU", 0, 1},
       {"training window -> RGB, every 4th MCU", 3.1, 2}}};
  for (const Kind& kind : kKinds) {
    contenders.push_back(
        {kind.what, Timed([&, kind](std::size_t i) {
           const Task task = TaskAt(i);
           const JpegSeekIndex* index = nullptr;
           if (kind.index >= 0 && task.image->indexes[kind.index]) {
             index = &*task.image->indexes[kind.index];
           }
           ImageSink sink(image);
           std::ignore = decoder.ReadHeader(BytesOf(task.image->jpeg));
           decoder.DecodeWindow(task.window(), sink, index);
         })});
  }
  const std::vector<TaskTimes> times =
      Measure("windows", images_.size() * windows_each(), contenders);
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    report.rows.push_back({.what = kKinds[i].what,
                           .rival = kLibjpeg,
                           .theirs = Median(times[0]),
                           .ours = Median(times[i + 1]),
                           .theirs_mean = Mean(times[0]),
                           .goal = kKinds[i].goal});
  }
}

void DecodeMeasures::AddIndexes(SpeedReport& report) const {
  constexpr std::array<const char*, 3> kNames = {
      "row index, size", "index of every 8th MCU, size",
      "index of every 4th MCU, size"};
  constexpr std::array<double, 3> kMost = {0.3, 2, 4};
  for (std::size_t i = 0; i < kRuns.size(); ++i) {
    std::size_t index_bytes = 0;
    std::size_t jpeg_bytes = 0;
    for (const Image& image : images_) {
      if (image.indexes[i]) {
        index_bytes += SerializeSeekIndex(*image.indexes[i]).size();
        jpeg_bytes += image.jpeg.size();
      }
    }
    if (jpeg_bytes > 0) {
      report.figures.push_back(
          {.what = kNames[i],
           .value = 100 * static_cast<double>(index_bytes) /
                    static_cast<double>(jpeg_bytes),
           .unit = "% of the JPEGs",
           .goal = kMost[i],
           .is_ceiling = true});
    }
  }
  const std::vector<TaskTimes> times =
      Measure("indexes", images_.size(), {{"ours", Timed([&](std::size_t i) {
                                             std::ignore = MakeSeekIndex(
                                                 BytesOf(images_[i].jpeg), 0);
                                           })}});
  report.figures.push_back({.what = "row index, making it (median)",
                            .value = 1e6 / Median(times[0]),
                            .unit = "images/s",
                            .goal = 1500});
}

void DecodeMeasures::AddResizes(SpeedReport& report) const {
  JpegDecoder decoder;
  RgbImage crop;
  OpenCvResizer rival(kSize);
  FourTapSink sink(ResizeKernel::kBicubic, kSize);
  std::vector<std::uint32_t> slot(std::size_t{kSize} * kSize);
  const std::vector<TaskTimes> times = Measure(
      "resizes", images_.size() * windows_each(),
      {{kOpenCv,
        Timed([&](std::size_t) { std::ignore = rival.Resize(crop.view()); })},
       {"ours",
        [&](std::size_t) {
          sink.Aim(slot, false, {});
          PutImage(crop.view(), sink);
          return ToSeconds(sink.busy());
        }}},
      [&](std::size_t i) {
        const Task task = TaskAt(i);
        Decode(decoder, task.image->jpeg, task.window(), crop);
      });
  report.rows.push_back({.what = "bicubic crop -> packed 224x224 slot",
                         .rival = "OpenCV, not packed",
                         .theirs = Median(times[0]),
                         .ours = Median(times[1]),
                         .goal = 5,
                         .at_most = 100});
}

void DecodeMeasures::AddRecipes(SpeedReport& report) const {
  // tf.data does 610 images/s where libjpeg-turbo with OpenCV does 700.
  constexpr double kTfData = 610.0 / 700;
  ReferenceJpegDecoder reference;
  RgbImage crop;
  OpenCvResizer resizer(kSize);
  Preprocessor preprocessor({.image_size = kSize}, /*training=*/true);
  std::vector<std::uint32_t> slot(std::size_t{kSize} * kSize);
  const auto rival = Timed([&](std::size_t i) {
    const Task task = TaskAt(i);
    ImageSink sink(crop);
    std::ignore = reference.ReadHeader(Opened(task.image->record).encoded);
    reference.DecodeWindow(task.window(), sink);
    PackImage(resizer.Resize(crop.view()), false, slot);
  });
  const auto ours = [&](std::string Image::*record) {
    return Timed([&, record](std::size_t i) {
      const Task task = TaskAt(i);
      const OpenedRecord opened = Opened(task.image->*record);
      preprocessor.Fill(opened.encoded, KeyOf(task.number, task.epoch), slot,
                        opened.index);
    });
  };
  const std::vector<TaskTimes> times =
      Measure("recipes", images_.size() * windows_each(),
              {{kLibjpeg, rival},
               {"no index", ours(&Image::record)},
               {"row index", ours(&Image::indexed_record)}});
  const auto add = [&](const char* what, const TaskTimes& own, double goal) {
    report.rows.push_back({.what = what,
                           .rival = "libjpeg-turbo + OpenCV",
                           .theirs = Median(times[0]),
                           .ours = Median(own),
                           .goal = goal * kTfData});
  };
  add("record -> packed slot, no index", times[1], 2.5);
  add("record -> packed slot, row index", times[2], 3.7);
}

}  // namespace infeed
