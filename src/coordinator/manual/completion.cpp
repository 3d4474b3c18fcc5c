#include "coordinator/manual/completion.hpp"

#include <fmt/format.h>

#include <set>

#include "coordinator/manual/completion_parts.hpp"

namespace kernelpro {

namespace completion {

Offer offer_of(const ManualOption& option) {
  if (!option.choices.empty()) {
    return Offer::words;
  }
  if (option.value == "FILE") {
    return Offer::files;
  }
  if (option.value == "DIR") {
    return Offer::folders;
  }
  if (option.value == "RUN") {
    return Offer::runs;
  }
  return option.value == "TASK" ? Offer::tasks : Offer::nothing;
}

std::string words_of(const ManualCommand& command) {
  return fmt::format("{}", fmt::join(command.path.begin() + 1, command.path.end(), " "));
}

std::vector<const ManualCommand*> with_all_below(const ManualCommand& command) {
  std::vector<const ManualCommand*> all = {&command};
  for (const ManualCommand& one : command.commands) {
    const std::vector<const ManualCommand*> below = with_all_below(one);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

std::vector<std::string> steps(const ManualCommand& root) {
  std::vector<std::string> all;
  for (const ManualCommand* command : with_all_below(root)) {
    for (const ManualCommand& below : command->commands) {
      all.push_back(words_of(*command) + " " + below.path.back());
    }
  }
  return all;
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char letter : text) {
    out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return out + "'";
}

std::string short_text(const std::string& text) {
  constexpr std::size_t most = 70;
  std::string out = text.substr(0, text.find_first_of(";\n"));
  if (const std::size_t colon = out.find(": "); colon != std::string::npos) {
    out.resize(colon);
  }
  if (out.size() > most) {
    out.resize(out.rfind(' ', most));
    out += " ...";
  }
  while (out.ends_with(" ")) {
    out.pop_back();
  }
  return out;
}

std::vector<std::string> option_names(const ManualCommand& command) {
  std::vector<std::string> names;
  for (const ManualOption& option : command.options) {
    if (!option.argument) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
  }
  return names;
}

std::vector<std::string> command_names(const ManualCommand& command) {
  std::vector<std::string> names;
  names.reserve(command.commands.size());
  for (const ManualCommand& below : command.commands) {
    names.push_back(below.path.back());
  }
  return names;
}

std::vector<const ManualOption*> offering_arguments(const ManualCommand& command) {
  std::vector<const ManualOption*> arguments;
  std::set<Offer> offered = {Offer::nothing};
  for (const ManualOption& option : command.options) {
    if (option.argument && offered.insert(offer_of(option)).second) {
      arguments.push_back(&option);
    }
  }
  std::erase_if(arguments, [&offered](const ManualOption* option) {
    return offer_of(*option) == Offer::files && offered.contains(Offer::tasks);
  });
  return arguments;
}

}  // namespace completion

std::vector<std::string> completion_shells() {
  return {"bash", "fish", "zsh"};
}

Result<std::string> completion_script(const ManualCommand& root, const std::string& shell) {
  if (shell == "bash") {
    return completion::bash_script(root);
  }
  if (shell == "zsh") {
    return completion::zsh_script(root);
  }
  if (shell == "fish") {
    return completion::fish_script(root);
  }
  return make_error(ErrorKind::bad_input,
                    fmt::format("there is no completion for \"{}\"; known are {}", shell,
                                fmt::join(completion_shells(), ", ")));
}

}  // namespace kernelpro
