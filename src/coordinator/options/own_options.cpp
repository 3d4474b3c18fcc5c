// The options of `optimize FILE:FUNCTION`.
#include <CLI/CLI.hpp>
#include <sstream>
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

void take_checked(NewTask& wishes, const std::string& flag, const std::string& assignment) {
  if (const Status taken = take_flag(wishes, flag, assignment); !taken) {
    throw CLI::ValidationError(flag, taken.error().message);
  }
}

}  // namespace

void add_function_flags(CLI::App& app, NewTask& wishes) {
  for (const auto& [option, text] : std::vector<std::pair<std::string, std::string>>{
           {"--size", "What is timed, repeatable: --size n=96"},
           {"--held-out",
            "Sizes that are checked, repeatable: --held-out n=3:40; multiples: n=8:256:8"},
           {"--axis", "A size that follows from others: --axis \"nnz=rows*16\""},
           {"--fix", "What is always passed for a number: --fix lda=k"},
           {"--values",
            "How numbers are drawn: --values x=uniform:0:255, idx=index:n, "
            "eps=uniform:1e-6:1e-4"}}) {
    add_assignments(app, option, text,
                    [flag = option, &wishes](const std::string& name, const std::string& value) {
                      take_checked(wishes, flag, name + "=" + value);
                    });
  }
  app.add_option_function<std::vector<std::string>>(
         "--shape",
         [&wishes](const std::vector<std::string>& all) {
           for (const std::string& text : all) {
             std::istringstream words(text);
             for (std::string word; words >> word;) {
               take_checked(wishes, "--shape", word);
             }
           }
         },
         "The extents of a pointer, repeatable: --shape a=m,k; or several: \"x=n y=n\"")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("--inout", wishes.inouts, "A pointer that is read and written, repeatable")
      ->allow_extra_args(false);
  app.add_option("--input", wishes.only_read,
                 "A pointer that is only read, though it is not const, repeatable")
      ->allow_extra_args(false);
  app.add_option("--workspace", wishes.workspaces, "A pointer to scratch memory, repeatable")
      ->allow_extra_args(false);
  app.add_option("--flops", wishes.flops, "Floating operations as a formula: \"2*m*n*k\"");
  app.add_option("--reduction", wishes.reduction,
                 "Length over which rounding accumulates, as a formula");
  add_flags(app, "-I", "A folder with headers of the file, repeatable", wishes);
  add_flags(app, "-D", "A macro of the file, repeatable: -D N=64", wishes);
  app.add_option_function<std::string>(
      "--flags", [&wishes](const std::string& text) { take_build_line(text, wishes); },
      "How you build the file (default -O2, CUDA -O3): --flags \"-O3 -march=native\"");
}

void add_own_function(CLI::App& app, Options& options) {
  app.option_defaults()->group(own_group);
  NewTask& wishes = options.own.wishes;
  add_function_flags(app, wishes);
  app.add_option("--compile-commands", options.own.compile_commands,
                 "compile_commands.json that says how (default: the one found above the file)")
      ->type_name("FILE");
  app.add_option("--reference", wishes.reference,
                 "A file with a function of that name that is right, or `original`");
  app.add_flag("--serial", options.serial, "No threads: the result stays on one processor");
  app.option_defaults()->group("Options");
}

}  // namespace kernelpro
