#include "pipeline/remote/worker_list.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed::worker_list_test {

using ::testing::IsSubsetOf;

using Names = std::map<std::string, std::vector<std::string>>;

// A list whose names are resolved by a table, as it is then.
WorkerList ListOf(const std::string& text, const Names& names = {}) {
  return WorkerList(text, [&names](const std::string& name) {
    const auto found = names.find(name);
    return found == names.end() ? std::vector<std::string>() : found->second;
  });
}

TEST(WorkerListTest, HostsAreAddressesAsTheyAre) {
  const Names names;
  EXPECT_THAT(
      ListOf("b:9410,10.0.0.1:1, [::1]:65535,b:9410", names).Addresses(),
      ElementsAre("10.0.0.1:1", "[::1]:65535", "b:9410"));
}

TEST(WorkerListTest, ANameHasAllItsAddresses) {
  const Names names = {{"pool", {"fd00::2", "10.0.0.2", "10.0.0.1"}}};
  EXPECT_THAT(ListOf("dns:///pool:94", names).Addresses(),
              ElementsAre("10.0.0.1:94", "10.0.0.2:94", "[fd00::2]:94"));
}

TEST(WorkerListTest, ANameGainsAndLosesAddresses) {
  Names names;  // The name is not known yet.
  WorkerList list = ListOf("a:1,dns:///pool:94", names);
  EXPECT_THAT(list.Addresses(), ElementsAre("a:1"));
  names["pool"] = {"10.0.0.1"};
  EXPECT_THAT(list.Addresses(), ElementsAre("10.0.0.1:94", "a:1"));
  names["pool"] = {"10.0.0.2", "10.0.0.3"};
  EXPECT_THAT(list.Addresses(),
              ElementsAre("10.0.0.2:94", "10.0.0.3:94", "a:1"));
  names["pool"] = {"10.0.0.3"};
  EXPECT_THAT(list.Addresses(), ElementsAre("10.0.0.3:94", "a:1"));
}

TEST(WorkerListTest, ANameThatFailsHasItsLastAnswer) {
  Names names = {{"pool", {"10.0.0.1"}}, {"other", {"10.0.0.9"}}};
  WorkerList list = ListOf("dns:///pool:94,dns:///other:94", names);
  (void)list.Addresses();
  EXPECT_THAT(list.TakeNotes(), IsEmpty());
  names = {{"other", {"10.0.0.8"}}};
  EXPECT_THAT(list.Addresses(), ElementsAre("10.0.0.1:94", "10.0.0.8:94"));
  (void)list.Addresses();
  EXPECT_THAT(
      list.TakeNotes(),
      ElementsAre("workers: 'dns:///pool:94' does not resolve any more; "
                  "its last addresses are used"));
  names["pool"] = {"10.0.0.2"};
  EXPECT_THAT(list.Addresses(), ElementsAre("10.0.0.2:94", "10.0.0.8:94"));
  EXPECT_THAT(list.TakeNotes(),
              ElementsAre("workers: 'dns:///pool:94' resolves again"));
}

TEST(WorkerListTest, TheSystemResolvesNumbers) {
  EXPECT_THAT(WorkerList("dns:///127.0.0.1:94").Addresses(),
              ElementsAre("127.0.0.1:94"));
}

TEST(WorkerListTest, AFileHasALineForEach) {
  const TemporaryFolder folder;
  const Names names = {{"pool", {"10.0.0.1"}}};
  WriteFileAtomically(folder / "list",
                      "# workers\n\n  b:2 \r\ndns:///pool:94\n[::1]:3");
  EXPECT_THAT(ListOf("a:1,@" + folder / "list", names).Addresses(),
              ElementsAre("10.0.0.1:94", "[::1]:3", "a:1", "b:2"));
}

TEST(WorkerListTest, AFileIsReadAnew) {
  const TemporaryFolder folder;
  const std::string path = folder / "list";
  WriteFileAtomically(path, "a:1\nb:2\n");
  WorkerList list("@" + path);
  EXPECT_THAT(list.Addresses(), ElementsAre("a:1", "b:2"));
  WriteFileAtomically(path, "b:2\nc:3\n");
  EXPECT_THAT(list.Addresses(), ElementsAre("b:2", "c:3"));
  WriteFileAtomically(path, "d:4\nhalf a li");
  EXPECT_THAT(list.Addresses(), ElementsAre("b:2", "c:3"));
  ASSERT_EQ(::remove(path.c_str()), 0);
  EXPECT_THAT(list.Addresses(), ElementsAre("b:2", "c:3"));
  WriteFileAtomically(path, "");
  EXPECT_THAT(list.Addresses(), IsEmpty());
}

