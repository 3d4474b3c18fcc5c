#include "coordinator/config/config.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "common/base/file.hpp"
#include "coordinator/task/nearest.hpp"
#include "coordinator/task/toml_value.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "kernelpro.toml";

// Who could write it could make us start any program.
Status check_owner(const fs::path& file) {
  struct stat facts{};
  if (::stat(file.c_str(), &facts) != 0) {
    return errno_error("reading " + file.string());
  }
  if (facts.st_uid == ::geteuid() || facts.st_uid == 0) {
    return {};
  }
  return make_error(ErrorKind::bad_input,
                    "it belongs to another user, and it can say which programs are started; if you "
                    "trust it, set KERNELPRO_CONFIG to its path, else set KERNELPRO_CONFIG to "
                    "nothing",
                    file.string());
}

// "--timing 2", "--timing=2", "-n 2" and "-n2".
bool stands_in(const std::vector<std::string>& words, const std::string& name) {
  return std::ranges::any_of(words, [&name](const std::string& word) {
    const bool joined =
        word.starts_with(name + "=") || (!name.starts_with("--") && word.starts_with(name));
    return word == name || joined;
  });
}

// Collects what a file says.
class Reader {
 public:
  Reader(const fs::path& file, const ManualCommand& root) : root_(root) { out_.file = file; }

  Result<Config> read(const TomlValue& whole) {
    KP_TRY(read_table(whole, root_));
    return std::move(out_);
  }

 private:
  [[nodiscard]] Error wrong(const TomlValue& value, const std::string& message) const {
    return make_error(ErrorKind::bad_input, message,
                      fmt::format("{}:{}: {}", out_.file.string(), value.line, value.key));
  }

  Status read_table(const TomlValue& table, const ManualCommand& command) {
    for (const TomlValue& member : table.items) {
      if (member.kind == TomlValue::Kind::table) {
        KP_TRY(read_command(member, command));
      } else {
        KP_TRY(read_option(member, command));
      }
    }
    return {};
  }

  Status read_command(const TomlValue& table, const ManualCommand& above) {
    const ManualCommand* command = find_command(above, {table.key});
    if (command == nullptr) {
      std::vector<std::string> known;
      known.reserve(above.commands.size());
      for (const ManualCommand& one : above.commands) {
        known.push_back(one.path.back());
      }
      return wrong(table, fmt::format("`{}` has no such command{}", full_name(above),
                                      suggest(table.key, known)));
    }
    return read_table(table, *command);
  }

  // Options with a long name that the command has; of the program as a whole: any command's.
  [[nodiscard]] static std::vector<std::string> keys_of(const ManualCommand& command) {
    std::vector<std::string> keys;
    const auto add = [&keys](const ManualCommand& one) {
      for (const ManualOption& option : one.options) {
        for (const std::string& name : option.names) {
          const bool fit = name.starts_with("--") && name != "--help" && name != "--version";
          if (fit && std::ranges::find(keys, name.substr(2)) == keys.end()) {
            keys.push_back(name.substr(2));
          }
        }
      }
    };
    add(command);
    for (const ManualCommand* one : all_commands(command)) {
      add(*one);
    }
    return keys;
  }

  // The option that this key means, of the command or of one below it.
  [[nodiscard]] static const ManualOption* meant(const ManualCommand& command,
                                                 const std::string& name) {
    if (const ManualOption* own = find_option(command, name)) {
      return own;
    }
    for (const ManualCommand* one : all_commands(command)) {
      if (const ManualOption* option = find_option(*one, name)) {
        return option;
      }
    }
    return nullptr;
  }

  Status read_option(const TomlValue& member, const ManualCommand& command) {
    const std::vector<std::string> keys = keys_of(command);
    if (std::ranges::find(keys, member.key) == keys.end()) {
      return wrong(member, fmt::format("`{}` has no such option{}", full_name(command),
                                       near_or_help(member.key, keys, command)));
    }
    ConfigDefault one;
    one.command.assign(command.path.begin() + 1, command.path.end());
    one.option = "--" + member.key;
    one.line = member.line;
    const ManualOption& option = *meant(command, one.option);
    KP_TRY(option.value.empty() ? read_flag(member, one) : read_values(member, option, one));
    out_.defaults.push_back(std::move(one));
    return {};
  }

  [[nodiscard]] static std::string near_or_help(const std::string& key,
                                                const std::vector<std::string>& keys,
                                                const ManualCommand& command) {
    const std::optional<std::string> near = nearest(key, keys);
    return near ? fmt::format("; did you mean \"{}\"?", *near)
                : fmt::format("; `{} --help` lists them", full_name(command));
  }

