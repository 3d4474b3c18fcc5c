// What the completions of all shells have in common. For the files of this room only.
#pragma once

#include <string>
#include <vector>

#include "coordinator/manual/manual.hpp"

namespace kernelpro::completion {

// What can stand for a value.
enum class Offer { nothing, words, files, folders, runs, tasks };

[[nodiscard]] Offer offer_of(const ManualOption& option);

// "", "evaluate", "task", "task new": the words behind the program's name.
[[nodiscard]] std::string words_of(const ManualCommand& command);

// The command itself and everything below it.
[[nodiscard]] std::vector<const ManualCommand*> with_all_below(const ManualCommand& command);

// Every pair of a command and a word that leads on to a command below it: " evaluate", "task new".
[[nodiscard]] std::vector<std::string> steps(const ManualCommand& root);

// In single quotes, as bash and zsh read them.
[[nodiscard]] std::string quoted(const std::string& text);

// The first sentence, for a list that has one line for each.
[[nodiscard]] std::string short_text(const std::string& text);

// The names of options, and of commands below.
[[nodiscard]] std::vector<std::string> option_names(const ManualCommand& command);
[[nodiscard]] std::vector<std::string> command_names(const ManualCommand& command);

// Arguments for which something is offered, without those that offer what another does: tasks bring
// files with them.
[[nodiscard]] std::vector<const ManualOption*> offering_arguments(const ManualCommand& command);

// The whole scripts.
[[nodiscard]] std::string bash_script(const ManualCommand& root);
[[nodiscard]] std::string zsh_script(const ManualCommand& root);
[[nodiscard]] std::string fish_script(const ManualCommand& root);

}  // namespace kernelpro::completion
