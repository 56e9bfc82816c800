#include "records/files/kept_listings.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/varint.h"
#include "records/files/side_file.h"
#include "records/files/side_format.h"
#include "tests/support/environment_variable.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace infeed {

// As gtest compares and prints them.
static bool operator==(const FolderEntry& a, const FolderEntry& b) {
  return std::tie(a.name, a.bytes, a.object) ==
         std::tie(b.name, b.bytes, b.object);
}
static bool operator==(const FolderListing& a, const FolderListing& b) {
  return std::tie(a.folders, a.images, a.ignored) ==
         std::tie(b.folders, b.images, b.ignored);
}
static void PrintTo(const FolderListing& listing, std::ostream* out) {
  *out << ::testing::PrintToString(listing.folders);
  for (const FolderEntry& image : listing.images) {
    *out << " " << image.name << ":" << image.bytes;
  }
  *out << ::testing::PrintToString(listing.ignored);
}

namespace kept_listings_test {

namespace fs = std::filesystem;
using std::chrono::system_clock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A tree of folders "data" and a cache, and a clock that says that the folders
// have not changed for an hour.
class KeptListingsTest : public ::testing::Test {
 protected:
  static constexpr std::string_view kKind = "infeedLS";

  // Makes a file of so many bytes. Its folder gets another time, also if the
  // file system's clock has not advanced.
  void Make(const std::string& name, std::uintmax_t bytes = 0) {
    const fs::path path(root_ + "/" + name);
    fs::create_directories(path.parent_path());
    std::ofstream(path).close();
    fs::resize_file(path, bytes);
    GiveNewTime(path.parent_path());
  }
  void MakeFolderIn(const std::string& folder, const std::string& name) {
    fs::create_directories(fs::path(root_) / folder / name);
    GiveNewTime(fs::path(root_) / folder);
  }
  void Remove(const std::string& name) {
    fs::remove_all(root_ + "/" + name);
    GiveNewTime(fs::path(root_ + "/" + name).parent_path());
  }
  void Rename(const std::string& from, const std::string& to) {
    fs::rename(root_ + "/" + from, root_ + "/" + to);
    GiveNewTime(fs::path(root_ + "/" + from).parent_path());
    GiveNewTime(fs::path(root_ + "/" + to).parent_path());
  }
  // An earlier time at each call.
  void GiveNewTime(const fs::path& folder) {
    fs::last_write_time(folder, time_ -= std::chrono::seconds(1));
  }

  // Three folders with all kinds of entries.
  void MakeTree() {
    Make("train/cat/a.jpg", 17);
    Make("train/cat/ab.JPEG", 300);
    Make("train/cat/ab\xFF.png", (std::uintmax_t{5} << 30) + 1);
    Make("train/cat/.hidden.jpg", 3);
    Make("train/cat/notes.txt", 4);
    Make("train/cat/more/deep.png", 5);
    Make("train/dog/n02113978_10026.JPEG", 128);
    MakeFolderIn("train", "empty");
    Make("labels.txt", 9);
  }

  // The folders of the tree, as paths below the root.
  [[nodiscard]] std::vector<std::string> Folders() const {
    std::set<std::string> folders = {root_};
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      if (entry.is_directory()) {
        folders.insert(entry.path().string());
      }
    }
    return {folders.begin(), folders.end()};
  }

  [[nodiscard]] KeptListingsOptions Settled() const {
    return {.min_entries = 1, .clock = [] {
              return system_clock::now() + std::chrono::hours(1);
            }};
  }

  // Lists all folders and saves the listings.
  void Keep() const {
    KeptListings kept(root_, Settled());
    (void)kept.ListFolders(Folders());
    kept.Save();
  }
  [[nodiscard]] std::vector<FolderListing> ListKept() const {
    return KeptListings(root_, Settled()).ListFolders(Folders());
  }
  void ExpectRightListings() const {
    EXPECT_EQ(ListKept(), ListFolders(Folders()));
  }
  // Whether the listing of train/dog is a kept one: a file that is rewritten
  // in place does not change its folder.
  [[nodiscard]] bool IsDogKept() const { return IsDogKept(Settled()); }
  [[nodiscard]] bool IsDogKept(const KeptListingsOptions& options) const {
    const std::string name = root_ + "/train/dog/n02113978_10026.JPEG";
    fs::resize_file(name, fs::file_size(name) + 1);
    const FolderListing listing =
        KeptListings(root_, options).List(root_ + "/train/dog");
    return listing != ListFolder(root_ + "/train/dog");
  }

