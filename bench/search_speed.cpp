// How long each search takes to say what comes next, in a tree of 100,000 nodes, as JSON.
//
//   cmake --build --preset release --target search_speed && build/release/bin/search_speed >
//   bench/results/search_speed-NAME.json
//
// The tree is grown by the search itself: a child is faster in one case of three, and one in five
// fails. Times are of the processor, the mean over the last 1,000 nodes.
#include <fmt/format.h>

#include <ctime>

#include "common/base/random.hpp"
#include "coordinator/search/search.hpp"

namespace {

using namespace kernelpro;

constexpr NodeId nodes = 100'000;
constexpr NodeId measured = 1'000;

SearchResult result_of(NodeId node, double parent, Random& random) {
  SearchResult result;
  result.node = node;
  const bool fails = node != root_node && random.below(5) == 0;
  result.outcome = fails ? Outcome::incorrect : Outcome::passed;
  result.speedup = parent * (random.below(3) == 0 ? 1 + 0.02 * random.unit() : random.unit());
  result.kind = static_cast<int>(random.below(6));
  result.outlook = 0.3 * random.unit();
  return result;
}

double milliseconds(const std::string& name, const std::string& preset) {
  const Result<std::unique_ptr<Search>> made = make_search(name, preset, 1);
  Search& search = **made;
  Random random(7);
  std::vector<double> speeds;
  std::clock_t start = 0;
  for (NodeId node = root_node; node < nodes; ++node) {
    if (node == nodes - measured) {
      start = std::clock();
    }
    const std::optional<Choice> choice =
        node == root_node ? Choice{.parent = no_node, .reasons = {}} : search.ask(nodes - node);
    if (!choice) {
      break;
    }
    search.begin(node, choice->parent);
    const double parent = node == root_node ? 1 : speeds[static_cast<std::size_t>(choice->parent)];
    const SearchResult result = result_of(node, parent, random);
    speeds.push_back(result.outcome == Outcome::passed ? result.speedup : parent);
    search.tell(result);
  }
  return 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC /
         static_cast<double>(measured);
}

}  // namespace

int main() {
  fmt::print("{{\"nodes\": {}, \"next_node_ms\": {{\n", nodes);
  const char* separator = "";
  for (const auto& [name, preset] :
       {std::pair("horizon", "default"), std::pair("mcts", "default"), std::pair("mcts", "steady"),
        std::pair("mcts", "paper"), std::pair("greedy", "default"), std::pair("beam", "default"),
        std::pair("elites", "default"), std::pair("random", "default")}) {
    fmt::print("{}  \"{}:{}\": {:.4f}", separator, name, preset, milliseconds(name, preset));
    separator = ",\n";
  }
  fmt::print("\n}}}}\n");
  return 0;
}
