#include "trainer/formats/pickle.h"

#include <string>
#include <string_view>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/throws.h"

namespace infeed::pickle_test {

using namespace std::string_literals;
using Kind = PickleNode::Kind;

std::string ErrorOf(std::string_view bytes) {
  return MessageOf<DataError>(
      [&] { const Pickle pickle(std::as_bytes(std::span(bytes))); });
}

// The numbers of a pickled tuple or list.
std::vector<std::int64_t> Numbers(std::string_view bytes) {
  const Pickle pickle(std::as_bytes(std::span(bytes)));
  std::vector<std::int64_t> numbers;
  for (const PickleNode* item : pickle.root().items) {
    numbers.push_back(item->number);
  }
  return numbers;
}

TEST(PickleTest, ReadsNumbersOfEveryWidth) {
  EXPECT_THAT(Numbers("\x80\2(K\xffM\xff\xffJ\xfe\xff\xff\xff\x8a\0"
                      "\x8a\2\0\x80\x8a\x06\0\0\0\0\0\1\x88\x89t."s),
              ElementsAre(255, 65535, -2, 0, -32768, 1LL << 40, 1, 0));
}

TEST(PickleTest, ReadsListsAndTuples) {
  EXPECT_THAT(Numbers("](K\1K\2eK\3a."), ElementsAre(1, 2, 3));
  EXPECT_THAT(Numbers("K\1\x85."), ElementsAre(1));
  EXPECT_THAT(Numbers("K\1K\2\x86."), ElementsAre(1, 2));
  EXPECT_THAT(Numbers("K\1K\2K\3\x87."), ElementsAre(1, 2, 3));
  EXPECT_THAT(Numbers(")."), ElementsAre());
}

TEST(PickleTest, RecallsWhatItKept) {
  EXPECT_THAT(Numbers("(K\7q\1h\1t."), ElementsAre(7, 7));
  EXPECT_THAT(Numbers("(K\7r\0\0\1\0j\0\0\1\0t."s), ElementsAre(7, 7));
  EXPECT_THAT(Numbers("(K\7\x94h\0t."s), ElementsAre(7, 7));
}

TEST(PickleTest, FindsEntriesByName) {
  const std::string bytes = "}(X\1\0\0\0aK\1\x8c\1bK\2uX\1\0\0\0cNs."s;
  const Pickle pickle(std::as_bytes(std::span(bytes)));
  EXPECT_EQ(FindEntry(pickle.root(), "a")->number, 1);
  EXPECT_EQ(FindEntry(pickle.root(), "b")->number, 2);
  EXPECT_EQ(FindEntry(pickle.root(), "c")->kind, Kind::kNone);
  EXPECT_EQ(FindEntry(pickle.root(), "d"), nullptr);
}

TEST(PickleTest, ReadsATensor) {
  const std::string bytes =
      "\x80\2"
      "ctorch._utils\n_rebuild_tensor_v2\n("
      "(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0kX\3\0\0\0cpuK\6tQ"
      "K\1K\2K\2\x86K\2K\1\x86\x89"
      "ccollections\nOrderedDict\n)RtR."s;
  const Pickle pickle(std::as_bytes(std::span(bytes)));
  const PickleNode& tensor = pickle.root();
  ASSERT_EQ(tensor.kind, Kind::kTensor);
  EXPECT_EQ(tensor.number, 1);
  EXPECT_THAT(tensor.shape, ElementsAre(2, 2));
  EXPECT_THAT(tensor.strides, ElementsAre(2, 1));
  EXPECT_EQ(tensor.storage->text, "k");
  EXPECT_EQ(tensor.storage->number, 6);
  EXPECT_EQ(tensor.storage->type, StoredType::kFloat32);
}

TEST(PickleTest, HoldsWhatHoldsItself) {
  const std::string bytes = "]q\0h\0a."s;
  const Pickle pickle(std::as_bytes(std::span(bytes)));
  EXPECT_EQ(pickle.root().items[0], &pickle.root());
}

// A malicious file.
TEST(PickleTest, RunsNothing) {
  EXPECT_EQ(ErrorOf("cos\nsystem\n(X\4\0\0\0truetR."s),
            "pickle at byte 0: holds a 'os.system', which is not plain "
            "weights: save a state_dict() alone");
  EXPECT_THAT(ErrorOf("\x8c\2os\x8c\6system\x93."), HasSubstr("'os.system'"));
}

// A name that is called.
std::string Named(const std::string& name) { return "ctorch" + name + "\n"; }

TEST(PickleTest, RefusesWhatIsNotAPickleOfWeights) {
  const std::string dict = "ccollections\nOrderedDict\n";
  const std::string rebuild = Named("._utils\n_rebuild_tensor_v2");
  for (const auto& [bytes, why] :
       std::vector<std::pair<std::string, std::string>>{
           {"", "pickle at byte 0: it ends too early"},
           {"K", "it ends too early"},
           {".", "the end is not after one value"},
           {"K\1K\2.", "the end is not after one value"},
           {"(", "it ends too early"},
           {"(.", "the end is not after one value"},
           {"K\1I", "pickle at byte 2: the instruction 0x49"},
           {"\x80\6", "the protocol is unknown"},
           {"t", "a mark is missing"},
           {"R", "a value is missing"},
           {"h\1", "recalled that was not kept"},
           {"K\1K\2a", "put into no list"},
           {"]K\1K\2s", "put into no dictionary"},
           {"}(K\1u", "put into no dictionary"},
           {"K\1K\2b", "given to no dictionary"},
           {"\x8a\x09", "a number is too large"},
           {"K\1K\2\x93", "a name is not text"},
           {"c" + std::string(300, 'x'), "a name is too long"},
           {"K\1)R", "a call is not of a name"},
           {dict + "K\1\x85R", "does not begin empty"},
           {Named("\nFloatStorage") + ")R", "a storage is called"},
           {Named("._utils\n_rebuild_parameter") + ")R",
            "a parameter is not a tensor"},
           {rebuild + ")R", "a tensor is not storage"},
           {")Q", "not that of a storage"},
           {"(X\7\0\0\0storage"s + dict + "X\1\0\0\0kX\3\0\0\0cpuK\6tQ"s,
            "a storage has no type"},
           {rebuild + "((X\7\0\0\0storage"s + Named("\nFloatStorage") +
                "X\1\0\0\0kNK\6tQK\1J\xff\xff\xff\xff\x85K\1\x85tR"s,
            "a shape or a stride is not a number"},
           {std::string(2'000'000, 'N'),
            "byte 1000000: it holds too much for weights"}}) {
    EXPECT_THAT(ErrorOf(bytes), HasSubstr(why)) << bytes.substr(0, 80);
  }
}

}  // namespace infeed::pickle_test
