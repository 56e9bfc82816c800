#include "trainer/job/report_subject.h"

#include <string>
#include <vector>

#include "records/http/secrets_guard.h"
#include "trainer/job/description.h"
#include "trainer/params/params.h"
#include "trainer/params/table.h"

namespace infeed {
namespace {

std::vector<ReportFact> Configuration(const RunParams& params) {
  std::vector<ReportFact> facts;
  for (const Param& param : ParamTable()) {
    const auto origin = params.origins.find(param.name);
    facts.push_back(
        {.name = std::string(param.name),
         .value = WithoutUrlSecrets(ValueText(param, params.values)),
         .origin = origin == params.origins.end() ? "" : origin->second});
  }
  return facts;
}

}  // namespace

ReportSubject ReportSubjectOf(const Job& job) {
  const TrainParams& params = job.params;
  return {.title = ModelName(params) + " on " +
                   WithoutUrlSecrets(job.options.data_dir),
          .total_steps = params.train_steps,
          .batch_size = params.input.batch_size,
          .iterations_per_loop = params.iterations_per_loop,
          .class_names = DataLabels(job).names(),
          .configuration = Configuration(job.resolved),
          .origin = OriginOf(job)};
}

}  // namespace infeed
