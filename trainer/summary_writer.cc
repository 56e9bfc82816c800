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

constexpr int kScalarsPerFlush = 10;

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

}  // namespace

std::string FileVersionEvent(double wall_time) {
  Event event;
  event.set_wall_time(wall_time);
  event.set_file_version("brain.Event:2");
  return event.SerializeAsString();
}

std::string ScalarEvent(double wall_time, std::int64_t step,
                        std::string_view tag, double value) {
  Event event;
  event.set_wall_time(wall_time);
  event.set_step(step);
  Summary::Value* const scalar = event.mutable_summary()->add_value();
  scalar->set_tag(std::string(tag));
  scalar->set_simple_value(static_cast<float>(value));
  return event.SerializeAsString();
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
  AppendFrame(pending_, ScalarEvent(UnixSeconds(), step, tag, value));
  if (++pending_scalars_ == kScalarsPerFlush) {
    Flush();
  }
}

void SummaryWriter::Flush() {
  pending_scalars_ = 0;
  // Dropped also when they cannot be written: memory stays bounded.
  const std::string frames = std::exchange(pending_, {});
  if (!frames.empty()) {
    file_.Append(frames);
  }
}

}  // namespace infeed
