// The commands about commands: `help`, `config`, `man` and `completion`.
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "coordinator/app/runs.hpp"
#include "coordinator/app/tasks.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/config/config.hpp"
#include "coordinator/manual/completion.hpp"
#include "coordinator/manual/man_page.hpp"
#include "coordinator/options/manual_options.hpp"
#include "coordinator/report/table.hpp"

namespace kernelpro {

namespace {

// The command that the user names; without a name the whole.
Result<const ManualCommand*> named_command(const ManualCommand& manual, const Options& options) {
  std::vector<std::string> words;
  for (const std::string& word : options.words) {
    words.push_back(word);
    if (find_command(manual, words) == nullptr) {
      words.pop_back();
      return make_error(ErrorKind::bad_input, unknown_word(*find_command(manual, words), word));
    }
  }
  return find_command(manual, words);
}

nlohmann::json default_json(const ConfigDefault& one) {
  return {{"command", fmt::format("{}", fmt::join(one.command, " "))},
          {"option", one.option},
          {"values", one.values},
          {"off", one.off},
          {"line", one.line}};
}

// "KERNELPRO_STORE=/runs", of the variables that are ours.
std::vector<std::string> own_variables() {
  std::vector<std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::string_view(*entry).starts_with("KERNELPRO_")) {
      found.emplace_back(*entry);
    }
  }
  return found;
}

std::string config_text(const Config& config) {
  if (config.file.empty()) {
    return "no kernelpro.toml in this folder or above it: options have their own defaults\n";
  }
  Table table({"command", "option", "value", "line"});
  for (const ConfigDefault& one : config.defaults) {
    const std::string flag = one.off ? "off" : "on";
    const std::string value =
        one.values.empty() ? flag : fmt::format("{}", fmt::join(one.values, " "));
    table.add({one.command.empty() ? "every" : fmt::format("{}", fmt::join(one.command, " ")),
               one.option, value, std::to_string(one.line)});
  }
  return fmt::format("{}\n{}", config.file.string(),
                     config.defaults.empty() ? "sets nothing\n" : table.text());
}

// What the file says; of one command only where one is named.
Result<Config> wanted_config(const Options& options) {
  const ManualCommand manual = whole_manual();
  KP_LET(const ManualCommand* const command, named_command(manual, options));
  KP_LET(const std::optional<std::filesystem::path> file, find_config());
  if (!file) {
    return Config();
  }
  KP_LET(Config config, load_config(*file, manual));
  if (!options.words.empty()) {
    config.defaults = defaults_of(config, *command);
  }
  return config;
}

}  // namespace

int help_command(const Options& options, std::stop_token /*stop*/) {
  const ManualCommand manual = whole_manual();
  const Result<const ManualCommand*> command = named_command(manual, options);
  if (!command) {
    (void)report_error(options, command.error());
    return exit_usage;
  }
  fmt::print("{}", help_text(**command, help_style(STDOUT_FILENO)));
  return exit_done;
}

int config_command(const Options& options, std::stop_token /*stop*/) {
  const Result<Config> config = wanted_config(options);
  if (!config) {
    return report_error(options, config.error());
  }
  const std::string store = options.node.store.string();
  if (options.json) {
    nlohmann::json defaults = nlohmann::json::array();
    for (const ConfigDefault& one : config->defaults) {
      defaults.push_back(default_json(one));
    }
    print_json({{"file", config->file.string()},
                {"defaults", std::move(defaults)},
                {"environment", own_variables()},
                {"store", store}});
    return exit_done;
  }
  fmt::print("{}", config_text(*config));
  for (const std::string& variable : own_variables()) {
    fmt::print("environment: {}\n", variable);
  }
  fmt::print("runs are kept in {}\n", store);
  return exit_done;
}

int man_command(const Options& options, std::stop_token /*stop*/) {
  const ManualCommand manual = whole_manual();
  const Result<const ManualCommand*> command = named_command(manual, options);
  if (!command) {
    return report_error(options, command.error());
  }
  if (options.into.empty()) {
    fmt::print("{}", man_page(manual, **command, KERNELPRO_VERSION).text);
    return exit_done;
  }
  Status written = make_directories(options.into);
  for (const ManPage& page : man_pages(manual, KERNELPRO_VERSION)) {
    written = written ? write_file_atomic(options.into / page.name, page.text) : written;
  }
  return written ? exit_done : report_error(options, written.error());
}

int completion_command(const Options& options, std::stop_token /*stop*/) {
  const std::string& what = options.words.front();
  if (what == "runs") {
    // Where there is no store there are no names.
    const Result<std::vector<RunSummary>> runs = list_runs(options.node.store);
    for (const RunSummary& run : runs ? *runs : std::vector<RunSummary>()) {
      fmt::print("{}\n", run.id);
    }
  } else if (what == "tasks") {
    for (const TaskListing& task : list_tasks()) {
      fmt::print("{}\n", task.name);
    }
  } else if (const Result<std::string> script = completion_script(whole_manual(), what); script) {
    fmt::print("{}", *script);
  } else {
    return report_error(options, script.error());
  }
  return exit_done;
}

}  // namespace kernelpro
