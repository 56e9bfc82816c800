// The fingerprints of batches and streams: what they do not depend on, and what
// they do.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "pipeline/engine/input_pipeline.h"
#include "pipeline/options/views.h"
#include "pipeline/order/stream_state.h"
#include "tests/support/matchers.h"
#include "tests/support/packed_payload.h"
#include "tests/support/shard_builder.h"
#include "tests/support/stream_reader.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_jpeg.h"

namespace infeed::input_fingerprint_test {

constexpr int kBatches = 11;

InputOptions Augmented() {
  InputOptions options = SmallTraining();
  options.preprocess.recipe = Recipe::kTorchvision;
  options.preprocess.augment = {.policy = AugmentPolicy::kRandAugment,
                                .erasing = 0.5F};
  return options;
}

// A stream of each kind.
std::vector<InputOptions> Streams() {
  InputOptions pixels = Augmented();
  pixels.input_hash = InputHash::kPixels;
  InputOptions views = pixels;
  views.views.push_back(MakeView(views, {}));
  InputOptions carried = SmallTraining();
  carried.last_batch = LastBatch::kCarry;
  carried.repeat_augment = 2;
  InputOptions padded = SmallTraining();
  padded.last_batch = LastBatch::kPad;
  InputOptions records = SmallTraining();
  records.layout = BatchContent::kNone;
  records.fields = {{.key = std::string(kLabelKey)}};
  return {SmallTraining(), SmallEvaluation(), Augmented(), pixels,
          views,           carried,           padded,      records};
}

// Of each batch.
std::vector<std::uint64_t> Fingerprints(const RecordIndex& index,
                                        const InputOptions& options,
                                        int count = kBatches) {
  InputPipeline pipeline(index, options);
  std::vector<std::uint64_t> fingerprints;
  std::uint64_t sum = 0;
  while (std::ssize(fingerprints) < count) {
    const BatchHandle batch = pipeline.Next();
    if (!batch) {
      break;
    }
    fingerprints.push_back(batch->fingerprint());
    sum += batch->fingerprint();
    EXPECT_EQ(batch->fed, sum);
    EXPECT_EQ(pipeline.fingerprint(), sum);
  }
  return fingerprints;
}

std::vector<std::uint64_t> Fingerprints(const InputOptions& options) {
  return Fingerprints(SharedIndex(), options);
}

std::uint64_t First(const RecordIndex& index, const InputOptions& options) {
  return Fingerprints(index, options, 1).at(0);
}

TEST(InputFingerprintTest, IsTheSameForAnyThreadsCachesAndReads) {
  for (const InputOptions& options : Streams()) {
    const std::vector<std::uint64_t> expected = Fingerprints(options);
    for (int threads = 1; threads <= 4; ++threads) {
      InputOptions other = options;
      other.threads = threads;
      EXPECT_EQ(Fingerprints(other), expected) << threads;
    }
    std::vector<InputOptions> others(5, options);
    others[0].graph = GraphKind::kBasic;
    others[1].use_cache = true;
    others[2].verify_checksums = false;
    others[3].map_files = false;
    others[4].max_lent = 1;
    for (std::size_t i = 0; i < others.size(); ++i) {
      EXPECT_EQ(Fingerprints(others[i]), expected) << i;
    }
    others[1].verify_checksums = false;  // Cached without a verified checksum.
    EXPECT_EQ(Fingerprints(others[1]), expected);
  }
}

TEST(InputFingerprintTest, IsTheSameInBothLayouts) {
  for (InputOptions options : Streams()) {
    if (options.layout != BatchContent::kNone) {
      const std::vector<std::uint64_t> words = Fingerprints(options);
      options.layout = BatchContent::kRgb;
      EXPECT_EQ(Fingerprints(options), words);
    }
  }
}

TEST(InputFingerprintTest, TheSumOfTheRanksIsTheSameForAnyNumber) {
  for (const RankShare share : {RankShare::kContiguous, RankShare::kStrided}) {
    for (InputOptions options : Streams()) {
      options.rank_share = options.training ? share : RankShare::kContiguous;
      options.batch_size = 4;
      options.max_records = 20;  // Ranks share it evenly.
      const std::vector<std::uint64_t> expected = Fingerprints(options);
      for (const int ranks : {2, 4}) {
        std::vector<std::uint64_t> sums(expected.size());
        options.world_size = ranks;
        for (options.rank = 0; options.rank < ranks; ++options.rank) {
          const std::vector<std::uint64_t> part = Fingerprints(options);
          ASSERT_EQ(part.size(), sums.size());
          for (std::size_t i = 0; i < sums.size(); ++i) {
            sums[i] += part[i];
          }
        }
        EXPECT_EQ(sums, expected) << ranks;
      }
    }
  }
}

TEST(InputFingerprintTest, GoesOnAfterABreak) {
  for (const InputOptions& options : Streams()) {
    InputPipeline whole(SharedIndex(), options);
    std::string state = whole.State();
    EXPECT_EQ(ParseStreamState(state).fingerprint, 0U);
    for (int taken = 0; taken < kBatches; ++taken) {
      InputOptions other = options;
      other.threads = 1 + taken % 3;
      const StreamState start = ResumeState(state, SharedIndex(), other);
      InputPipeline rest(SharedIndex(), other, start.position,
                         start.fingerprint);
      EXPECT_EQ(rest.fingerprint(), whole.fingerprint());
      if (!whole.Next()) {
        break;
      }
      ASSERT_NE(rest.Next(), nullptr);
      EXPECT_EQ(rest.fingerprint(), whole.fingerprint());
      state = whole.State();
      EXPECT_EQ(rest.State(), state);
    }
  }
}

TEST(InputFingerprintTest, EachBatchHasItsOwn) {
  for (const InputOptions& options : Streams()) {
    const std::vector<std::uint64_t> all = Fingerprints(options);
    EXPECT_EQ(std::set<std::uint64_t>(all.begin(), all.end()).size(),
              all.size());
  }
}

TEST(InputFingerprintTest, DiffersWithWhatIsFed) {
  std::vector<InputOptions> options(8, SmallTraining());
  options[1].seed = 8;
  options[2].preprocess.recipe = Recipe::kTorchvision;
  options[3].preprocess.augment.policy = AugmentPolicy::kTrivialAugment;
  options[4].preprocess.interpolation = Interpolation::kBilinear;
  options[5].preprocess.image_size = 17;
  options[6].shuffle = Shuffle::kNone;
  options[7].input_hash = InputHash::kPixels;
  std::set<std::uint64_t> all;
  for (const InputOptions& one : options) {
    all.insert(First(SharedIndex(), one));
  }
  EXPECT_EQ(all.size(), options.size());
}

TEST(InputFingerprintTest, IsTheSameForOptionsWithoutAnEffect) {
  const std::vector<std::uint64_t> expected = Fingerprints(SmallEvaluation());
  std::vector<InputOptions> options(3, SmallEvaluation());
  options[0].seed = 8;  // Nothing is random.
  options[1].preprocess.random_flip = false;
  options[2].preprocess.augment.hue = 0.2F;
  for (const InputOptions& one : options) {
    EXPECT_EQ(Fingerprints(one), expected);
  }
}

std::string Payload(std::uint64_t image, std::int64_t label) {
  return PayloadWithImage(TestJpeg({.width = 40, .height = 36, .seed = image}),
                          label);
}

// The shards are written with checksums that are right.
TEST(InputFingerprintTest, DiffersWithAByteOrALabelOfARecord) {
  std::vector<std::string> payloads;
  for (int record = 0; record < 8; ++record) {
    payloads.push_back(Payload(static_cast<std::uint64_t>(record), record));
  }
  InputOptions options = SmallEvaluation();
  options.batch_size = 8;
  const auto with = [&](const std::string& payload) {
    std::vector<std::string> changed = payloads;
    changed[5] = payload;
    return First(TestShards(changed).index(), options);
  };
  const std::uint64_t expected = with(Payload(5, 5));
  EXPECT_EQ(First(TestShards(payloads, 3).index(), options), expected);
  EXPECT_NE(with(Payload(5, 6)), expected);
  std::string edited = payloads[5];
  edited.replace(edited.find("image.JPEG"), 1, "I");  // The file's name.
  EXPECT_NE(with(edited), expected);
}

// The fingerprint of a batch of four image files, of which one has this pixel.
std::uint64_t OfFilesWith(char pixel, InputHash hash) {
  const TemporaryFolder folder;
  std::vector<LabelledImage> images;
  for (int record = 0; record < 4; ++record) {
    const std::string path = folder / (std::to_string(record) + ".ppm");
    std::string bytes =
        "P6 8 8 255 " + std::string(std::size_t{8} * 8 * 3, 'a');
    bytes.back() = record == 2 ? pixel : 'a';
    WriteFileAtomically(path, bytes);
    images.push_back({.path = path, .label = record + 1});
  }
  const RecordIndex index = RecordIndex::OfImages(images);
  InputOptions options = SmallEvaluation();
  options.preprocess.recipe = Recipe::kPlain;
  options.preprocess.image_size = 8;
  options.input_hash = hash;
  return First(index, options);
}

// Image files have no checksums.
TEST(InputFingerprintTest, PixelsAloneCountOnlyWhereTheyAreHashed) {
  EXPECT_EQ(OfFilesWith('b', InputHash::kRecords),
            OfFilesWith('a', InputHash::kRecords));
  EXPECT_NE(OfFilesWith('b', InputHash::kPixels),
            OfFilesWith('a', InputHash::kPixels));
  EXPECT_EQ(OfFilesWith('b', InputHash::kPixels),
            OfFilesWith('b', InputHash::kPixels));
}

TEST(InputFingerprintTest, AnEmptySlotHasNoneAndASubstituteItsOwn) {
  TestShards shards(TestPayloads(8));
  InputOptions options = SmallEvaluation();
  options.batch_size = 8;
  options.on_bad_record = OnBadRecord::kSkip;
  const BatchHandle good = InputPipeline(shards.index(), options).Next();
  shards.Damage(3);
  const BatchHandle skipped = InputPipeline(shards.index(), options).Next();
  options.on_bad_record = OnBadRecord::kReplace;
  const BatchHandle replaced = InputPipeline(shards.index(), options).Next();
  for (std::size_t slot = 0; slot < 8; ++slot) {
    const std::uint64_t expected = good->fingerprints()[slot];
    if (slot == 3) {
      EXPECT_EQ(skipped->fingerprints()[slot], 0U);
      EXPECT_NE(replaced->fingerprints()[slot], 0U);
      EXPECT_NE(replaced->fingerprints()[slot], expected);
    } else {
      EXPECT_EQ(skipped->fingerprints()[slot], expected);
      EXPECT_EQ(replaced->fingerprints()[slot], expected);
    }
  }
  EXPECT_EQ(skipped->fingerprint(),
            good->fingerprint() - good->fingerprints()[3]);
}

TEST(InputFingerprintTest, PaddingHasNone) {
  InputOptions options = SmallEvaluation();
  options.batch_size = 16;
  InputPipeline pipeline(SharedIndex(), options);
  ASSERT_NE(pipeline.Next(), nullptr);
  const BatchHandle batch = pipeline.Next();  // of 6 records
  EXPECT_THAT(batch->fingerprints().subspan(6), Each(0U));
  EXPECT_THAT(batch->fingerprints().first(6), Each(::testing::Ne(0U)));
}

TEST(InputFingerprintTest, PackedPixelsHaveThem) {
  std::vector<std::string> payloads;
  for (int label = 0; label < 8; ++label) {
    payloads.push_back(PackedPayload(label, 16));
  }
  const TestShards shards(payloads);
  std::vector<InputOptions> options(4, SmallTraining());
  options[1].use_cache = true;
  options[2].verify_checksums = false;
  options[3].layout = BatchContent::kRgb;
  for (const InputHash hash : {InputHash::kRecords, InputHash::kPixels}) {
    std::set<std::vector<std::uint64_t>> all;
    for (InputOptions one : options) {
      one.input_hash = hash;
      all.insert(Fingerprints(shards.index(), one));
    }
    EXPECT_EQ(all.size(), 1U);
  }
}

}  // namespace infeed::input_fingerprint_test
