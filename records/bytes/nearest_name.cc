#include "records/bytes/nearest_name.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

namespace infeed {
namespace {

// Levenshtein's distance, one row at a time.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replace, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// The names of some of our parameters and flags in other programs.
constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
    {"amp", "precision"},
    {"arch", "resnet_depth"},
    {"augment", "augment_name"},
    {"batch", "train_batch_size"},
    {"batch_size", "train_batch_size"},
    {"bs", "train_batch_size"},
    {"cutmix", "cutmix_alpha"},
    {"data", "data_dir"},
    {"data_path", "data_dir"},
    {"depth", "resnet_depth"},
    {"decay_epochs", "learning_rate_decay_epochs"},
    {"decay_milestones", "learning_rate_decay_epochs"},
    {"decay_rate", "learning_rate_decay"},
    {"epochs", "train_epochs"},
    {"img_size", "image_size"},
    {"learning_rate", "base_learning_rate"},
    {"lr", "base_learning_rate"},
    {"lr_gamma", "learning_rate_decay"},
    {"lr_min", "min_learning_rate"},
    {"lr_schedule", "learning_rate_schedule"},
    {"lr_scheduler", "learning_rate_schedule"},
    {"lr_step_size", "learning_rate_decay_epochs"},
    {"lr_warmup_decay", "warmup_factor"},
    {"lr_warmup_epochs", "warmup_epochs"},
    {"max_epochs", "train_epochs"},
    {"max_steps", "train_steps"},
    {"min_lr", "min_learning_rate"},
    {"mixup", "mixup_alpha"},
    {"num_classes", "num_label_classes"},
    {"num_epochs", "train_epochs"},
    {"num_workers", "num_parallel_calls"},
    {"output_dir", "model_dir"},
    {"pretrained", "resnet_checkpoint"},
    {"sched", "learning_rate_schedule"},
    {"steps", "train_steps"},
    {"threads", "num_parallel_calls"},
    {"warmup", "warmup_epochs"},
    {"wd", "weight_decay"},
    {"weights", "resnet_checkpoint"},
    {"workers", "num_parallel_calls"},
};

}  // namespace

std::string_view NearestName(std::string_view name,
                             std::span<const std::string_view> known) {
  const auto* const elsewhere = std::ranges::find(
      kElsewhere, name, &std::pair<std::string_view, std::string_view>::first);
  if (elsewhere != std::end(kElsewhere) &&
      std::ranges::find(known, elsewhere->second) != known.end()) {
    return elsewhere->second;
  }
  if (name.size() < 3 || name.size() > 64) {
    return "";  // Too different for a typing error.
  }
  std::string_view nearest;
  std::size_t fewest = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    // Part of a name is as good as a typing error: "batch_size".
    const bool part = candidate.find(name) != std::string_view::npos;
    const std::size_t distance = EditDistance(name, candidate);
    const std::size_t edits =
        part ? std::min<std::size_t>(2, distance) : distance;
    if (edits < fewest) {
      fewest = edits;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace infeed
