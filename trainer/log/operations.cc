#include "trainer/log/operations.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/ratio.h"
#include "base/seconds.h"

namespace infeed {
namespace {

using Clock = TraceLog::Clock;
using Json = nlohmann::json;

constexpr std::size_t kDearest = 10;

using Pointers = std::vector<const RecordedOperation*>;

// The operations that count, ordered by their start; those around others first.
Pointers Counted(const DeviceRecord& record, bool on_gpu) {
  Pointers counted;
  for (const RecordedOperation& operation : record.operations) {
    if ((operation.kind != OperationKind::kHost) == on_gpu) {
      counted.push_back(&operation);
    }
  }
  std::ranges::stable_sort(counted, {}, [](const RecordedOperation* operation) {
    return std::pair(operation->start, -operation->length);
  });
  return counted;
}

// The seconds of each operation without those of operations inside, which are
// on the same thread.
std::vector<double> OwnSeconds(const Pointers& ordered) {
  std::vector<double> own;
  std::map<std::int64_t, std::vector<std::size_t>> open;  // by thread
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const RecordedOperation& operation = *ordered[i];
    own.push_back(ToSeconds(operation.length));
    std::vector<std::size_t>& around = open[operation.row];
    while (!around.empty() &&
           ordered[around.back()]->start + ordered[around.back()]->length <=
               operation.start) {
      around.pop_back();
    }
    if (operation.kind == OperationKind::kHost && !around.empty()) {
      double& outer = own[around.back()];
      outer = std::max(0.0, outer - own.back());
    }
    around.push_back(i);
  }
  return own;
}

// The fraction of the window in which at least one of them ran.
double BusyShare(const Pointers& ordered, const TraceLog::Window& window) {
  Clock::duration busy{};
  Clock::time_point done = window.from;
  for (const RecordedOperation* const operation : ordered) {
    const Clock::time_point end =
        std::min(operation->start + operation->length, window.to);
    const Clock::time_point start = std::max(operation->start, done);
    if (operation->kind != OperationKind::kCopy && end > start) {
      busy += end - start;
      done = end;
    }
  }
  return Ratio(ToSeconds(busy), ToSeconds(window.to - window.from));
}

std::string_view CategoryOf(const RecordedOperation& operation,
                            std::string_view name) {
  switch (operation.kind) {
    case OperationKind::kHost:
      return "cpu_op";
    case OperationKind::kKernel:
      return "kernel";
    case OperationKind::kCopy:
      break;
  }
  return name.starts_with("Memset") ? "gpu_memset" : "gpu_memcpy";
}

// name: as JSON.
std::string EventLine(const RecordedOperation& operation, std::string_view name,
                      std::string_view category, Clock::time_point started) {
  using Microseconds = std::chrono::duration<double, std::micro>;
  const bool is_host = operation.kind == OperationKind::kHost;
  return fmt::format(
      R"({{"name":{},"cat":"{}","ph":"X","pid":{},"tid":{},"ts":{:.3f},)"
      R"("dur":{:.3f},"args":{{{}}}}})",
      name, category, is_host ? ::getpid() : operation.device, operation.row,
      Microseconds(operation.start - started).count(),
      Microseconds(operation.length).count(),
      is_host ? ""
              : fmt::format(R"("device":{},"stream":{})", operation.device,
                            operation.row));
}

std::string NameLine(std::string_view kind, int process, std::int64_t row,
                     std::string_view name, std::int64_t number) {
  return fmt::format(R"({{"name":"{}","ph":"M","pid":{},"tid":{},)"
                     R"("args":{{"name":"{} {}"}}}})",
                     kind, process, row, name, number);
}

// A mark of PyTorch's profiler on a thread of the host. An operation, as its
// page passes over other kinds but for steps.
std::string MarkLine(const std::string& name, int thread,
                     Clock::time_point from, Clock::time_point to,
                     Clock::time_point started) {
  return ",\n" + EventLine({.row = thread, .start = from, .length = to - from},
                           Json(name).dump(), "cpu_op", started);
}

}  // namespace

DeviceTotals ComputeTotals(const DeviceRecord& record) {
  const bool on_gpu =
      std::ranges::any_of(record.operations, [](const RecordedOperation& one) {
        return one.kind == OperationKind::kKernel;
      });
  const Pointers ordered = Counted(record, on_gpu);
  const std::vector<double> own = OwnSeconds(ordered);
  std::map<std::size_t, OperationTotal> totals;  // by name
  double all = 0;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    OperationTotal& total = totals[ordered[i]->name];
    ++total.calls;
    total.seconds += own[i];
    all += own[i];
  }
  std::vector<OperationTotal> dearest;
  for (auto& [name, total] : totals) {
    total.name = record.names[name];
    total.share = Ratio(total.seconds, all);
    dearest.push_back(std::move(total));
  }
  std::ranges::stable_sort(dearest, std::ranges::greater(),
                           &OperationTotal::seconds);
  dearest.resize(std::min(dearest.size(), kDearest));
  return {.on_gpu = on_gpu,
          .busy = BusyShare(ordered, record.window),
          .dearest = std::move(dearest)};
}

void WriteOperations(const DeviceRecord& record, const TraceLog& log,
                     AtomicFile& file) {
  std::vector<std::string> names;  // Names of kernels have all of C++ in them.
  for (const std::string& name : record.names) {
    names.push_back(
        Json(name).dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  std::set<std::pair<int, std::int64_t>> streams;
  for (const RecordedOperation& operation : record.operations) {
    if (operation.kind != OperationKind::kHost) {
      streams.emplace(operation.device, operation.row);
    }
    file.Write(",\n" +
               EventLine(operation, names[operation.name],
                         CategoryOf(operation, record.names[operation.name]),
                         log.started()));
  }
  for (const auto& [device, stream] : streams) {
    file.Write(",\n" + NameLine("process_name", device, stream, "GPU", device) +
               ",\n" +
               NameLine("thread_name", device, stream, "stream", stream));
  }
}

void WriteStepMarks(const std::vector<TraceLog::Thread>& threads,
                    const TraceLog::Window& window, const TraceLog& log,
                    AtomicFile& file) {
  for (const TraceLog::Thread& thread : threads) {
    std::optional<Clock::time_point> begun;
    for (const TraceEvent& event : thread.events) {
      const Clock::time_point end = event.start + event.length;
      const bool is_inside = event.start >= window.from && end <= window.to;
      if (event.name == "input wait" && is_inside) {
        begun = event.start;
        file.Write(MarkLine("enumerate(DataLoader)#infeed.__next__", thread.id,
                            event.start, end, log.started()));
      } else if (event.name == "step" && is_inside) {
        file.Write(MarkLine(fmt::format("ProfilerStep#{}", event.place.batch),
                            thread.id, begun.value_or(event.start), end,
                            log.started()));
        begun.reset();
      }
    }
  }
}

}  // namespace infeed