  [[nodiscard]] std::string KeptPath() const {
    return SideFolders(root_).back() + "/listings.kept";
  }
  [[nodiscard]] std::string KeptText() const {
    return ReadWholeFile(KeptPath(), std::int64_t{1} << 28);
  }
  void WriteKept(std::string_view text) const {
    fs::remove(KeptPath());  // Some file systems sync a file that is cut.
    std::ofstream(KeptPath(), std::ios::binary) << text;
  }
  [[nodiscard]] std::string KeptPayload() const {
    return ReadSideFile(KeptPath(), kKind).value_or(SideFile()).payload;
  }
  // Without the sync of WriteSideFile().
  void WritePayload(const std::string& payload) const {
    WriteKept(payload + SideTrailer(kKind, {}, payload));
  }

  const TemporaryFolder folder_;
  const std::string root_ = folder_ / "data";
  const EnvironmentVariable cache_{"XDG_CACHE_HOME", folder_ / "cache"};
  fs::file_time_type time_ =
      fs::file_time_type::clock::now() - std::chrono::hours(1);
};

TEST_F(KeptListingsTest, AreThoseOfListFolders) {
  MakeTree();
  const std::vector<FolderListing> truth = ListFolders(Folders());
  KeptListings kept(root_, Settled());
  EXPECT_EQ(kept.ListFolders(Folders()), truth);
  EXPECT_EQ(kept.ListFolders(Folders()), truth);
  EXPECT_EQ(kept.List(root_ + "/train"), ListFolder(root_ + "/train"));
  EXPECT_THAT(kept.ListFolders({}), IsEmpty());
  kept.Save();
  EXPECT_EQ(ListKept(), truth);
  EXPECT_TRUE(IsDogKept());
}

TEST_F(KeptListingsTest, AreInTheOrderOfManyFolders) {
  std::vector<std::string> folders;
  for (int i = 0; i < 100; ++i) {
    const std::string name = std::to_string(i);
    Make(name + "/1.jpg", static_cast<std::uintmax_t>(i));
    folders.push_back(root_ + "/" + name);
  }
  Keep();
  EXPECT_EQ(KeptListings(root_, Settled()).ListFolders(folders),
            ListFolders(folders));
}

TEST_F(KeptListingsTest, SeeFilesThatChanged) {
  MakeTree();
  Keep();
  Make("train/cat/new.jpg", 7);
  Remove("train/dog/n02113978_10026.JPEG");
  ExpectRightListings();
  Keep();
  Rename("train/cat/a.jpg", "train/cat/b.jpg");
  ExpectRightListings();
  Keep();
  Rename("train/cat/b.jpg", "train/dog/b.jpg");
  ExpectRightListings();
}

TEST_F(KeptListingsTest, SeeFoldersThatChanged) {
  MakeTree();
  Keep();
  Make("train/cow/1.jpg");
  GiveNewTime(root_ + "/train");
  ExpectRightListings();
  Keep();
  Remove("train/cat");
  ExpectRightListings();
  Keep();
  // Two folders change places: their names and times are as before.
  Rename("train/dog", "train/other");
  Rename("train/cow", "train/dog");
  Rename("train/other", "train/cow");
  ExpectRightListings();
}

TEST_F(KeptListingsTest, CountTheFoldersThatChanged) {
  MakeTree();
  KeptListings first(root_, Settled());
  (void)first.ListFolders(Folders());
  EXPECT_EQ(first.changed_folders(), 0);
  first.Save();
  Make("train/dog/1.jpg");
  Make("train/cow/1.jpg");  // A new folder, which changes train/.
  GiveNewTime(root_ + "/train");
  KeptListings second(root_, Settled());
  (void)second.ListFolders(Folders());
  EXPECT_EQ(second.changed_folders(), 2);
}

