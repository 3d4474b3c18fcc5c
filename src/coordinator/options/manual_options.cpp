#include "coordinator/options/manual_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "coordinator/manual/completion.hpp"
#include "coordinator/options/option_groups.hpp"
#include "coordinator/terminal/color.hpp"

namespace kernelpro {

namespace {

constexpr const char* example_mark = "Example:";

// "TEXT:{cpu,cuda}" as "WORD" and its choices, "INT:INT in [1 - 9]" as "INT", "TEXT:DIR" as "DIR".
void describe_value(std::string type, ManualOption& out) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open == std::string::npos ? 0 : open);
  if (open != std::string::npos && close != std::string::npos) {
    std::istringstream words(type.substr(open + 1, close - open - 1));
    for (std::string word; std::getline(words, word, ',');) {
      out.choices.push_back(word);
    }
    out.value = "WORD";
    return;
  }
  if (const std::size_t colon = type.find(':'); colon != std::string::npos) {
    const std::string check = type.substr(colon + 1);
    type = check.find(' ') == std::string::npos ? check : type.substr(0, colon);
  }
  out.value = type;
}

std::vector<std::string> names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const CLI::Option* option : options) {
    names.push_back(option->get_name());
  }
  return names;
}

ManualOption describe_option(const CLI::Option& option) {
  ManualOption out;
  for (const std::string& name : option.get_lnames()) {
    out.names.push_back("--" + name);
  }
  for (const std::string& name : option.get_snames()) {
    out.names.push_back("-" + name);
  }
  out.argument = out.names.empty();
  if (out.argument) {
    out.names = {option.get_single_name()};
  }
  if (option.get_items_expected_max() > 0) {
    describe_value(option.get_type_name(), out);
  }
  out.text = option.get_description();
  out.group = option.get_group();
  out.required = option.get_required();
  out.repeatable = option.get_items_expected_max() > 1;
  out.excludes = names_of(option.get_excludes());
  out.needs = names_of(option.get_needs());
  return out;
}

// Paragraphs, then "Example:" and a command line each.
void describe_footer(const std::string& footer, ManualCommand& out) {
  std::istringstream lines(footer);
  bool examples = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == example_mark) {
      examples = true;
    } else if (!line.empty()) {
      line.erase(0, line.find_first_not_of(' '));
      (examples ? out.examples : out.notes).push_back(line);
    }
  }
}

void add_man(CLI::App& app, Options& options) {
  CLI::App* man = app.add_subcommand("man", "Print a manual page, or write all of them");
  man->group(help_group);
  man->add_option("command", options.words, "Of this command (default: of the whole)")
      ->type_name("COMMAND");
  man->add_option("--into", options.into, "Write all pages into this folder")->type_name("DIR");
  man->footer(
      "Example:\n  kernelpro man optimize | man -l -\n"
      "  kernelpro man --into ~/.local/share/man/man1");
}

void add_completion(CLI::App& app, Options& options) {
  CLI::App* completion =
      app.add_subcommand("completion", "Print what a shell needs to complete commands");
  completion->group(help_group);
  std::vector<std::string> kinds = completion_shells();
  kinds.insert(kinds.end(), {"runs", "tasks"});
  completion
      ->add_option("what", options.words,
                   "A shell: its script; runs or tasks: the names that the scripts ask for")
      ->required()
      ->expected(1)
      ->check(one_of(kinds));
  completion->footer(
      "Example:\n  source <(kernelpro completion bash)\n"
      "  kernelpro completion zsh > ~/.zfunc/_kernelpro\n"
      "  kernelpro completion fish > ~/.config/fish/completions/kernelpro.fish");
}

}  // namespace

HelpStyle help_style(int file) {
  return {text_width(file),
          [file](const std::string& heading) { return painted(heading, Paint::heading, file); }};
}

ManualCommand describe(const CLI::App& app) {
  ManualCommand out;
  for (const CLI::App* one = &app; one != nullptr; one = one->get_parent()) {
    out.path.insert(out.path.begin(), one->get_name());
  }
  out.group = app.get_group();
  out.summary = app.get_description();
  describe_footer(app.get_footer(), out);
  for (const CLI::Option* option : app.get_options()) {
    out.options.push_back(describe_option(*option));
  }
  // Help comes first in CLI11's tables, and is read last.
  if (!out.options.empty() && out.options.front().names.front() == "--help") {
    std::ranges::rotate(out.options, out.options.begin() + 1);
  }
  for (const CLI::App* below : app.get_subcommands({})) {
    out.commands.push_back(describe(*below));
  }
  // A heading over other commands has the limits of one that needs them.
  out.runs_alone = out.commands.empty() || app.get_require_subcommand_max() == 0;
  return out;
}

void add_manual(CLI::App& app, Options& options) {
  CLI::App* config = app.add_subcommand(
      "config", "What kernelpro.toml and the environment set, and where that is said");
  config->group(machine_group);
  config->add_option("command", options.words, "Of this command only")->type_name("COMMAND");
  add_output(*config, options);
  config->footer(
      "Options are given in kernelpro.toml by their long names, in a table for each command: "
      "evaluations = 40 below [optimize]. The file is found in the current folder or above it; "
      "KERNELPRO_CONFIG names another, or none when it is empty. The command line wins.\n"
      "Example:\n  kernelpro config\n  kernelpro config optimize");
  CLI::App* help = app.add_subcommand("help", "What a command does, its options and examples");
  help->group(help_group);
  help->add_option("command", options.words, "A command, as `task new`")->type_name("COMMAND");
  help->footer("Example:\n  kernelpro help optimize\n  kernelpro help task new");
  add_man(app, options);
  add_completion(app, options);
}

}  // namespace kernelpro
