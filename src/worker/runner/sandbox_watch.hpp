// Answers the system calls that the runner's filter reports, and remembers those that no honest
// kernel makes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/unique_fd.hpp"
#include "worker/runner/asked_path.hpp"

namespace kernelpro {

// The kernel tells us the call and its arguments, so what is recorded here is fact. Denial does not
// rest on it: landlock and the filter hold without us.
class SandboxWatch {
 public:
  SandboxWatch() = default;
  // `readable` and `writable`: what the jail lets the runner read and write, as the jail was told.
  SandboxWatch(UniqueFd listener, pid_t runner, std::vector<std::string> readable,
               std::vector<std::string> writable);

  [[nodiscard]] int fd() const { return listener_.get(); }
  // Answers what is waiting on fd(). Opening a readable or a missing file goes on; what runtimes
  // ask for in good faith (processor information, shared memory of OpenMP) is refused in silence;
  // all else is refused and recorded. So is any question about a path when thousands went on.
  void answer();
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

 private:
  struct Answer {
    bool go_on = false;
    int error = 0;
  };
  [[nodiscard]] Answer decide(const Asker& asker, int call, const unsigned long long* arguments);
  // `decide`, unless the kernel has looked up too many names already.
  [[nodiscard]] Answer look_up(const std::function<Answer()>& decide);
  [[nodiscard]] std::string asked_path(const Asker& asker, int folder,
                                       unsigned long long address) const;
  [[nodiscard]] Answer decide_path(const Asker& asker, const std::string& call,
                                   const std::string& path, bool writes);
  [[nodiscard]] std::string read_path(unsigned long long address) const;
  [[nodiscard]] bool is_own_thread(unsigned long long thread) const;
  void record(const std::string& what);

  UniqueFd listener_;
  pid_t runner_ = -1;
  std::vector<std::string> readable_;
  std::vector<std::string> writable_;
  std::vector<std::string> violations_;
  std::int64_t lookups_ = 0;  // questions about paths that went on
};

}  // namespace kernelpro