TEST_F(KeptListingsTest, SeeAnEntryOfAFolderWhoseTimeWasSetBack) {
  MakeTree();
  Keep();
  const std::string folder = root_ + "/train/dog";
  const fs::file_time_type time = fs::last_write_time(folder);
  struct stat before {};
  ASSERT_EQ(::stat(folder.c_str(), &before), 0);
  std::ofstream(folder + "/new.jpg").close();
  struct stat after = before;
  while (after.st_ctim.tv_sec == before.st_ctim.tv_sec &&
         after.st_ctim.tv_nsec == before.st_ctim.tv_nsec) {
    fs::last_write_time(folder, time);
    ASSERT_EQ(::stat(folder.c_str(), &after), 0);
  }
  ExpectRightListings();
}

TEST_F(KeptListingsTest, AreNotKeptOfAFolderThatMayStillChangeUnseen) {
  MakeTree();
  // The times of the folders are in the past, but they were changed just now.
  for (int i = 0; i < 2; ++i) {
    KeptListings kept(root_, {.min_entries = 1});
    EXPECT_EQ(kept.ListFolders(Folders()), ListFolders(Folders()));
    kept.Save();
    EXPECT_FALSE(fs::exists(KeptPath()));
    Make(i == 0 ? "train/dog/0.jpg" : "train/dog/1.jpg");
  }
}

TEST_F(KeptListingsTest, AreKeptTwoSecondsAfterTheLastChange) {
  MakeTree();
  const std::string folder = root_ + "/train/dog";
  struct stat status {};
  ASSERT_EQ(::stat(folder.c_str(), &status), 0);
  const system_clock::time_point changed(
      std::chrono::seconds(status.st_ctim.tv_sec) +
      std::chrono::nanoseconds(status.st_ctim.tv_nsec));
  for (const std::int64_t too_early : {1, 0}) {
    const KeptListingsOptions options = {
        .min_entries = 1, .clock = [=] {
          return changed + std::chrono::seconds(2) -
                 std::chrono::nanoseconds(too_early);
        }};
    KeptListings kept(root_, options);
    (void)kept.List(folder);
    kept.Save();
    EXPECT_EQ(fs::exists(KeptPath()), too_early == 0);
    EXPECT_EQ(IsDogKept(options), too_early == 0);
  }
}

TEST_F(KeptListingsTest, AreNotKeptOfAFolderFromTheFuture) {
  MakeTree();
  const std::string folder = root_ + "/train/dog";
  constexpr std::int64_t kYear2400 = 13'569'465'600;  // too many nanoseconds
  for (const std::int64_t second :
       {system_clock::to_time_t(Settled().clock()), kYear2400}) {
    const std::array<timespec, 2> times = {timespec{second, 0},
                                           timespec{second, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, folder.c_str(), times.data(), 0), 0);
    Keep();
    EXPECT_FALSE(IsDogKept()) << second;
  }
}

TEST_F(KeptListingsTest, AreListedAnewWhenForgotten) {
  MakeTree();
  Keep();
  EXPECT_TRUE(IsDogKept());
  KeptListings::Forget(root_);
  EXPECT_FALSE(fs::exists(KeptPath()));
  EXPECT_FALSE(IsDogKept());
  KeptListings::Forget(root_);
  KeptListings::Forget("");
  KeptListings::Forget("s3://bucket/data");
}

TEST_F(KeptListingsTest, AreForAnySpellingOfTheRoot) {
  MakeTree();
  Keep();
  const std::string dog = "/train/dog";
  const std::string image = root_ + dog + "/n02113978_10026.JPEG";
  fs::resize_file(image, 1);
  const FolderListing stale = ListKept().at(4);
  for (const std::string& root :
       {root_ + "/", root_ + "/./", root_ + "/train/../../data",
        fs::relative(root_).string()}) {
    EXPECT_EQ(KeptListings(root, Settled()).List(root + dog), stale) << root;
  }
  EXPECT_NE(stale, ListFolder(root_ + dog));
}

TEST_F(KeptListingsTest, AreOfFoldersBelowTheRootOnly) {
  MakeTree();
  const std::string inner = root_ + "/train/cat";
  KeptListings kept(inner, Settled());
  const std::vector<std::string> folders = {
      inner, root_ + "/train/dog", inner + "/../dog", root_, inner + "s"};
  MakeFolderIn("train", "cats");
  EXPECT_EQ(kept.ListFolders(folders), ListFolders(folders));
  kept.Save();
  const std::string text = ReadWholeFile(
      SideFolders(inner).back() + "/listings.kept", std::int64_t{1} << 20);
  EXPECT_THAT(text, HasSubstr("notes.txt"));
  EXPECT_THAT(text, Not(HasSubstr("n02113978")));
}

