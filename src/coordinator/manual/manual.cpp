#include "coordinator/manual/manual.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "coordinator/task/nearest.hpp"

namespace kernelpro {

namespace {

void add_below(const ManualCommand& command, std::vector<const ManualCommand*>& all) {
  for (const ManualCommand& one : command.commands) {
    if (one.runs_alone) {
      all.push_back(&one);
    }
    add_below(one, all);
  }
}

}  // namespace

std::string full_name(const ManualCommand& command) {
  return fmt::format("{}", fmt::join(command.path, " "));
}

const ManualCommand* find_command(const ManualCommand& root,
                                  const std::vector<std::string>& words) {
  const ManualCommand* found = &root;
  for (const std::string& word : words) {
    const auto next = std::ranges::find_if(
        found->commands, [&word](const ManualCommand& one) { return one.path.back() == word; });
    if (next == found->commands.end()) {
      return nullptr;
    }
    found = &*next;
  }
  return found;
}

const ManualOption* find_option(const ManualCommand& command, std::string_view name) {
  const auto found = std::ranges::find_if(command.options, [name](const ManualOption& one) {
    return !one.argument && std::ranges::find(one.names, name) != one.names.end();
  });
  return found == command.options.end() ? nullptr : &*found;
}

std::vector<const ManualCommand*> all_commands(const ManualCommand& root) {
  std::vector<const ManualCommand*> all;
  add_below(root, all);
  return all;
}

std::vector<CommandGroup> commands_by_group(const ManualCommand& root) {
  std::vector<CommandGroup> groups;
  for (const ManualCommand* one : all_commands(root)) {
    auto group = std::ranges::find(groups, one->group, &CommandGroup::name);
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {one->group, {}});
    }
    group->commands.push_back(one);
  }
  return groups;
}

std::string unknown_word(const ManualCommand& command, const std::string& word) {
  const bool option = word.size() > 1 && word.starts_with("-");
  std::vector<std::string> known;
  for (const ManualOption& one : command.options) {
    if (option && !one.argument) {
      known.insert(known.end(), one.names.begin(), one.names.end());
    }
  }
  for (const ManualCommand& one : command.commands) {
    if (!option) {
      known.push_back(one.path.back());
    }
  }
  const std::string name = option ? word.substr(0, word.find('=')) : word;
  // One edit turns any short option into any other: that is no likeness.
  const bool too_short = option && name.size() < 3;
  const std::optional<std::string> meant = too_short ? std::nullopt : nearest(name, known);
  const std::string hint = meant ? fmt::format("; did you mean \"{}\"?", *meant) : "";
  if (option) {
    return fmt::format("`{}` has no option \"{}\"{}", full_name(command), name, hint);
  }
  return command.commands.empty()
             ? fmt::format("`{}` has no use for \"{}\"", full_name(command), name)
             : fmt::format("there is no command \"{}\"{}", name, hint);
}

}  // namespace kernelpro
