#include "worker/host/mca.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "worker/host/products.hpp"

namespace kernelpro {

namespace {

// A chain shows after a few turns; the rest only makes the beginning count for less.
constexpr int simulated_turns = 100;

bool is_simulated(const FoundLoop* found) {
  return found->loop.calls.empty() && !found->body.empty();
}

void add_region(const std::string& name, const std::vector<std::string>& lines, std::string& out) {
  out += "# LLVM-MCA-BEGIN " + name + "\n";
  for (const std::string& line : lines) {
    out += line + "\n";
  }
  out += "# LLVM-MCA-END " + name + "\n";
}

std::vector<std::string> lines_of(const FoundLoop& found, bool products) {
  std::vector<std::string> out;
  for (const HostInstruction& one : found.body) {
    if (one.kind != HostKind::other) {
      const bool replaced = products && one.kind == HostKind::division;
      out.push_back(replaced ? product_in_place_of(one.text) : one.text);
    }
  }
  return out;
}

}  // namespace

std::string mca_input(const std::vector<const FoundLoop*>& loops) {
  std::string out;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    add_region("turn" + std::to_string(i), lines_of(*loops[i], false), out);
    if (loops[i]->loop.divisions > 0) {
      add_region("products" + std::to_string(i), lines_of(*loops[i], true), out);
    }
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
  std::size_t next = 0;
  for (FoundLoop* found : loops) {
    HostLoop& loop = found->loop;
    if (next < cycles.size()) {
      loop.chain_cycles = cycles[next].chain;
      loop.unit_cycles = cycles[next++].units;
    }
    if (loop.divisions > 0 && next < cycles.size()) {
      loop.product_chain_cycles = cycles[next].chain;
      loop.product_unit_cycles = cycles[next++].units;
    }
  }
  return {};
}

}  // namespace kernelpro