TEST_F(KeptListingsTest, LeaveOutFoldersThatAreGone) {
  MakeTree();
  Keep();
  EXPECT_THAT(KeptText(), HasSubstr("n02113978"));
  Remove("train/dog");
  Keep();
  EXPECT_THAT(KeptText(), Not(HasSubstr("n02113978")));
  EXPECT_THAT(KeptText(), HasSubstr("notes.txt"));
}

TEST_F(KeptListingsTest, AreWrittenOnlyIfTheyChanged) {
  MakeTree();
  Keep();
  const fs::file_time_type early{};
  fs::last_write_time(KeptPath(), early);
  Keep();
  EXPECT_EQ(fs::last_write_time(KeptPath()), early);
  Make("train/dog/new.jpg");
  Keep();
  EXPECT_NE(fs::last_write_time(KeptPath()), early);
}

TEST_F(KeptListingsTest, AreNotWrittenForFewFiles) {
  for (int i = 0; i < 999; ++i) {
    Make(std::to_string(i) + ".jpg");
  }
  const auto keep = [&] {
    KeptListings kept(root_, {.clock = Settled().clock});
    EXPECT_EQ(kept.List(root_), ListFolder(root_));
    kept.Save();
    return fs::exists(KeptPath());
  };
  EXPECT_FALSE(keep());
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
  Make("one_more.txt");
  EXPECT_TRUE(keep());
  Remove("0.jpg");
  EXPECT_FALSE(keep());
}

TEST_F(KeptListingsTest, LeaveTheListedFoldersAsTheyAre) {
  MakeTree();
  const auto state = [&] {
    std::vector<std::pair<std::string, fs::file_time_type>> entries = {
        {root_, fs::last_write_time(root_)}};
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      entries.emplace_back(entry.path().string(), entry.last_write_time());
    }
    return entries;
  };
  const auto before = state();
  Keep();
  ExpectRightListings();
  KeptListings::Forget(root_);
  EXPECT_EQ(state(), before);
}

TEST_F(KeptListingsTest, FollowLinksToFolders) {
  MakeTree();
  Make("elsewhere/1.jpg", 1);
  Make("another/2.jpg", 2);
  const std::string link = root_ + "/train/link";
  fs::create_directory_symlink("../elsewhere", link);
  const auto folders = [&] {
    return std::vector<std::string>{root_, root_ + "/train", link};
  };
  const auto list = [&] {
    KeptListings kept(root_, Settled());
    std::vector<FolderListing> listings = kept.ListFolders(folders());
    kept.Save();
    EXPECT_EQ(listings, ListFolders(folders()));
    return listings.back().images;
  };
  EXPECT_THAT(list(), ElementsAre(FolderEntry{"1.jpg", 1}));
  EXPECT_THAT(list(), ElementsAre(FolderEntry{"1.jpg", 1}));
  // The target of the link changes, then the link.
  Make("elsewhere/0.jpg", 3);
  EXPECT_THAT(list(),
              ElementsAre(FolderEntry{"0.jpg", 3}, FolderEntry{"1.jpg", 1}));
  fs::remove(link);
  fs::create_directory_symlink("../another", link);
  EXPECT_THAT(list(), ElementsAre(FolderEntry{"2.jpg", 2}));
}

TEST_F(KeptListingsTest, AreForgottenWhenALinksTargetIsGone) {
  MakeTree();
  Make("elsewhere/1.jpg", 1);
  const std::string link = root_ + "/train/link";
  fs::create_directory_symlink("../elsewhere", link);
  {
    KeptListings kept(root_, Settled());
    (void)kept.ListFolders({root_ + "/train", link});
    kept.Save();
  }
  fs::remove_all(root_ + "/elsewhere");
  {
    KeptListings kept(root_, Settled());
    EXPECT_TRUE(kept.List(root_ + "/train").HasFolder("link"));
    EXPECT_THAT(MessageOf<IoError>([&] { (void)kept.List(link); }),
                HasSubstr("link: cannot list: No such file"));
  }
  const FolderListing train =
      KeptListings(root_, Settled()).List(root_ + "/train");
  EXPECT_FALSE(train.HasFolder("link"));
  EXPECT_THAT(train.ignored, ElementsAre("link"));
}

