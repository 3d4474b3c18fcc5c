// A user's function as a plain one: numbers and pointers in, the same call inside.
#pragma once

#include <string>
#include <vector>

#include "coordinator/task/own_function.hpp"

namespace kernelpro {

// What is left of a parameter when structs, lists and references are taken apart.
struct Leaf {
  enum class Kind { axis, scalar, tensor };

  Kind kind = Kind::axis;
  std::string name;
  ElementType element;     // of tensors and scalars
  bool may_write = false;  // of tensors
  bool returned = false;
  bool in_place = false;            // of tensors: the function works on the caller's own memory
  bool restricted = false;          // of tensors: no other pointer leads there
  std::vector<Enumerator> choices;  // of axes: it is one of these, as an enum or a bool is
  int fixed_count = 0;              // of tensors: that many elements, whatever the sizes
  std::string size_of;              // of axes: of the list or view of this name
  double sample = 1.25;             // of scalars: what is passed on trial
  std::string record;               // the struct's name, when it is a field of one
  std::string field;
  std::string together;  // of tensors: the array of structs that it is a part of
};

struct OwnCall {
  std::vector<Leaf> leaves;
  std::string before;  // statements that make the arguments
  std::string call;    // one statement
  std::string after;   // statements that take the results out; `return 1` where sizes differ
  bool plain = false;  // the function itself has these parameters and returns nothing
  // The same with hooks for what is touched: KP_TENSOR(leaf, pointer, bytes), KP_SIZE(leaf, size),
  // KP_PART(leaf, structs, place, bytes, room).
  std::string probe_before;
  std::string probe_after;
};

inline constexpr const char* bridge_name = "kp_bridge";

[[nodiscard]] OwnCall plan_call(const OwnFunction& function);

// The plain function, once it is known which tensors are only read.
[[nodiscard]] std::string bridge_declaration(const OwnCall& call,
                                             const std::vector<std::string>& only_read);
[[nodiscard]] std::string bridge_text(const OwnCall& call,
                                      const std::vector<std::string>& only_read);

}  // namespace kernelpro
