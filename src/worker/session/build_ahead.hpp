// Builds the next candidates of a bundle while one is judged.
#pragma once

#include <functional>
#include <thread>
#include <vector>

#include "worker/session/session.hpp"

namespace kernelpro {

// Fills the session's cache of builds from a thread of its own. While it works the session may
// judge, but not open or close a task: `stop` first.
class BuildAhead {
 public:
  explicit BuildAhead(Session& session) : session_(session) {}
  BuildAhead(const BuildAhead&) = delete;
  BuildAhead& operator=(const BuildAhead&) = delete;
  ~BuildAhead() { stop(); }

  // Waits for what was started before. `reserved_cores` are left to whoever measures.
  void start(std::vector<Candidate> candidates, int reserved_cores);
  [[nodiscard]] bool working() const { return thread_.joinable(); }
  void stop();

 private:
  Session& session_;
  std::jthread thread_;
};

}  // namespace kernelpro
