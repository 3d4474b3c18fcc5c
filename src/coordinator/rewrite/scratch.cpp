#include "coordinator/rewrite/scratch.hpp"

#include "coordinator/rewrite/build.hpp"
#include "coordinator/rewrite/places.hpp"
#include "coordinator/rewrite/print.hpp"

namespace kernelpro {
namespace {

const char* const definition = R"(
// Memory that is freed at the end of its scope, aligned for vectors.
struct KpScratch {
  explicit KpScratch(std::size_t bytes) : data(::operator new(bytes, std::align_val_t(64))) {}
  KpScratch(const KpScratch&) = delete;
  KpScratch& operator=(const KpScratch&) = delete;
  ~KpScratch() { ::operator delete(data, std::align_val_t(64)); }
  void* const data;
};
)";

}  // namespace

Body make_scratch(Program& program, const ScratchRequest& request) {
  if (!names_in(program).contains("KpScratch")) {
    add_include(program, "cstddef");
    add_include(program, "new");
    add_to_head(program, definition);
  }
  Stmt owner;
  owner.text = "const KpScratch " + request.owner + "(sizeof(" + request.type +
               ") * static_cast<std::size_t>(" + print_expr(request.count) + "));";
  Stmt pointer =
      make_declaration(request.type + "* __restrict", request.pointer,
                       {Expr{Expr::Kind::verbatim,
                             "static_cast<" + request.type + "*>(" + request.owner + ".data)",
                             {},
                             {}}});
  return {std::move(owner), std::move(pointer)};
}

}  // namespace kernelpro
