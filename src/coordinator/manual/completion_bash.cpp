#include <fmt/format.h>

#include "coordinator/manual/completion_parts.hpp"

namespace kernelpro::completion {

namespace {

constexpr const char* bash_functions =
    R"sh(# What `kernelpro completion bash` wrote: source it, or put it where bash-completion looks.
_kernelpro_words() {
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$1" -- "$current")
}
_kernelpro_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$1" -- "$current")
}
_kernelpro_known() {
  _kernelpro_words "$("${COMP_WORDS[0]}" completion "$1" 2>/dev/null)"
}
)sh";

constexpr const char* bash_beginning = R"sh(_kernelpro() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command='' i
  COMPREPLY=()
  if [ "$current" = '=' ]; then
    current=''
  elif [ "$previous" = '=' ] && [ "$COMP_CWORD" -gt 2 ]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${COMP_WORDS[i]}" in
)sh";

std::string bash_offer(const ManualOption& option) {
  switch (offer_of(option)) {
    case Offer::nothing:
      return ":";
    case Offer::words:
      return fmt::format("_kernelpro_words {}",
                         quoted(fmt::format("{}", fmt::join(option.choices, " "))));
    case Offer::files:
      return "_kernelpro_files -f";
    case Offer::folders:
      return "_kernelpro_files -d";
    case Offer::runs:
      return "_kernelpro_known runs";
    case Offer::tasks:
      return "_kernelpro_known tasks; _kernelpro_files -f";
  }
  return ":";
}

// What stands behind an option that takes a value.
std::string bash_values(const ManualCommand& root) {
  std::string out;
  for (const ManualCommand* command : with_all_below(root)) {
    for (const ManualOption& option : command->options) {
      for (const std::string& name : option.names) {
        if (!option.argument && !option.value.empty()) {
          out += fmt::format("    {}) {}; return ;;\n", quoted(words_of(*command) + " " + name),
                             bash_offer(option));
        }
      }
    }
  }
  return out;
}

std::string bash_options(const ManualCommand& root) {
  std::string out;
  for (const ManualCommand* command : with_all_below(root)) {
    out += fmt::format("      {}) _kernelpro_words {} ;;\n", quoted(words_of(*command)),
                       quoted(fmt::format("{}", fmt::join(option_names(*command), " "))));
  }
  return out;
}

std::string bash_arguments(const ManualCommand& root) {
  std::string out;
  for (const ManualCommand* command : with_all_below(root)) {
    std::string offers;
    if (!command->commands.empty()) {
      offers += fmt::format(" _kernelpro_words {};",
                            quoted(fmt::format("{}", fmt::join(command_names(*command), " "))));
    }
    for (const ManualOption* argument : offering_arguments(*command)) {
      offers += " " + bash_offer(*argument) + ";";
    }
    if (!offers.empty()) {
      out += fmt::format("    {}){};\n", quoted(words_of(*command)), offers);
    }
  }
  return out;
}

}  // namespace

std::string bash_script(const ManualCommand& root) {
  std::string out = std::string(bash_functions) + bash_beginning;
  for (const std::string& step : steps(root)) {
    out += fmt::format("      {}) command=\"${{command:+$command }}${{COMP_WORDS[i]}}\" ;;\n",
                       quoted(step));
  }
  out += "    esac\n  done\n  case \"$command $previous\" in\n" + bash_values(root) + "  esac\n";
  out += "  if [[ $current == -* ]]; then\n    case \"$command\" in\n" + bash_options(root);
  out += "    esac\n    return\n  fi\n  case \"$command\" in\n" + bash_arguments(root);
  return out + fmt::format("  esac\n}}\ncomplete -F _kernelpro {}\n", root.path.front());
}

}  // namespace kernelpro::completion
