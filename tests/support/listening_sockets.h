#pragma once

#include <sys/types.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace infeed {

// A TCP socket at which a process listens, as /proc/net has it: the address in
// hexadecimal, 0100007F for 127.0.0.1.
struct ListeningSocket {
  std::string address;
  int port = 0;
};

// "socket:[INODE]" of each socket of a process.
inline std::set<std::string> SocketsOf(pid_t process) {
  namespace fs = std::filesystem;
  std::set<std::string> sockets;
  std::error_code gone;
  fs::directory_iterator file("/proc/" + std::to_string(process) + "/fd", gone);
  for (; !gone && file != fs::directory_iterator(); file.increment(gone)) {
    std::error_code closed;
    sockets.insert(fs::read_symlink(file->path(), closed));
  }
  return sockets;
}

inline std::vector<ListeningSocket> ListeningSocketsOf(pid_t process) {
  const std::set<std::string> own = SocketsOf(process);
  std::vector<ListeningSocket> sockets;
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);  // the columns' names
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string number, local, remote, state, skipped, inode;
      words >> number >> local >> remote >> state;
      for (int i = 0; i < 5; ++i) {
        words >> skipped;
      }
      words >> inode;
      if (state == "0A" && own.contains("socket:[" + inode + "]")) {
        const std::size_t colon = local.find(':');
        ListeningSocket socket{.address = local.substr(0, colon)};
        std::from_chars(local.data() + colon + 1, local.data() + local.size(),
                        socket.port, 16);
        sockets.push_back(socket);
      }
    }
  }
  return sockets;
}

}  // namespace infeed