  [[nodiscard]] Status read_flag(const TomlValue& member, ConfigDefault& one) const {
    if (member.kind != TomlValue::Kind::boolean) {
      return wrong(member, "expected true or false, found " + member.describe());
    }
    one.off = !member.truth;
    return {};
  }

  Status read_values(const TomlValue& member, const ManualOption& option, ConfigDefault& one) {
    if (member.kind != TomlValue::Kind::array) {
      return add_value(member, member, option, one);
    }
    if (!option.repeatable) {
      return wrong(member, "expected one value, found an array");
    }
    for (const TomlValue& item : member.items) {
      KP_TRY(add_value(member, item, option, one));
    }
    return {};
  }

  Status add_value(const TomlValue& member, const TomlValue& value, const ManualOption& option,
                   ConfigDefault& one) const {
    std::string text = value.text;
    if (value.kind == TomlValue::Kind::integer) {
      text = std::to_string(value.integer);
    } else if (value.kind == TomlValue::Kind::floating) {
      text = fmt::format("{}", value.number);
    } else if (value.kind != TomlValue::Kind::string) {
      return wrong(member, "expected text or a number, found " + value.describe());
    }
    if (text.empty()) {
      return wrong(member, "expected a value, found the string \"\"");
    }
    const bool path = option.value == "FILE" || option.value == "DIR";
    // Beside the file that says so, wherever below it the command is given.
    one.values.push_back(path ? (out_.file.parent_path() / text).lexically_normal().string()
                              : text);
    return {};
  }

  const ManualCommand& root_;
  Config out_;
};

}  // namespace

Result<std::optional<fs::path>> find_config() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing in this program changes its environment.
  if (const char* named = std::getenv("KERNELPRO_CONFIG"); named != nullptr) {
    return *named == '\0' ? std::optional<fs::path>() : std::optional(fs::absolute(named));
  }
  std::error_code error;
  fs::path folder = fs::current_path(error);
  while (!folder.empty()) {
    fs::path file = folder / file_name;
    if (fs::is_regular_file(file, error)) {
      KP_TRY(check_owner(file));
      return std::optional(std::move(file));
    }
    if (folder == folder.parent_path()) {
      break;
    }
    folder = folder.parent_path();
  }
  return std::optional<fs::path>();
}

Result<Config> load_config(const fs::path& file, const ManualCommand& root) {
  Result<std::string> text = read_file(file);
  if (!text) {
    return make_error(ErrorKind::bad_input, text.error().message, text.error().context);
  }
  KP_LET(const TomlValue whole, parse_toml(*text, file.string()));
  return Reader(file, root).read(whole);
}

std::vector<ConfigDefault> defaults_of(const Config& config, const ManualCommand& command) {
  const std::vector<std::string> words(command.path.begin() + 1, command.path.end());
  std::vector<ConfigDefault> all;
  const auto add_said_of = [&](std::size_t parts) {
    for (const ConfigDefault& one : config.defaults) {
      const bool of_it = one.command.size() == parts &&
                         std::equal(one.command.begin(), one.command.end(), words.begin());
      const bool known = std::ranges::find(all, one.option, &ConfigDefault::option) != all.end();
      if (of_it && !known && find_option(command, one.option) != nullptr) {
        all.push_back(one);
      }
    }
  };
  for (std::size_t parts = words.size() + 1; parts-- > 0;) {
    add_said_of(parts);
  }
  return all;
}

std::vector<ConfigDefault> in_force(const std::vector<ConfigDefault>& defaults,
                                    const ManualCommand& command,
                                    const std::vector<std::string>& words) {
  const auto given = [&](const std::string& name) {
    const ManualOption* option = find_option(command, name);
    return option != nullptr && std::ranges::any_of(option->names, [&words](const auto& one) {
             return stands_in(words, one);
           });
  };
  const auto said = [&defaults](const std::string& name) {
    return std::ranges::any_of(
        defaults, [&name](const ConfigDefault& one) { return one.option == name && !one.off; });
  };
  std::vector<ConfigDefault> left;
  for (const ConfigDefault& one : defaults) {
    const ManualOption* option = find_option(command, one.option);
    const bool out =
        option == nullptr || given(one.option) || std::ranges::any_of(option->excludes, given) ||
        !std::ranges::all_of(option->needs,
                             [&](const std::string& name) { return given(name) || said(name); });
    if (!out) {
      left.push_back(one);
    }
  }
  return left;
}

std::vector<std::string> as_words(const ConfigDefault& one) {
  if (one.off) {
    return {};
  }
  if (one.values.empty()) {
    return {one.option};
  }
  std::vector<std::string> words;
  words.reserve(one.values.size());
  for (const std::string& value : one.values) {
    words.push_back(one.option + "=" + value);
  }
  return words;
}

}  // namespace kernelpro
