#include "base/atomic_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <stop_token>
#include <string>
#include <thread>

#include "base/error.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/throws.h"

namespace infeed {
namespace {

namespace fs = std::filesystem;
using ::testing::Property;

std::ptrdiff_t FilesIn(const TemporaryFolder& folder) {
  return std::distance(fs::directory_iterator(folder.path()),
                       fs::directory_iterator());
}

TEST(AtomicFileTest, AppearsOnlyOnCommit) {
  const TemporaryFolder folder;
  AtomicFile file(folder / "a");
  file.Write(std::string_view("whole"));
  EXPECT_EQ(file.size(), 5);  // Still buffered.
  EXPECT_FALSE(fs::exists(folder / "a"));
  file.Commit();
  EXPECT_EQ(ReadWholeFile(folder / "a", 100), "whole");
  EXPECT_EQ(FilesIn(folder), 1);
}

TEST(AtomicFileTest, LeavesAllAsItWasWithoutCommit) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "a", "old");
  for (const char* name : {"a", "b"}) {
    AtomicFile file(folder / name);
    file.Write(std::string(3 << 20, 'x'));
  }
  EXPECT_EQ(ReadWholeFile(folder / "a", 100), "old");
  EXPECT_EQ(FilesIn(folder), 1);
}

TEST(AtomicFileTest, FollowsLinksThatTheUserNamed) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "real");
  fs::create_directory(folder / "links");
  fs::create_symlink("../real/a", folder / "links/a");
  fs::create_symlink("a", folder / "links/b");
  // First a broken link, then a link to a file.
  for (const char* text : {"first", "second"}) {
    WriteFileAtomically(folder / "links/b", text, kNamedByUser);
    EXPECT_TRUE(fs::is_symlink(folder / "links/a"));
    EXPECT_TRUE(fs::is_symlink(folder / "links/b"));
    EXPECT_EQ(ReadWholeFile(folder / "real/a", 100), text);
  }
  fs::create_symlink("loop", folder / "loop");
  EXPECT_THROW(WriteFileAtomically(folder / "loop", "x", kNamedByUser),
               IoError);
}

TEST(AtomicFileTest, WritesIntoAFifoThatStays) {
  const TemporaryFolder folder;
  const std::string path = folder / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  WriteFileAtomically(path, "bytes", kNamedByUser);
  char buffer[16];
  EXPECT_EQ(::read(reader, buffer, sizeof(buffer)), 5);
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(path));
  EXPECT_EQ(FilesIn(folder), 1);
}

TEST(AtomicFileTest, WritesIntoADevice) {
  WriteFileAtomically("/dev/null", "bytes", kNamedByUser);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THAT([] { WriteFileAtomically("/dev/full", "bytes", kNamedByUser); },
              Throws<IoError>(Property(&IoError::what,
                                       HasSubstr("/dev/full: cannot write"))));
}

TEST(AtomicFileTest, SaysWhichFolderIsMissing) {
  EXPECT_THAT([] { AtomicFile file("/nonexistent/a"); },
              Throws<IoError>(Property(
                  &IoError::what,
                  HasSubstr("/nonexistent/a: cannot create: No such file"))));
}

TEST(AtomicFileTest, RefusesAFolderBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  fs::create_directory(folder / "a");
  fs::create_directory_symlink("a", folder / "link");
  for (const int own_names : {kNamedByUser, 1}) {
    for (const char* name : {"a", "a/", "missing/", ""}) {
      EXPECT_THROW(AtomicFile(folder / name, own_names), IoError) << name;
    }
    EXPECT_EQ(MessageOf<IoError>([&] { AtomicFile file("", own_names); }),
              "the name of the file to write is empty");
  }
  EXPECT_EQ(MessageOf<IoError>(
                [&] { AtomicFile file(folder / "link", kNamedByUser); }),
            folder / "a" + ": cannot write: Is a directory");
  EXPECT_EQ(FilesIn(folder), 2);
}

// A stranger's folder may have anything at a name that the program uses.
TEST(AtomicFileTest, ReplacesWhatIsNoFileOfOurs) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "precious", "old");
  fs::create_symlink(folder / "precious", folder / "link");
  fs::create_symlink(folder / "made", folder / "dangling");
  fs::create_hard_link(folder / "precious", folder / "hard");
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  for (const char* name : {"link", "dangling", "hard", "fifo"}) {
    WriteFileAtomically(folder / name, "new");
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder / name)));
    EXPECT_EQ(ReadWholeFile(folder / name, 100), "new");
  }
  EXPECT_EQ(ReadWholeFile(folder / "precious", 100), "old");
  EXPECT_FALSE(fs::exists(folder / "made"));
}

