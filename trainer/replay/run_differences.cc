#include "trainer/replay/run_differences.h"

#include "base/shown_text.h"
#include "trainer/log/run_origin.h"
#include "trainer/params/table.h"
#include "trainer/replay/shard_identities.h"

namespace infeed {
namespace {

// "0.1.0 (1a2b3c4)"; "": not recorded.
std::string VersionText(const RunOrigin& origin) {
  const std::string version = OriginValue(origin, "version");
  const std::string commit = OriginValue(origin, "commit");
  return commit.empty() ? version : version + " (" + commit + ")";
}

std::vector<RunDifference>& ListOf(const Param& param,
                                   RunDifferences& differences) {
  return param.affects_batches     ? differences.of_input
         : param.changes_on_device ? differences.on_device
                                   : differences.others;
}

void AddParameters(const TrainParams& a, const TrainParams& b,
                   RunDifferences& differences) {
  for (const Param& param : ParamTable()) {
    const std::string of_a = WithoutUrlSecrets(ValueText(param, a));
    const std::string of_b = WithoutUrlSecrets(ValueText(param, b));
    if (of_a != of_b) {
      ListOf(param, differences)
          .push_back({.name = std::string(param.name), .a = of_a, .b = of_b});
    }
  }
}

// Only of some ways to share a batch does the number of ranks change batches.
void AddRanks(const RecordedRun& a, const RecordedRun& b, int of_a, int of_b,
              RunDifferences& differences) {
  if (of_a == of_b) {
    return;
  }
  const bool is_of_input =
      a.params.values.input.rank_share != RankShare::kContiguous ||
      b.params.values.input.rank_share != RankShare::kContiguous;
  (is_of_input ? differences.of_input : differences.others)
      .push_back({.name = "ranks",
                  .a = std::to_string(of_a),
                  .b = std::to_string(of_b)});
}

void AddData(const RunOrigin& a, const RunOrigin& b,
             RunDifferences& differences) {
  const std::string of_a = TrainIdentity(OriginValue(a, "data_identity"));
  const std::string of_b = TrainIdentity(OriginValue(b, "data_identity"));
  if (of_a == of_b) {
    return;
  }
  differences.of_input.push_back({.kind = DifferenceKind::kData,
                                  .name = "data_identity",
                                  .a = of_a,
                                  .b = of_b});
  differences.shards = OtherShards(OriginValue(a, kShardIdentitiesKey),
                                   OriginValue(b, kShardIdentitiesKey));
}

}  // namespace

RunDifferences FindRunDifferences(const RecordedRun& a, const RecordedRun& b,
                                  std::int64_t step) {
  const StepsOfStart steps_a = FindStart(a, step);
  const StepsOfStart steps_b = FindStart(b, step);
  const RunOrigin& of_a = steps_a.start.origin;
  const RunOrigin& of_b = steps_b.start.origin;
  RunDifferences differences;
  AddParameters(a.params.values, b.params.values, differences);
  AddRanks(a, b, steps_a.world_size, steps_b.world_size, differences);
  AddData(of_a, of_b, differences);
  if (VersionText(of_a) != VersionText(of_b)) {
    differences.of_input.push_back({.kind = DifferenceKind::kVersion,
                                    .name = "version",
                                    .a = VersionText(of_a),
                                    .b = VersionText(of_b)});
  }
  return differences;
}

}  // namespace infeed
