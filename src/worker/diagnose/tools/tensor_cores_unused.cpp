// A matrix product by multiply-adds of single threads, where tensor cores could do it.
//
// The product is recognized in the code: sums that stay in a register while both factors are loaded
// anew. A matrix-vector product has the same loop and is bound by memory: its few operations a byte
// keep it out.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/model/figure_keys.hpp"
#include "worker/diagnose/tools/accesses.hpp"
#include "worker/diagnose/tools/evidence.hpp"
#include "worker/diagnose/tools/tools.hpp"

namespace kernelpro {

namespace {

constexpr std::array<const char*, 6> matrix_kinds = {"hmma",  "imma",  "dmma",
                                                     "hgmma", "igmma", "qgmma"};
// A multiply and an add for each thread of a warp.
constexpr double operations_a_step = 64;

bool uses_tensor_cores(const CodeFacts& code) {
  return std::any_of(matrix_kinds.begin(), matrix_kinds.end(),
                     [&code](const char* kind) { return amount(code, kind) > 0; });
}

// Of the arithmetic, as far as the code shows it.
std::string type_of(const Profile& profile, const CodeFacts& code) {
  if (profile.work && !profile.work->type.empty()) {
    return profile.work->type;
  }
  const double single = amount(code, "fp32");
  if (amount(code, "fp64") > single) {
    return "f64";
  }
  return amount(code, "fp16") > single ? "f16" : "f32";
}

std::string tensor_type(const std::string& type) {
  return type == "f32" ? "tf32" : type;
}

struct Product {
  double operations = 0;
  double share = 0;      // steps among executed instructions
  double loop_part = 0;  // of executed instructions, in the loops of the product
  bool counted = true;
  Weighed places;
};

Product product_of(const CodeFacts& code, const std::string& type, double instructions) {
  Product product;
  // Two at a time in half precision.
  product.operations = code.dot_steps * operations_a_step * (type == "f16" ? 2 : 1);
  product.share = code.dot_steps / std::max(1.0, instructions);
  double executed = 0;
  for (const CodeLoop& loop : code.loops) {
    if (loop.dot_steps <= 0) {
      continue;
    }
    product.counted = product.counted && loop.executed.has_value();
    const double weight = loop.executed.value_or(0) * loop.instructions;
    executed += weight;
    product.places.emplace_back(weight, loop.place);
  }
  product.loop_part = std::min(1.0, executed / std::max(1.0, instructions));
  return product;
}

Roofs relief_by_tiles(double part, const Thresholds& limits) {
  Roofs relief;
  relief.l1 = relief.l2 = relief.lsu = relief.issue = part * limits.tiled_relief;
  relief.pipes = part;
  return relief;
}

std::vector<std::string> moves_for(const std::string& type) {
  std::vector<std::string> moves = {
      "use a library or CUTLASS/CuTe for the product, with the epilogue fused into it",
      "write the inner product with warp-group instructions (wgmma) fed by TMA, or with mma.sync",
      "until then keep a tile of results in the registers of each thread and tiles of both factors "
      "in shared memory"};
  if (type == "f32") {
    moves.emplace_back(
        "mind the precision: TF32 keeps 10 bits of each factor; three TF32 products give nearly "
        "single precision at a third of the rate");
    moves.emplace_back("split_precision");
  }
  moves.insert(moves.end(), {"tensor_cores", "register_tiles"});
  return moves;
}

ToolResult look_for_tensor_cores_unused(const Profile& profile, const KernelProfile* kernel,
                                        const Thresholds& limits) {
  Evidence evidence(profile, kernel, limits);
  const Roofs loads = evidence.roofs();
  const double duration = evidence.figure(figure::duration_ns);
  const double dram_bytes =
      evidence.figure(figure::dram_read_bytes) + evidence.figure(figure::dram_write_bytes);
  const double l2_bytes = evidence.figure(figure::l2_bytes);
  const double instructions = evidence.figure(figure::instructions);
  const CodeFacts& code = evidence.code();
  const std::string type = type_of(profile, code);
  const Product product = product_of(code, type, instructions);
  if (!product.counted) {
    evidence.missing("no counts of the loops");
  }
  const double ceiling = best_tensor_flops(profile.ceilings, tensor_type(type));
  if (ceiling <= 0) {
    evidence.missing(fmt::format("no measured ceiling of tensor cores for {}", tensor_type(type)));
  }
  if (!evidence.complete()) {
    return evidence.lacking();
  }
  if (uses_tensor_cores(code) || product.share < limits.dot_share || duration <= 0 ||
      product.operations < limits.dot_intensity * dram_bytes ||
      product.operations < limits.dot_l2_intensity * l2_bytes) {
    return {};
  }
  const double tensor_time =
      product.operations / (ceiling * limits.tensor_reached) / (duration * 1e-9);
  const double saved = product.loop_part - tensor_time;

  Finding finding;
  finding.tool = "tensor_cores_unused";
  finding.observed = product.share;
  finding.threshold = limits.dot_share;
  finding.unit = "of executed instructions are steps of a product";
  finding.title = fmt::format("A matrix product in {} without tensor cores", type);
  finding.why = "a kernel that spends less on its product has another main work";
  finding.cause =
      "The product is computed by multiply-adds of single threads; tensor cores do many times as "
      "many at once.";
  finding.moves = moves_for(type);
  finding.derivation = fmt::format(
      "{:.3g} operations take {:.0f} % of the kernel's instructions; at {:.0f} % of the {:.3g} "
      "operations a second measured for {} they need {:.1f} % of its time",
      product.operations, 100 * product.loop_part, 100 * limits.tensor_reached, ceiling,
      tensor_type(type), 100 * tensor_time);
  finding.places = top_places(product.places);
  return finding_if_worth(std::move(finding),
                          gain_of_time(saved, loads, relief_by_tiles(product.loop_part, limits)),
                          evidence);
}

}  // namespace

Tool tensor_cores_unused_tool() {
  // Plain products are bound by arithmetic, by L1 where tiles are missing, by L2, or by latency.
  return {
      "tensor_cores_unused",
      "Tensor cores unused",
      {KernelClass::alu, KernelClass::l1, KernelClass::l2, KernelClass::latency, KernelClass::tail},
      roof_figures_and({figure::l2_bytes, figure::instructions}),
      look_for_tensor_cores_unused};
}

}  // namespace kernelpro
