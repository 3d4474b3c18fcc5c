#include <fmt/format.h>

#include "coordinator/manual/completion_parts.hpp"

namespace kernelpro::completion {

namespace {

constexpr const char* zsh_beginning =
    R"sh(# What `kernelpro completion zsh` wrote: source it behind compinit, or call it _kernelpro in a folder
# of fpath.
_kernelpro_known() {
  local -a known=(${(f)"$(${(Q)words[1]} completion $1 2>/dev/null)"})
  compadd -a known
}
_kernelpro() {
  local command='' i
  for ((i = 2; i < CURRENT; ++i)); do
    case "$command ${words[i]}" in
)sh";

std::string zsh_offer(const ManualOption& option) {
  switch (offer_of(option)) {
    case Offer::nothing:
      return ":";
    case Offer::words: {
      std::string words;
      for (const std::string& choice : option.choices) {
        words += " " + quoted(choice);
      }
      return "compadd --" + words;
    }
    case Offer::files:
      return "_files";
    case Offer::folders:
      return "_files -/";
    case Offer::runs:
      return "_kernelpro_known runs";
    case Offer::tasks:
      return "_kernelpro_known tasks; _files";
  }
  return ":";
}

std::string zsh_values(const ManualCommand& root) {
  std::string out;
  for (const ManualCommand* command : with_all_below(root)) {
    for (const ManualOption& option : command->options) {
      for (const std::string& name : option.names) {
        if (!option.argument && !option.value.empty()) {
          out += fmt::format("    ({}) {}; return ;;\n", quoted(words_of(*command) + " " + name),
                             zsh_offer(option));
        }
      }
    }
  }
  return out;
}

// A name and what it is, as _describe takes them.
std::string described(const std::string& name, const std::string& text) {
  return " " + quoted(name + ":" + short_text(text));
}

std::string zsh_options(const ManualCommand& root) {
  std::string out;
  for (const ManualCommand* command : with_all_below(root)) {
    std::string list;
    for (const ManualOption& option : command->options) {
      for (const std::string& name : option.names) {
        list += option.argument ? "" : described(name, option.text);
      }
    }
    out += fmt::format("      ({}) offered=({}) ;;\n", quoted(words_of(*command)), list);
  }
  return out;
}

std::string zsh_arguments(const ManualCommand& root) {
  std::string out;
  for (const ManualCommand* command : with_all_below(root)) {
    std::string offers;
    std::string list;
    for (const ManualCommand& below : command->commands) {
      list += described(below.path.back(), below.summary);
    }
    if (!list.empty()) {
      offers = fmt::format(" offered=({}); _describe command offered;", list);
    }
    for (const ManualOption* argument : offering_arguments(*command)) {
      offers += " " + zsh_offer(*argument) + ";";
    }
    if (!offers.empty()) {
      out += fmt::format("    ({}){};\n", quoted(words_of(*command)), offers);
    }
  }
  return out;
}

}  // namespace

std::string zsh_script(const ManualCommand& root) {
  const std::string program = root.path.front();
  std::string out = "#compdef " + program + "\n" + zsh_beginning;
  for (const std::string& step : steps(root)) {
    out += fmt::format("      ({}) command=\"${{command:+$command }}${{words[i]}}\" ;;\n",
                       quoted(step));
  }
  out += "    esac\n  done\n  local -a offered\n  case \"$command ${words[CURRENT-1]}\" in\n";
  out += zsh_values(root) + "  esac\n  if [[ ${words[CURRENT]} == -* ]]; then\n";
  out += "    case \"$command\" in\n" + zsh_options(root) + "    esac\n";
  out += "    _describe -o option offered\n    return\n  fi\n  case \"$command\" in\n";
  out += zsh_arguments(root) + "  esac\n}\n";
  return out + fmt::format(
                   "if [[ $funcstack[1] == _kernelpro ]]; then\n  _kernelpro \"$@\"\nelse\n  "
                   "compdef _kernelpro {}\nfi\n",
                   program);
}

}  // namespace kernelpro::completion
