// What was parsed and rewritten before: many candidates share a source and differ in their build,
// and moves share their first steps.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/rewrite/parse.hpp"
#include "coordinator/rewrite/prepared_headers.hpp"
#include "coordinator/rewrite/rewriter.hpp"

namespace kernelpro {

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
    std::string source;
    Result<Program> program;
    std::map<std::string, Result<std::vector<Rewritten>>> results;  // by rewriter and arguments
  };
  Known& known(const std::string& source, const std::stop_token& stop);
  Error failure_of(const Known& one);  // the one used last

  ParseSettings settings_;
  PreparedHeaders headers_;
  std::size_t capacity_;
  std::list<Known> known_;  // the one used last in front
};

}  // namespace kernelpro
