// clang that stays: one process reads many sources. Nearly all that a short source takes is the
// start of clang, which links 200 MB of libraries.
//
// clang takes several inputs, and a named pipe for an input. So it is given a pipe for every source
// that it may come to read, and waits at each for whoever writes to it. It is in the same jail as
// one that reads a single source. What sources share is the process: one that takes clang over
// could make up the trees of those behind it. Trees only decide which candidates are proposed, and
// the judge believes none of them.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "common/base/file.hpp"
#include "common/base/result.hpp"
#include "common/base/unique_fd.hpp"
#include "coordinator/rewrite/parse.hpp"

namespace kernelpro {

class StandingClang {
 public:
  // It reads sources that begin with the prepared headers of `settings`.
  [[nodiscard]] static Result<std::unique_ptr<StandingClang>> start(const ParseSettings& settings);
  StandingClang(const StandingClang&) = delete;
  StandingClang& operator=(const StandingClang&) = delete;
  ~StandingClang();

  // The tree of a source, as JSON without what lies in the prepared headers. Nothing when clang had
  // something to say of it, or is gone. Blocks while clang reads; an error only when that takes too
  // long. But for a tree, it is of no further use.
  [[nodiscard]] Result<std::optional<std::string>> tree_of(const std::string& source,
                                                           const ParseSettings& settings,
                                                           const std::stop_token& stop);
  // Whether it can read one more. It ends with the thread that has started it.
  [[nodiscard]] bool usable() const;

 private:
  explicit StandingClang(ScratchDir folder) : folder_(std::move(folder)) {}
  // Of what clang has printed; nothing when `end` is not among it.
  [[nodiscard]] std::optional<std::string> take_tree(const std::string& end);

  ScratchDir folder_;
  pid_t pid_ = -1;
  UniqueFd process_;
  UniqueFd output_;
  UniqueFd errors_;
  int read_ = 0;              // so many sources
  std::string printed_;       // and not taken yet
  std::size_t searched_ = 0;  // so much of it
};

// As many as threads read at a time. They may share it.
class StandingClangs {
 public:
  // As StandingClang::tree_of; nothing also when none can be started.
  [[nodiscard]] Result<std::optional<std::string>> tree_of(const std::string& source,
                                                           const ParseSettings& settings,
                                                           const std::stop_token& stop);

 private:
  struct Idle {
    std::filesystem::path prepared_headers;
    std::unique_ptr<StandingClang> clang;
  };
  // One that waits, or a new one; nullptr when none can be started.
  [[nodiscard]] std::unique_ptr<StandingClang> take(const ParseSettings& settings);
  void give_back(std::unique_ptr<StandingClang> clang, const ParseSettings& settings);

  std::mutex mutex_;
  std::list<Idle> idle_;  // the one used last in front
};

}  // namespace kernelpro
