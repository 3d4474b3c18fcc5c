// What the GPU does during a call, as CUPTI tells. Loaded only into a runner that times nothing: it
// slows launches down. What it says is evidence and no proof, for the candidate shares its process.
#pragma once

#include "common/base/result.hpp"
#include "common/base/runner_protocol.hpp"

namespace kernelpro::runner {

class Tracer {
 public:
  // Loads CUPTI from `library`. Before the GPU is opened and before the filter.
  [[nodiscard]] Status open(const char* library);
  [[nodiscard]] bool is_open() const { return flush_ != nullptr; }

  // Forgets what was written down so far.
  void begin() const;
  // What was written down since; everything that was launched must have ended.
  [[nodiscard]] Trace end() const;

 private:
  int (*flush_)(std::uint32_t) = nullptr;
};

}  // namespace kernelpro::runner
