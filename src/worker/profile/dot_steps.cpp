#include "worker/profile/dot_steps.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kernelpro {
namespace {

using std::string_view;

constexpr int most_hops = 8;      // from a factor back to its load
constexpr int most_lookups = 64;  // on all ways together
constexpr int most_partial = 4;   // predicated definitions of one register that are looked at

// What an instruction does to a value on its way from a load into a sum.
enum class Role : std::uint8_t {
  other,
  load,
  pass,          // the value stays what it is, or changes its type
  multiply,      // read[0] * read[1]
  multiply_add,  // read[0] * read[1] + read[2]
  add,           // read[0] + read[1]
};

int registers_read(const DecodedInstruction& decoded) {
  int count = 0;
  for (int i = 0; i < decoded.reads; ++i) {
    count += decoded.read[static_cast<std::size_t>(i)].form == OperandForm::registers ? 1 : 0;
  }
  return count;
}

bool reads_zero(const DecodedInstruction& decoded) {
  return std::any_of(decoded.read.begin(), decoded.read.end(),
                     [](const Operand& one) { return one.form == OperandForm::zero; });
}

Role arithmetic_role(string_view base, const DecodedInstruction& decoded) {
  if (base == "FFMA" || base == "FFMA2" || base == "HFMA2" || base == "DFMA") {
    return decoded.kind == OpKind::move ? Role::other : Role::multiply_add;
  }
  if (base == "FMUL" || base == "FMUL2" || base == "HMUL2" || base == "DMUL") {
    return Role::multiply;
  }
  if (base == "FADD" || base == "FADD2" || base == "HADD2" || base == "DADD") {
    return reads_zero(decoded) ? Role::pass : Role::add;
  }
  // A value or nothing, as where a tile reaches over the edge.
  if (base == "FSEL") {
    return reads_zero(decoded) ? Role::pass : Role::other;
  }
  return Role::other;
}

Role integer_role(string_view base, string_view opcode, const DecodedInstruction& decoded) {
  // Shifts and masks by a constant take a half or a byte out of a word.
  if (base == "SHF" || base == "SHL" || base == "SHR" || base == "LOP3" || base == "BFE" ||
      base == "SGXT") {
    return registers_read(decoded) == 1 ? Role::pass : Role::other;
  }
  // IMAD.U32 R5, R4, 0x10000, RZ makes a float of a bfloat16.
  const bool shifts = has_modifier(opcode, "U32") || has_modifier(opcode, "SHL");
  if (base == "IMAD" && shifts && !has_modifier(opcode, "WIDE")) {
    return registers_read(decoded) == 1 && reads_zero(decoded) ? Role::pass : Role::other;
  }
  return Role::other;
}

Role role_of(const Instruction& instruction, const DecodedInstruction& decoded) {
  const string_view base = base_of(instruction.opcode);
  switch (decoded.kind) {
    case OpKind::load_global:
    case OpKind::load_shared:
      return Role::load;
    case OpKind::conversion:
      return Role::pass;
    case OpKind::move:
      return base == "MOV" || base == "IMAD" || base == "PRMT" || base == "SEL" || base == "MOVM"
                 ? Role::pass
                 : Role::other;
    case OpKind::shuffle:
      return base == "SHFL" ? Role::pass : Role::other;
    case OpKind::fp32:
    case OpKind::fp64:
    case OpKind::fp16:
      return arithmetic_role(base, decoded);
    case OpKind::integer:
      return integer_role(base, instruction.opcode, decoded);
    default:
      return Role::other;
  }
}

// Where registers are written: for each the instructions that do, in order.
class Definitions {
 public:
  explicit Definitions(const std::vector<DecodedInstruction>& decoded) {
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      const RegisterSpan span = decoded[i].written;
      for (int number = span.first; number < span.first + span.count; ++number) {
        of_[static_cast<std::size_t>(number)].push_back(static_cast<int>(i));
      }
    }
  }

  // The last instruction of `span` that writes the register before `at` does something, around the
  // loop's end where there is none before it; -1: none in the loop.
  [[nodiscard]] int before(const LoopSpan& span, int number, int at) const {
    const std::vector<int>& all = of_[static_cast<std::size_t>(number)];
    auto found = std::lower_bound(all.begin(), all.end(), at);
    if (found != all.begin() && *(found - 1) >= span.first) {
      return *(found - 1);
    }
    found = std::upper_bound(all.begin(), all.end(), span.last);
    return found != all.begin() && *(found - 1) >= span.first ? *(found - 1) : -1;
  }

