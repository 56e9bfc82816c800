#include "trainer/replay/shard_identities.h"

#include <fmt/format.h>

#include "base/count_text.h"
#include "records/files/open_source.h"

namespace infeed {
namespace {

constexpr std::size_t kMostShards = 4096;
constexpr std::size_t kDigits = 8;  // of an identity

}  // namespace

std::string TrainIdentity(std::string_view identity) {
  constexpr std::string_view kTrain = "train ";
  if (!identity.starts_with(kTrain)) {
    return "";
  }
  identity.remove_prefix(kTrain.size());
  return std::string(identity.substr(0, identity.find(',')));
}

std::string ShardIdentities(const RecordIndex& index) {
  std::string text;
  const std::size_t shards = index.shards().size();
  if (index.is_of_images() || shards > kMostShards) {
    return text;
  }
  for (std::size_t shard = 0; shard < shards; ++shard) {
    text += (text.empty() ? "" : " ") + index.shard_identity(shard);
  }
  return text;
}

std::vector<std::size_t> OtherShards(std::string_view a, std::string_view b) {
  constexpr std::size_t kWidth = kDigits + 1;
  std::vector<std::size_t> shards;
  for (std::size_t at = 0; a.size() == b.size() && at < a.size();
       at += kWidth) {
    if (a.substr(at, kDigits) != b.substr(at, kDigits)) {
      shards.push_back(at / kWidth);
    }
  }
  return shards;
}

std::string OtherShardsText(const RecordIndex& index,
                            std::string_view recorded) {
  const std::string here = ShardIdentities(index);
  if (recorded.empty() || here == recorded) {
    return "";
  }
  const std::vector<std::size_t> others = OtherShards(here, recorded);
  if (others.empty()) {
    return fmt::format("it has {}, the run had {}",
                       CountText(index.shards().size(), "training shard"),
                       (recorded.size() + 1) / (kDigits + 1));
  }
  return fmt::format("the shard {} is another one{}",
                     FileNameOf(index.shards()[others.front()]),
                     others.size() == 1
                         ? ""
                         : fmt::format(" (and {} more)", others.size() - 1));
}

}  // namespace infeed
