// The commands about commands, and the tables of options as plain values. For the files of this
// room only.
#pragma once

#include "coordinator/manual/help.hpp"
#include "coordinator/manual/manual.hpp"
#include "coordinator/options/options.hpp"

namespace CLI {
class App;
}

namespace kernelpro {

// As wide as that file, and in color where it may be.
[[nodiscard]] HelpStyle help_style(int file);

// The command with everything below it.
[[nodiscard]] ManualCommand describe(const CLI::App& app);

// Adds `help`, `config`, `man` and `completion`.
void add_manual(CLI::App& app, Options& options);

}  // namespace kernelpro
