// What answers below a path, for callers that were let in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coordinator/http/server.hpp"

namespace kernelpro::http {

// Who sent a request, as its token says.
struct Caller {
  std::string name;
  bool admin = false;  // may have code run outside the sandbox
};

class Mount {
 public:
  Mount() = default;
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  virtual ~Mount() = default;

  virtual void take(const std::shared_ptr<Exchange>& exchange, const Caller& caller) = 0;
  // As Handler::tick.
  virtual int tick() = 0;
  [[nodiscard]] virtual std::vector<int> watched() const { return {}; }
};

}  // namespace kernelpro::http
