#include "coordinator/options/options.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "coordinator/app/own_flags.hpp"
#include "coordinator/config/config.hpp"
#include "coordinator/manual/help.hpp"
#include "coordinator/options/manual_options.hpp"
#include "coordinator/options/option_groups.hpp"
#include "coordinator/store/store.hpp"
#include "coordinator/terminal/color.hpp"

namespace kernelpro {

namespace {

constexpr const char* program_name = "kernelpro";
constexpr const char* program_summary = "KernelPro makes compute kernels faster and proves it.";

// What kernelpro.toml adds to a command line.
struct ConfigWords {
  std::filesystem::path file;
  std::vector<ConfigDefault> defaults;
};

// The command that was given.
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* inner = &app;
  while (!inner->get_subcommands().empty()) {
    inner = inner->get_subcommands().front();
  }
  return *inner;
}

// Whether a command was to be named and the first word left is none: who then asks for help asks
// for that of a command that does not exist.
bool names_no_command(const CLI::App& app) {
  const std::vector<std::string> left = app.remaining(true);
  return !describe(innermost(app)).commands.empty() && !left.empty() &&
         !left.front().starts_with("-");
}

// What went wrong, who said so if it was the file, and where to read on.
std::string usage_error(const CLI::App& app, const CLI::Error& error, const ConfigWords& config) {
  const ManualCommand command = describe(innermost(app));
  const std::vector<std::string> left = app.remaining(true);
  const bool unknown =
      names_no_command(app) ||
      (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && !left.empty());
  const std::string what = unknown ? unknown_word(command, left.front()) : error.what();
  std::string text = painted("kernelpro:", Paint::bad, STDERR_FILENO) + " " + what + "\n";
  for (const ConfigDefault& one : config.defaults) {
    if (what.starts_with(one.option) || what.find(" " + one.option) != std::string::npos) {
      text += config.file.string() + ":" + std::to_string(one.line) + " gives " + one.option + "\n";
    }
  }
  return text + "`" + full_name(command) + " --help` says more.\n";
}

// `kernelpro diagnose … -- PROGRAM ARGUMENTS`: takes what stands behind "--", which is not ours to
// parse, off the words.
std::vector<std::string> take_program(std::vector<std::string> words, Options& options) {
  const auto command = std::find_if(words.begin(), words.end(),
                                    [](const std::string& word) { return !word.starts_with("-"); });
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (command != words.end() && *command == "diagnose" && mark != words.end()) {
    options.program_given = true;
    options.diagnose.program.assign(mark + 1, words.end());
    words.erase(mark, words.end());
  }
  return words;
}

// The command that the words name: the first word that is one, and the first behind it that is one
// below it. nullptr: none.
const ManualCommand* command_in(const ManualCommand& root, const std::vector<std::string>& words) {
  const ManualCommand* found = &root;
  for (const std::string& word : words) {
    const ManualCommand* next = find_command(*found, {word});
    if (next == nullptr && !word.starts_with("-")) {
      break;
    }
    found = next != nullptr ? next : found;
  }
  return found == &root ? nullptr : found;
}

// Whether somebody asks for help or about the settings: that must work whatever the file says.
bool reads_no_config(const ManualCommand* command, const std::vector<std::string>& words) {
  const auto is_question = [](const std::string& word) {
    return word == "--help" || word == "-h" || word == "--version" || word == "-V";
  };
  return command == nullptr || command->group == help_group || command->path.back() == "config" ||
         std::any_of(words.begin(), words.end(), is_question);
}

// What the file in force adds to these words.
Result<ConfigWords> config_words(const CLI::App& app, const std::vector<std::string>& words) {
  const ManualCommand root = describe(app);
  const ManualCommand* command = command_in(root, words);
  if (reads_no_config(command, words)) {
    return ConfigWords();
  }
  KP_LET(const std::optional<std::filesystem::path> file, find_config());
  if (!file) {
    return ConfigWords();
  }
  KP_LET(const Config config, load_config(*file, root));
  return ConfigWords{config.file, in_force(defaults_of(config, *command), *command, words)};
}

// What several commands share, put into the requests.
void complete(Options& options) {
  options.node.store = store_directory(options.store);
  options.exported.what = options.node;
  options.exported.form = parse_export_form(options.export_form);
  OptimizeRequest& optimize = options.optimize;
  RunChanges& changes = options.changes;
  optimize.store = options.node.store;
  options.diagnose.store = options.node.store;
  optimize.settings.evaluations = changes.evaluations.value_or(optimize.settings.evaluations);
  optimize.settings.seconds = changes.seconds.value_or(0);
  if (!options.llm.empty()) {
    changes.llm = [all = options.llm](LlmSettings& settings) {
      for (const auto& change : all) {
        change(settings);
      }
    };
    changes.llm(optimize.settings.llm.emplace());
  }
  options.suite.search = optimize;
  // Problems of a suite are searched one like the other, in whatever order.
  options.suite.search.settings.memory = RunSettings().memory;
  options.suite.search.settings.accept_suspect = changes.accept_suspect;
  options.suite.changes = changes;
}

void add_commands(CLI::App& app, Options& options) {
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("-V,--version", "kernelpro " KERNELPRO_VERSION, "Print the version");
  app.require_subcommand(0, 1);
  app.fallthrough();
  app.formatter_fn([](const CLI::App* one, const std::string& /*name*/, CLI::AppFormatMode) {
    return help_text(describe(*one), help_style(STDOUT_FILENO));
  });
  add_output(app, options);
  app.footer(
      "`kernelpro help COMMAND` says more of each.\n"
      "Example:\n  kernelpro optimize blur.cpp:blur\n  kernelpro evaluate axpy my_axpy.cpp");
  add_runs(app, options);
  add_judge(app, options);
  add_serve(app, options);
  add_bench(app, options);
  add_search(app, options);
  add_task(app, options);
  add_code(app, options);
  add_memory(app, options);
  add_machine(app, options);
  add_manual(app, options);
}

void parse_words(CLI::App& app, std::vector<std::string> words, const ConfigWords& config,
                 Options& options) {
  for (const ConfigDefault& one : config.defaults) {
    options.defaulted.push_back(one.option);
    std::ranges::copy(as_words(one), std::back_inserter(words));
  }
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  app.parse(words);
  complete(options);
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
  ParsedOptions parsed;
  CLI::App app(program_summary, program_name);
  add_commands(app, parsed.options);
  const std::vector<std::string> words =
      take_program(std::vector<std::string>(argv + 1, argv + argc), parsed.options);
  parsed.options.own.command = program_name + (" " + shell_line(words));
  const Result<ConfigWords> config = config_words(app, words);
  if (!config) {
    parsed.error = config.error();
    parsed.options.json = std::ranges::find(words, "--json") != words.end();
    return parsed;
  }
  try {
    parse_words(app, words, *config, parsed.options);
    const ManualCommand command = describe(innermost(app));
    parsed.options.command = full_name(command).substr(app.get_name().size());
    parsed.options.command.erase(0, 1);
    if (!command.runs_alone) {
      std::cerr << help_text(command, help_style(STDERR_FILENO));
      parsed.finished = true;
      parsed.exit_code = exit_usage;
    }
  } catch (const CLI::ParseError& error) {
    parsed.finished = true;
    const bool asked = error.get_exit_code() == 0 && !names_no_command(app);
    if (asked) {
      (void)app.exit(error, std::cout, std::cerr);
    } else {
      std::cerr << usage_error(app, error, *config);
    }
    parsed.exit_code = asked ? exit_done : exit_usage;
  }
  return parsed;
}

ManualCommand whole_manual() {
  Options options;
  CLI::App app(program_summary, program_name);
  add_commands(app, options);
  return describe(app);
}

}  // namespace kernelpro
