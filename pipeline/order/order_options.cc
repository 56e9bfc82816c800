#include "pipeline/order/order_options.h"

#include "preprocess/pixels/named_choice.h"

namespace infeed {
namespace {

constexpr Choices<Shuffle, 5> kShuffles = {{{"none", Shuffle::kNone},
                                            {"global", Shuffle::kGlobal},
                                            {"window", Shuffle::kWindow},
                                            {"reference", Shuffle::kReference},
                                            {"torch", Shuffle::kTorch}}};
constexpr Choices<RankShare, 3> kShares = {
    {{"contiguous", RankShare::kContiguous},
     {"strided", RankShare::kStrided},
     {"strided_drop", RankShare::kStridedDrop}}};
constexpr Choices<LastBatch, 4> kLastBatches = {
    {{"auto", LastBatch::kByMode},
     {"drop", LastBatch::kDrop},
     {"pad", LastBatch::kPad},
     {"repeat", LastBatch::kRepeat}}};

}  // namespace

Shuffle ParseShuffle(std::string_view name) {
  return ParseChoice("shuffle", name, kShuffles);
}

RankShare ParseRankShare(std::string_view name) {
  return ParseChoice("rank_share", name, kShares);
}

LastBatch ParseLastBatch(std::string_view name) {
  return ParseChoice("last_batch", name, kLastBatches);
}

std::string_view ShuffleName(Shuffle shuffle) {
  return ChoiceName(shuffle, kShuffles);
}

std::string_view RankShareName(RankShare share) {
  return ChoiceName(share, kShares);
}

std::string_view LastBatchName(LastBatch last) {
  return ChoiceName(last, kLastBatches);
}

}  // namespace infeed
