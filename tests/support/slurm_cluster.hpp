// A Slurm cluster of a test's own: one controller and three nodes, all on this machine, on loopback
// and on ports that were free. Its daemons end with it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/deadline.hpp"
#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/base/unique_fd.hpp"
#include "support/environment.hpp"
#include "support/leftovers.hpp"

namespace kernelpro::testing {

inline std::string run_and_read(std::vector<std::string> arguments) {
  Command command;
  command.arguments = std::move(arguments);
  command.inherit_environment = true;
  const Result<Finished> done = run_command(command);
  return done ? done->output + done->errors : done.error().text();
}

// Ports that nobody listens on now. All are held until the last is known, so that they differ.
template <std::size_t count>
std::array<int, count> free_ports() {
  std::array<int, count> ports{};
  std::array<UniqueFd, count> sockets;
  for (std::size_t i = 0; i < count; ++i) {
    sockets[i] = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(sockets[i].get(), any, size) == 0) {
      ::getsockname(sockets[i].get(), any, &size);
    }
    ports[i] = ntohs(address.sin_port);
  }
  return ports;
}

class SlurmCluster {
 public:
  static constexpr std::array<const char*, 3> nodes = {"n1", "n2", "n3"};

  // Why there can be none here; empty: there can.
  static std::string missing() {
    for (const char* program : {"munged", "slurmctld", "slurmd", "srun"}) {
      if (!find_program(program)) {
        return std::string("no ") + program +
               " (Debian: apt-get install slurmctld slurmd slurm-client munge)";
      }
    }
    return ::geteuid() == 0 ? "" : "nodes of a cluster are started by root";
  }

  SlurmCluster() {
    std::filesystem::permissions(path(""), std::filesystem::perms(0711));
    for (const char* folder : {"state", "spool.n1", "spool.n2", "spool.n3"}) {
      std::filesystem::create_directory(path(folder));
    }
    std::ofstream(path("key"), std::ios::binary) << std::string(128, 'k');
    std::filesystem::permissions(path("key"), std::filesystem::perms(0400));
    std::ofstream(path("slurm.conf")) << configuration();
    start("munged", {"munged", "-F", "--key-file=" + path("key"), "--socket=" + path("socket"),
                     "--pid-file=" + path("munged.pid"), "--log-file=" + path("munged.log"),
                     "--seed-file=" + path("seed")});
    wait_for([this] { return std::filesystem::exists(path("socket")); });
    start("slurmctld", {"slurmctld", "-D", "-i"});
    for (const char* node : nodes) {
      start_node(node);
    }
    wait_for([this] { return nodes_in("idle") == 3; });
  }
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;
  ~SlurmCluster() {
    run_and_read({"scancel", "--quiet", "--user=root"});
    wait_for([this] { return jobs("RUNNING,COMPLETING,PENDING").empty(); });
  }

  // One job a line, "ID NODE STATE", of those in that state, or in any.
  [[nodiscard]] std::vector<std::string> jobs(const std::string& states = "all") const {
    std::vector<std::string> out;
    std::istringstream lines(
        run_and_read({"squeue", "--noheader", "--states=" + states, "-o", "%i %N %T"}));
    for (std::string line; std::getline(lines, line);) {
      out.push_back(line);
    }
    return out;
  }
  // Waits for a job that runs: its id and its node.
  [[nodiscard]] std::pair<std::string, std::string> running_job() const {
    std::vector<std::string> found;
    wait_for([&] { return !(found = jobs("RUNNING")).empty(); });
    std::pair<std::string, std::string> job;
    std::istringstream(found.empty() ? "" : found.back()) >> job.first >> job.second;
    return job;
  }
  [[nodiscard]] static std::string control(const std::string& node, const std::string& state) {
    return run_and_read(
        {"scontrol", "update", "nodename=" + node, "state=" + state, "reason=test"});
  }
  [[nodiscard]] int nodes_in(const std::string& state) const {
    const std::string text = run_and_read({"sinfo", "--noheader", "--states=" + state, "-o", "%D"});
    return static_cast<int>(std::strtol(text.c_str(), nullptr, 10));
  }

