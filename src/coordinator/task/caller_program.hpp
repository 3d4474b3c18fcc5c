// A user's function called as its callers may: at given sizes, with arrays at given places.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/file.hpp"
#include "common/base/result.hpp"
#include "coordinator/task/own_call.hpp"

namespace kernelpro {

// Where an array lies.
inline constexpr std::int64_t at_end_of_memory = -1;  // what is behind it cannot be read
inline constexpr std::int64_t aligned = 0;            // at a multiple of 64 bytes; n: n behind one

struct CallerArray {
  std::string content;
  std::int64_t place = aligned;
  std::int64_t same = -1;  // the array of that number instead of one of its own
};

struct CallerCall {
  std::vector<std::int64_t> sizes;  // of the axis leaves
  std::vector<double> scalars;      // of the scalar leaves
  std::vector<CallerArray> arrays;  // of the tensor leaves
};

struct CallerResult {
  int signal = 0;  // that ended it; SIGALRM: it took too long
  int status = 0;  // 1: a list came out with another size
  bool intact = true;
  std::vector<std::string> arrays;  // after the call; empty for what is another's

  [[nodiscard]] bool returned() const { return signal == 0; }
};

struct CallerBuild {
  std::string compiler;
  std::vector<std::string> options;
};

// As the user builds: "target" and "openmp" stand for flags; `target` is what the first means.
[[nodiscard]] CallerBuild own_caller_build(const std::string& compiler,
                                           const std::vector<std::string>& options,
                                           const std::vector<std::string>& target);
// By clang, one thread, ended by undefined behavior.
[[nodiscard]] CallerBuild checked_caller_build(const std::vector<std::string>& options,
                                               const std::vector<std::string>& target);

// What "target" may mean on this machine, the best first.
[[nodiscard]] std::vector<std::vector<std::string>> target_flag_choices();

// Whether a C compiler takes the source. It is compiled in the jail.
[[nodiscard]] Result<bool> is_c(const std::string& source, const CallerBuild& build,
                                std::stop_token stop);

class CallerProgram {
 public:
  // The source has its headers within. It is compiled in the jail: not all of it is the user's. A
  // bad_input error has the compiler's words.
  [[nodiscard]] static Result<CallerProgram> build(const std::string& source, const OwnCall& call,
                                                   const CallerBuild& build, std::stop_token stop);

  // One result for each call, in the jail.
  [[nodiscard]] Result<std::vector<CallerResult>> run(const std::vector<CallerCall>& calls,
                                                      std::stop_token stop) const;

 private:
  std::shared_ptr<ScratchDir> folder_;
};

}  // namespace kernelpro
