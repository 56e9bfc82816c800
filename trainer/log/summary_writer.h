#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "records/bytes/append_file.h"
#include "trainer/results/metrics_log.h"

namespace infeed {

struct SummaryImage {
  std::string png;
  int width = 0;
  int height = 0;
};

// Parameters' names and values as text; empty values are left out.
using HParams = std::vector<std::pair<std::string, std::string>>;

// A scalar on the hyperparameters page. group: the folder of its events below
// the run's; "": the run's own.
struct HParamsMetric {
  std::string group;
  std::string tag;
  std::string name;  // on the page
};

// Appends scalars, pictures and texts to a new TensorBoard event file (TFRecord
// frames of Event messages) in a folder, which it creates if missing. The
// constructor writes the file's first event; Flush(), and every tenth value,
// write the events added since. Events are appended whole, so that the file of
// a killed run is readable up to the last flush.
//
// One thread at a time. Throws IoError; the destructor flushes, and drops
// events that cannot be written.
class SummaryWriter {
 public:
  // own_names: of the file's path (own_files.h).
  explicit SummaryWriter(const std::string& folder, int own_names = 1);
  ~SummaryWriter();
  SummaryWriter(const SummaryWriter&) = delete;
  SummaryWriter& operator=(const SummaryWriter&) = delete;

  void Scalar(std::string_view tag, double value, std::int64_t step);
  // A scalar for each value with a tag.
  void Scalars(const EventValues& values, std::int64_t step);
  // One of the events below.
  void Add(std::string_view event);
  void Flush();

  [[nodiscard]] const std::string& path() const { return file_.path(); }

 private:
  AppendFile file_;
  std::string pending_;  // frames
  int pending_values_ = 0;
};

// The serialized events: the one at the start of each file, and those of one
// value. wall_time is in Unix seconds; texts are Markdown. The last three are
// for TensorBoard's hyperparameters page: its columns of parameters, in this
// order, and of metrics; the start of a run with its parameters as text, and
// its end.
[[nodiscard]] std::string FileVersionEvent(double wall_time);
[[nodiscard]] std::string ScalarEvent(double wall_time, std::int64_t step,
                                      std::string_view tag, double value);
[[nodiscard]] std::string ImageEvent(double wall_time, std::int64_t step,
                                     std::string_view tag,
                                     const SummaryImage& image);
[[nodiscard]] std::string TextEvent(double wall_time, std::int64_t step,
                                    std::string_view tag,
                                    std::string_view text);
[[nodiscard]] std::string ExperimentEvent(
    double wall_time, const HParams& hparams,
    const std::vector<HParamsMetric>& metrics);
[[nodiscard]] std::string SessionStartEvent(double wall_time, std::int64_t step,
                                            const HParams& hparams);
[[nodiscard]] std::string SessionEndEvent(double wall_time, std::int64_t step,
                                          bool is_good);

}  // namespace infeed
