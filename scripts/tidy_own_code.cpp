// A plugin for clang-tidy 19 that keeps its checks within this project's files. Without it every
// check walks through all that is included: nine tenths of its time goes to the standard library
// and to libraries whose findings are not shown.
//
// Its only check, `kernelpro-own-code`, finds nothing: it is told of the translation unit before
// what is in it, and takes from it what system headers declare.

#include <clang-tidy/ClangTidyCheck.h>
#include <clang-tidy/ClangTidyModule.h>
#include <clang-tidy/ClangTidyModuleRegistry.h>
#include <clang/AST/ASTContext.h>
#include <clang/ASTMatchers/ASTMatchFinder.h>

namespace {

class OwnCode : public clang::tidy::ClangTidyCheck {
 public:
  using ClangTidyCheck::ClangTidyCheck;

  void registerMatchers(clang::ast_matchers::MatchFinder* finder) override {
    finder->addMatcher(clang::ast_matchers::translationUnitDecl().bind("unit"), this);
  }

  void check(const clang::ast_matchers::MatchFinder::MatchResult& found) override {
    const clang::SourceManager& sources = *found.SourceManager;
    std::vector<clang::Decl*> own;
    for (clang::Decl* declared : found.Context->getTranslationUnitDecl()->decls()) {
      const clang::SourceLocation place = declared->getLocation();
      if (place.isValid() && !sources.isInSystemHeader(sources.getExpansionLoc(place))) {
        own.push_back(declared);
      }
    }
    found.Context->setTraversalScope(own);
  }
};

class OwnCodeModule : public clang::tidy::ClangTidyModule {
 public:
  void addCheckFactories(clang::tidy::ClangTidyCheckFactories& factories) override {
    factories.registerCheck<OwnCode>("kernelpro-own-code");
  }
};

const clang::tidy::ClangTidyModuleRegistry::Add<OwnCodeModule> added("kernelpro", "");

}  // namespace
