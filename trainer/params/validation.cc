#include "trainer/params/validation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/shown_text.h"
#include "preprocess/pixels/image_size.h"
#include "records/bytes/crc32c.h"
#include "records/store/record_store.h"
#include "trainer/params/station_options.h"

namespace infeed {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kPrecision = "precision";

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

std::string DataText(const RecordIndex& index) {
  return fmt::format("{}-{:08x}", index.identity(), SampleChecksum(index));
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

// Earlier versions evaluated the first images, and stored their number.
std::string ImagesText(std::int64_t images, const RecordIndex& index) {
  return images > 0 && images < index.size()
             ? JsonText(fmt::format("sample of {}", images))
             : std::to_string(images);
}

// Adds the fields of the evaluation's stream that evaluations depend on.
void AddInput(const RunIdentity& stream, const std::string& images,
              RunIdentity& identity) {
  for (const auto& [name, value] : stream) {
    if (name == "max_records") {
      identity.push_back({"num_eval_images", images});
    } else if (name != "eval_crops" && !IsOfTraining(name)) {
      identity.push_back({name, value});
    }
  }
}

}  // namespace

RunIdentity MakeValidation(const TrainParams& params, const DataSet& data,
                           const std::string& device) {
  const InputOptions input = EvalInputOf(params);
  RunIdentity identity;
  if (data.is_fake()) {
    identity = {
        {"eval_split", "\"fake\""},
        {"eval_data", "\"fake data\""},
        {"num_eval_images", std::to_string(params.num_eval_images)},
        {"image_size", JsonText(SizeText(input.preprocess.image_size))}};
  } else if (!data.eval() || data.eval()->index.size() == 0) {
    return {};
  } else {
    const RecordIndex& index = data.eval()->index;
    identity = {{"eval_split", JsonText(data.eval()->name)},
                {"eval_data", JsonText(DataText(index))}};
    AddInput(StreamIdentity(index, input),
             ImagesText(params.num_eval_images, index), identity);
  }
  const auto add = [&identity](std::string_view name, std::string value) {
    identity.push_back({std::string(name), std::move(value)});
  };
  add("eval_crops", std::to_string(params.eval_crops));
  add("moving_average",
      params.optimizer.moving_average_decay > 0 ? "true" : "false");
  add("label_smoothing",
      fmt::format("{}", params.optimizer.loss.label_smoothing));
  add(kPrecision,
      JsonText(std::string(PrecisionText(PrecisionOf(params, device)))));
  return identity;
}

bool EvaluatesData(const RunIdentity& validation, const RecordIndex& index) {
  return TextOf(validation, "eval_data") == DataText(index);
}

std::string DescribeOtherValidation(RunIdentity run,
                                    const RunIdentity& checkpoint) {
  std::erase_if(
      run, [](const StateField& field) { return field.name == kPrecision; });
  return DescribeDifferences(run, checkpoint);
}

EvalSubject MakeSubject(RunIdentity identity, const RunIdentity& own,
                        const EvalOrigin& origin) {
  EvalSubject subject = {.split = TextOf(identity, "eval_split"),
                         .data = TextOf(identity, "eval_data"),
                         .key = "",
                         .differences = DescribeDifferences(identity, own)};
  if (own.empty()) {
    subject.differences = "the training has no evaluations of its own";
  }
  // A training that resumes in another precision keeps its key.
  if (TextOf(identity, kPrecision) == TextOf(own, kPrecision)) {
    std::erase_if(identity, [](const StateField& field) {
      return field.name == kPrecision;
    });
  }
  if (!origin.network.empty()) {
    subject.differences +=
        (subject.differences.empty() ? "" : "; ") + origin.network;
    identity.push_back({"network", JsonText(origin.network)});
  }
  if (!origin.weights.empty()) {
    const std::string from = WithoutUrlSecrets(origin.weights);
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

}  // namespace infeed
