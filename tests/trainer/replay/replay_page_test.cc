#include "trainer/replay/replay_page.h"

#include <limits>
#include <string>

#include "tests/support/matchers.h"

namespace infeed::replay_page_test {

ReplayedImage Image(int slot, std::int32_t label) {
  return {.slot = slot,
          .sample = {.record = slot,
                     .shard = "/data/train-00000-of-00001",
                     .number = slot,
                     .file_name = "n0_" + std::to_string(slot) + ".JPEG",
                     .label = label,
                     .geometry = {.source = {40, 60},
                                  .window = {1, 2, 30, 20},
                                  .resized = {28, 28},
                                  .is_mirrored = slot == 1}},
          .seen = {.type = "image/png", .bytes = "p"}};
}

ReplayedStep Step() {
  return {.place = {.step = 42, .epoch = 3, .number = 5},
          .image_size = {28, 28},
          .images = {Image(0, 0), Image(1, 1), Image(2, -1)}};
}

std::string PageOf(const ReplayedStep& step) {
  return ReplayPage(step, ModelLabels({"cat & dog", "ox"}));
}

std::size_t At(const std::string& page, const std::string& text) {
  return page.find(text);
}

TEST(ReplayPageTest, ShowsEachImageWithItsFacts) {
  ReplayedStep step = Step();
  step.images[0].sample.augmentations = {"Blur <1>"};
  EXPECT_THAT(PageOf(step),
              AllOf(HasSubstr("The batch of step 42"),
                    HasSubstr("src=\"data:image/png;base64,cA==\""),
                    HasSubstr("cat &amp; dog"),
                    HasSubstr("train-00000-of-00001, record 1<br>n0_1.JPEG"),
                    HasSubstr("20 × 30 at (2, 1) of 60 × 40, mirrored"),
                    HasSubstr("Blur &lt;1&gt;"), HasSubstr("2 of rank 0"),
                    Not(HasSubstr("<script")), Not(HasSubstr("http"))));
}

TEST(ReplayPageTest, HasTheWorstFirstAndThoseWithoutALabelLast) {
  ReplayedStep step = Step();
  step.checkpoint = 40;
  step.images[0].result = {.loss = 0.25F, .predicted = 0, .probability = 0.75F};
  step.images[1].result = {.loss = 2.5F, .predicted = 0, .probability = 0.5F};
  step.images[2].result = {.loss = 9, .predicted = 1, .probability = 0.5F};
  std::string page = PageOf(step);
  EXPECT_LT(At(page, "n0_1.JPEG"), At(page, "n0_0.JPEG"));
  EXPECT_LT(At(page, "n0_0.JPEG"), At(page, "n0_2.JPEG"));
  EXPECT_THAT(page, AllOf(HasSubstr("<td>2.5<"), HasSubstr("75.0\u00a0%"),
                          HasSubstr("checkpoint of step 40, 2 steps earlier"),
                          Not(HasSubstr("<td>9<"))));
  step.images[0].result->loss = std::numeric_limits<float>::quiet_NaN();
  step.checkpoint = 43;
  page = PageOf(step);
  EXPECT_THAT(page, HasSubstr("checkpoint of step 43, 1 step later"));
  EXPECT_LT(At(page, "n0_0.JPEG"), At(page, "n0_1.JPEG"));
}

TEST(ReplayPageTest, SaysThatPicturesAreThoseBeforeMixing) {
  ReplayedStep step = Step();
  EXPECT_THAT(PageOf(step), Not(HasSubstr("before mixing")));
  step.images[0].partner = 1;
  step.images[0].share = 0.75;
  EXPECT_THAT(PageOf(step),
              AllOf(HasSubstr("before mixing"),
                    HasSubstr("mixed with slot 1: 0.750 of the label")));
}

TEST(ReplayPageTest, SaysHowManyOfALargeBatchItShows) {
  ReplayedStep step = Step();
  step.images.assign(300, step.images[0]);
  EXPECT_THAT(PageOf(step), HasSubstr("256 of 300 images"));
}

}  // namespace infeed::replay_page_test
