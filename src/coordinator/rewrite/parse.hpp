// From source text to Program, by the eyes of clang.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

#include "common/base/result.hpp"
#include "coordinator/rewrite/program.hpp"

namespace kernelpro {

class StandingClangs;

struct ParseSettings {
  std::filesystem::path jail;  // kernelpro-jail
  std::string clang = "/usr/bin/clang++-19";
  std::filesystem::path abi_include;  // holds kernelpro/candidate.h
  std::int64_t timeout_ms = 30'000;
  bool landlock = true;                    // false only under --sandbox none
  std::filesystem::path prepared_headers;  // from PreparedHeaders; empty: clang reads them itself
  StandingClangs* standing = nullptr;      // nullptr: every source has a clang of its own
};

// Blocks while clang runs. Any source that compiles parses: what is not understood stays text. A
// source that does not compile is a bad_input error with the line and the compiler's words; a
// missing clang or jail an environment error.
[[nodiscard]] Result<Program> parse_program(const std::string& source,
                                            const ParseSettings& settings,
                                            std::stop_token stop = {});

}  // namespace kernelpro