 private:
  std::array<std::vector<int>, general_registers> of_;
};

// A value that a load brought.
struct Loaded {
  int load = -1;   // the instruction
  int number = 0;  // the register

  bool operator==(const Loaded&) const = default;
};

// Finds dot steps in one loop after the other.
class Search {
 public:
  Search(const std::vector<Instruction>& code, const std::vector<DecodedInstruction>& decoded,
         const CodeLoops& loops)
      : decoded_(decoded), loops_(loops), definitions_(decoded), roles_(code.size()) {
    for (std::size_t i = 0; i < code.size(); ++i) {
      roles_[i] = role_of(code[i], decoded[i]);
    }
  }

  std::vector<bool> run() {
    std::vector<std::vector<int>> products(loops_.loops.size());
    for (std::size_t i = 0; i < roles_.size(); ++i) {
      const int loop = loops_.innermost[i];
      if (loop >= 0 && multiplies_loaded_values(loop, static_cast<int>(i))) {
        products[static_cast<std::size_t>(loop)].push_back(static_cast<int>(i));
      }
    }
    std::vector<bool> steps(roles_.size());
    for (std::size_t loop = 0; loop < products.size(); ++loop) {
      if (!products[loop].empty()) {
        keep_summed(loops_.loops[loop], products[loop], steps);
      }
    }
    return steps;
  }

 private:
  [[nodiscard]] const DecodedInstruction& decoded(int at) const {
    return decoded_[static_cast<std::size_t>(at)];
  }
  [[nodiscard]] Role role(int at) const { return roles_[static_cast<std::size_t>(at)]; }

  [[nodiscard]] bool multiplies_loaded_values(int loop, int at) const {
    if (role(at) != Role::multiply && role(at) != Role::multiply_add) {
      return false;
    }
    const LoopSpan& span = loops_.loops[static_cast<std::size_t>(loop)];
    int left_lookups = most_lookups;
    int right_lookups = most_lookups;
    const std::optional<Loaded> left =
        loaded(span, at, decoded(at).read[0], most_hops, left_lookups);
    const std::optional<Loaded> right =
        left ? loaded(span, at, decoded(at).read[1], most_hops, right_lookups) : std::nullopt;
    return right && *left != *right;  // a square is no product of two matrices
  }