TEST_F(KeptListingsTest, ThrowWhatListFolderThrows) {
  MakeTree();
  fs::create_symlink("nowhere", root_ + "/train/empty/dangling.jpg");
  for (const std::string& path : {root_ + "/none", root_ + "/labels.txt",
                                  root_ + "/train/empty", std::string()}) {
    const std::string message =
        MessageOf<IoError>([&] { (void)ListFolder(path); });
    EXPECT_THAT(message, HasSubstr("cannot"));
    EXPECT_EQ(MessageOf<IoError>([&] {
                KeptListings kept(root_, Settled());
                (void)kept.ListFolders({root_, path, root_ + "/train"});
              }),
              message);
  }
}

TEST_F(KeptListingsTest, AreNotReadWhenTheFolderMayNotBe) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may read everything";
  }
  MakeTree();
  Keep();
  const std::string folder = root_ + "/train/dog";
  fs::permissions(folder, fs::perms::none);
  EXPECT_THAT(MessageOf<IoError>(
                  [&] { (void)KeptListings(root_, Settled()).List(folder); }),
              HasSubstr("dog: cannot list: Permission denied"));
  fs::permissions(folder, fs::perms::owner_all);
}

TEST_F(KeptListingsTest, PassUrlsOn) {
  const std::string url = "https://localhost/data";
  KeptListings kept(url, Settled());
  EXPECT_THAT(MessageOf<UsageError>([&] { (void)kept.List(url); }),
              HasSubstr("a web server cannot list its files"));
  MakeTree();
  EXPECT_EQ(kept.List(root_), ListFolder(root_));
  EXPECT_THAT(MessageOf<UsageError>([&] {
                (void)kept.ListFolders({root_, url});
              }),
              HasSubstr("a web server cannot list its files"));
  kept.Save();
  EXPECT_FALSE(fs::exists(folder_ / "cache"));
}

TEST_F(KeptListingsTest, NeedNoCache) {
  MakeTree();
  fs::create_directories(KeptPath());  // instead of a file
  Keep();
  ExpectRightListings();
  EXPECT_TRUE(fs::is_directory(KeptPath()));
  std::ofstream(folder_ / "file").close();
  for (const std::string& cache : {std::string("/dev/null"), folder_ / "file",
                                   std::string("/proc/none")}) {
    const EnvironmentVariable variable("XDG_CACHE_HOME", cache);
    Keep();
    ExpectRightListings();
    KeptListings::Forget(root_);
  }
  const EnvironmentVariable cache("XDG_CACHE_HOME", "");
  const EnvironmentVariable home("HOME", "");
  Keep();
  ExpectRightListings();
  KeptListings::Forget(root_);
}

TEST_F(KeptListingsTest, AreAbsentWhenTheFileIsDamaged) {
  MakeTree();
  Keep();
  WriteKept(KeptText() + '\0');
  EXPECT_FALSE(IsDogKept());
}

// Payloads with a right checksum that were not written by Save().
TEST_F(KeptListingsTest, AreNoDangerWhenCrafted) {
  MakeTree();
  Keep();
  const std::string text = KeptPayload();
  const std::size_t header = text.find(root_) + root_.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const int byte : {0x00, 0x02, 0x2F, 0x7F, 0x80, 0xFF}) {
      std::string crafted = text;
      crafted[i] = static_cast<char>(byte);
      WritePayload(crafted);
      const std::vector<FolderListing> listings = ListKept();
      if (i < header && crafted != text) {
        ASSERT_FALSE(IsDogKept()) << i;
      }
      for (const FolderListing& listing : listings) {
        for (const FolderEntry& image : listing.images) {
          ASSERT_TRUE(HasImageExtension(image.name)) << i;
          ASSERT_EQ(image.name.find('/'), std::string::npos) << i;
          ASSERT_GE(image.bytes, 0) << i;
        }
      }
    }
  }
  WritePayload(text.substr(0, header) + std::string(9, '\xFF') + '\1');
  EXPECT_FALSE(IsDogKept());
  WritePayload(text + "more");
  EXPECT_FALSE(IsDogKept());
}

