// The options of the commands about searches: tuning, landscapes and simulations.
#include <CLI/CLI.hpp>

#include "coordinator/options/number_range.hpp"
#include "coordinator/options/option_groups.hpp"

namespace kernelpro {

namespace {

constexpr int most_judged = 100'000;
constexpr int most_seeds = 100'000;

void add_tune(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("tune", "Find the best values of a source's tunables, without a model");
  TuneRequest& request = options.tune;
  command->group(optimize_group);
  command->add_option("task", request.task, "A task's name, folder or task.toml")
      ->type_name("TASK")
      ->required();
  command
      ->add_option("source", request.source,
                   "A file in the candidate ABI with tunables: // kp:tune BLOCK = 16 32 64")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--evaluations", request.evaluations,
                   "How many programs to judge at most, the last check included (default 60)")
      ->check(between(1, most_judged));
  command->add_option("--seed", request.seed, "Of the tuner's draws (default 1)");
  command->add_option("--into", request.into, "Write the source with the best values here")
      ->type_name("FILE");
  add_building(*command, request.build);
  add_precision(*command, request.allow_precision);
  add_place(*command, request.judging, request.workers);
  add_judging(*command, request.judging);
  add_output(*command, options);
  command->footer(
      "Exit code 0: faster values were found and confirmed; 3: none were.\n"
      "Example:\n  kernelpro tune gemm my_gemm.cpp --evaluations 40 --into tuned.cpp\n"
      "  kernelpro tune gemm my_gemm.cu --backend cuda");
}

void add_simulate(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "simulate", "Searches against each other on recorded landscapes, without hardware");
  SimulateRequest& request = options.simulate;
  SimulateSettings& settings = request.settings;
  command->group(judge_group);
  command
      ->add_option("landscapes", request.landscapes,
                   "Files that `landscape` wrote, or folders of them")
      ->type_name("FILE")
      ->required();
  command
      ->add_option(
          "--searches", settings.searches,
          "horizon, greedy, mcts, mcts:paper, beam, elites, random, tuner, uniform; the others are "
          "compared with "
          "the first (default: tuner,greedy,mcts,random,uniform)")
      ->delimiter(',');
  command->add_option("--seeds", settings.seeds, "How often each is run (default 50)")
      ->check(between(1, most_seeds));
  command->add_option("--first-seed", settings.first_seed, "The others follow (default 1)");
  command
      ->add_option("--budgets", settings.budgets,
                   "Evaluations that a run may make, to compare by (default: 30,60,120,240)")
      ->delimiter(',')
      ->check(between(1, most_judged));
  command
      ->add_option("--in-flight", settings.in_flight,
                   "Proposals made before the first of them is answered (default 1)")
      ->check(between(1, most_in_flight));
  command->add_option("--svg", request.svg, "Draw the curves of best so far into this file")
      ->type_name("FILE");
  add_output(*command, options);
  command->footer(
      "Example:\n  kernelpro landscape import benchmark_hub/cachefiles/convolution_milo --into "
      "landscapes\n  kernelpro simulate landscapes --searches tuner,greedy --seeds 200");
}

void add_landscape(CLI::App& app, Options& options) {
  CLI::App* landscape =
      app.add_subcommand("landscape", "Recorded programs to simulate searches on");
  landscape->group(judge_group);
  landscape->require_subcommand(0, 1);
  landscape->footer(
      "Example:\n  kernelpro landscape import benchmark_hub/cachefiles --into landscapes");
  CLI::App* import = landscape->add_subcommand(
      "import", "Make landscapes of Kernel Tuner's caches: its own form, or T4 files");
  import
      ->add_option("caches", options.import.caches,
                   "Caches as .json or .json.gz, or folders of them")
      ->type_name("FILE")
      ->required();
  import->add_option("--into", options.import.into, "Folder to write to")
      ->type_name("DIR")
      ->required();
  add_output(*import, options);
  import->footer(
      "Example:\n  kernelpro landscape import benchmark_hub/cachefiles/dedispersion_milo --into "
      "landscapes");
  CLI::App* agents = landscape->add_subcommand(
      "agents", "Write the models of agents that trees are drawn from, half of them for proofs");
  agents->add_option("--into", options.agents_into, "Folder to write to: tuning and proof in it")
      ->type_name("DIR")
      ->required();
  add_output(*agents, options);
  agents->footer(
      "Example:\n  kernelpro landscape agents --into agents\n"
      "  kernelpro simulate agents/tuning --searches mcts,greedy,random --first-seed 1001");
}

}  // namespace

void add_search(CLI::App& app, Options& options) {
  add_tune(app, options);
  add_simulate(app, options);
  add_landscape(app, options);
}

}  // namespace kernelpro
