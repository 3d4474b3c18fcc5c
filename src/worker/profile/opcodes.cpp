#include "worker/profile/opcodes.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <unordered_map>

#include "common/model/enum_names.hpp"

namespace kernelpro {
namespace {

using std::string_view;

constexpr std::array<string_view, 37> kind_names = {"fp32",
                                                    "fp64",
                                                    "fp16",
                                                    "integer",
                                                    "conversion",
                                                    "special",
                                                    "branch",
                                                    "barrier",
                                                    "mbarrier",
                                                    "hmma",
                                                    "imma",
                                                    "dmma",
                                                    "hgmma",
                                                    "igmma",
                                                    "qgmma",
                                                    "bgmma",
                                                    "utcmma",
                                                    "tma_load",
                                                    "tma_store",
                                                    "bulk_copy",
                                                    "cp_async",
                                                    "load_global",
                                                    "store_global",
                                                    "load_shared",
                                                    "store_shared",
                                                    "load_local",
                                                    "store_local",
                                                    "load_constant",
                                                    "atomic_global",
                                                    "atomic_shared",
                                                    "reduction_global",
                                                    "shuffle",
                                                    "vote",
                                                    "move",
                                                    "uniform",
                                                    "call",
                                                    "other"};
static_assert(kind_names.size() == static_cast<std::size_t>(OpKind::other) + 1);

using Kinds = std::unordered_map<string_view, OpKind>;

void add_all(Kinds& kinds, OpKind kind, std::initializer_list<string_view> bases) {
  for (const string_view base : bases) {
    kinds.emplace(base, kind);
  }
}

Kinds arithmetic_kinds() {
  Kinds kinds;
  add_all(kinds, OpKind::fp32,
          {"FADD", "FADD2", "FADD32I", "FMUL", "FMUL2", "FMUL32I", "FFMA", "FFMA2", "FFMA32I",
           "FSETP", "FSET", "FSEL", "FMNMX", "FMNMX3", "FCHK", "FSWZADD", "FCMP"});
  add_all(kinds, OpKind::fp64, {"DADD", "DMUL", "DFMA", "DSETP", "DSET", "DMNMX"});
  add_all(kinds, OpKind::fp16,
          {"HADD2", "HADD2_32I", "HMUL2", "HMUL2_32I", "HFMA2", "HFMA2_32I", "HSETP2", "HSET2",
           "HMNMX2", "VHMNMX"});
  add_all(kinds, OpKind::integer,
          {"IADD3",  "IADD",  "IADD32I", "IMAD",    "IMUL",      "LEA",      "LOP3",      "LOP",
           "LOP32I", "SHF",   "SHL",     "SHR",     "ISETP",     "ISET",     "ISCADD",    "IABS",
           "VIADD",  "IMNMX", "VIMNMX",  "VIMNMX3", "VIADDMNMX", "VABSDIFF", "VABSDIFF4", "POPC",
           "FLO",    "BREV",  "SGXT",    "BMSK",    "IDP",       "IDP4A",    "PLOP3",     "PSETP",
           "XMAD",   "BFE",   "BFI",     "LEA32I"});
  add_all(kinds, OpKind::conversion,
          {"I2F", "I2FP", "F2I", "F2IP", "F2F", "F2FP", "I2I", "I2IP", "FRND"});
  add_all(kinds, OpKind::special, {"MUFU"});
  add_all(kinds, OpKind::hmma, {"HMMA", "QMMA", "OMMA"});
  add_all(kinds, OpKind::imma, {"IMMA", "BMMA"});
  add_all(kinds, OpKind::dmma, {"DMMA"});
  add_all(kinds, OpKind::hgmma, {"HGMMA"});
  add_all(kinds, OpKind::igmma, {"IGMMA"});
  add_all(kinds, OpKind::qgmma, {"QGMMA"});
  add_all(kinds, OpKind::bgmma, {"BGMMA"});
  add_all(kinds, OpKind::utcmma, {"UTCHMMA", "UTCIMMA", "UTCQMMA", "UTCOMMA"});
  add_all(kinds, OpKind::move,
          {"MOV", "MOV32I", "SEL", "PRMT", "CS2R", "S2R", "P2R", "R2P", "MOVM"});
  return kinds;
}

void add_memory_kinds(Kinds& kinds) {
  add_all(kinds, OpKind::load_global, {"LDG", "LD"});
  add_all(kinds, OpKind::store_global, {"STG", "ST"});
  add_all(kinds, OpKind::load_shared, {"LDS", "LDSM"});
  add_all(kinds, OpKind::store_shared, {"STS", "STSM", "STAS"});
  add_all(kinds, OpKind::load_local, {"LDL"});
  add_all(kinds, OpKind::store_local, {"STL"});
  add_all(kinds, OpKind::load_constant, {"LDC", "ULDC", "LDCU"});
  add_all(kinds, OpKind::atomic_global, {"ATOMG", "ATOM"});
  add_all(kinds, OpKind::atomic_shared, {"ATOMS", "REDS"});
  add_all(kinds, OpKind::reduction_global, {"RED", "REDG"});
  add_all(kinds, OpKind::cp_async, {"LDGSTS"});
  add_all(kinds, OpKind::tma_load, {"UTMALDG"});
  add_all(kinds, OpKind::tma_store, {"UTMASTG", "UTMAREDG"});
  add_all(kinds, OpKind::bulk_copy, {"UBLKCP", "UBLKRED"});
}

void add_control_kinds(Kinds& kinds) {
  add_all(kinds, OpKind::branch,
          {"BRA", "BRX", "BRXU", "JMP", "JMX", "JMXU", "EXIT", "RET", "BSSY", "BSYNC", "BREAK",
           "KILL"});
  add_all(kinds, OpKind::call, {"CALL"});
  add_all(kinds, OpKind::barrier, {"BAR"});
  add_all(kinds, OpKind::mbarrier, {"SYNCS"});
  add_all(kinds, OpKind::shuffle, {"SHFL", "REDUX", "CREDUX"});
  add_all(kinds, OpKind::vote, {"VOTE", "VOTEU", "MATCH", "ELECT"});
  add_all(kinds, OpKind::uniform, {"R2UR", "S2UR", "CS2UR"});
}

const Kinds& kinds_by_base() {
  static const Kinds kinds = [] {
    Kinds all = arithmetic_kinds();
    add_memory_kinds(all);
    add_control_kinds(all);
    return all;
  }();
  return kinds;
}

// The last of ".2" and ".4": how many 8x8 matrices. ".16" is the width of an element.
int matrix_bits(string_view opcode) {
  if (has_modifier(opcode, "4")) {
    return 128;
  }
  return has_modifier(opcode, "2") ? 64 : 32;
}

int access_bits(string_view opcode) {
  struct Width {
    string_view modifier;
    int bits;
  };
  static constexpr std::array<Width, 10> widths = {{{"256", 256},
                                                    {"128", 128},
                                                    {"64", 64},
                                                    {"F64", 64},
                                                    {"U64", 64},
                                                    {"S64", 64},
                                                    {"U8", 8},
                                                    {"S8", 8},
                                                    {"U16", 16},
                                                    {"S16", 16}}};
  for (const Width& width : widths) {
    if (has_modifier(opcode, width.modifier)) {
      return width.bits;
    }
  }
  return 32;
}

}  // namespace

string_view name_of(OpKind kind) {
  return enum_name(kind_names, kind);
}

string_view base_of(string_view opcode) {
  return opcode.substr(0, opcode.find('.'));
}

bool has_modifier(string_view opcode, string_view modifier) {
  for (std::size_t dot = opcode.find('.'); dot != string_view::npos;) {
    const std::size_t next = opcode.find('.', dot + 1);
    if (opcode.substr(dot + 1, next == string_view::npos ? next : next - dot - 1) == modifier) {
      return true;
    }
    dot = next;
  }
  return false;
}

bool has_code_target(string_view opcode) {
  static constexpr std::array<string_view, 8> bases = {"BRA", "BSSY", "CALL", "RET",
                                                       "JMP", "BRX",  "SSY",  "PBK"};
  const string_view base = base_of(opcode);
  return std::find(bases.begin(), bases.end(), base) != bases.end();
}

OpKind kind_of(const Instruction& instruction) {
  const string_view opcode = instruction.opcode;
  const string_view base = base_of(opcode);
  const auto found = kinds_by_base().find(base);
  if (found == kinds_by_base().end()) {
    return base.starts_with('U') ? OpKind::uniform : OpKind::other;
  }
  // The compiler moves values with whatever pipe is free.
  if (base == "IMAD" && has_modifier(opcode, "MOV")) {
    return OpKind::move;
  }
  if (base == "HFMA2" && instruction.operands.find("-RZ, RZ, ") != std::string::npos) {
    return OpKind::move;
  }
  // HADD2.F32 R5, -RZ, R4.H0_H0 makes a float of a half.
  if (base == "HADD2" && has_modifier(opcode, "F32") &&
      instruction.operands.find("RZ") != std::string::npos) {
    return OpKind::conversion;
  }
  return found->second;
}

std::optional<MemoryTraits> memory_traits(OpKind kind, string_view opcode) {
  const int bits = access_bits(opcode);
  switch (kind) {
    case OpKind::load_global:
      return MemoryTraits{Space::global, Access::load, bits};
    case OpKind::store_global:
      return MemoryTraits{Space::global, Access::store, bits};
    case OpKind::load_shared:
      return MemoryTraits{Space::shared, Access::load,
                          base_of(opcode) == "LDSM" ? matrix_bits(opcode) : bits};
    case OpKind::store_shared:
      return MemoryTraits{base_of(opcode) == "STAS" ? Space::distributed : Space::shared,
                          Access::store, base_of(opcode) == "STSM" ? matrix_bits(opcode) : bits};
    case OpKind::load_local:
      return MemoryTraits{Space::local, Access::load, bits};
    case OpKind::store_local:
      return MemoryTraits{Space::local, Access::store, bits};
    case OpKind::load_constant:
      return MemoryTraits{Space::constant, Access::load, bits};
    case OpKind::atomic_global:
      return MemoryTraits{Space::global, Access::atomic, bits};
    case OpKind::atomic_shared:
      return MemoryTraits{Space::shared, Access::atomic, bits};
    case OpKind::reduction_global:
      return MemoryTraits{Space::global, Access::reduction, bits};
    case OpKind::cp_async:
      return MemoryTraits{Space::global, Access::async_copy, bits};
    case OpKind::tma_load:
    case OpKind::tma_store:
    case OpKind::bulk_copy:
      return MemoryTraits{Space::global, Access::bulk_copy, 0};
    default:
      return std::nullopt;
  }
}

}  // namespace kernelpro