// Writes invalid listings of train/empty, the last folder in the file.
TEST_F(KeptListingsTest, AreListedAnewWhenAListingIsWrong) {
  using namespace std::string_literals;
  MakeTree();
  Keep();
  const std::string whole = KeptPayload();
  const std::string start = whole.substr(0, whole.size() - 4);
  const auto read = [&](const std::string& listing) {
    std::string text = start;
    AppendVarint(listing.size(), text);
    WritePayload(text + listing);
    return KeptListings(root_, Settled()).List(root_ + "/train/empty");
  };
  EXPECT_THAT(read("\0\1\0\5a.jpg\7\0"s).images,
              ElementsAre(FolderEntry{"a.jpg", 7}));
  const std::string most = std::string(9, '\xFF') + '\1';
  const std::string long_name(1025, 'a');
  for (const std::string& listing :
       {// Ends too early or too late, or has too many entries.
        ""s, "\0\0"s, "\0\0\0\0"s, most + "\0\0"s, "\0"s + most + "\0"s,
        "\0\0"s + most,
        // The size of an image; a number of eleven bytes.
        "\0\1\0\5a.jpg"s + most + "\0"s,
        "\1\0"s + std::string(10, '\x80') + "\1a\0\0"s,
        // Names: descending, twice, shared with none, not of a file.
        "\0\2\0\5b.jpg\7\0\5a.jpg\7\0"s, "\0\2\0\5a.jpg\7\5\0\7\0"s,
        "\0\1\1\4.jpg\7\0"s, "\1\0\3a/b\0\0"s, "\1\0\3a\0b\0\0"s,
        "\1\0\x81\x08"s + long_name + "\0\0"s,
        // Not an image, hidden, an image; as of a version with other
        // extensions.
        "\0\1\0\5a.txt\7\0"s, "\0\1\0\6.a.jpg\7\0"s, "\0\0\1\0\5a.jpg"s}) {
    EXPECT_EQ(read(listing), FolderListing())
        << ::testing::PrintToString(listing);
  }
}

// Lists and saves again and again, and forgets now and then. Returns how many
// listings were wrong.
int ListRepeatedly(const std::string& root,
                   const std::vector<std::string>& folders,
                   const KeptListingsOptions& options,
                   const std::vector<FolderListing>& truth) {
  int wrong = 0;
  for (int i = 0; i < 50; ++i) {
    KeptListings kept(root, options);
    wrong += kept.ListFolders(folders) == truth ? 0 : 1;
    kept.Save();
    if (i % 3 == 0) {
      KeptListings::Forget(root);
    }
  }
  return wrong;
}

TEST_F(KeptListingsTest, MayBeWrittenByThreadsAtOnce) {
  MakeTree();
  const std::vector<FolderListing> truth = ListFolders(Folders());
  const std::vector<std::string> folders = Folders();
  std::vector<int> wrong(3);
  {
    std::vector<std::jthread> threads;
    threads.reserve(wrong.size());
    for (int& count : wrong) {
      threads.emplace_back(
          [&] { count = ListRepeatedly(root_, folders, Settled(), truth); });
    }
  }
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0));
}

// A process of its own for ThreadSanitizer, under which a child has no threads
// if its parent ever had any.
using KeptListingsForkTest = KeptListingsTest;

TEST_F(KeptListingsForkTest, MayBeWrittenByProcessesAtOnce) {
  constexpr unsigned kSeconds = 60;
  MakeTree();
  const std::vector<FolderListing> truth = ListFolders(Folders());
  const std::vector<std::string> folders = Folders();
  std::array<pid_t, 3> children{};
  for (pid_t& child : children) {
    child = ::fork();
    if (child == 0) {
      ::alarm(kSeconds);
      ::_exit(ListRepeatedly(root_, folders, Settled(), truth));
    }
  }
  EXPECT_EQ(ListRepeatedly(root_, folders, Settled(), truth), 0);
  for (const pid_t child : children) {
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  Keep();
  EXPECT_TRUE(IsDogKept());
  const FolderListing cache =
      ListFolder(fs::path(KeptPath()).parent_path().string());
  EXPECT_THAT(cache.ignored, ElementsAre("listings.kept"))
      << "a temporary file stayed";
}

}  // namespace kept_listings_test
}  // namespace infeed
