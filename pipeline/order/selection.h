#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "records/tfrecord/reader.h"

namespace infeed {

// Some records of a data set, and their share of an epoch.
struct RecordGroup {
  std::string name = {};                // for messages
  RecordRange range = {};               // the records, if ids is empty
  std::vector<std::uint32_t> ids = {};  // else these, in this order
  // The group's share of an epoch's places is its share of all groups' weights.
  double weight = 1;
  // Relative frequency of each record within the group; empty: equal.
  std::vector<double> weights = {};

  [[nodiscard]] std::int64_t size() const {
    return ids.empty() ? range.count : static_cast<std::int64_t>(ids.size());
  }
};

// Selects an epoch's records: groups of records by weight. A subset is one
// group; balanced classes have a group per class, mixed data sets one per data
// set. A group has the same number of places in every epoch; its records at
// these places follow from arithmetic:
//
//   - Without record weights, a group of m records goes through all of them
//     again and again. The j-th of its n places in epoch e is its place number
//     q = e * n + j overall: the record at q mod m of pass q div m. A pass is
//     permuted (domain kGroupDomain + number of the group, epoch: the pass),
//     unless n is a multiple of m: then an epoch consists of whole passes.
//   - With record weights, places are equidistant points on the line of summed
//     weights, shifted by one draw per epoch: each record comes as often as
//     expected, rounded up or down.
//
// Places are in the order of the groups; SampleOrder permutes them.
// docs/order.md has the formulas. Owns four bytes per id and eight per weight.
//
// Const members may be called from several threads at once. The constructor
// throws UsageError for an empty selection, a range that begins below 0, a
// weight that is negative or NaN, a group that gets no place, and 2^32 or more
// places.
class Selection {
 public:
  // places: per epoch; 0: as many as the groups have records.
  explicit Selection(std::vector<RecordGroup> groups, std::int64_t places = 0);

  [[nodiscard]] const std::vector<RecordGroup>& groups() const {
    return groups_;
  }
  [[nodiscard]] std::int64_t places() const { return starts_.back(); }
  // The number of places of a group in each epoch.
  [[nodiscard]] std::int64_t places_of(std::size_t group) const {
    return starts_[group + 1] - starts_[group];
  }
  // Returns the record at a place in [0, places()), before any shuffle.
  [[nodiscard]] std::int64_t RecordAt(std::uint64_t seed, std::uint32_t epoch,
                                      std::int64_t place) const;

  // Whether this is a plain subset with each record once; a subset has its own
  // order.
  [[nodiscard]] bool is_subset() const;
  // The highest record number selected.
  [[nodiscard]] std::int64_t last_record() const;
  // Identifies the selection: a hash, in hex, of everything that determines its
  // records.
  [[nodiscard]] std::string identity() const;

 private:
  void CheckGroups() const;
  // For messages: a group's name, or its number.
  [[nodiscard]] std::string NameOf(std::size_t group) const;
  // Divides an epoch's places among the groups.
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
  // For groups with record weights: the end of each record's interval on a line
  // on which places are 2^32 apart.
  std::vector<std::vector<std::uint64_t>> lines_;
};

// A sample of a data set, spread evenly over its records: they are cut into
// `places` parts of about equal length, and of each part one record is drawn,
// the same in every run. (Every k-th record could all be of one class.)
// Requires: 0 < places <= records < 2^32.
[[nodiscard]] Selection SpreadSelection(std::int64_t records,
                                        std::int64_t places);

}  // namespace infeed
