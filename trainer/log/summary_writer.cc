#include "trainer/log/summary_writer.h"

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <system_error>

#include "base/environment.h"
#include "base/error.h"
#include "records/tfrecord/format.h"
#include "trainer/log/event.pb.h"
#include "trainer/results/model_dir.h"

namespace infeed {
namespace {

constexpr int kValuesPerFlush = 10;
constexpr int kRgb = 3;
constexpr int kNumbers = 1;
constexpr int kStrings = 7;

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

// Numbers and booleans keep their type, so that TensorBoard can sort and
// filter.
HParamsPluginData::Value ParseHParam(const std::string& text) {
  HParamsPluginData::Value value;
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && last == end) {
    value.set_number_value(number);
  } else if (text == "true" || text == "false") {
    value.set_bool_value(text == "true");
  } else {
    value.set_string_value(text);
  }
  return value;
}

// The number of the value's type in HParamsPluginData.Experiment.Parameter.
int TypeNumber(const HParamsPluginData::Value& value) {
  constexpr int kText = 1;
  constexpr int kTruth = 2;
  constexpr int kNumber = 3;
  return value.has_number_value() ? kNumber
         : value.has_bool_value() ? kTruth
                                  : kText;
}

// The plugin reads the metadata; the value itself is an empty list.
std::string HParamsEvent(double wall_time, std::int64_t step,
                         std::string_view tag, const HParamsPluginData& data) {
  return ValueEvent(wall_time, step, tag, [&](Summary::Value& value) {
    auto& plugin = *value.mutable_metadata()->mutable_plugin_data();
    plugin.set_plugin_name("hparams");
    plugin.set_content(data.SerializeAsString());
    value.mutable_tensor()->set_dtype(kNumbers);
    value.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(0);
  });
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

std::string ExperimentEvent(double wall_time, const HParams& hparams,
                            const std::vector<HParamsMetric>& metrics) {
  HParamsPluginData data;
  HParamsPluginData::Experiment& experiment = *data.mutable_experiment();
  experiment.set_time_created_secs(wall_time);
  for (const auto& [name, text] : hparams) {
    if (!text.empty()) {
      auto& info = *experiment.add_hparam_infos();
      info.set_name(name);
      info.set_type(TypeNumber(ParseHParam(text)));
    }
  }
  for (const HParamsMetric& metric : metrics) {
    auto& info = *experiment.add_metric_infos();
    info.mutable_name()->set_group(metric.group);
    info.mutable_name()->set_tag(metric.tag);
    info.set_display_name(metric.name);
  }
  return HParamsEvent(wall_time, 0, "_hparams_/experiment", data);
}

std::string SessionStartEvent(double wall_time, std::int64_t step,
                              const HParams& hparams) {
  HParamsPluginData data;
  data.mutable_session_start_info()->set_start_time_secs(wall_time);
  auto& values = *data.mutable_session_start_info()->mutable_hparams();
  for (const auto& [name, text] : hparams) {
    if (!text.empty()) {
      values[name] = ParseHParam(text);
    }
  }
  return HParamsEvent(wall_time, step, "_hparams_/session_start_info", data);
}

std::string SessionEndEvent(double wall_time, std::int64_t step, bool is_good) {
  HParamsPluginData data;
  data.mutable_session_end_info()->set_status(is_good ? 1 : 2);
  data.mutable_session_end_info()->set_end_time_secs(wall_time);
  return HParamsEvent(wall_time, step, "_hparams_/session_end_info", data);
}

SummaryWriter::SummaryWriter(const std::string& folder, int own_names)
    : file_(NewEventPath(folder), own_names) {
  AppendFrame(pending_, FileVersionEvent(UnixSeconds()));
  Flush();
}

SummaryWriter::~SummaryWriter() {
  try {
    Flush();
  } catch (const IoError&) {
    // A destructor reports no errors; call Flush() to get them.
  }
}

void SummaryWriter::Scalar(std::string_view tag, double value,
                           std::int64_t step) {
  Add(ScalarEvent(UnixSeconds(), step, tag, value));
}

void SummaryWriter::Scalars(const EventValues& values, std::int64_t step) {
  for (const EventValue& value : values) {
    if (!value.tag.empty()) {
      Scalar(value.tag, std::get<double>(value.value), step);
    }
  }
}

void SummaryWriter::Add(std::string_view event) {
  AppendFrame(pending_, event);
  if (++pending_values_ == kValuesPerFlush) {
    Flush();
  }
}

void SummaryWriter::Flush() {
  pending_values_ = 0;
  // Dropped also if the write fails, so that memory stays bounded.
  const std::string frames = std::exchange(pending_, {});
  if (!frames.empty()) {
    file_.Append(frames);
  }
}

}  // namespace infeed
