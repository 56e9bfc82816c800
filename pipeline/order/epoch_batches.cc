#include "pipeline/order/epoch_batches.h"

#include <algorithm>
#include <cmath>

#include "base/rounding.h"

namespace infeed {

std::int64_t EpochSamples(std::int64_t places, const InputOptions& options) {
  switch (options.rank_share) {
    case RankShare::kStrided:
      return RoundUp<std::int64_t>(places, options.world_size);
    case RankShare::kStridedDrop:
      return places / options.world_size * options.world_size;
    case RankShare::kContiguous:
      break;
  }
  return places;
}

std::int64_t EpochBatches::Within(std::int64_t epochs) const {
  return carries ? epochs * samples / batch_size
                 : epochs * CeilDiv(samples, batch_size);
}

std::int64_t EpochBatches::WithinPart(double epochs) const {
  constexpr double kRounding = 1e-9;  // of a product such as 1.1 * 10
  const double batches =
      carries ? std::floor(epochs * static_cast<double>(samples) /
                               static_cast<double>(batch_size) +
                           kRounding)
              : std::round(epochs * static_cast<double>(Within(1)));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(batches));
}

std::int64_t EpochBatches::EpochsEnded(std::int64_t batches) const {
  return carries ? ((batches + 1) * batch_size - 1) / samples
                 : batches / CeilDiv(samples, batch_size);
}

std::int64_t EpochBatches::most() const { return CeilDiv(samples, batch_size); }

std::int64_t EpochBatches::Before(std::int64_t epoch,
                                  const StreamPosition& from) const {
  const std::int64_t epochs = epoch - from.epoch;
  return carries ? CeilDiv(epochs * samples - from.position, batch_size)
                 : epochs * Within(1) - from.position / batch_size;
}

std::int64_t EpochBatches::FirstOf(std::int64_t epoch,
                                   const StreamPosition& from) const {
  if (!carries) {
    return 0;
  }
  const auto modulo = [this](std::int64_t value) {
    const std::int64_t rest = value % batch_size;
    return rest < 0 ? rest + batch_size : rest;
  };
  // Both factors are below batch_size, so that the product does not overflow.
  return modulo(from.position - modulo(epoch - from.epoch) * modulo(samples));
}

StreamPosition EpochBatches::After(const StreamPosition& from,
                                   std::int64_t more) const {
  const std::int64_t end = from.position + more;
  const auto epochs = static_cast<std::uint32_t>(end / samples);
  return {.epoch = from.epoch + epochs,
          .position = end % samples,
          .past_epochs = from.past_epochs + epochs};
}

EpochBatches EpochBatchesOf(std::int64_t places, const InputOptions& options) {
  EpochBatches batches{.batch_size = options.batch_size,
                       .samples = EpochSamples(places, options)};
  switch (options.last_batch) {
    case LastBatch::kPad:
      break;
    case LastBatch::kRepeat:
      batches.samples = RoundUp(batches.samples, batches.batch_size);
      break;
    case LastBatch::kCarry:
      batches.carries = true;
      break;
    case LastBatch::kByMode:
    case LastBatch::kDrop:
      batches.samples -= batches.samples % batches.batch_size;
      break;
  }
  return batches;
}

}  // namespace infeed