  void start_node(const std::string& node) { start(node, {"slurmd", "-D", "-N", node}); }
  // As if its power went: its daemon and all of the job there are gone, and say nothing.
  void cut_power(const std::string& node, const std::string& job) {
    daemons_.erase(node);
    for (const pid_t process : processes_of(job)) {
      ::kill(process, SIGKILL);
    }
    // What the controller does by itself when it has not heard of the node for a while.
    (void)control(node, "down");
  }

  // False where it did not come true within half a minute.
  static bool wait_for(const std::function<bool()>& come_true) {
    const Deadline deadline(30'000);
    while (!come_true()) {
      if (deadline.passed()) {
        return false;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return true;
  }

 private:
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_->path() / name).string();
  }

  [[nodiscard]] std::string configuration() const {
    const std::string host = run_and_read({"hostname", "-s"});
    const std::string name = host.substr(0, host.find('\n'));
    const std::array<int, 4> ports = free_ports<4>();
    std::string text =
        "ClusterName=test\nSlurmctldHost=" + name +
        "(127.0.0.1)\nSlurmctldPort=" + std::to_string(ports[3]) +
        "\nAuthType=auth/munge\nAuthInfo=socket=" + path("socket") +
        "\nCredType=cred/munge\nSlurmUser=root\nSlurmdUser=root\n"
        "StateSaveLocation=" +
        path("state") + "\nSlurmdSpoolDir=" + path("spool.%n") +
        "\nSlurmctldPidFile=" + path("slurmctld.pid") + "\nSlurmdPidFile=" + path("%n.pid") +
        "\nSlurmctldLogFile=" + path("slurmctld.log") + "\nSlurmdLogFile=" + path("%n.log") +
        // No cgroups, no accounting: what a container has.
        "\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
        "JobAcctGatherType=jobacct_gather/none\nSwitchType=switch/none\n"
        "AccountingStorageType=accounting_storage/none\nMpiDefault=none\n"
        "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
        "SchedulerParameters=sched_interval=1,bf_interval=1\n"
        "PreemptType=preempt/partition_prio\nPreemptMode=CANCEL\n"
        "ReturnToService=2\nKillWait=2\nMinJobAge=300\n";
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      text += std::string("NodeName=") + nodes[i] + " NodeHostname=" + name +
              " NodeAddr=127.0.0.1 CPUs=2 RealMemory=500 Port=" + std::to_string(ports[i]) + "\n";
    }
    return text +
           "PartitionName=main Nodes=ALL Default=YES OverSubscribe=NO PriorityTier=1\n"
           "PartitionName=urgent Nodes=ALL OverSubscribe=NO PriorityTier=10\n"
           "PartitionName=crowd Nodes=ALL OverSubscribe=FORCE:2 PriorityTier=1\n";
  }

  void start(const std::string& name, std::vector<std::string> arguments) {
    Command command;
    // What they say goes to their log files as well.
    command.arguments = {"/bin/sh", "-c", R"(exec "$@" >/dev/null 2>&1)", "sh"};
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    command.inherit_environment = true;
    command.ends_with_us = true;
    Result<ChildProcess> child = ChildProcess::start(command);
    if (child) {
      daemons_.insert_or_assign(name, std::move(*child));
    }
  }

  // The daemon that Slurm starts for a job, and all that descends from it.
  [[nodiscard]] static std::vector<pid_t> processes_of(const std::string& job) {
    std::map<pid_t, pid_t> parents;
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const pid_t process =
          static_cast<pid_t>(std::strtol(entry.path().filename().c_str(), nullptr, 10));
      if (process <= 0) {
        continue;
      }
      parents[process] = state_of(entry.path()).parent;
      if (first_argument(entry.path()).starts_with("slurmstepd: [" + job + ".") &&
          descends_from_us(process)) {
        found.push_back(process);
      }
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (const auto& [process, parent] : parents) {
        if (parent == found[i]) {
          found.push_back(process);
        }
      }
    }
    return found;
  }

  Result<ScratchDir> folder_ = ScratchDir::create("slurm-test");
  ScopedVariable settings_{"SLURM_CONF", path("slurm.conf")};
  std::map<std::string, ChildProcess> daemons_;
};

}  // namespace kernelpro::testing
