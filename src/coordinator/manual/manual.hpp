// What commands and options there are, as plain values. Help, manual pages, completion and the
// defaults of a configuration file are all made of these, and these of the tables that the command
// line is parsed by: so none of them can say anything else than the program does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelpro {

struct ManualOption {
  std::vector<std::string> names;    // {"--evaluations", "-n"}; of an argument: {"task"}
  std::string value;                 // what it takes, "FILE"; empty: it is a flag
  std::vector<std::string> choices;  // the words it takes; empty: any
  std::string text;
  std::string group;
  bool argument = false;  // it has no dashes, its place says what it is
  bool required = false;
  bool repeatable = false;
  std::vector<std::string> excludes;  // names of options that it cannot stand beside
  std::vector<std::string> needs;     // names of options that it cannot stand without
};

struct ManualCommand {
  std::vector<std::string> path;  // {"kernelpro", "task", "new"}
  std::string group;              // what it is listed under
  std::string summary;
  std::vector<std::string> notes;     // paragraphs
  std::vector<std::string> examples;  // command lines
  std::vector<ManualOption> options;
  std::vector<ManualCommand> commands;
  bool runs_alone = true;  // it does something without one of `commands`
};

// "kernelpro task new".
[[nodiscard]] std::string full_name(const ManualCommand& command);

// The command below `root` that the words name; nullptr where there is none.
[[nodiscard]] const ManualCommand* find_command(const ManualCommand& root,
                                                const std::vector<std::string>& words);

// The option of that name ("--timing"); nullptr where it has none.
[[nodiscard]] const ManualOption* find_option(const ManualCommand& command, std::string_view name);

// All that can be run, in the order of the tables: "evaluate", "task new".
[[nodiscard]] std::vector<const ManualCommand*> all_commands(const ManualCommand& root);

struct CommandGroup {
  std::string name;
  std::vector<const ManualCommand*> commands;
};

// The same by what they are listed under, each group once, in the order in which they first come.
[[nodiscard]] std::vector<CommandGroup> commands_by_group(const ManualCommand& root);

// `there is no command "evalute"; did you mean "evaluate"?`, for a word that nothing of `command`
// takes.
[[nodiscard]] std::string unknown_word(const ManualCommand& command, const std::string& word);

}  // namespace kernelpro
