#include "coordinator/task/clang_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <utility>

#include "common/base/file.hpp"
#include "common/base/process.hpp"

namespace kernelpro {
namespace {

constexpr std::size_t largest_tree = std::size_t{256} << 20U;

// Where g++ keeps omp.h; clang looks there last.
std::string compiler_headers() {
  Command command;
  command.arguments = {"g++", "-print-file-name=include"};
  const auto asked = run_command(command);
  if (!asked.ok() || !asked->succeeded()) {
    return "";
  }
  return asked->output.substr(0, asked->output.find('\n'));
}

}  // namespace

namespace tree {

const nlohmann::json& inner(const nlohmann::json& node) {
  static const nlohmann::json none = nlohmann::json::array();
  const auto found = node.find("inner");
  return found == node.end() ? none : *found;
}

std::string text_of(const nlohmann::json& node, const char* key) {
  const auto found = node.find(key);
  return found != node.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string type_text(const nlohmann::json& node) {
  const auto type = node.find("type");
  if (type == node.end()) {
    return "";
  }
  const std::string plain = text_of(*type, "desugaredQualType");
  return plain.empty() ? text_of(*type, "qualType") : plain;
}

bool has_body(const nlohmann::json& node) {
  return std::ranges::any_of(inner(node), [](const nlohmann::json& child) {
    return text_of(child, "kind") == "CompoundStmt";
  });
}

bool is_function(const nlohmann::json& node) {
  const std::string kind = text_of(node, "kind");
  return kind == "FunctionDecl" || kind == "CXXMethodDecl";
}

}  // namespace tree

std::vector<std::string> clang_command(const std::vector<std::string>& flags) {
  static const std::string headers = compiler_headers();
  std::vector<std::string> words = {clang_program, "-fno-color-diagnostics",
                                    "-fno-caret-diagnostics", "-w"};
  const bool standard =
      std::ranges::any_of(flags, [](const std::string& flag) { return flag.starts_with("-std="); });
  if (!standard) {
    words.emplace_back("-std=c++20");
  }
  words.insert(words.end(), flags.begin(), flags.end());
  if (!headers.empty()) {
    words.insert(words.end(), {"-idirafter", headers});
  }
  return words;
}

Status check_ended(const Finished& finished, const std::string& compiler) {
  if (finished.timed_out) {
    return make_error(
        ErrorKind::environment,
        fmt::format("{} did not end within {} minutes; try again when the machine has "
                    "time for it",
                    compiler, compiler_timeout_ms / 60'000));
  }
  if (finished.signal != 0) {
    return make_error(ErrorKind::environment,
                      fmt::format("{} was ended by signal {}; is there memory enough?", compiler,
                                  finished.signal));
  }
  return {};
}

std::string first_errors(const std::string& diagnostics) {
  constexpr std::size_t most = 5;
  std::istringstream lines(diagnostics);
  std::string text;
  std::size_t shown = 0;
  for (std::string line; shown < most && std::getline(lines, line);) {
    if (line.find("error") != std::string::npos ||
        line.find("undefined reference") != std::string::npos) {
      text += (text.empty() ? "" : "\n") + line;
      ++shown;
    }
  }
  return text.empty() ? diagnostics.substr(0, 400) : text;
}

Result<std::vector<nlohmann::json>> clang_declarations(const std::string& unit,
                                                       const std::string& name,
                                                       const std::vector<std::string>& flags,
                                                       std::stop_token stop) {
  KP_LET(const ScratchDir scratch, ScratchDir::create("read"));
  const std::filesystem::path file = scratch.path() / "unit.cpp";
  KP_TRY(write_file_unsynced(file, unit));
  Command command;
  command.arguments = clang_command(flags);
  for (const std::string& word :
       {std::string("-fsyntax-only"), std::string("-Xclang"), std::string("-ast-dump=json"),
        std::string("-Xclang"), "-ast-dump-filter=" + name, file.string()}) {
    command.arguments.push_back(word);
  }
  command.output_limit = largest_tree;
  command.inherit_environment = true;
  command.timeout_ms = compiler_timeout_ms;
  KP_LET(const Finished finished, run_command(command, std::move(stop)));
  KP_TRY(check_ended(finished, clang_program));
  if (!finished.succeeded()) {
    return make_error(ErrorKind::bad_input,
                      "it does not compile: " + first_errors(finished.errors));
  }
  std::vector<nlohmann::json> trees;
  std::istringstream stream(finished.output);
  while (stream >> std::ws && stream.peek() != std::istringstream::traits_type::eof()) {
    try {
      nlohmann::json tree;
      stream >> tree;
      trees.push_back(std::move(tree));
    } catch (const nlohmann::json::exception& error) {
      return make_error(ErrorKind::internal,
                        std::string("clang's tree cannot be read: ") + error.what());
    }
  }
  return trees;
}

}  // namespace kernelpro
