#include "pipeline/remote/link_set.h"

#include <chrono>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/loopback_rpc.h"
#include "tests/support/matchers.h"

namespace infeed::link_set_test {

using std::chrono::milliseconds;

constexpr WorkerLink::Clock::time_point kNow{};

void Choose(LinkSet& links, const std::vector<std::string>& addresses,
            int most = 16) {
  links.Choose(addresses, "trainer", most, {});
}

std::vector<std::string> AddressesOf(const LinkSet& links) {
  std::vector<std::string> addresses;
  for (const WorkerStats& one : links.stats(kNow)) {
    addresses.push_back(one.address);
  }
  return addresses;
}

ConnectedLink& LinkTo(LinkSet& links, const std::string& address) {
  for (ConnectedLink* const one : links.InTurn()) {
    if (one->link.address() == address) {
      return *one;
    }
  }
  throw UsageError("no link to " + address);
}

void Open(WorkerLink& link, const std::string& refusal = "") {
  link.Opening();
  (void)link.Opened({}, {.refusal = refusal}, false, kNow, 1);
}

TEST(LinkSetTest, FollowsTheList) {
  LoopbackRpc rpc;
  LinkSet links;
  Choose(links, {"a:1", "b:1"});
  EXPECT_THAT(AddressesOf(links), ElementsAre("a:1", "b:1"));
  const int kept = LinkTo(links, "b:1").link.number();
  LinkTo(links, "a:1").channel = rpc.Connect("a:1", {}, 1);
  LinkTo(links, "b:1").channel = rpc.Connect("b:1", {}, 1);
  Choose(links, {"b:1", "c:1"});
  EXPECT_THAT(links.TakeEnded(), SizeIs(1));
  links.RemoveUnwanted();
  EXPECT_THAT(AddressesOf(links), ElementsAre("b:1", "c:1"));
  EXPECT_EQ(LinkTo(links, "b:1").link.number(), kept);
  EXPECT_EQ(LinkTo(links, "c:1").link.number(), 2) << "numbers are new ones";
}

TEST(LinkSetTest, ADroppedOneIsReplacedAndRemembered) {
  LinkSet links;
  Choose(links, {"a:1", "b:1"}, 1);
  const std::string first = AddressesOf(links).front();
  (void)LinkTo(links, first).link.Drop("it lies", kNow);
  Choose(links, {"a:1", "b:1"}, 1);
  links.RemoveUnwanted();
  EXPECT_THAT(AddressesOf(links), ElementsAre("a:1", "b:1"));
  Choose(links, {}, 1);
  links.RemoveUnwanted();
  EXPECT_THAT(AddressesOf(links), ElementsAre(first));
}

TEST(LinkSetTest, AFullOneGivesItsPlaceToAnotherUntilItTakesTheStream) {
  LinkSet links;
  const std::vector<std::string> all = {"a:1", "b:1", "c:1"};
  const auto choose = [&] {
    Choose(links, all, 1);
    links.RemoveUnwanted();
    return AddressesOf(links);
  };
  const std::vector<std::string> first = choose();
  ASSERT_THAT(first, SizeIs(1));
  WorkerLink& full = LinkTo(links, first.front()).link;
  full.Opening();
  (void)full.Opened({RpcCode::kBusy, "16 streams"}, {}, false, kNow, 1);
  const std::vector<std::string> two = choose();
  EXPECT_THAT(two, AllOf(SizeIs(2), Contains(first.front())));
  EXPECT_EQ(choose(), two);
  for (ConnectedLink* const one : links.InTurn()) {
    one->link.Opening();
    (void)one->link.Opened({RpcCode::kBusy, "16 streams"}, {}, false, kNow, 1);
  }
  EXPECT_EQ(choose(), two) << "of a thousand full ones few are asked";
  Open(full);
  EXPECT_THAT(choose(), Contains(first.front()));
  Choose(links, {}, 1);
  links.RemoveUnwanted();
  EXPECT_THAT(AddressesOf(links), IsEmpty());
}

TEST(LinkSetTest, EachLinkIsOpenedOnce) {
  LinkSet links;
  Choose(links, {"a:1", "b:1"});
  EXPECT_THAT(links.BeginOpening(kNow), SizeIs(2));
  EXPECT_THAT(links.BeginOpening(kNow), IsEmpty());
}

TEST(LinkSetTest, TheTurnIsAnothersEachTime) {
  LinkSet links;
  Choose(links, {"a:1", "b:1", "c:1"});
  const auto first = [&] { return links.InTurn().front()->link.address(); };
  EXPECT_EQ(first(), "a:1");
  EXPECT_EQ(first(), "b:1");
  EXPECT_EQ(first(), "c:1");
  EXPECT_EQ(first(), "a:1");
}

TEST(LinkSetTest, TheMedianIsOfOpenLinks) {
  LinkSet links;
  Choose(links, {"a:1", "b:1", "c:1"});
  EXPECT_EQ(links.MedianLatency(), milliseconds(0));
  EXPECT_FALSE(links.IsAnyOpen());
  int latency = 0;
  for (const char* const address : {"a:1", "b:1", "c:1"}) {
    WorkerLink& link = LinkTo(links, address).link;
    Open(link);
    link.Lent();
    link.Replied({}, milliseconds(latency += 10));
  }
  EXPECT_EQ(links.MedianLatency(), milliseconds(20));
  EXPECT_EQ(links.in_flight(), 3);
  EXPECT_TRUE(links.IsAnyOpen());
  (void)LinkTo(links, "b:1").link.Drop("it lies", kNow);
  EXPECT_EQ(links.MedianLatency(), milliseconds(10)) << "the lower one of two";
}

TEST(LinkSetTest, TellsThatAllAreTriedAndWhoRefuses) {
  LinkSet links;
  EXPECT_FALSE(links.AreAllTried());
  EXPECT_EQ(links.Refusal(), "");
  Choose(links, {"a:1", "b:1"});
  Open(LinkTo(links, "b:1").link, "other data");
  EXPECT_FALSE(links.AreAllTried());
  WorkerLink& other = LinkTo(links, "a:1").link;
  other.Opening();
  (void)other.Opened({RpcCode::kUnavailable, ""}, {}, false, kNow, 1);
  EXPECT_TRUE(links.AreAllTried());
  EXPECT_EQ(links.Refusal(), "worker b:1: other data");
  other.Opening();
  (void)other.Opened({RpcCode::kBusy, "16 streams"}, {}, false, kNow, 1);
  EXPECT_EQ(links.Refusal(), "") << "the full one may take it later";
  Open(other, "other build");
  EXPECT_THAT(links.Refusal(), AllOf(HasSubstr("worker a:1: other build"),
                                     HasSubstr("2 workers")));
}

}  // namespace infeed::link_set_test
