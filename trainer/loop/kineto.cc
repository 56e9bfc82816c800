#include "trainer/loop/kineto.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include <ATen/record_function.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/cuda.h>

#include "trainer/groups/torch_errors.h"

namespace infeed {
namespace {

namespace profiler = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;

// Kineto reads these at its first profile; other threads run by then, so they
// are set before main(). The first silences its own lines on stderr. The others
// are what torch.profiler sets for programs with CUDA graphs: those of CUDA
// below 12.6 crash once CUPTI is gone.
[[maybe_unused]] const bool kEnvironmentIsSet =
    ::setenv("KINETO_LOG_LEVEL", "99", 0) == 0 &&
    ::setenv("DISABLE_CUPTI_LAZY_REINIT", "1", 0) == 0 &&
    ::setenv("TEARDOWN_CUPTI", "0", 0) == 0;

// LibTorch 1.13 tells microseconds, later ones nanoseconds.
template <typename Event>
std::int64_t StartOf(const Event& event) {
  if constexpr (requires { event.startNs(); }) {
    return static_cast<std::int64_t>(event.startNs());
  } else {
    return 1000 * static_cast<std::int64_t>(event.startUs());
  }
}

template <typename Event>
std::int64_t LengthOf(const Event& event) {
  if constexpr (requires { event.durationNs(); }) {
    return static_cast<std::int64_t>(event.durationNs());
  } else {
    return 1000 * static_cast<std::int64_t>(event.durationUs());
  }
}

// A line through two moments. Kineto's times are of CLOCK_REALTIME: it takes
// them from the processor's cycle counter, or from CUPTI, and reads
// CLOCK_REALTIME at the begin and at the end of a record to convert them. So
// the line is right even if that clock is set in between.
class ClockLine {
 public:
  ClockLine(std::int64_t from_unix_ns, std::int64_t to_unix_ns,
            const TraceLog::Window& window)
      : from_unix_ns_(from_unix_ns),
        from_(window.from),
        slope_(static_cast<double>(
                   std::chrono::nanoseconds(window.to - window.from).count()) /
               static_cast<double>(
                   std::max<std::int64_t>(1, to_unix_ns - from_unix_ns))) {}

  [[nodiscard]] TraceLog::Clock::time_point At(std::int64_t unix_ns) const {
    return from_ + std::chrono::nanoseconds(std::llround(
                       slope_ * static_cast<double>(unix_ns - from_unix_ns_)));
  }

 private:
  std::int64_t from_unix_ns_;
  TraceLog::Clock::time_point from_;
  double slope_;
};

OperationKind KindOf(const profiler::KinetoEvent& event,
                     const std::string& name) {
  if (event.deviceType() == c10::DeviceType::CPU) {
    return OperationKind::kHost;
  }
  return name.starts_with("Memcpy") || name.starts_with("Memset")
             ? OperationKind::kCopy
             : OperationKind::kKernel;
}

}  // namespace

// Of several readings the one that took least: the thread was not interrupted
// between its two clocks.
KinetoRecorder::Moment KinetoRecorder::ReadClocks() {
  constexpr int kReadings = 9;
  Moment best;
  TraceLog::Clock::duration least = TraceLog::Clock::duration::max();
  for (int i = 0; i < kReadings; ++i) {
    const TraceLog::Clock::time_point before = TraceLog::Clock::now();
    const auto unix_time = std::chrono::system_clock::now().time_since_epoch();
    const TraceLog::Clock::duration took = TraceLog::Clock::now() - before;
    if (took < least) {
      least = took;
      best = {.time = before + took / 2,
              .unix_ns = std::chrono::nanoseconds(unix_time).count()};
    }
  }
  return best;
}

void KinetoRecorder::Begin() {
  record_ = {};
  if (torch::profiler::impl::profilerEnabled()) {
    record_.problem = "LibTorch's profiler is already in use";
    return;
  }
  try {
    const torch::profiler::impl::ProfilerConfig config(
        torch::profiler::impl::ProfilerState::KINETO);
    std::set<ActivityType> activities = {ActivityType::CPU};
    if (device_.is_cuda()) {
      activities.insert(ActivityType::CUDA);
    }
    profiler::prepareProfiler(config, activities);
    begin_ = ReadClocks();
    profiler::enableProfiler(config, activities);
    thread_ = at::RecordFunction::currentThreadId();
    state_ = State::kRecording;
  } catch (const std::exception& error) {
    record_.problem = ErrorText(error);
  }
}

bool KinetoRecorder::RequestEnd() {
  State recording = State::kRecording;
  state_.compare_exchange_strong(recording, State::kEnding);
  return recording == State::kIdle;
}

DeviceRecord KinetoRecorder::End() {
  if (state_ != State::kIdle) {
    Stop();
  }
  return std::exchange(record_, {});
}

void KinetoRecorder::Stop() {
  try {
    if (device_.is_cuda()) {
      torch::cuda::synchronize(device_.index());  // Else its last work is lost.
    }
    record_ = Collect();
  } catch (const std::exception& error) {
    record_.problem = ErrorText(error);
  }
  state_ = State::kIdle;
}

DeviceRecord KinetoRecorder::Collect() const {
  const auto result = profiler::disableProfiler();
  const Moment end = ReadClocks();
  DeviceRecord record{.window = {.from = begin_.time, .to = end.time}};
  const ClockLine line(begin_.unix_ns, end.unix_ns, record.window);
  const auto thread = static_cast<std::int64_t>(::syscall(SYS_gettid));
  std::unordered_map<std::string, std::size_t> places;
  bool has_kernels = false;
  for (const profiler::KinetoEvent& event : result->events()) {
    const std::string name = event.name();
    const auto [place, is_new] = places.emplace(name, record.names.size());
    if (is_new) {
      record.names.push_back(name);
    }
    const OperationKind kind = KindOf(event, name);
    has_kernels = has_kernels || kind == OperationKind::kKernel;
    // LibTorch without Kineto does not know the system's numbers of threads.
    const bool is_here =
        kind == OperationKind::kHost && event.startThreadId() == thread_;
    record.operations.push_back(
        {.name = place->second,
         .kind = kind,
         .device = kind == OperationKind::kHost ? 0 : event.deviceIndex(),
         .row = is_here ? thread : event.deviceResourceId(),
         .start = line.At(StartOf(event)),
         .length = std::chrono::nanoseconds(LengthOf(event))});
  }
  if (device_.is_cuda() && !has_kernels) {
    record.problem = "LibTorch's profiler saw no kernel of the GPU";
  } else if (record.operations.empty()) {
    record.problem = "LibTorch's profiler saw no operation";
  }
  return record;
}

}  // namespace infeed
