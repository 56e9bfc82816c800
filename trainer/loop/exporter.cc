#include "trainer/loop/exporter.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/atomic_file.h"
#include "base/error.h"
#include "records/bytes/append_file.h"
#include "trainer/formats/model_graph.h"
#include "trainer/formats/onnx_file.h"
#include "trainer/formats/safetensors.h"
#include "trainer/loop/torch_script.h"
#include "trainer/model/normalization.h"
#include "trainer/results/export_folder.h"

namespace infeed {

void CheckFormats(const std::vector<std::string>& formats) {
  for (const std::string& format : formats) {
    if (format != "onnx" && format != "safetensors" &&
        format != "torchscript") {
      throw UsageError("format=" + format +
                       ": must be onnx, safetensors or torchscript");
    }
  }
}

std::string ExportModel(const ExportOptions& options,
                        const PreprocessingFacts& facts,
                        const TensorMap& weights) {
  CheckFormats(options.formats);
  const std::vector<std::string> formats =
      options.formats.empty() ? std::vector<std::string>{"onnx", "safetensors"}
                              : options.formats;
  const auto has = [&](std::string_view format) {
    return std::ranges::find(formats, format) != formats.end();
  };
  const std::string preprocessing = PreprocessingJson(facts);
  // Built for every format: it throws if the weights are not the model's.
  const InferenceGraph graph =
      BuildGraph(facts.model, weights,
                 {.image_size = facts.input.preprocess.image_size,
                  .statistics = StatisticsOf(facts.normalization)});
  ExportFolder folder(options.export_dir);
  WriteFileAtomically(folder.PathFor(kExportFactsFile), preprocessing);
  if (has("onnx")) {
    WriteFileAtomically(
        folder.PathFor("model.onnx"),
        OnnxBytes(graph, {.batch_size = options.batch_size,
                          .metadata = {{"preprocessing", preprocessing}}}));
  }
  if (has("safetensors")) {
    WriteSafetensors(folder.PathFor("model.safetensors"), weights);
  }
  if (has("torchscript")) {
    WriteFileAtomically(folder.PathFor("model.torchscript"),
                        TorchScriptBytes(graph));
  }
  return folder.Commit(static_cast<std::int64_t>(UnixSeconds()));
}

}  // namespace infeed
