#include "trainer/report_subject.h"

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "trainer/model_labels.h"
#include "trainer/model_name.h"
#include "trainer/param_table.h"

namespace infeed {
namespace {

std::vector<ReportFact> Configuration(const RunParams& params) {
  std::vector<ReportFact> facts;
  for (const Param& param : ParamTable()) {
    const auto origin = params.origins.find(param.name);
    facts.push_back(
        {.name = std::string(param.name),
         .value = ValueText(param, params.values),
         .origin = origin == params.origins.end() ? "" : origin->second});
  }
  return facts;
}

// The processor's name; "" where the kernel does not say.
std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "";
}

}  // namespace

ReportSubject ReportSubjectOf(const Job& job) {
  const TrainParams& params = job.params;
  return {.title = ModelName(params) + " on " + job.options.data_dir,
          .total_steps = params.train_steps,
          .batch_size = params.train_batch_size,
          .iterations_per_loop = params.iterations_per_loop,
          .class_names = ModelLabels::OfData(job.options.data_dir,
                                             params.num_label_classes)
                             .names(),
          .configuration = Configuration(job.resolved),
          .environment = {
              {"data", job.options.data_dir + ": " + job.data.Describe()},
              {"ranks", job.ranks.place().Describe()},
              {"device", job.device.Describe()},
              {"processor", fmt::format("{} ({} threads)", ProcessorName(),
                                        std::thread::hardware_concurrency())},
              {"model",
               fmt::format("{} parameters", job.device.parameter_count())}}};
}

}  // namespace infeed
