#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/tfrecord/index_file.h"

namespace infeed {

// Some records of a data set, and how much of an epoch is theirs.
struct RecordGroup {
  std::string name = {};                // for messages
  RecordRange range = {};               // the records, where ids is empty
  std::vector<std::uint32_t> ids = {};  // else these, in this order
  // The group's share of an epoch's places is its share of all groups' weights.
  double weight = 1;
  // How often each of its records comes, against the others; empty: equally.
  std::vector<double> weights = {};

  [[nodiscard]] std::int64_t size() const {
    return ids.empty() ? range.count : static_cast<std::int64_t>(ids.size());
  }
};

// Which records make an epoch: groups of them by weight. A subset is one group,
// balanced classes are a group for each, mixed data sets as well. An epoch has
// as many places for a group in every epoch; which of its records they are is
// arithmetic:
//
//   - Without weights of its records, a group of m goes through all of them
//     again and again. Its j-th of n places in epoch e is number q = e * n + j
//     of all its places: the record at q mod m of its pass q div m. A pass is
//     permuted (domain kGroupDomain + number of the group, epoch: the pass),
//     unless n is a multiple of m, so that an epoch is whole passes.
//   - With them, places are points at equal distances on the line of summed
//     weights, moved by one draw an epoch: each record comes as often as it is
//     expected to, rounded up or down.
//
// Places are in the groups' order; SampleOrder permutes them. docs/order.md has
// the formulas. Owns four bytes for each id and eight for each weight.
//
// Const members may be called from several threads at once. The constructor
// throws UsageError for a selection of nothing, a weight that is negative or no
// number, a group that gets no place, and 2^32 places and more.
class Selection {
 public:
  // places: of an epoch; 0: as many as the groups have records.
  explicit Selection(std::vector<RecordGroup> groups, std::int64_t places = 0);

  [[nodiscard]] std::int64_t places() const { return starts_.back(); }
  // The places that a group has in each epoch.
  [[nodiscard]] std::int64_t places_of(std::size_t group) const {
    return starts_[group + 1] - starts_[group];
  }
  // Returns the record at a place in [0, places()), before any shuffle.
  [[nodiscard]] std::int64_t RecordAt(std::uint64_t seed, std::uint32_t epoch,
                                      std::int64_t place) const;

  // Whether it is a plain subset, each record once, which has an order of its
  // own.
  [[nodiscard]] bool is_subset() const;
  // The highest record that it names.
  [[nodiscard]] std::int64_t last_record() const;
  // Identifies it: a hash of all that decides about records, in hex.
  [[nodiscard]] std::string identity() const;

 private:
  void CheckGroups() const;
  // Shares an epoch's places out between the groups.
  void ShareOut(std::int64_t places);
  // Puts a group's records on the line.
  void SumWeights(std::size_t group);
  // The number of a record within its group.
  [[nodiscard]] std::int64_t InPass(std::size_t group, std::uint64_t seed,
                                    std::uint32_t epoch, std::int64_t j) const;
  [[nodiscard]] std::int64_t OnLine(std::size_t group, std::uint64_t seed,
                                    std::uint32_t epoch, std::int64_t j) const;

  std::vector<RecordGroup> groups_;
  std::vector<std::int64_t> starts_;  // each group's first place, and the end
  // Of groups with weights: the end of each record on a line on which places
  // are 2^32 apart.
  std::vector<std::vector<std::uint64_t>> lines_;
};

}  // namespace infeed
