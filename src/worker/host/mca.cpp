#include "worker/host/mca.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"

namespace kernelpro {

namespace {

// A chain shows after a few turns; the rest only makes the beginning count for less.
constexpr int simulated_turns = 100;

bool is_simulated(const FoundLoop* found) {
  return found->loop.calls.empty() && !found->body.empty();
}

}  // namespace

std::string mca_input(const std::vector<const FoundLoop*>& loops) {
  std::string out;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const std::string name = "turn" + std::to_string(i);
    out += "# LLVM-MCA-BEGIN " + name + "\n";
    for (const HostInstruction& one : loops[i]->body) {
      if (one.kind == HostKind::other) {
        continue;
      }
      out += one.text + "\n";
    }
    out += "# LLVM-MCA-END " + name + "\n";
  }
  return out;
}

Result<std::vector<McaCycles>> parse_mca(std::string_view text) {
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  const Error odd = make_error(ErrorKind::bad_input, "its JSON is not as expected", "llvm-mca");
  if (!document.is_object() || !document.contains("CodeRegions") ||
      !document["CodeRegions"].is_array()) {
    return odd;
  }
  std::vector<McaCycles> out;
  for (const nlohmann::json& region : document["CodeRegions"]) {
    const nlohmann::json view = region.value("SummaryView", nlohmann::json::object());
    const auto number = [&view](const char* key) {
      const auto found = view.find(key);
      return found != view.end() && found->is_number() ? found->get<double>() : 0.0;
    };
    const double turns = number("Iterations");
    const double width = number("DispatchWidth");
    if (turns <= 0 || width <= 0) {
      return odd;
    }
    out.push_back({number("TotalCycles") / turns,
                   std::max(number("BlockRThroughput"), number("TotaluOps") / turns / width)});
  }
  return out;
}

Status simulate_loops(const HostTools& tools, const std::filesystem::path& folder,
                      std::vector<FoundLoop*> loops, std::stop_token stop) {
  if (tools.simulator.empty()) {
    return make_error(ErrorKind::environment,
                      "llvm-mca is not there: install llvm-19 (KERNELPRO_LLVM_MCA names another)");
  }
  std::erase_if(loops, [](const FoundLoop* found) { return !is_simulated(found); });
  if (loops.empty()) {
    return {};
  }
  const std::filesystem::path file = folder / "loops.s";
  KP_TRY(write_file_unsynced(file, mca_input({loops.begin(), loops.end()})));
  std::error_code failure;
  std::filesystem::permissions(file, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add, failure);
  KP_LET(const std::string text,
         run_reader(tools,
                    {tools.simulator, "-mcpu=native", "-json",
                     "-iterations=" + std::to_string(simulated_turns), file.string()},
                    {file.string()}, stop));
  KP_LET(const std::vector<McaCycles> cycles, parse_mca(text));
  for (std::size_t i = 0; i < std::min(cycles.size(), loops.size()); ++i) {
    loops[i]->loop.chain_cycles = cycles[i].chain;
    loops[i]->loop.unit_cycles = cycles[i].units;
  }
  return {};
}

}  // namespace kernelpro
