#include "worker/host/loop_facts.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace kernelpro {

namespace {

using Body = std::vector<HostInstruction>;
using Registers = std::set<std::string>;

bool is_vector(const std::string& name) {
  return name.starts_with('v');
}

bool is_stack(const std::string& name) {
  return name == "rsp" || name == "rbp" || name == "x29";
}

// What lies on the stack or in the code is no data of the user's: registers that ran out,
// constants.
bool loads_data(const HostInstruction& one) {
  return one.load && std::any_of(one.addresses.begin(), one.addresses.end(),
                                 [](const std::string& name) { return !is_stack(name); });
}

bool reads_any(const HostInstruction& one, const Registers& names) {
  return std::any_of(one.reads.begin(), one.reads.end(), [&names](const std::string& name) {
    return is_vector(name) || names.contains(name);
  });
}

// General registers that hold values that were loaded, or come of such.
Registers data_registers(const Body& body) {
  Registers data;
  for (int turn = 0; turn < 2; ++turn) {
    for (const HostInstruction& one : body) {
      if (one.writes.empty() || is_vector(one.writes)) {
        continue;
      }
      if (loads_data(one) || reads_any(one, data)) {
        data.insert(one.writes);
      }
    }
  }
  return data;
}

// How a value came out of another.
struct Path {
  std::set<Combining> combined;
  bool otherwise = false;
  bool loaded = false;  // by an address

  void add(const Path& other) {
    combined.insert(other.combined.begin(), other.combined.end());
    otherwise = otherwise || other.otherwise;
    loaded = loaded || other.loaded;
  }
  [[nodiscard]] bool changed() const { return !combined.empty() || otherwise || loaded; }
};

using Paths = std::map<std::string, Path>;

std::optional<Path> path_through(const HostInstruction& one, const Paths& known) {
  std::optional<Path> out;
  const auto take = [&](const std::string& name, bool address) {
    const auto found = known.find(name);
    if (found == known.end()) {
      return;
    }
    if (!out) {
      out.emplace();
    }
    out->add(found->second);
    out->loaded = out->loaded || address;
    if (one.kind != HostKind::arithmetic && one.kind != HostKind::division) {
      return;
    }
    if (one.combining != Combining::none && (one.combined.empty() || one.combined == name)) {
      out->combined.insert(one.combining);
    } else {
      out->otherwise = true;
    }
  };
  for (const std::string& name : one.reads) {
    take(name, false);
  }
  if (one.load) {
    for (const std::string& name : one.addresses) {
      take(name, true);
    }
  }
  return out;
}

// The way of `name` from the beginning of a turn to its end; none: what it holds then is new.
std::optional<Path> carried_path(const Body& body, const std::string& name) {
  Paths known = {{name, {}}};
  for (const HostInstruction& one : body) {
    if (one.writes.empty()) {
      continue;
    }
    if (std::optional<Path> path = path_through(one, known)) {
      known[one.writes] = std::move(*path);
    } else {
      known.erase(one.writes);
    }
  }
  const auto last = known.find(name);
  return last != known.end() && last->second.changed() ? std::optional(last->second) : std::nullopt;
}

// An index or address that goes on by the same distance each turn, and not one that a search halves
// or a generator scatters.
bool is_counted(const Path& path) {
  return !path.otherwise && !path.loaded && !path.combined.contains(Combining::product);
}

Registers written_in(const Body& body) {
  Registers out;
  for (const HostInstruction& one : body) {
    if (!one.writes.empty()) {
      out.insert(one.writes);
    }
  }
  return out;
}

// Each turn's value is kept at another place: a scan, no sum.
bool is_stored_each_turn(const Body& body, const std::string& name, const Registers& written) {
  return std::any_of(body.begin(), body.end(), [&](const HostInstruction& one) {
    return one.store && std::find(one.reads.begin(), one.reads.end(), name) != one.reads.end() &&
           std::any_of(one.addresses.begin(), one.addresses.end(),
                       [&written](const std::string& part) { return written.contains(part); });
  });
}

void describe_carried(const Body& body, const Registers& data, HostLoop& loop) {
  const Registers written = written_in(body);
  for (const std::string& name : written) {
    const std::optional<Path> path = carried_path(body, name);
    if (!path || (!is_vector(name) && !data.contains(name) && is_counted(*path))) {
      continue;
    }
    loop.chased = loop.chased || path->loaded;
    const bool plain = !path->otherwise && !path->loaded && path->combined.size() == 1;
    (plain && !is_stored_each_turn(body, name, written) ? loop.reduction : loop.recurrence) = true;
  }
}

// Scalars of a vector register have their own width; what is moved whole has the register's.
int accessed_bytes(const HostInstruction& one) {
  const bool whole = one.vector_register && (one.packed || one.element_bits == 0);
  const int bits = whole ? one.vector_bits : one.element_bits;
  return (one.load ? bits / 8 : 0) + (one.store ? bits / 8 : 0);
}

void count_instruction(const HostInstruction& one, const Registers& data, HostLoop& loop) {
  ++loop.instructions;
  loop.loads += one.load ? 1 : 0;
  loop.stores += one.store ? 1 : 0;
  loop.access_bytes += accessed_bytes(one);
  loop.gathers += one.gather ? 1 : 0;
  loop.divisions += one.kind == HostKind::division ? 1 : 0;
  const bool computes = one.kind == HostKind::arithmetic || one.kind == HostKind::division;
  if (computes && one.vector_register) {
    (one.packed ? loop.packed : loop.scalar) += 1;
    loop.vector_bits = std::max(loop.vector_bits, one.packed ? one.vector_bits : 0);
  } else if (computes && (loads_data(one) || reads_any(one, data))) {
    ++loop.scalar;
  }
  const bool indirect =
      (one.load || one.store) &&
      std::any_of(one.addresses.begin(), one.addresses.end(),
                  [&data](const std::string& name) { return data.contains(name); });
  loop.indirect += indirect ? 1 : 0;
}

// Of the arithmetic on vectors or single numbers there; else of what is loaded.
int element_bits(const Body& body) {
  int loaded = 0;
  for (const HostInstruction& one : body) {
    const bool computes = one.kind == HostKind::arithmetic || one.kind == HostKind::division;
    if (computes && one.vector_register && one.element_bits > 0) {
      return one.element_bits;
    }
    if (loads_data(one) && one.element_bits > 0) {
      loaded = loaded == 0 ? one.element_bits : std::min(loaded, one.element_bits);
    }
  }
  return loaded;
}

}  // namespace

HostLoop facts_of_loop(const Body& body) {
  HostLoop loop;
  loop.begin = body.front().address;
  loop.end = body.back().address;
  const Registers data = data_registers(body);
  for (const HostInstruction& one : body) {
    if (one.kind == HostKind::call) {
      loop.calls.push_back(one.callee);
    } else if (one.kind == HostKind::branch) {
      loop.branches += &one == &body.back() ? 0 : 1;
    }
    count_instruction(one, data, loop);
  }
  loop.element_bits = element_bits(body);
  describe_carried(body, data, loop);
  return loop;
}

}  // namespace kernelpro
