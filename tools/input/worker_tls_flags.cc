#include "tools/input/worker_tls_flags.h"

#include <CLI/CLI.hpp>

namespace infeed {

void AddWorkerTlsFlags(CLI::App& app, const std::string& prefix,
                       TlsFiles& files) {
  const std::string names = "--" + prefix + "tls_";
  app.add_option(names + "cert", files.cert,
                 "Certificate (PEM) of this side of TLS between trainer and "
                 "workers.")
      ->type_name("FILE");
  app.add_option(names + "key", files.key,
                 "Private key (PEM) of that certificate.")
      ->type_name("FILE");
  app.add_option(names + "ca", files.ca,
                 "Certificate (PEM) of the authority that must have signed the "
                 "other side's.")
      ->type_name("FILE");
}

}  // namespace infeed
