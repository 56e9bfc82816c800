#include "tools/convert/graph.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "records/store/image_tree.h"
#include "tests/support/matchers.h"

namespace infeed {
namespace {

using ::testing::Le;

// Shards of so many images each; an image's record is its path. Writes down
// what the graph does.
class RecordedSteps : public ConversionSteps {
 public:
  explicit RecordedSteps(const std::vector<int>& shards) {
    for (std::size_t shard = 0; shard < shards.size(); ++shard) {
      for (int i = 0; i < shards[shard]; ++i) {
        images_.push_back(
            {std::to_string(shard) + "/" + std::to_string(i), 0, 1});
      }
      ends_.push_back(images_.size());
    }
  }

  bool Next(ConversionItem& item) override {
    if (shard_ == ends_.size()) {
      return false;
    }
    if (image_ < images_.size()) {
      FailAt(missing_, images_[image_].path);
    }
    item.shard = shard_;
    item.image = image_ == ends_[shard_] ? nullptr : &images_[image_++];
    shard_ += item.image == nullptr ? 1 : 0;
    ++begun_;
    return true;
  }
  void Encode(ConversionItem& item) override {
    {
      const std::lock_guard lock(mutex_);
      most_in_flight_ = std::max(most_in_flight_, begun_ - done_);
    }
    FailAt(bad_, item.image->path);
    item.record.image = item.image->path;
  }
  void Append(ConversionItem& item) override {
    FailAt(unwritable_, item.image->path);
    appended_.push_back(item.record.image);
    ++done_;
  }
  void Finish(std::size_t shard) override {
    FailAt(unfinished_, std::to_string(shard));
    const std::lock_guard lock(mutex_);
    finished_.insert(shard);
    ++done_;
  }

  // The message of what ended the run.
  std::string Run(const ConversionGraphOptions& options) {
    try {
      RunConversionGraph(*this, options);
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  }

  std::set<std::string> missing_;
  std::set<std::string> bad_;
  std::set<std::string> unwritable_;
  std::set<std::string> unfinished_;
  std::vector<std::string> appended_;
  std::set<std::size_t> finished_;
  std::atomic<int> begun_{0};
  std::atomic<int> done_{0};
  int most_in_flight_ = 0;

 private:
  static void FailAt(const std::set<std::string>& places,
                     const std::string& path) {
    if (places.contains(path)) {
      throw DataError(path);
    }
  }

  std::vector<ImageFile> images_;
  std::vector<std::size_t> ends_;
  std::size_t shard_ = 0;
  std::size_t image_ = 0;
  std::mutex mutex_;
};

TEST(ConversionGraphTest, AppendsInOrderAndFinishesEveryShard) {
  for (const int threads : {1, 2, 8}) {
    RecordedSteps steps({2, 0, 3, 0});
    EXPECT_EQ(steps.Run({.threads = threads, .images_in_flight = threads}), "");
    EXPECT_THAT(steps.appended_,
                ElementsAre("0/0", "0/1", "2/0", "2/1", "2/2"));
    EXPECT_THAT(steps.finished_, ElementsAre(0, 1, 2, 3));
  }
  EXPECT_EQ(RecordedSteps({}).Run({}), "");
}

TEST(ConversionGraphTest, ReportsTheFirstErrorInOrderForAnyNumberOfThreads) {
  for (const int threads : {1, 2, 8}) {
    RecordedSteps steps({500});
    steps.bad_ = {"0/7", "0/3", "0/4"};
    EXPECT_EQ(steps.Run({.threads = threads, .images_in_flight = 8}), "0/3");
    EXPECT_THAT(steps.appended_, ElementsAre("0/0", "0/1", "0/2"));
    EXPECT_THAT(steps.finished_, IsEmpty());
  }
}

TEST(ConversionGraphTest, AppendsTheImagesBeforeOneThatIsMissing) {
  RecordedSteps steps({500});
  steps.missing_ = {"0/3"};
  EXPECT_EQ(steps.Run({.threads = 2, .images_in_flight = 8}), "0/3");
  EXPECT_THAT(steps.appended_, ElementsAre("0/0", "0/1", "0/2"));
}

TEST(ConversionGraphTest, ReportsAShardThatCannotBeFinished) {
  RecordedSteps steps({2, 2});
  steps.unfinished_ = {"1"};
  EXPECT_EQ(steps.Run({.threads = 2, .images_in_flight = 8}), "1");
}

TEST(ConversionGraphTest, BeginsLittleMoreAfterAnError) {
  RecordedSteps steps({10000});
  steps.unwritable_ = {"0/5"};
  EXPECT_EQ(steps.Run({.threads = 2, .images_in_flight = 4}), "0/5");
  EXPECT_THAT(steps.begun_.load(), Le(5 + 4 + 2));
}

TEST(ConversionGraphTest, HoldsNoMoreImagesThanItMay) {
  RecordedSteps steps({1000, 1000});
  EXPECT_EQ(steps.Run({.threads = 4, .images_in_flight = 5}), "");
  EXPECT_THAT(steps.appended_, SizeIs(2000));
  EXPECT_THAT(steps.most_in_flight_, Le(5 + 2));
}

// All wait in Encode() for each other: one shard gives every thread work.
TEST(ConversionGraphTest, EncodesImagesOfOneShardInParallel) {
  class MeetingSteps : public RecordedSteps {
   public:
    using RecordedSteps::RecordedSteps;
    void Encode(ConversionItem& /*item*/) override {
      ++arrived_;
      arrived_.notify_all();
      for (int now = arrived_; now < 4; now = arrived_) {
        arrived_.wait(now);
      }
    }

   private:
    std::atomic<int> arrived_{0};
  };
  MeetingSteps steps({4});
  EXPECT_EQ(steps.Run({.threads = 4, .images_in_flight = 4}), "");
}

}  // namespace
}  // namespace infeed