  // The load in the loop that an operand's value comes from.
  [[nodiscard]] std::optional<Loaded> loaded(const LoopSpan& span, int at, const Operand& operand,
                                             int hops, int& lookups) const {
    if (operand.form != OperandForm::registers || hops == 0) {
      return std::nullopt;
    }
    const int number = operand.span.first;
    int definition = at;
    for (int partial = 0; partial < most_partial && lookups > 0; ++partial) {
      --lookups;
      const int next = definitions_.before(span, number, definition);
      // Around the loop once is enough.
      if (next < 0 || (partial > 0 && next >= definition)) {
        return std::nullopt;
      }
      definition = next;
      if (role(definition) == Role::load) {
        return Loaded{.load = definition, .number = number};
      }
      if (role(definition) == Role::pass) {
        if (const std::optional<Loaded> source =
                loaded_source(span, definition, hops - 1, lookups)) {
          return source;
        }
      }
      if (!decoded(definition).predicated) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Loaded> loaded_source(const LoopSpan& span, int at, int hops,
                                                    int& lookups) const {
    for (int i = 0; i < decoded(at).reads; ++i) {
      if (const std::optional<Loaded> source =
              loaded(span, at, decoded(at).read[static_cast<std::size_t>(i)], hops, lookups)) {
        return source;
      }
    }
    return std::nullopt;
  }

  // Marks those of `products` whose sum stays from turn to turn.
  void keep_summed(const LoopSpan& span, const std::vector<int>& products,
                   std::vector<bool>& steps) const {
    const std::vector<bool> summed = summed_in_turns(span);
    for (const int product : products) {
      if (summed[static_cast<std::size_t>(product - span.first)]) {
        steps[static_cast<std::size_t>(product)] = true;
      }
    }
  }

  // Calls `take` with each instruction of the loop that `at` adds to, or takes over.
  template <typename Take>
  void for_each_addend(const LoopSpan& span, int at, Take take) const {
    const DecodedInstruction& one = decoded(at);
    int first = 0;
    int last = one.reads;
    switch (role(at)) {
      case Role::multiply_add:
        first = 2;
        last = std::min(last, 3);
        break;
      case Role::add:
        last = std::min(last, 2);
        break;
      case Role::pass:
        break;
      default:
        return;
    }
    for (int i = first; i < last; ++i) {
      const Operand& operand = one.read[static_cast<std::size_t>(i)];
      if (operand.form != OperandForm::registers) {
        continue;
      }
      int definition = at;
      for (int partial = 0; partial < most_partial; ++partial) {
        const int next = definitions_.before(span, operand.span.first, definition);
        if (next < 0 || (partial > 0 && next >= definition)) {
          break;
        }
        definition = next;
        take(definition);
        if (!decoded(definition).predicated) {
          break;
        }
      }
    }
  }

  // Which instructions of the loop are part of a sum that goes around it, or are added to one.
  [[nodiscard]] std::vector<bool> summed_in_turns(const LoopSpan& span) const;

  const std::vector<DecodedInstruction>& decoded_;
  const CodeLoops& loops_;
  Definitions definitions_;
  std::vector<Role> roles_;
};

// Edges between the instructions of a loop: from each to those that it adds to.
struct Edges {
  std::vector<std::vector<int>> to;
  std::vector<std::vector<int>> from;
};

// Takes away, again and again, what has no edges left in `ahead`. `behind` are the same edges
// backwards.
void peel(const std::vector<std::vector<int>>& ahead, const std::vector<std::vector<int>>& behind,
          std::vector<bool>& stays) {
  std::vector<int> count(ahead.size(), 0);
  std::vector<int> loose;
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    count[i] = static_cast<int>(std::count_if(ahead[i].begin(), ahead[i].end(), [&](int other) {
      return stays[static_cast<std::size_t>(other)];
    }));
    if (stays[i] && count[i] == 0) {
      loose.push_back(static_cast<int>(i));
    }
  }
  while (!loose.empty()) {
    const auto one = static_cast<std::size_t>(loose.back());
    loose.pop_back();
    stays[one] = false;
    for (const int other : behind[one]) {
      const auto at = static_cast<std::size_t>(other);
      if (stays[at] && --count[at] == 0) {
        loose.push_back(other);
      }
    }
  }
}

std::vector<bool> Search::summed_in_turns(const LoopSpan& span) const {
  const int length = span.last - span.first + 1;
  const auto size = static_cast<std::size_t>(length);
  Edges edges{.to = std::vector<std::vector<int>>(size),
              .from = std::vector<std::vector<int>>(size)};
  for (int i = span.first; i <= span.last; ++i) {
    for_each_addend(span, i, [&](int addend) {
      edges.to[static_cast<std::size_t>(i - span.first)].push_back(addend - span.first);
      edges.from[static_cast<std::size_t>(addend - span.first)].push_back(i - span.first);
    });
  }
  // What remains lies on a circle.
  std::vector<bool> summed(size, true);
  peel(edges.to, edges.from, summed);
  peel(edges.from, edges.to, summed);
  // And what is added to it.
  std::vector<int> open;
  for (std::size_t i = 0; i < size; ++i) {
    if (summed[i]) {
      open.push_back(static_cast<int>(i));
    }
  }
  while (!open.empty()) {
    const int one = open.back();
    open.pop_back();
    for (const int addend : edges.to[static_cast<std::size_t>(one)]) {
      if (!summed[static_cast<std::size_t>(addend)]) {
        summed[static_cast<std::size_t>(addend)] = true;
        open.push_back(addend);
      }
    }
  }
  return summed;
}

}  // namespace

std::vector<bool> find_dot_steps(const std::vector<Instruction>& code,
                                 const std::vector<DecodedInstruction>& decoded,
                                 const CodeLoops& loops) {
  return Search(code, decoded, loops).run();
}

}  // namespace kernelpro
