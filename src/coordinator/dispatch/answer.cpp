#include "coordinator/dispatch/answer.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/wire/json.hpp"

namespace kernelpro {

namespace {

Status unless(bool fits, const std::string& what) {
  return fits ? Status()
              : Status(make_error(ErrorKind::bad_input, "this answers another order: " + what +
                                                            " is not what was asked for"));
}

// As they are sent: bytes that are no UTF-8 do not come back.
bool same(const Candidate& one, const Candidate& other) {
  return to_json(one) == to_json(other);
}

// Whether all that a build included was sent so.
bool were_sent(const std::vector<IncludedLibrary>& included,
               const std::vector<HeaderLibrary>& sent) {
  return std::ranges::all_of(included, [&sent](const IncludedLibrary& one) {
    const auto library = std::ranges::find(sent, one.name, &HeaderLibrary::name);
    return library != sent.end() && same_part(*library, one).hash == one.hash;
  });
}

}  // namespace

Status check_answer(const OpenOrder& asked, const Opened& answer) {
  return unless(answer.task_hash == task_hash(asked.task), "the task");
}

Status check_answer(const OpenOrder& opened, const EvaluateOrder& asked, const Evaluated& answer) {
  const Certificate& certificate = answer.certificate;
  const std::string wanted = task_hash(opened.task);
  KP_TRY(unless(certificate.task_hash == wanted && task_hash(certificate.task) == wanted,
                "the task (" + certificate.task.name + ")"));
  const bool own = asked.candidate ? same(certificate.candidate, *asked.candidate)
                                   : certificate.candidate.name == asked.implementation;
  KP_TRY(unless(own, "the candidate (" + certificate.candidate.name + ")"));
  KP_TRY(unless(!asked.incumbent || same(certificate.incumbent, *asked.incumbent),
                "the incumbent (" + certificate.incumbent.name + ")"));
  KP_TRY(unless(opened.judging.threads == 0 || certificate.threads == opened.judging.threads,
                "the number of threads (" + std::to_string(certificate.threads) + ")"));
  KP_TRY(unless(certificate.sandbox == (opened.judging.sandbox ? "landlock" : "none"),
                "the sandbox (" + certificate.sandbox + ")"));
  KP_TRY(unless(were_sent(certificate.build.includes, opened.headers), "a header"));
  KP_TRY(unless(!asked.master || certificate.master == *asked.master, "the master key"));
  KP_TRY(unless(asked.brief || !certificate.verdict.timing.brief, "a brief timing"));
  return unless(asked.timed || certificate.verdict.timing.comparison == Comparison::not_timed,
                "a timing");
}

}  // namespace kernelpro
