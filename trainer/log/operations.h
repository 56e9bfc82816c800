#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/stats/trace_log.h"

namespace infeed {

class AtomicFile;

enum class OperationKind {
  kHost,    // an operation of LibTorch, on a thread of the host
  kKernel,  // computation on a GPU
  kCopy,    // a copy or memset on a GPU
};

struct RecordedOperation {
  std::size_t name = 0;  // its place in DeviceRecord::names
  OperationKind kind = OperationKind::kHost;
  int device = 0;  // the number of the GPU
  // The thread, as the operating system numbers it, or the GPU's stream.
  std::int64_t row = 0;
  TraceLog::Clock::time_point start;
  TraceLog::Clock::duration length{};
};

// What a device did in a window, on the clock of a TraceLog.
struct DeviceRecord {
  TraceLog::Window window = {};
  std::vector<std::string> names = {};
  std::vector<RecordedOperation> operations = {};
  // Why something is missing; "": all is there.
  std::string problem = {};
};

// Records what a device does between Begin() and End(). "The device's thread"
// is the one that runs DeviceLoop.
class DeviceRecorder {
 public:
  DeviceRecorder() = default;
  virtual ~DeviceRecorder() = default;
  DeviceRecorder(const DeviceRecorder&) = delete;
  DeviceRecorder& operator=(const DeviceRecorder&) = delete;

  // Call it in the device's thread, outside of steps. End()'s record says where
  // it failed.
  virtual void Begin() = 0;
  // Asks for an end before the next step, from any thread, and returns whether
  // it has come. Where it does not come, End() brings it.
  [[nodiscard]] virtual bool RequestEnd() = 0;
  // Call it in the device's thread outside of steps, or in any once
  // RequestEnd() has returned true.
  [[nodiscard]] virtual DeviceRecord End() = 0;
};

// All calls of an operation.
struct OperationTotal {
  std::string name;
  std::int64_t calls = 0;
  double seconds = 0;  // on the host without those of operations inside
  double share = 0;    // of the seconds of all operations
};

struct DeviceTotals {
  bool on_gpu = false;
  // The fraction of the window in which at least one kernel ran; on the host,
  // one operation.
  double busy = 0;
  std::vector<OperationTotal> dearest = {};  // ten at most
};

// Of the GPU's work if there is any, else of the host's operations.
[[nodiscard]] DeviceTotals ComputeTotals(const DeviceRecord& record);

// Writes the operations as further events of the trace that log writes to the
// file (TraceLog::MoreEvents): the host's below its threads' spans, and each
// GPU as the process of its number, with a row for each stream. Names,
// categories and that number are as in PyTorch's own traces.
void WriteOperations(const DeviceRecord& record, const TraceLog& log,
                     AtomicFile& file);

// Writes, likewise, the marks by which TensorBoard's page of PyTorch's profiles
// finds the steps and how long they waited for input: of each wait and step of
// the threads that lies in the window. A step's mark begins with its wait and
// has the number of its batch.
void WriteStepMarks(const std::vector<TraceLog::Thread>& threads,
                    const TraceLog::Window& window, const TraceLog& log,
                    AtomicFile& file);

}  // namespace infeed
