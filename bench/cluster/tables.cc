#include "bench/cluster/tables.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bench/cluster/order_locality.h"

namespace infeed {
namespace {

// A number with commas: 1,281,167.
std::string Whole(double number) {
  std::string digits = fmt::format("{:.0f}", number);
  for (auto i = std::ssize(digits) - 3; i > 0; i -= 3) {
    digits.insert(static_cast<std::size_t>(i), ",");
  }
  return digits;
}

// A number with three digits: 0.125, 12.5, 125; larger ones with commas.
std::string Short(double number) {
  return number == 0 || number >= 99.95 ? Whole(number)
                                        : fmt::format("{:#.3g}", number);
}

std::string Bytes(double bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"B",  "KB", "MB",
                                                      "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{} {}", Short(bytes), kUnits[unit]);
}

std::string Percent(double share) { return Short(100 * share) + " %"; }

// The data of a column of the tables.
struct Column {
  ClusterSpec spec;
  int machines = 1;
  TrainingCost training = ComputeTrainingCost(spec, machines);
  InputCost input = ComputeInputCost(spec, machines);
  MemoryCost memory = ComputeMemoryCost(spec, machines);
  StarCost star = ComputeStarCost(spec, machines);
  OrderLocality global = MeasureLocality(spec, machines, Shuffle::kGlobal);
  OrderLocality window = MeasureLocality(spec, machines, Shuffle::kWindow);

