#include "trainer/summary_writer.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

#include "base/error.h"
#include "records/tfrecord_format.h"
#include "trainer/event.pb.h"
#include "trainer/model_dir.h"

namespace infeed {
namespace {

constexpr int kValuesPerFlush = 10;
constexpr int kRgb = 3;
constexpr int kStrings = 7;

std::string HostName() {
  std::array<char, 256> name{};
  // The last byte stays zero: a name that is too long may be cut without one.
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data()
                                                          : "localhost";
}

std::string NewEventPath(const std::string& folder) {
  static std::atomic<std::int64_t> counter{0};
  return PathIn(folder,
                EventFileName(static_cast<std::int64_t>(UnixSeconds()),
                              HostName(), ::getpid(), counter.fetch_add(1)));
}

// An event with one value, which `fill` makes.
template <typename Fill>
std::string ValueEvent(double wall_time, std::int64_t step,
                       std::string_view tag, const Fill& fill) {
  Event event;
  event.set_wall_time(wall_time);
  event.set_step(step);
  Summary::Value* const value = event.mutable_summary()->add_value();
  value->set_tag(std::string(tag));
  fill(*value);
  return event.SerializeAsString();
}

}  // namespace

std::string FileVersionEvent(double wall_time) {
  Event event;
  event.set_wall_time(wall_time);
  event.set_file_version("brain.Event:2");
  return event.SerializeAsString();
}

std::string ScalarEvent(double wall_time, std::int64_t step,
                        std::string_view tag, double value) {
  return ValueEvent(wall_time, step, tag, [&](Summary::Value& scalar) {
    scalar.set_simple_value(static_cast<float>(value));
  });
}

std::string ImageEvent(double wall_time, std::int64_t step,
                       std::string_view tag, const SummaryImage& image) {
  return ValueEvent(wall_time, step, tag, [&](Summary::Value& value) {
    value.mutable_image()->set_height(image.height);
    value.mutable_image()->set_width(image.width);
    value.mutable_image()->set_colorspace(kRgb);
    value.mutable_image()->set_encoded_image_string(image.png);
  });
}

std::string TextEvent(double wall_time, std::int64_t step, std::string_view tag,
                      std::string_view text) {
  return ValueEvent(wall_time, step, tag, [&](Summary::Value& value) {
    value.mutable_metadata()->mutable_plugin_data()->set_plugin_name("text");
    value.mutable_tensor()->set_dtype(kStrings);
    value.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(1);
    value.mutable_tensor()->add_string_val(std::string(text));
  });
}

SummaryWriter::SummaryWriter(const std::string& folder)
    : file_(NewEventPath(folder)) {
  AppendFrame(pending_, FileVersionEvent(UnixSeconds()));
  Flush();
}

SummaryWriter::~SummaryWriter() {
  try {
    Flush();
  } catch (const IoError&) {
    // A destructor reports nothing; whoever wants to know calls Flush().
  }
}

void SummaryWriter::Scalar(std::string_view tag, double value,
                           std::int64_t step) {
  Add(ScalarEvent(UnixSeconds(), step, tag, value));
}

void SummaryWriter::Image(std::string_view tag, const SummaryImage& image,
                          std::int64_t step) {
  Add(ImageEvent(UnixSeconds(), step, tag, image));
}

void SummaryWriter::Text(std::string_view tag, std::string_view text,
                         std::int64_t step) {
  Add(TextEvent(UnixSeconds(), step, tag, text));
}

void SummaryWriter::Add(std::string_view event) {
  AppendFrame(pending_, event);
  if (++pending_values_ == kValuesPerFlush) {
    Flush();
  }
}

void SummaryWriter::Flush() {
  pending_values_ = 0;
  // Dropped also when they cannot be written: memory stays bounded.
  const std::string frames = std::exchange(pending_, {});
  if (!frames.empty()) {
    file_.Append(frames);
  }
}

}  // namespace infeed
