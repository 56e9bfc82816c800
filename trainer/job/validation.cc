#include "trainer/job/validation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/shown_text.h"
#include "records/bytes/crc32c.h"
#include "records/store/record_store.h"
#include "trainer/job/station_options.h"

namespace infeed {
namespace {

using Json = nlohmann::json;

std::string JsonText(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The checksum of the first, the middle and the last record: files whose
// records have equal lengths have the same offsets, whatever the records
// contain. A record that cannot be read, or is in a compressed shard, does not
// count.
std::uint32_t SampleChecksum(const RecordIndex& index) {
  std::uint32_t crc = 0;
  if (index.any_compressed() || index.size() == 0) {
    return crc;
  }
  const RecordStore store(index);
  std::vector<std::byte> buffer;
  for (const std::int64_t record :
       std::set{std::int64_t{0}, index.size() / 2, index.size() - 1}) {
    try {
      crc = ExtendCrc32c(crc, store.Read(record, buffer));
    } catch (const DataError&) {
    }
  }
  return crc;
}

// Whether a field of a stream's identity affects training only.
bool IsOfTraining(std::string_view name) {
  constexpr std::array<std::string_view, 5> kOfTraining = {
      "seed", "data", "batch_size", "rank_share", "last_batch"};
  return std::ranges::find(kOfTraining, name) != kOfTraining.end();
}

// The text of a field; "": absent.
std::string TextOf(const RunIdentity& identity, std::string_view name) {
  const auto field = std::ranges::find(identity, name, &StateField::name);
  return field == identity.end() ? ""
                                 : Json::parse(field->value).get<std::string>();
}

}  // namespace

RunIdentity MakeValidation(const TrainParams& params, const DataSet& data) {
  if (data.is_fake()) {
    return {{"eval_split", "\"fake\""},
            {"eval_data", "\"fake data\""},
            {"num_eval_images", std::to_string(params.num_eval_images)}};
  }
  if (!data.eval() || data.eval()->index.size() == 0) {
    return {};
  }
  const RecordIndex& index = data.eval()->index;
  RunIdentity identity = {
      {"eval_split", JsonText(data.eval()->name)},
      {"eval_data", JsonText(fmt::format("{}-{:08x}", index.identity(),
                                         SampleChecksum(index)))},
      {"eval_flip", params.eval_flip ? "true" : "false"},
      {"moving_average",
       params.optimizer.moving_average_decay > 0 ? "true" : "false"},
      {"label_smoothing",
       fmt::format("{}", params.optimizer.loss.label_smoothing)}};
  for (const auto& [name, value] : StreamIdentity(index, EvalInputOf(params))) {
    if (name == "max_records") {
      identity.push_back({"num_eval_images", value});
    } else if (name == "eval_crops") {
      identity.push_back({name, std::to_string(params.eval_crops)});
    } else if (!IsOfTraining(name)) {
      identity.push_back({name, value});
    }
  }
  return identity;
}

EvalSubject MakeSubject(RunIdentity identity, const RunIdentity& own,
                        const std::string& weights) {
  EvalSubject subject = {.split = TextOf(identity, "eval_split"),
                         .data = TextOf(identity, "eval_data"),
                         .key = "",
                         .differences = DescribeDifferences(identity, own)};
  if (own.empty()) {
    subject.differences = "the training has no evaluations of its own";
  }
  if (!weights.empty()) {
    const std::string from = WithoutUrlSecrets(weights);
    subject.differences = "the weights are those of " + from;
    identity.push_back({"weights", JsonText(from)});
  }
  std::string text;
  for (const auto& [name, value] : identity) {
    text += name + "=" + value + "\n";
  }
  subject.key = fmt::format("{:08x}", Crc32c(std::as_bytes(std::span(text))));
  return subject;
}

bool Evaluates(const Job& job) {
  return job.options.mode == Mode::kTrainAndEval && job.data.has_eval();
}

EvalSteps EvalStepsOf(const Job& job, std::int64_t first_step) {
  return {.first_step = first_step,
          .last_step = job.params.train_steps,
          .interval = job.params.steps_per_eval,
          .epochs = EpochsOf(job.params, job.options.place.world_size)};
}

}  // namespace infeed
