#include "trainer/log/prediction_page.h"

#include <string>

#include "tests/support/matchers.h"

namespace infeed {
namespace {

class PredictionPageTest : public testing::Test {
 protected:
  PredictionPageTest() {
    data_.counts = {
        .images = 4, .bad = 1, .labelled = 3, .top_1 = 2, .top_5 = 3};
    data_.wrong = {
        {.record = 1, .predicted = 0, .probability = 0.61F, .label = 1}};
    data_.right = {
        {.record = 0, .predicted = 0, .probability = 0.5F, .label = 0},
        {.record = 3, .predicted = 1, .probability = 1, .label = 1}};
    data_.unlabelled = {{.record = 2, .predicted = 1, .probability = 0.75F}};
    for (const std::int64_t record : {0, 1, 2, 3}) {
      data_.pictures[record] = {.type = "image/png", .bytes = "p"};
      data_.names[record] = "shard, record " + std::to_string(record);
    }
  }
  [[nodiscard]] std::string Page() const {
    return PredictionPage(data_, labels_);
  }

  PredictionPageData data_;
  const ModelLabels labels_{{"cat & dog", "ox"}};
};

TEST_F(PredictionPageTest, TellsRightFromWrongByMoreThanColour) {
  EXPECT_THAT(
      Page(),
      AllOf(HasSubstr("<figure class=\"wrong\">"),
            HasSubstr(
                "title=\"shard, record 1\"><b>\u2717\u00a0cat &amp; dog</b> "
                "61.0\u00a0%<br>is\u00a0ox<br>shard, record 1</figcaption>"),
            HasSubstr("<figure class=\"right\">"),
            HasSubstr("<b>\u2713\u00a0ox</b> 100.0\u00a0%<br>shard, record 3"),
            HasSubstr("<figure class=\"\">"),
            HasSubstr("<b>ox</b> 75.0\u00a0%<br>shard, record 2")));
}

// The tooltip has the whole path. Bad images are listed.
TEST_F(PredictionPageTest, ShowsTheNameOfEachImageAndWhyOneIsBad) {
  data_.names[2] = "photos/a&b.jpg";
  data_.bad = {{.record = 4, .reason = "not a <JPEG>"}};
  data_.names[4] = "photos/e.jpg";
  EXPECT_THAT(Page(), AllOf(HasSubstr("title=\"photos/a&amp;b.jpg\""),
                            HasSubstr("<br>a&amp;b.jpg</figcaption>"),
                            HasSubstr("<h2>Bad images: 1</h2>"),
                            HasSubstr("<tr><td>photos/e.jpg</td><td>not a "
                                      "&lt;JPEG&gt;</td></tr>")));
}

TEST_F(PredictionPageTest, HasNoTopFiveOfFewClasses) {
  EXPECT_THAT(Page(), HasSubstr("top-5"));
  data_.counts.classes = 5;
  EXPECT_THAT(Page(), Not(HasSubstr("top-5")));
}

TEST_F(PredictionPageTest, HasThePicturesInItAndBreaksNoLineWithinANumber) {
  EXPECT_THAT(Page(), AllOf(HasSubstr("src=\"data:image/png;base64,cA==\""),
                            Not(HasSubstr("http")),
                            Not(testing::ContainsRegex("[0-9] %")),
                            HasSubstr("overflow-wrap: anywhere")));
  data_.pictures.erase(1);
  EXPECT_THAT(Page(), Not(HasSubstr("<figure class=\"wrong\">")));
}

TEST_F(PredictionPageTest, SaysHowManyThereAre) {
  EXPECT_THAT(Page(), AllOf(HasSubstr("<b>4</b><span>images</span>"),
                            HasSubstr("<b>2</b><span>right</span>"),
                            HasSubstr("<b>1</b><span>wrong</span>"),
                            HasSubstr("<b>66.7\u00a0%</b><span>top-1</span>"),
                            HasSubstr("<b>1</b><span>bad image</span>"),
                            HasSubstr("<h2>Wrong: 1</h2>"),
                            HasSubstr("<h2>Right: 2</h2>")));
  data_.counts.labelled = 90;
  EXPECT_THAT(Page(), HasSubstr("<h2>Wrong: 88, the surest 1 of them</h2>"));
}

TEST_F(PredictionPageTest, ImagesWithoutLabelsAreNeitherRightNorWrong) {
  data_.counts = {.images = 1};
  data_.wrong.clear();
  data_.right.clear();
  EXPECT_THAT(Page(), AllOf(HasSubstr("<h2>Without a label: 1</h2>"),
                            Not(HasSubstr("top-1")), Not(HasSubstr("Wrong"))));
}

}  // namespace
}  // namespace infeed