TEST(AtomicFileTest, WritesThroughNoLinkAtItsTemporaryName) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "precious", "old");
  fs::create_symlink(folder / "precious",
                     folder / ("a.tmp-" + std::to_string(::getpid())));
  AtomicFile one(folder / "a");
  AtomicFile other(folder / "a");
  one.Write(std::string_view("one"));
  other.Write(std::string_view("other"));
  one.Commit();
  EXPECT_EQ(ReadWholeFile(folder / "a", 100), "one");
  other.Commit();
  EXPECT_EQ(ReadWholeFile(folder / "a", 100), "other");
  EXPECT_EQ(ReadWholeFile(folder / "precious", 100), "old");
}

TEST(AtomicFileTest, FollowsNoLinkAtAFolderOfOurs) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "mine/sub");
  fs::create_directory(folder / "data");
  fs::create_directory_symlink(folder / "mine", folder / "data/.infeed");
  EXPECT_THAT([&] { WriteFileAtomically(folder / "data/.infeed/a", "x", 2); },
              Throws<IoError>(Property(
                  &IoError::what, HasSubstr(".infeed: is a symbolic link"))));
  EXPECT_THAT(
      [&] { WriteFileAtomically(folder / "data/.infeed/sub/a", "x", 3); },
      Throws<IoError>(
          Property(&IoError::what, HasSubstr(".infeed: is a symbolic link"))));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "mine"), {}), 1);
  // A path that the user named.
  WriteFileAtomically(folder / "data/.infeed/a", "x", 1);
  EXPECT_TRUE(fs::exists(folder / "mine/a"));
}

TEST(ReadWholeFileTest, ReadsOnlyRegularFiles) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  const int writer = ::open((folder / "fifo").c_str(), O_RDWR);
  fs::create_symlink("/dev/zero", folder / "zeros");
  fs::create_symlink("/dev/null", folder / "nothing");
  for (const char* name : {"fifo", "zeros", "nothing"}) {
    EXPECT_THAT([&] { (void)ReadWholeFile(folder / name, 1 << 30); },
                Throws<IoError>(Property(&IoError::what,
                                         HasSubstr("is not a regular file"))));
  }
  ::close(writer);
}

TEST(ReadWholeFileTest, RefusesAFileOverTheLimit) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder / "a", "12345");
  EXPECT_THAT(
      [&] { (void)ReadWholeFile(folder / "a", 4); },
      Throws<IoError>(Property(&IoError::what, HasSubstr("limit of 4"))));
}

TEST(ReadWholeFileTest, ReadsAPipeToItsEnd) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([end = ends[1]] {
    const std::string text(100'000, 'x');  // more than a pipe holds
    EXPECT_EQ(::write(end, text.data(), text.size()), std::ssize(text));
    ::close(end);
  });
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  EXPECT_EQ(ReadFileOrPipe(path, 1 << 20), std::string(100'000, 'x'));
  writer.join();
  ::close(ends[0]);
}

TEST(ReadWholeFileTest, WaitsForNobody) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_THAT([&] { (void)ReadFileOrPipe(folder / "fifo", 4); },
              Throws<IoError>(
                  Property(&IoError::what, HasSubstr("a pipe without data"))));
}

TEST(ReadWholeFileTest, AWaitForAPipeEndsAtAHandledSignal) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  const int silent_writer = ::open((folder / "fifo").c_str(), O_RDWR);
  struct sigaction nothing {};
  struct sigaction before {};
  nothing.sa_handler = [](int) {};
  nothing.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR1, &nothing, &before);
  std::string why;
  std::atomic<bool> ended = false;
  std::thread reader([&] {
    why = MessageOf<IoError>([&] { (void)ReadFileOrPipe(folder / "fifo", 4); });
    ended = true;
  });
  while (!ended) {  // The first ones may come before it waits.
    ::pthread_kill(reader.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  reader.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  ::close(silent_writer);
  EXPECT_THAT(why, HasSubstr("fifo: cannot read: Interrupted"));
}

// The request may be older than the wait.
TEST(ReadWholeFileTest, AWaitForAPipeEndsAtAStop) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  const int silent_writer = ::open((folder / "fifo").c_str(), O_RDWR);
  std::stop_source before;
  before.request_stop();
  std::stop_source meanwhile;
  const std::jthread user([&] { meanwhile.request_stop(); });
  for (const std::stop_source* source : {&before, &meanwhile}) {
    EXPECT_THAT(
        [&] { (void)ReadFileOrPipe(folder / "fifo", 4, source->get_token()); },
        Throws<IoError>(Property(&IoError::what,
                                 HasSubstr("fifo: cannot read: Interrupted"))));
  }
  ::close(silent_writer);
}

TEST(ReadWholeFileTest, RefusesAFolder) {
  const TemporaryFolder folder;
  EXPECT_THROW((void)ReadWholeFile(folder.path(), 4), IoError);
}

}  // namespace
}  // namespace infeed