TEST(WorkerListTest, AFileThatBecomesBadIsNotedOnce) {
  const TemporaryFolder folder;
  const std::string path = folder / "list";
  WriteFileAtomically(path, "a:1\n");
  WorkerList list("@" + path);
  const auto notes = [&] {
    EXPECT_THAT(list.Addresses(), ElementsAre("a:1"));
    return list.TakeNotes();
  };
  EXPECT_THAT(notes(), IsEmpty());
  WriteFileAtomically(path, "half a li");
  EXPECT_THAT(notes(),
              ElementsAre(AllOf(HasSubstr("workers: '@" + path + "': "),
                                HasSubstr("'half a li' is not HOST:PORT"),
                                HasSubstr("; its last entries are used"))));
  EXPECT_THAT(notes(), IsEmpty());
  ASSERT_EQ(::remove(path.c_str()), 0);
  EXPECT_THAT(notes(), ElementsAre(HasSubstr("No such file")));
  WriteFileAtomically(path, "a:1\n");
  EXPECT_THAT(notes(), ElementsAre("workers: '@" + path + "' is read again"));
  EXPECT_THAT(notes(), IsEmpty());
}

TEST(WorkerListTest, OtherEntriesAreRefusedByName) {
  for (const std::string text :
       {"host", "host:", ":94", "host:0", "host:65536", "host:94x", "ho st:94",
        "::1:94", "[::1]", "[host]:94", "dns://pool:94", "dns:///:94",
        "dns:///[::1]:94", "http://host:94", "", "a:1,"}) {
    const std::string message =
        MessageOf<UsageError>([&] { WorkerList list(text); });
    const std::string entry = text == "a:1," ? "" : text;
    EXPECT_THAT(message,
                AllOf(HasSubstr("workers: '" + entry + "' is not HOST:PORT")))
        << text;
  }
}

TEST(WorkerListTest, AFileThatCannotBeUsedIsRefusedAtTheStart) {
  const TemporaryFolder folder;
  EXPECT_THAT(
      MessageOf<UsageError>([&] { WorkerList list("@" + folder / "none"); }),
      AllOf(HasSubstr("workers: '@"), HasSubstr("none")));
  WriteFileAtomically(folder / "bad", "a:1\n@other\n");
  EXPECT_THAT(
      MessageOf<UsageError>([&] { WorkerList list("@" + folder / "bad"); }),
      HasSubstr("'@other' is not HOST:PORT"));
}

std::vector<std::string> ManyAddresses(int count) {
  std::vector<std::string> addresses;
  for (int i = 0; i < count; ++i) {
    addresses.push_back("10.0." + std::to_string(i / 250) + "." +
                        std::to_string(i % 250) + ":9410");
  }
  std::ranges::sort(addresses);
  return addresses;
}

TEST(ChosenWorkersTest, FewWorkersAreAllChosen) {
  const std::vector<std::string> few = ManyAddresses(16);
  EXPECT_EQ(ChosenWorkers(few, "trainer", 16), few);
}

TEST(ChosenWorkersTest, TrainersSpreadOverWorkers) {
  const std::vector<std::string> all = ManyAddresses(1000);
  std::map<std::string, int> trainers;
  for (int i = 0; i < 100; ++i) {
    const std::vector<std::string> chosen =
        ChosenWorkers(all, "host-" + std::to_string(i) + "/0", 16);
    EXPECT_EQ(chosen.size(), 16U);
    EXPECT_THAT(chosen, IsSubsetOf(all));
    EXPECT_TRUE(std::ranges::is_sorted(chosen));
    for (const std::string& address : chosen) {
      ++trainers[address];
    }
  }
  // 1.6 on average: as many workers without a trainer as by fair draws, a fifth
  // (e^-1.6), and none with very many.
  EXPECT_GT(trainers.size(), 740U);
  EXPECT_LT(trainers.size(), 860U);
  for (const auto& [address, count] : trainers) {
    EXPECT_LE(count, 9) << address;
  }
}

TEST(ChosenWorkersTest, AWorkerThatLeavesIsReplacedAlone) {
  std::vector<std::string> addresses = ManyAddresses(1000);
  const std::vector<std::string> before = ChosenWorkers(addresses, "t", 16);
  std::erase(addresses, before[3]);
  std::vector<std::string> after = ChosenWorkers(addresses, "t", 16);
  std::vector<std::string> kept;
  std::ranges::set_intersection(before, after, std::back_inserter(kept));
  EXPECT_EQ(kept.size(), 15U);
  EXPECT_EQ(after.size(), 16U);
}

}  // namespace infeed::worker_list_test
