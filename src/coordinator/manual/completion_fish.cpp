#include <fmt/format.h>

#include "coordinator/manual/completion_parts.hpp"

namespace kernelpro::completion {

namespace {

constexpr const char* fish_functions =
    R"sh(# What `kernelpro completion fish` wrote: put it into ~/.config/fish/completions/kernelpro.fish.
function __kernelpro_at
    set -l words (commandline -opc)
    set -l found ''
    for word in $words[2..-1]
        if contains -- "$found $word" $__kernelpro_steps
            set found (string trim -- "$found $word")
        end
    end
    test "$found" = "$argv[1]"
end
function __kernelpro_known
    set -l words (commandline -opc)
    command -q $words[1]; and $words[1] completion $argv[1] 2>/dev/null
end
)sh";

// In single quotes, as fish reads them.
std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char letter : text) {
    out += letter == '\'' || letter == '\\' ? std::string("\\") : std::string();
    out += letter;
  }
  return out + "'";
}

// What is offered, as options of fish's `complete`.
std::string fish_offer(const ManualOption& option) {
  switch (offer_of(option)) {
    case Offer::nothing:
      return "";
    case Offer::words:
      return " -a " + fish_quoted(fmt::format("{}", fmt::join(option.choices, " ")));
    case Offer::files:
      return " -F";
    case Offer::folders:
      return " -a '(__fish_complete_directories)'";
    case Offer::runs:
      return " -a '(__kernelpro_known runs)'";
    case Offer::tasks:
      return " -F -a '(__kernelpro_known tasks)'";
  }
  return "";
}

std::string fish_option(const ManualOption& option) {
  std::string out;
  for (const std::string& name : option.names) {
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value.empty()) {
    out += offer_of(option) == Offer::files ? " -r" : " -x";
  }
  return out + fish_offer(option) + " -d " + fish_quoted(short_text(option.text));
}

std::string fish_lines(const ManualCommand& command) {
  // The condition is quoted twice: fish reads it once more when it asks.
  const std::string condition = fish_quoted("__kernelpro_at " + fish_quoted(words_of(command)));
  const std::string start = fmt::format("complete -c kernelpro -n {}", condition);
  std::string out;
  for (const ManualCommand& below : command.commands) {
    out += fmt::format("{} -a {} -d {}\n", start, below.path.back(),
                       fish_quoted(short_text(below.summary)));
  }
  for (const ManualOption& option : command.options) {
    if (!option.argument) {
      out += start + fish_option(option) + "\n";
    }
  }
  for (const ManualOption* argument : offering_arguments(command)) {
    out += start + fish_offer(*argument) + "\n";
  }
  return out;
}

}  // namespace

std::string fish_script(const ManualCommand& root) {
  std::string out = "set -g __kernelpro_steps";
  for (const std::string& step : steps(root)) {
    out += " " + fish_quoted(step);
  }
  out += "\n" + std::string(fish_functions) + "complete -c kernelpro -f\n";
  for (const ManualCommand* command : with_all_below(root)) {
    out += fish_lines(*command);
  }
  return out;
}

}  // namespace kernelpro::completion
