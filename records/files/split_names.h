#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

// Names of a data set's parts in folders, files and flags.
namespace infeed {

// The splits that a data set may have.
inline constexpr std::array<std::string_view, 3> kSplits = {
    "train", "validation", "test"};

// The split that a word means, in any case: "train" (train, training),
// "validation" (val, valid, validation, dev, eval), "test" (test, testing); ""
// if none.
[[nodiscard]] std::string_view SplitNamed(std::string_view word);

// The split that a file's base name says, as a word of its own; "" if none.
// "imagenet2012-train.tfrecord-00000-of-01024" -> "train". Of words for two
// splits the first one counts, and in names of TensorFlow Datasets
// (NAME-SPLIT.tfrecord-NNNNN-of-NNNNN) SPLIT.
[[nodiscard]] std::string_view SplitInName(std::string_view base_name);

// The same, and the split of which a folder's name is likely made without such
// a word: TrainSet, testdata, imagesTr, trainA.
[[nodiscard]] std::string_view LikelySplit(std::string_view folder);

// Whether a base name has words for two splits, so that SplitInName() is not
// certain: "train_set-val-0.tar".
[[nodiscard]] bool NamesTwoSplits(std::string_view base_name);

// Throws UsageError for a file whose base name NamesTwoSplits().
void RefuseTwoSplits(const std::string& path);

// Whether a file of records directly in a data set's folder may have records of
// a split. One whose name says no split is train's; if it is an archive, it may
// have a folder for each.
[[nodiscard]] bool MayBeOfSplit(std::string_view base_name,
                                std::string_view split);

// The split that a user asks for, by any of these words. Throws UsageError for
// another word.
[[nodiscard]] std::string_view RequireSplitName(std::string_view word);

// Throws UsageError: a data set has a split under two names.
[[noreturn]] void RefuseTwoNamesOf(std::string_view split,
                                   const std::string& data,
                                   const std::string& first,
                                   const std::string& second);

// The files of records in a data set's folder and in its folders of splits,
// sorted; archives, too. Empty for a server that does not list its files.
// Throws IoError for a folder that cannot be listed.
[[nodiscard]] std::vector<std::string> RecordFilesBelow(
    const std::string& root);

// Returns the other files of records that belong to the same data set by their
// names: they lie in the same folder, or in the split folders (train/, val/,
// test/) beside the folder of a shard, and their names differ in the split and
// in numbers only: "a-train-0007.tar" and "a-val-0001.tar". Sorted. Empty for a
// server that does not list its files. Throws IoError for a folder that cannot
// be listed.
[[nodiscard]] std::vector<std::string> FindSiblings(
    const std::vector<std::string>& shards);

}  // namespace infeed
