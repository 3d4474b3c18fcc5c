// clang's syntax tree of the declarations of one name.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "common/base/process.hpp"
#include "common/base/result.hpp"

namespace kernelpro {

inline constexpr const char* clang_program = "clang++-19";

// Of one file, also where other programs have the machine.
inline constexpr std::int64_t compiler_timeout_ms = 600'000;

// An environment error where the compiler was ended before it could say anything of the source.
[[nodiscard]] Status check_ended(const Finished& finished, const std::string& compiler);

// clang with what lets it read sources that g++ reads.
[[nodiscard]] std::vector<std::string> clang_command(const std::vector<std::string>& flags);

// Every declaration whose qualified name contains `name` in a translation unit of this text. A
// source that does not compile is a bad_input error with the compiler's words.
[[nodiscard]] Result<std::vector<nlohmann::json>> clang_declarations(
    const std::string& unit, const std::string& name, const std::vector<std::string>& flags,
    std::stop_token stop);

// The first lines of a compiler's errors that say what is wrong.
[[nodiscard]] std::string first_errors(const std::string& diagnostics);

// What a node of such a tree says.
namespace tree {

[[nodiscard]] const nlohmann::json& inner(const nlohmann::json& node);
[[nodiscard]] std::string text_of(const nlohmann::json& node, const char* key);  // empty: not there
[[nodiscard]] std::string type_text(const nlohmann::json& node);
[[nodiscard]] bool has_body(const nlohmann::json& node);
[[nodiscard]] bool is_function(const nlohmann::json& node);

}  // namespace tree

}  // namespace kernelpro
