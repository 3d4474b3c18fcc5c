// The options of `optimize FILE:FUNCTION`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/app/own_build.hpp"
#include "coordinator/app/own_flags.hpp"
#include "coordinator/options/option_groups.hpp"

namespace kernelpro {

namespace {

// A word that a compiler takes, behind its flag.
void add_flags(CLI::App& app, const std::string& flag, const std::string& text, NewTask& wishes) {
  app.add_option_function<std::vector<std::string>>(
         flag,
         [flag, &wishes](const std::vector<std::string>& all) {
           for (const std::string& one : all) {
             wishes.flags.push_back(flag + one);
           }
         },
         text)
      ->allow_extra_args(false);
}

}  // namespace

void add_own_function(CLI::App& app, Options& options) {
  app.option_defaults()->group(own_group);
  NewTask& wishes = options.own.wishes;
  for (const auto& [option, text] : std::vector<std::pair<std::string, std::string>>{
           {"--size", "What is timed, repeatable: --size n=96"},
           {"--held-out", "Sizes that are checked, repeatable: --held-out n=3:40"},
           {"--axis", "A size that follows from others: --axis \"nnz=rows*16\""},
           {"--fix", "What is always passed for a number: --fix lda=k"},
           {"--values", "How an input is drawn: --values x=uniform:0:255, idx=index:n"},
           {"--shape", "The extents of a tensor: --shape a=m,k"}}) {
    add_assignments(app, option, text,
                    [flag = option, &wishes](const std::string& name, const std::string& value) {
                      std::string given = name;
                      given += "=" + value;
                      if (const Status taken = take_flag(wishes, flag, given); !taken) {
                        throw CLI::ValidationError(flag, taken.error().message);
                      }
                    });
  }
  add_flags(app, "-I", "A folder with headers of the file, repeatable", wishes);
  add_flags(app, "-D", "A macro of the file, repeatable: -D N=64", wishes);
  app.add_option_function<std::string>(
      "--flags",
      [&wishes](const std::string& text) {
        std::ranges::copy(build_options(text), std::back_inserter(wishes.options));
      },
      "How you build the file (default -O2): --flags \"-O3 -march=native\"");
  app.add_option("--compile-commands", options.own.compile_commands,
                 "compile_commands.json that says how (default: the one found above the file)")
      ->type_name("FILE");
  app.add_option("--reference", wishes.reference,
                 "A file with a function of that name that is right, or `original`");
  app.add_flag("--serial", options.serial, "No threads: the result stays on one processor");
  app.option_defaults()->group("Options");
}

}  // namespace kernelpro
