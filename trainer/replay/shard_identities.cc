#include "trainer/replay/shard_identities.h"

#include <cstddef>

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

std::string OtherShardsText(const RecordIndex& index,
                            std::string_view recorded) {
  const std::string here = ShardIdentities(index);
  if (recorded.empty() || here == recorded) {
    return "";
  }
  const std::size_t shards = index.shards().size();
  const std::size_t of_run = (recorded.size() + 1) / (kDigits + 1);
  if (here.size() != recorded.size()) {
    return fmt::format("it has {}, the run had {}",
                       CountText(shards, "training shard"), of_run);
  }
  std::size_t first = shards;
  std::size_t others = 0;
  for (std::size_t shard = shards; shard-- > 0;) {
    const std::size_t at = shard * (kDigits + 1);
    if (std::string_view(here).substr(at, kDigits) !=
        recorded.substr(at, kDigits)) {
      first = shard;
      ++others;
    }
  }
  return fmt::format(
      "the shard {} is another one{}", FileNameOf(index.shards()[first]),
      others == 1 ? "" : fmt::format(" (and {} more)", others - 1));
}

}  // namespace infeed
