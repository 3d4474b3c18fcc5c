// `kernelpro serve`: the judge for whoever reaches it by HTTP.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/http/mount.hpp"
#include "coordinator/serve/judges.hpp"

namespace kernelpro::serve {

struct ServiceSettings {
  std::filesystem::path store;
  std::string address = "127.0.0.1";
  int port = 8086;
  std::filesystem::path tokens;    // empty: everybody on this machine
  std::vector<std::string> hosts;  // names that clients may use for us
  QueueLimits queue;
  JudgesSettings judges;
  std::map<std::string, http::Mount*> mounts;  // by path
};

// Until a stop is asked for, or the service was drained. `ready` is told the address once it
// answers there.
[[nodiscard]] Status serve(const ServiceSettings& settings,
                           const std::function<void(const std::string& url)>& ready,
                           std::stop_token stop);

}  // namespace kernelpro::serve
