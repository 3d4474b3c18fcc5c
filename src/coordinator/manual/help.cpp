#include "coordinator/manual/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace kernelpro {

namespace {

constexpr std::size_t text_column = 26;

// `text` in lines of at most `width`, each but the first behind `indent` spaces.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool first = column == indent;
    if (!first && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      out += " ";
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

// A name, and what it is in a column of its own.
std::string row(const std::string& name, const std::string& text, const HelpStyle& style) {
  std::string out = "  " + name;
  if (text.empty()) {
    return out + "\n";
  }
  out += out.size() + 2 > text_column ? "\n" + std::string(text_column, ' ')
                                      : std::string(text_column - out.size(), ' ');
  return out + wrapped(text, text_column, static_cast<std::size_t>(style.width)) + "\n";
}

std::string heading(const std::string& text, const HelpStyle& style) {
  return "\n" + (style.heading ? style.heading(text + ":") : text + ":") + "\n";
}

// Groups in the order in which they first come.
std::vector<std::string> groups_of(const std::vector<ManualOption>& options) {
  std::vector<std::string> groups;
  for (const ManualOption& option : options) {
    if (!option.argument && std::ranges::find(groups, option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  return groups;
}

std::string options_text(const ManualCommand& command, const HelpStyle& style) {
  std::string arguments;
  for (const ManualOption& option : command.options) {
    if (option.argument) {
      arguments += row(option_heading(option), option.text, style);
    }
  }
  std::string out = arguments.empty() ? "" : heading("Arguments", style) + arguments;
  for (const std::string& group : groups_of(command.options)) {
    out += heading(group, style);
    for (const ManualOption& option : command.options) {
      if (!option.argument && option.group == group) {
        out += row(option_heading(option), option.text, style);
      }
    }
  }
  return out;
}

// What can be run below it, by what people do.
std::string commands_text(const ManualCommand& command, const HelpStyle& style) {
  std::string out;
  for (const CommandGroup& group : commands_by_group(command)) {
    out += heading(group.name, style);
    for (const ManualCommand* one : group.commands) {
      out += row(full_name(*one).substr(full_name(command).size() + 1), one->summary, style);
    }
  }
  return out;
}

}  // namespace

std::string option_heading(const ManualOption& option) {
  std::string out = fmt::format("{}", fmt::join(option.names, ", "));
  if (option.argument) {
    return out + (option.repeatable ? "..." : "");
  }
  return option.value.empty() ? out : out + " " + option.value;
}

std::string usage_text(const ManualCommand& command) {
  std::string out = "[OPTIONS]";
  for (const ManualOption& option : command.options) {
    if (option.argument) {
      const std::string name = option_heading(option);
      out += option.required ? " " + name : " [" + name + "]";
    }
  }
  if (!command.commands.empty()) {
    out += command.runs_alone ? " [COMMAND]" : " COMMAND";
  }
  return out;
}

std::string help_text(const ManualCommand& command, const HelpStyle& style) {
  const auto width = static_cast<std::size_t>(style.width);
  std::string out = wrapped(command.summary, 0, width) + "\n";
  out += heading("Usage", style);
  out.pop_back();
  out += fmt::format(" {} {}\n", full_name(command), usage_text(command));
  out += commands_text(command, style);
  out += options_text(command, style);
  for (const std::string& note : command.notes) {
    out += "\n" + wrapped(note, 0, width) + "\n";
  }
  if (!command.examples.empty()) {
    out += heading("Example", style);
    for (const std::string& example : command.examples) {
      out += "  " + example + "\n";
    }
  }
  return out;
}

}  // namespace kernelpro
