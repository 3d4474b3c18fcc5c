#include "coordinator/app/own_build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "common/base/file.hpp"
#include "common/wire/json.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

std::optional<fs::path> find_database(const fs::path& file) {
  std::error_code failed;
  for (fs::path folder = fs::weakly_canonical(file, failed).parent_path(); !folder.empty();
       folder = folder.parent_path()) {
    for (const char* inside : {"", "build"}) {
      fs::path candidate = folder / inside / "compile_commands.json";
      if (fs::is_regular_file(candidate, failed)) {
        return candidate;
      }
    }
    if (folder == folder.root_path()) {
      break;
    }
  }
  return {};
}

// A shell's words; quotes and backslashes as in what CMake writes.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == '\\' && i + 1 < command.size() && quote != '\'') {
      word += command[++i];
      open = true;
    } else if (quote != 0) {
      (c == quote ? (void)(quote = 0) : (void)(word += c));
    } else if (c == '"' || c == '\'') {
      quote = c;
      open = true;
    } else if (c == ' ' || c == '\t') {
      if (open) {
        words.push_back(std::exchange(word, {}));
      }
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) {
    words.push_back(word);
  }
  return words;
}

// Those that change what nvcc makes of a kernel; the architecture is that of the device.
bool is_nvcc_option(const std::string& word) {
  static const std::set<std::string> words = {"--use_fast_math", "-use_fast_math",
                                              "--expt-relaxed-constexpr", "--expt-extended-lambda",
                                              "--extended-lambda"};
  return words.contains(word) || word.starts_with("-maxrregcount=") || word.starts_with("-fmad=");
}

bool is_build_option(const std::string& word) {
  return word.starts_with("-O") || word.starts_with("-std=") || word == "-ffast-math" ||
         word == "-fno-math-errno" || word == "-funroll-loops" || word.starts_with("-march=") ||
         word.starts_with("-mcpu=") || word.starts_with("-mtune=") || word == "-fopenmp" ||
         is_nvcc_option(word);
}

// The two words that stand for probed flags.
std::string option_of(const std::string& word) {
  if (word == "-march=native" || word == "-mcpu=native") {
    return "target";
  }
  return word == "-fopenmp" ? "openmp" : word;
}

// Foreign text: "file" is there, and what is there has its type.
bool is_command(const nlohmann::json& entry) {
  const auto text = [&](const char* key) { return !entry.contains(key) || entry[key].is_string(); };
  const auto texts = [](const nlohmann::json& list) {
    return list.is_array() &&
           std::ranges::all_of(list, [](const nlohmann::json& one) { return one.is_string(); });
  };
  return entry.is_object() && entry.contains("file") && text("file") && text("directory") &&
         text("command") && (!entry.contains("arguments") || texts(entry["arguments"]));
}

void take_words(const std::vector<std::string>& words, const fs::path& directory, NewTask& wishes) {
  const bool own_options = !wishes.options.empty();
  const auto folder = [&](const std::string& text) {
    return "-I" + (fs::path(text).is_absolute() ? fs::path(text) : directory / text).string();
  };
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool more = i + 1 < words.size();
    if ((word == "-I" || word == "-isystem" || word == "-iquote") && more) {
      wishes.flags.push_back(folder(words[++i]));
    } else if (word.starts_with("-I")) {
      wishes.flags.push_back(folder(word.substr(2)));
    } else if (word == "-D" && more) {
      wishes.flags.push_back("-D" + words[++i]);
    } else if (word.starts_with("-D")) {
      wishes.flags.push_back(word);
    } else if (is_build_option(word)) {
      if (word.starts_with("-std=")) {
        wishes.flags.push_back(word);
      }
      if (!own_options) {
        wishes.options.push_back(option_of(word));
      }
    }
  }
}

}  // namespace

void take_build_line(const std::string& line, NewTask& wishes) {
  const std::vector<std::string> words = words_of(line);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool alone = (words[i] == "-I" || words[i] == "-D") && i + 1 < words.size();
    const std::string word = alone ? words[i] + words[i + 1] : words[i];
    i += alone ? 1 : 0;
    if (word.starts_with("-I") || word.starts_with("-D") || word.starts_with("-std=")) {
      wishes.flags.push_back(word);
    }
    if (!word.starts_with("-I") && !word.starts_with("-D")) {
      wishes.options.push_back(option_of(word));
    }
  }
}

Status add_own_build(const fs::path& file, const fs::path& database, NewTask& wishes) {
  std::optional<fs::path> path = database.empty() ? find_database(file) : database;
  if (path) {
    KP_LET(const std::string text, read_file(*path));
    KP_LET(const nlohmann::json json, parse_json(text));
    if (!json.is_array() || !std::ranges::all_of(json, is_command)) {
      return make_error(ErrorKind::bad_input, "expected a list of commands, as CMake writes it",
                        path->string());
    }
    std::error_code failed;
    const fs::path wanted = fs::weakly_canonical(file, failed);
    bool found = false;
    for (const auto& entry : json) {
      const fs::path directory = entry.value("directory", "");
      const fs::path named = entry.value("file", "");
      if (found ||
          fs::weakly_canonical(named.is_absolute() ? named : directory / named, failed) != wanted) {
        continue;
      }
      found = true;
      take_words(entry.contains("arguments") ? entry["arguments"].get<std::vector<std::string>>()
                                             : words_of(entry.value("command", "")),
                 directory, wishes);
    }
    if (!found && !database.empty()) {
      return make_error(ErrorKind::bad_input,
                        fmt::format("it has no command for {}", file.string()), path->string());
    }
  }
  if (file.extension() == ".cu") {
    std::erase_if(wishes.options, [](const std::string& option) {
      return !option.starts_with("-O") && !option.starts_with("-std=") && !is_nvcc_option(option);
    });
  }
  if (wishes.options.empty()) {
    wishes.options = {file.extension() == ".cu" ? "-O3" : "-O2"};
  }
  for (const std::string& flag : wishes.flags) {
    if (flag.starts_with("-D") && std::ranges::find(wishes.options, flag) == wishes.options.end()) {
      wishes.options.push_back(flag);
    }
  }
  return {};
}

}  // namespace kernelpro
