// A run whose process dies at each of its writes, before it or behind it, and is taken up again.
#include <fcntl.h>

#include <csignal>
#include <set>
#include <tuple>

#include "common/base/unique_fd.hpp"
#include "coordinator/app/open_run.hpp"
#include "coordinator/app/run_work.hpp"
#include "coordinator/app/runs.hpp"
#include "coordinator/app/store_journal.hpp"
#include "coordinator/loop/loop_fixture.hpp"
#include "coordinator/store/fixture.hpp"

namespace kernelpro {
namespace {

// When a process dies: at which of its writes, counted from 1, and on which side of it.
struct Death {
  int write = 0;  // 0: not at all
  bool behind = false;
};

// Keeps a run as ever, says which node has ended once that is kept, and dies when it is time.
class MortalJournal : public StoreJournal {
 public:
  MortalJournal(Store& store, const std::string& run, Death death, int told)
      : StoreJournal(store, run), death_(death), told_(told) {}

  Status proposed(const Node& node, const std::string& source) override {
    begin_write();
    return end_write(StoreJournal::proposed(node, source));
  }
  Status answered(const Node& node, const Certificate& certificate) override {
    begin_write();
    return end_write(StoreJournal::answered(node, certificate));
  }
  Status ended(const Node& node, const Certificate* certificate) override {
    begin_write();
    Status kept = StoreJournal::ended(node, certificate);
    EXPECT_EQ(::write(told_, &node.id, sizeof node.id), sizeof node.id);
    return end_write(std::move(kept));
  }
  Status closed(const Closure& closure) override {
    begin_write();
    return end_write(StoreJournal::closed(closure));
  }

 private:
  void begin_write() {
    if (++writes_ == death_.write && !death_.behind) {
      ::raise(SIGKILL);
    }
  }
  Status end_write(Status kept) const {
    if (writes_ == death_.write && death_.behind) {
      ::raise(SIGKILL);
    }
    return kept;
  }

  Death death_;
  int told_;
  int writes_ = 0;
};

// What of a node is the same however often its run was taken up.
using Lasting = std::tuple<NodeId, NodeId, std::string, std::string, NodeState, Outcome>;

std::vector<Lasting> lasting(const RunReport& report) {
  std::vector<Lasting> out;
  for (const Node& node : report.nodes) {
    out.emplace_back(node.id, node.parent, node.move, node.candidate_key, node.state, node.outcome);
  }
  return out;
}

class Kills : public ::testing::Test {
 protected:
  [[nodiscard]] static Result<OpenRun> begin_or_take_up(const std::filesystem::path& store) {
    if (report_run(store, "wave-1")) {
      return old_run({store, "wave-1", {}});
    }
    OptimizeRequest request;
    request.task = KERNELPRO_SOURCE_DIR "/tests/cli/data/wave";
    request.store = store;
    request.settings.evaluations = 12;
    request.settings.tiers = {"build"};
    return new_run(request, {});
  }

  // Works on the run until its end, or dies. Writes the number of each node that has ended.
  [[nodiscard]] static bool work(const std::filesystem::path& store, Death death, int told) {
    Result<OpenRun> open = begin_or_take_up(store);
    const Result<Playbook> playbook = open ? load_playbook(open->run, {}) : open.error();
    const Result<std::unique_ptr<Search>> search = make_search("mcts", "default", 1);
    if (!playbook || !search) {
      return false;
    }
    FormulaLaboratory laboratory;
    MortalJournal journal(open->store, open->run.id, death, told);
    ClosedLoop loop(open->run, **search, *playbook, laboratory, journal, {});
    return loop.work(open->history, {}).ok() && open->store.save_run(open->run).ok();
  }

  // The same in a process of its own, which adds to `ended`; whether it came to the end.
  [[nodiscard]] static bool came_to_the_end(const std::filesystem::path& store, Death death,
                                            std::set<NodeId>& ended) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd read(ends[0]);
    UniqueFd write(ends[1]);
    const pid_t process = testing::in_process([&] { return work(store, death, write.get()); });
    write.reset();
    for (NodeId id = no_node; ::read(read.get(), &id, sizeof id) == sizeof id;) {
      ended.insert(id);
    }
    return testing::exit_code_of(process) == 0;
  }

  [[nodiscard]] std::filesystem::path store(const std::string& name) const {
    return folder_->path() / name;
  }

 private:
  Result<ScratchDir> folder_ = ScratchDir::create("kills-test");
};

std::set<NodeId> ended_nodes(const RunReport& report) {
  std::set<NodeId> ended;
  for (const Node& node : report.nodes) {
    if (node.ended > 0) {
      ended.insert(node.id);
    }
  }
  return ended;
}

TEST_F(Kills, AtEveryWriteOfARunLoseNothingThatHadEndedAndTheTreeIsTheSame) {
  std::set<NodeId> ended;
  int deaths = 0;
  bool finished = false;
  for (int round = 0; !finished && round < 100; ++round) {
    finished = came_to_the_end(store("killed"), {1 + round / 2 % 6, round % 2 == 1}, ended);
    deaths += finished ? 0 : 1;
    const Result<RunReport> kept = report_run(store("killed"), "wave-1");
    ASSERT_TRUE(kept) << kept.error().text();
    EXPECT_EQ(ended_nodes(*kept), ended) << "after death " << round;
    EXPECT_LE(kept->in_flight, 2);
    EXPECT_EQ(kept->run.state, finished ? RunState::finished : RunState::interrupted);
  }
  EXPECT_TRUE(finished);
  EXPECT_GE(deaths, 12);
  std::set<NodeId> in_one_go;
  EXPECT_TRUE(came_to_the_end(store("undisturbed"), {}, in_one_go));
  EXPECT_EQ(in_one_go, ended);
  const Result<RunReport> killed = report_run(store("killed"), "wave-1");
  const Result<RunReport> undisturbed = report_run(store("undisturbed"), "wave-1");
  ASSERT_TRUE(killed && undisturbed);
  EXPECT_EQ(lasting(*killed), lasting(*undisturbed));
  EXPECT_EQ(killed->best, undisturbed->best);
  EXPECT_GE(undisturbed->evaluations, 5);
}

}  // namespace
}  // namespace kernelpro
