// The options of the commands about what is remembered of all runs.
#include <CLI/CLI.hpp>

#include "coordinator/options/number_range.hpp"
#include "coordinator/options/option_groups.hpp"

namespace kernelpro {

namespace {

constexpr int most_lessons_shown = 1'000'000;

void add_memory_file(CLI::App& command, Options& options) {
  command
      .add_option("--memory", options.memory.file,
                  "Another memory than the store's: a file as `optimize --memory FILE` fills")
      ->type_name("FILE");
  add_store(command, options);
  add_output(command, options);
}

void add_memory_show(CLI::App& memory, Options& options) {
  CLI::App* command = memory.add_subcommand("show", "What is remembered, tried most often first");
  command->add_option("--limit", options.memory.filter.limit, "Lessons to show (default 20)")
      ->check(between(1, most_lessons_shown));
  command->add_option("--move", options.memory.filter.move, "Lessons about this move only");
  command->add_option("--run", options.memory.run, "What this run was told of others, instead")
      ->type_name("RUN");
  add_memory_file(*command, options);
  command->footer(
      "Example:\n  kernelpro memory show --move register_block\n"
      "  kernelpro memory show --run gemm-2");
}

void add_memory_exchange(CLI::App& memory, Options& options) {
  CLI::App* command = memory.add_subcommand("export", "Write all of it as JSON lines");
  command->add_option("--into", options.into, "The file to write (default: standard output)")
      ->type_name("FILE");
  add_memory_file(*command, options);
  command->footer("Example:\n  kernelpro memory export --into lessons.jsonl");
  CLI::App* import = memory.add_subcommand(
      "import", "Take in what `memory export` wrote; the same file counts once");
  import->add_option("files", options.lesson_files, "Files of lessons")
      ->type_name("FILE")
      ->required();
  add_memory_file(*import, options);
  import->footer("Example:\n  kernelpro memory import lessons.jsonl");
}

void add_memory_forget(CLI::App& memory, Options& options) {
  CLI::App* command = memory.add_subcommand("forget", "Take lessons out");
  memory::ForgetWishes& wishes = options.forget;
  command->add_flag("--all", wishes.all, "All of them");
  command->add_option("--move", wishes.move, "Those about this move");
  command
      ->add_option_function<std::int64_t>(
          "--older", [&wishes](const std::int64_t& runs) { wishes.older = runs; },
          "Those that so many runs have not added to")
      ->check(between(0, most_lessons_shown))
      ->type_name("RUNS");
  command->add_flag("--dry-run", options.dry_run, "Say how many would go, and keep them");
  add_memory_file(*command, options);
  command->footer("Example:\n  kernelpro memory forget --move polly --dry-run");
}

}  // namespace

void add_memory(CLI::App& app, Options& options) {
  CLI::App* memory = app.add_subcommand("memory", "What all runs together have learned");
  memory->group(look_group);
  memory->require_subcommand(0, 1);
  memory->footer(
      "Example:\n  kernelpro memory show\n  kernelpro memory export --into lessons.jsonl");
  add_memory_show(*memory, options);
  add_memory_exchange(*memory, options);
  add_memory_forget(*memory, options);
}

}  // namespace kernelpro
