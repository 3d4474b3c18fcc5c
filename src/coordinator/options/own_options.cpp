// The options of `optimize FILE:FUNCTION`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iterator>

#include "coordinator/app/own_build.hpp"
#include "coordinator/options/option_groups.hpp"

namespace kernelpro {

namespace {

std::int64_t whole_number(const std::string& text, const std::string& flag) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    throw CLI::ValidationError(flag, "expected a whole number, found \"" + text + "\"");
  }
  return number;
}

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
  add_assignments(app, "--size", "What is timed, repeatable: --size n=96",
                  [&wishes](const std::string& name, const std::string& value) {
                    wishes.sizes[name] = whole_number(value, "--size");
                  });
  add_assignments(app, "--held-out", "Sizes that are checked, repeatable: --held-out n=3:40",
                  [&wishes](const std::string& name, const std::string& value) {
                    const std::size_t colon = std::min(value.find(':'), value.size());
                    const std::string high = value.substr(std::min(colon + 1, value.size()));
                    wishes.held_out[name] = {whole_number(value.substr(0, colon), "--held-out"),
                                             whole_number(high, "--held-out")};
                  });
  add_assignments(app, "--axis", "A size that follows from others: --axis \"nnz=rows*16\"",
                  [&wishes](const std::string& name, const std::string& value) {
                    wishes.derived[name] = value;
                  });
  add_assignments(
      app, "--fix", "What is always passed for a number: --fix lda=k",
      [&wishes](const std::string& name, const std::string& value) { wishes.fixed[name] = value; });
  add_assignments(app, "--values", "How an input is drawn: --values x=uniform:0:255, idx=index:n",
                  [&wishes](const std::string& name, const std::string& value) {
                    wishes.values[name] = value;
                  });
  add_assignments(app, "--shape", "The extents of a tensor: --shape a=m,k",
                  [&wishes](const std::string& name, const std::string& value) {
                    wishes.shapes[name] = split_commas(value);
                  });
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
