// The options of the commands about indexed code.
#include <CLI/CLI.hpp>

#include "coordinator/options/option_groups.hpp"

namespace kernelpro {

namespace {

constexpr int most_hits = 100;

void add_limit(CLI::App& command, Options& options, const char* text) {
  command.add_option("--limit", options.code_limit, text)->check(CLI::Range(1, most_hits));
}

void add_index(CLI::App& code, Options& options) {
  CLI::App* command =
      code.add_subcommand("index", "Read folders with sources, or what changed in them");
  CodeIndexRequest& request = options.code_index;
  command
      ->add_option("dir", request.folders,
                   "A checkout of CUTLASS, a repository of yours … (default: those indexed before)")
      ->type_name("DIR");
  command->add_flag("--winners", request.winners,
                    "The best candidate of each run of the store too");
  command
      ->add_option("--forget", request.forget,
                   "Take a folder out, by its label or path; repeatable")
      ->allow_extra_args(false);
  add_store(*command, options);
  add_output(*command, options);
  command->footer(
      "Files of the same size and time are not read again; files that are gone vanish.\n"
      "Example:\n  kernelpro code index ../cutlass src\n  kernelpro code index --winners\n"
      "  kernelpro code index");
}

}  // namespace

void add_code(CLI::App& app, Options& options) {
  CLI::App* code =
      app.add_subcommand("code", "Index sources, search them and read them")->group(code_group);
  code->require_subcommand(0, 1);
  code->footer(
      "Example:\n  kernelpro code index ../cutlass\n  kernelpro code search tma multicast");
  add_index(*code, options);
  CLI::App* search = code->add_subcommand("search", "Files that answer a question, the best first");
  search->add_option("words", options.words, "As you would type them; parts of names will do")
      ->required();
  add_limit(*search, options, "Files to show (default 10)");
  add_store(*search, options);
  add_output(*search, options);
  search->footer("Example:\n  kernelpro code search warp specialized fp8 gemm");
  CLI::App* symbol = code->add_subcommand("symbol", "Where something is defined");
  symbol->add_option("name", options.code_name, "NAME or SCOPE::NAME, or a part of it")->required();
  add_limit(*symbol, options, "Definitions to show (default 10)");
  add_store(*symbol, options);
  add_output(*symbol, options);
  symbol->footer("Example:\n  kernelpro code symbol PipelineTmaAsync");
  CLI::App* read = code->add_subcommand("read", "Lines of an indexed file");
  read->add_option("file", options.code_name,
                   "FILE, FILE:LINE or FILE:FIRST-LAST; the end of a name is enough")
      ->required();
  add_store(*read, options);
  add_output(*read, options);
  read->footer("Example:\n  kernelpro code read sm90_pipeline.hpp:200-260");
}

}  // namespace kernelpro
