#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/error.h"
#include "records/bytes/image_header.h"
#include "records/example/imagenet_example.h"
#include "records/files/open_source.h"
#include "records/store/file_records.h"
#include "records/store/record_store.h"
#ifdef INFEED_CUDA
#include "trainer/loop/gpu_cards.h"
#endif
#include "pipeline/engine/worker_trial.h"
#include "pipeline/memory/kept_heap.h"
#include "pipeline/remote/rpc_plugin.h"
#include "pipeline/stats/cpu_load.h"
#include "trainer/feed/data_set.h"
#include "trainer/groups/torch_errors.h"
#include "trainer/loop/ceilings.h"
#include "trainer/loop/device_loop.h"
#include "trainer/params/params.h"
#include "trainer/params/station_options.h"
#include "trainer/run/job.h"
#include "trainer/run/machine_check.h"
#include "trainer/run/run.h"

namespace infeed {
namespace {

Finding Device(const std::string& name) {
  try {
    return {"device", DescribeDevices(name), ""};
  } catch (const UsageError& error) {
    return {"device", name, error.what()};
  }
}

Finding Ceilings(const std::string& name) {
  try {
    const Precision precision = IsGpu(name) || CpuHasBfloat16()
                                    ? Precision::kBfloat16
                                    : Precision::kFloat32;
    const DeviceCeilings ceilings = MeasureCeilings(name, precision);
    return {
        "ceilings",
        fmt::format("{:.4g} TFLOP/s in {}, copies {:.4g} GB/s", ceilings.tflops,
                    PrecisionText(precision), ceilings.gb_per_second),
        ""};
  } catch (const UsageError&) {
    return {"ceilings", "not measured", ""};  // The device has the reason.
  } catch (const std::exception& error) {
    return {"ceilings", "not measured", ErrorText(error)};
  }
}

// Other load while the ceilings were measured. Empty: not known.
std::vector<Finding> Load(const std::optional<CpuTimes>& before) {
  const std::optional<CpuLoad> load = LoadSince(before);
  if (!load) {
    return {};
  }
  return {
      {"load", load->Text(),
       load->is_too_high()
           ? "training gets only the rest of the CPU, and the ceilings above "
             "are too low: stop these programs first (top lists them)"
           : ""}};
}

// The number of shards with a valid offset index.
Finding OffsetIndex(const DataSplit& split) {
  if (split.index.is_of_images()) {
    return {split.name + " index", CountText(split.index.size(), "image file"),
            ""};
  }
  const std::vector<std::string>& shards = split.index.shards();
  const auto indexed = std::ranges::count_if(shards, [](const auto& shard) {
    return FindIndexState(*OpenSource(shard)) == IndexState::kFresh;
  });
  return {split.name + " index",
          fmt::format("{}; {} of {} with an index",
                      CountText(split.index.size(), "image"), indexed,
                      CountText(shards.size(), "shard")),
          indexed < std::ssize(shards)
              ? "each start scans the other shards: run records index"
              : ""};
}

Finding SeekIndex(const DataSplit& split, const ExampleKeys& keys) {
  const RecordStore store(split.index);
  std::vector<std::byte> buffer;
  const ImagenetExampleView example =
      ParseImagenetExample(store.Read(0, buffer), LabelList::kOne, keys);
  // An Example may name no format, or another one than its image has.
  const std::string_view found = FindImageFormat(example.encoded);
  const std::string_view format = found.empty() ? example.format : found;
  const bool jpeg = format == "jpeg" || format == "JPEG";
  const bool missing = jpeg && example.seek_index.empty();
  return {
      split.name + " seek index",
      fmt::format("{} {}, {}", format,
                  example.packed.empty() ? "images" : "packed pixels",
                  example.seek_index.empty() ? "none" : "there"),
      missing ? "crops decode faster with one: see records index --help" : ""};
}

void LookAtData(const std::string& data_dir, const InputOptions& input,
                std::vector<Finding>& findings) {
  try {
    const DataSet data(data_dir, {.keys = {input.image_key, input.label_key}});
    findings.push_back({"data", data.Describe(), ""});
    for (const auto* split : {&data.train(), &data.eval()}) {
      if (*split && (*split)->index.size() > 0) {
        findings.push_back(OffsetIndex(**split));
        findings.push_back(SeekIndex(**split, KeysOf(input)));
      }
    }
  } catch (const std::exception& error) {
    findings.push_back({"data", data_dir, error.what()});
  }
}

// Has each worker fill some images, as a run on these data would.
std::vector<Finding> FindingsOfWorkers(const RunOptions& options) {
  const DataSet data = OpenData(options);
  if (!data.train() && !data.eval()) {  // Fake data, for example.
    throw UsageError("workers are tried with images of train or validation");
  }
  const TrainParams params =
      Resolve(options.params, options.device, data, options.place.world_size)
          .values;
  const bool trains = data.train().has_value();
  const WorkersTrial trial = TryWorkers(
      LoadedRpcLibrary(), trains ? data.train()->index : data.eval()->index,
      trains ? params.input : EvalInputOf(params));
  std::vector<Finding> findings;
  for (const WorkerTrial& worker : trial.workers) {
    findings.push_back(
        {"worker " + worker.address, trial.Describe(worker), worker.problem});
  }
  if (std::string conclusion = trial.Conclusion(); !conclusion.empty()) {
    findings.push_back({"workers", std::move(conclusion), ""});
  }
  return findings;
}

void LookAtWorkers(const RunOptions& options, std::vector<Finding>& findings) {
  const std::string& list = options.params.values.input.workers;
  if (list.empty()) {
    return;
  }
  if (options.data_dir.empty()) {
    findings.push_back({"workers", list,
                        "give --data_dir, too: they are tried with its data"});
    return;
  }
  KeepMessageMemory();
  try {
    std::ranges::move(FindingsOfWorkers(options), std::back_inserter(findings));
  } catch (const std::exception& error) {
    findings.push_back({"workers", list, error.what()});
  }
}

std::vector<Finding> ExamineAll(const RunOptions& options) {
  const std::optional<CpuTimes> before = ReadCpuTimes();
  std::vector<Finding> findings = {
      {"versions", "infeed " INFEED_VERSION ", LibTorch " + TorchVersion(), ""},
      Device(options.device),
      Ceilings(options.device)};
  const auto add = [&findings](std::vector<Finding> more) {
    std::ranges::move(more, std::back_inserter(findings));
  };
  add(Load(before));
#ifdef INFEED_CUDA
  add(CheckCards());
#endif
  // After LibTorch's checks, so that its libraries are loaded.
  add(CheckMachine());
  if (!options.data_dir.empty()) {
    LookAtData(options.data_dir, options.params.values.input, findings);
  }
  LookAtWorkers(options, findings);
  return findings;
}

}  // namespace

std::vector<Finding> Examine(const RunOptions& options) {
  std::vector<Finding> findings;
  TranslateTorchErrors([&] { findings = ExamineAll(options); });
  return findings;
}

}  // namespace infeed
