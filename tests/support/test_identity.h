#pragma once

#include <string>

namespace infeed {

// A service account of Google's kind with a key pair of its own, made anew for
// each object.
class TestServiceAccount {
 public:
  TestServiceAccount();

  // For object_server.py: "--service_account=EMAIL:MODULUS".
  [[nodiscard]] std::string server_flag() const;
  [[nodiscard]] const std::string& private_key() const { return private_key_; }

  // Writes the file that such an account's owner is given.
  void WriteJson(const std::string& path, const std::string& token_uri) const;

 private:
  std::string private_key_;  // PEM
  std::string modulus_;      // in hex
};

// Writes a certificate that 127.0.0.1 signed itself, and its key, as PEM.
void WriteTestCertificate(const std::string& certificate_path,
                          const std::string& key_path);

}  // namespace infeed