  [[nodiscard]] double seconds_of_epoch() const {
    return static_cast<double>(training.batch * training.steps) /
           training.images_per_second;
  }
  // Bytes that --cache_dir downloads on a machine: whole shards.
  [[nodiscard]] double downloaded_bytes() const {
    return static_cast<double>(global.shards_of_epoch) /
           static_cast<double>(spec.shards) *
           static_cast<double>(spec.records * spec.record_bytes);
  }
};

struct Row {
  std::string_view name;
  std::function<std::string(const Column&)> cell;
};

struct Table {
  std::string_view title;
  std::vector<Row> rows;
};

Table TrainingTable() {
  return {
      "Training",
      {{"ranks", [](const Column& c) { return Whole(c.training.ranks); }},
       {"images of a batch",
        [](const Column& c) {
          return Whole(static_cast<double>(c.training.batch));
        }},
       {"of them on a device",
        [](const Column& c) { return Whole(c.training.part); }},
       {"steps of an epoch",
        [](const Column& c) {
          return Whole(static_cast<double>(c.training.steps));
        }},
       {"gradients that a rank sends in a step",
        [](const Column& c) {
          return Bytes(static_cast<double>(c.training.gradient_bytes));
        }},
       {"messages of a ring, one after the other",
        [](const Column& c) {
          return Whole(static_cast<double>(c.training.ring_messages));
        }},
       {"ms of a step, the devices alone",
        [](const Column& c) { return Short(1e3 * c.training.device_seconds); }},
       {"ms of a step, the network alone",
        [](const Column& c) {
          return Short(1e3 * c.training.exchange_seconds);
        }},
       {"images/s of all",
        [](const Column& c) { return Whole(c.training.images_per_second); }},
       {"of what the devices could do",
        [](const Column& c) {
          return Percent(c.training.images_per_second /
                         (c.training.ranks * c.spec.device_rate));
        }},
       {"seconds of an epoch",
        [](const Column& c) { return Short(c.seconds_of_epoch()); }}}};
}

Table ReadingTable() {
  return {
      "Reading, nothing cached",
      {{"images/s of a machine",
        [](const Column& c) { return Whole(c.input.images_per_second); }},
       {"bytes/s of a machine",
        [](const Column& c) { return Bytes(c.input.bytes_per_second); }},
       {"bytes/s of all",
        [](const Column& c) {
          return Bytes(c.input.bytes_per_second * c.machines);
        }},
       {"requests/s of all, to an object store",
        [](const Column& c) { return Whole(c.training.images_per_second); }},
       {"connections that a rank needs for them",
        [](const Column& c) { return Whole(std::ceil(c.input.connections)); }},
       {"cores of a machine, decoding",
        [](const Column& c) { return Short(c.input.cores); }}}};
}

Table CachingTable() {
  return {
      "Caching",
      {{"of an epoch, a machine reads",
        [](const Column& c) { return Percent(1.0 / c.machines); }},
       {"of it in the page cache, second epoch",
        [](const Column& c) {
          return Percent(CachedShare(c.spec, c.machines, 1));
        }},
       {"of it in the page cache, last epoch",
        [](const Column& c) {
          return Percent(CachedShare(c.spec, c.machines, c.spec.epochs - 1));
        }},
       {"from storage, all epochs, all machines",
        [](const Column& c) {
          return Bytes(StorageBytes(c.spec, c.machines));
        }},
       {"by `--cache_dir`: downloaded by a machine in the first epoch",
        [](const Column& c) { return Bytes(c.downloaded_bytes()); }},
       {"by `--cache_dir`: downloaded by all machines", [](const Column& c) {
          return Bytes(c.downloaded_bytes() * c.machines);
        }}}};
}

Table OrderTable() {
  return {
      "Order, walked",
      {{"`global`: shards that a machine opens in an epoch",
        [](const Column& c) {
          return Whole(static_cast<double>(c.global.shards_of_epoch));
        }},
       {"`window`: shards that a machine opens in an epoch",
        [](const Column& c) {
          return Whole(static_cast<double>(c.window.shards_of_epoch));
        }},
       {"`global`: shards that a machine reads for a batch",
        [](const Column& c) { return Short(c.global.shards_of_batch); }},
       {"`window`: shards that a machine reads for a batch",
        [](const Column& c) { return Short(c.window.shards_of_batch); }},
       {"`global`: images per read of a file, on average",
        [](const Column& c) {
          return Short(static_cast<double>(c.global.records) /
                       static_cast<double>(c.global.reads));
        }},
       {"`window`: images per read of a file, on average", [](const Column& c) {
          return Short(static_cast<double>(c.window.records) /
                       static_cast<double>(c.window.reads));
        }}}};
}

Table KeepingTable() {
  return {"Memory, and rank 0",
          {{"index, bytes of a machine",
            [](const Column& c) {
              return Bytes(static_cast<double>(c.memory.index_bytes));
            }},
           {"batches, bytes of a machine",
            [](const Column& c) {
              return Bytes(static_cast<double>(c.memory.batch_bytes));
            }},
           {"a checkpoint",
            [](const Column& c) {
              return Bytes(static_cast<double>(c.memory.checkpoint_bytes));
            }},
           {"connections of rank 0",
            [](const Column& c) { return Whole(c.star.connections); }},
           {"heartbeats received per second",
            [](const Column& c) { return Short(c.star.beats_per_second); }},
           {"bytes that it sends after a loop",
            [](const Column& c) {
              return Bytes(static_cast<double>(c.star.loop_bytes));
            }},
           {"bytes that it sends after an evaluation, at most",
            [](const Column& c) {
              return Bytes(static_cast<double>(c.star.evaluation_bytes));
            }}}};
}

void Append(const Table& table, const std::vector<Column>& columns,
            std::string& text) {
  std::string head = fmt::format("\n### {}\n\n| machines |", table.title);
  std::string line = "|---|";
  for (const Column& column : columns) {
    head += fmt::format(" {} |", Whole(column.machines));
    line += "---|";
  }
  text += head + "\n" + line + "\n";
  for (const Row& row : table.rows) {
    text += fmt::format("| {} |", row.name);
    for (const Column& column : columns) {
      text += fmt::format(" {} |", row.cell(column));
    }
    text += "\n";
  }
}

}  // namespace

std::string ClusterTables(const ClusterSpec& spec,
                          std::span<const int> machines) {
  std::vector<Column> columns;
  for (const int number : machines) {
    columns.push_back({.spec = spec, .machines = number});
  }
  std::string text;
  for (const Table& table : {TrainingTable(), ReadingTable(), CachingTable(),
                             OrderTable(), KeepingTable()}) {
    Append(table, columns, text);
  }
  return text;
}

}  // namespace infeed
