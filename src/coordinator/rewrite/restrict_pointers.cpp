#include "common/base/text.hpp"
#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/transformations.hpp"

namespace kernelpro {
namespace {

// Where the name of the parameter stands in the signature, right behind a star; npos: nowhere.
std::size_t place_of(const std::string& signature, const std::string& name) {
  for (std::size_t at = signature.find(name, signature.find('(')); at != std::string::npos;
       at = signature.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool whole =
        !is_word(signature[at - 1]) && (end >= signature.size() || !is_word(signature[end]));
    const std::size_t before = signature.find_last_not_of(" \n", at - 1);
    if (whole && before != std::string::npos && signature[before] == '*') {
      return at;
    }
  }
  return std::string::npos;
}

bool restrict_one(Function& function) {
  bool changed = false;
  for (Parameter& parameter : function.parameters) {
    const std::size_t at = parameter.name.empty() || !is_pointer(parameter.type) ||
                                   parameter.type.find("restrict") != std::string::npos
                               ? std::string::npos
                               : place_of(function.signature, parameter.name);
    if (at != std::string::npos) {
      function.signature.insert(at,
                                function.signature[at - 1] == '*' ? " __restrict " : "__restrict ");
      parameter.type += " __restrict";
      changed = true;
    }
  }
  return changed;
}

}  // namespace

Result<Program> restrict_pointers(const Program& program) {
  Program out = program;
  bool changed = false;
  for (Item& item : out.items) {
    if (item.understood && item.function.local && has_loop(item.function.body)) {
      changed = restrict_one(item.function) || changed;
    }
  }
  if (!changed) {
    return make_error(ErrorKind::bad_input,
                      "no function of this file with a loop takes pointers that may overlap");
  }
  return out;
}

std::vector<Offer> offer_restrict_pointers(const Program& program) {
  return {{"all functions", "pointers said not to overlap",
           [program] { return restrict_pointers(program); }}};
}

}  // namespace kernelpro
