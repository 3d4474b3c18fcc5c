// Works off a bundle: one file of requests in, one file of replies out.
#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>

#include "worker/session/session.hpp"

namespace kernelpro {

struct BundleWork {
  std::int64_t answered = 0;  // of all requests, also by earlier runs
  std::int64_t failed = 0;    // ended with an error line; the next run tries them again
  // Of this run's evaluations, from the first one's begin to the last one's end.
  std::int64_t evaluating_ns = 0;
  std::int64_t judging_ns = 0;  // the part of it that a candidate held the CPU's or GPU's lock
};

// Carries out the requests of `in` that `out` does not answer yet, in their order, and adds each
// reply to `out` before the next begins. A request that fails becomes an error line, and the rest
// goes on. `say` gets a line of progress for people after each. An error when a file cannot be
// used, a stop was asked for, or (of kind `lost`) this process can judge no more: another one goes
// on. What was finished by then is in `out`.
[[nodiscard]] Result<BundleWork> work_off_bundle(Session& session, const std::filesystem::path& in,
                                                 const std::filesystem::path& out,
                                                 const std::function<void(const std::string&)>& say,
                                                 std::stop_token stop);

}  // namespace kernelpro
