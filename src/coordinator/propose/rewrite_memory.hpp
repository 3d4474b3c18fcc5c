// What was parsed and rewritten before: many candidates share a source and differ in their build,
// and moves share their first steps.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/rewrite/parse.hpp"
#include "coordinator/rewrite/prepared_headers.hpp"
#include "coordinator/rewrite/rewriter.hpp"
#include "coordinator/rewrite/standing_clang.hpp"

namespace kernelpro {

// Threads may share it: two that ask for one source wait for one parse, others go on meanwhile.
class RewriteMemory {
 public:
  explicit RewriteMemory(ParseSettings settings, std::size_t sources = 48)
      : settings_(std::move(settings)), capacity_(sources) {}

  // As `rewrite` on the parsed source. Blocks while clang parses, the first time.
  [[nodiscard]] Result<std::vector<Rewritten>> rewritten(
      const std::string& rewriter, const std::string& source,
      const std::map<std::string, std::string>& arguments, const std::stop_token& stop);

  // So that `rewritten` finds the source parsed.
  void parse(const std::string& source, const std::stop_token& stop);

 private:
  struct Known {
    explicit Known(std::string text) : source(std::move(text)) {}

    const std::string source;
    std::mutex mutex;  // of what follows
    std::optional<Result<Program>> program;
    std::map<std::string, Result<std::vector<Rewritten>>> results;  // by rewriter and arguments
  };
  [[nodiscard]] std::shared_ptr<Known> known(const std::string& source);
  // Parses it unless that was done. Holds its mutex.
  void parse(Known& one, const std::stop_token& stop);
  // Forgets it when clang was stopped or is missing, which says nothing about the source.
  [[nodiscard]] Error failure_of(const Known& one);

  const ParseSettings settings_;
  const std::size_t capacity_;
  std::mutex headers_mutex_;
  PreparedHeaders headers_;
  StandingClangs clangs_;                    // they read from `headers_`
  std::mutex mutex_;                         // of what follows
  std::list<std::shared_ptr<Known>> known_;  // the one used last in front
};

}  // namespace kernelpro
