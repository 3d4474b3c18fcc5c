#include "coordinator/terminal/live_view.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "coordinator/report/speed_text.hpp"

namespace kernelpro {

namespace {

// "0:43", "12:05", "1:02:05".
std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  const std::int64_t hours = whole / 3600;
  const std::int64_t minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string ending(const Node& node) {
  if (node.state == NodeState::duplicate) {
    return node.summary;
  }
  std::string text(name_of(node.outcome));
  if (!node.rule.empty()) {
    text += ": " + node.rule;
  }
  if (node.outcome == Outcome::passed) {
    text += " " + times_words(node.speedup, node.at_least) + (node.suspect ? " (suspect)" : "") +
            likely_words(node.speedup, node.likely);
  }
  return text;
}

// What a finalist's measurement at the end came to, also where its earlier timing is kept.
std::string final_ending(const Node& node, const Verdict& verdict) {
  if (verdict.outcome == Outcome::not_judged) {
    return "not judged: " + verdict.summary;
  }
  if (verdict.suspect && !node.suspect) {
    return fmt::format("suspect now; its clean timing is kept, {}",
                       times_words(node.speedup, node.at_least));
  }
  return ending(node) + (node.confirmed ? ", confirmed" : "");
}

}  // namespace

std::string node_line(const Node& node) {
  if (node.id == root_node) {
    return fmt::format("node 0: the baseline: {}", ending(node));
  }
  return fmt::format("node {} of {}: {}{}: {}", node.id, node.parent, node.move,
                     node.site.empty() ? "" : " (" + node.site + ")", ending(node));
}

std::string progress_text(const std::string& task, const LoopProgress& progress,
                          const std::string& last) {
  std::string text = fmt::format("{} {}/{}", task, progress.judged, progress.budget);
  text +=
      progress.best == root_node
          ? std::string(" · nothing faster yet")
          : fmt::format(" · best {} (node {})",
                        times_words(progress.best_speedup, progress.best_at_least), progress.best);
  text += " · last: " + last;
  if (progress.judged > 0) {
    text += " · " + clock_text(progress.seconds_left) + " left";
  }
  return progress.doing.empty() ? text : text + " · " + progress.doing;
}

LiveView::LiveView(bool quiet)
    : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1), line_(!quiet) {}

Watcher LiveView::watcher() {
  return [this](const Event& event) {
    if (const auto* activity = std::get_if<Activity>(&event)) {
      line_.show(activity->text);
    } else if (const auto* progress = std::get_if<LoopProgress>(&event)) {
      show(*progress);
    } else if (const auto* begun = std::get_if<RunBegun>(&event)) {
      task_ = begun->task;
      last_ = "none yet";
      say(fmt::format("run {} in {}", begun->run, begun->store.string()));
    } else if (const auto* load = std::get_if<MachineLoad>(&event)) {
      for (const std::string& note : load_notes(*load)) {
        say("kernelpro: " + note);
      }
    } else if (const auto* remark = std::get_if<Remark>(&event)) {
      tell_remark(*remark);
    }
  };
}

void LiveView::tell_remark(const Remark& remark) {
  if (remark.on == Remark::On::models && quiet_) {
    std::fprintf(stderr, "%s\n", remark.text.c_str());
    return;
  }
  say((remark.on == Remark::On::program ? "kernelpro: " : "") + remark.text);
}

void LiveView::show(const LoopProgress& progress) {
  if (progress.last != nullptr && progress.final != nullptr) {
    last_ = fmt::format("finalist, node {}: {}", progress.last->id,
                        final_ending(*progress.last, *progress.final));
    if (!terminal_) {
      say(last_);
    }
  } else if (progress.last != nullptr) {
    last_ =
        ending(*progress.last) + (progress.last->move.empty() ? "" : ", " + progress.last->move);
    if (!terminal_) {
      say(fmt::format("[{}/{} best {}] {}", progress.judged, progress.budget,
                      times_words(progress.best_speedup, progress.best_at_least),
                      node_line(*progress.last)));
    }
  }
  line_.show(progress_text(task_, progress, last_));
}

void LiveView::say(const std::string& text) {
  if (!quiet_) {
    line_.clear();
    std::fprintf(stderr, "%s\n", text.c_str());
  }
}

}  // namespace kernelpro
