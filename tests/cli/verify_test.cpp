// Certificates: repeated here, made elsewhere, tampered with, broken.
#include "cli/fixture.hpp"
#include "common/base/hash.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Verify : public Cli {
 protected:
  [[nodiscard]] Json certificate(const Words& more = {"--no-timing"}) const {
    Words arguments = {"evaluate", data("wave"), data("fast.cpp"), "--certificates", "."};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_exit(kernelpro(arguments), 0);
    return Json::parse(content_of(file()));
  }
  [[nodiscard]] fs::path file() const { return work() / "wave-fast.certificate.json"; }
  void save(const Json& certificate) const { write(file(), certificate.dump()); }
  [[nodiscard]] Finished verify() const { return kernelpro({"verify", file().string()}); }
};

TEST_F(Verify, AnOwnCertificateHolds) {
  (void)certificate({});
  const Finished finished = verify();
  expect_exit(finished, 0);
  EXPECT_THAT(finished.output,
              AllOf(HasSubstr("wave · fast: passed"), HasSubstr("holds"), Not(HasSubstr("  ! "))));
}

TEST_F(Verify, WhatDiffersOnAnotherMachineIsListedAndTheCertificateHolds) {
  Json foreign = certificate({"--no-timing", "--sandbox", "none"});
  foreign["machine"]["processor"] = "Elsewhere 9000";
  foreign["machine"]["architecture"] = "riscv128";
  foreign["machine"]["cores"] = 640;
  foreign["build"]["compiler_identity"] = "g++ 3.14";
  foreign["build"]["flags"] = {"-O3", "-mcpu=elsewhere"};
  foreign["build"]["binary_hash"] = std::string(64, 'a');
  foreign["ceilings"]["machine"] = "elsewhere";
  save(foreign);
  const Json result = json({"verify", file().string()}, "cli_verify.json", 0);
  EXPECT_EQ(result["holds"], true);
  std::map<std::string, Json> differences;
  for (const Json& difference : result["differences"]) {
    differences[difference["what"]] = difference;
    EXPECT_EQ(difference["matters"], false) << difference;
  }
  EXPECT_EQ(differences["processor"]["before"], "Elsewhere 9000");
  EXPECT_EQ(differences["architecture"]["before"], "riscv128");
  EXPECT_EQ(differences["cores"]["before"], "640");
  EXPECT_EQ(differences["compiler"]["before"], "g++ 3.14");
  EXPECT_EQ(differences["flags"]["before"], "-O3 -mcpu=elsewhere");
  EXPECT_EQ(differences["binary"]["before"], std::string(64, 'a'));
  EXPECT_NE(differences["binary"]["now"], std::string(64, 'a'));
  EXPECT_EQ(differences["sandbox"]["now"], "landlock");
  EXPECT_EQ(differences["verified"]["now"], "yes");
}

TEST_F(Verify, AWideIntervalNeitherConfirmsNorRefutesASpeedUp) {
  const Json good = certificate({});
  Json vague = good;
  vague["verdict"]["timing"]["speedup_interval"] = {0.01, 1000.0};
  save(vague);
  const Finished said = verify();
  expect_exit(said, 0);
  EXPECT_THAT(said.output, AllOf(HasSubstr(": its verdict holds; its speed-up was measured too "
                                           "coarsely to be checked\n"),
                                 HasSubstr("longer --timing")));
  // Only the comparison differs, and that is what cannot be told.
  vague["verdict"]["timing"]["comparison"] = "same";
  save(vague);
  const Json undecided = json({"verify", file().string()}, "cli_verify.json", 5);
  EXPECT_EQ(undecided["speed"], "cannot_tell");
  EXPECT_EQ(undecided["holds"], false);
  // A narrow interval elsewhere leaves no doubt, below what is measured now: on a busy machine that
  // may be "at least", which refutes nothing above it.
  Json other = good;
  other["verdict"]["timing"]["comparison"] = "same";
  other["verdict"]["timing"]["at_least"] = false;
  other["verdict"]["timing"]["speedup"] = 0.001;
  other["verdict"]["timing"]["speedup_interval"] = {0.000999, 0.001001};
  save(other);
  EXPECT_EQ(json({"verify", file().string()}, "cli_verify.json", 3)["speed"], "differs");
}

TEST_F(Verify, AsManyThreadsAreGivenAsTheCertificateSays) {
  (void)certificate({"--no-timing", "--threads", "1"});
  const Json result = json({"verify", file().string()}, "cli_verify.json", 0);
  EXPECT_EQ(result["evaluation"]["certificate"]["threads"], 1);
  const Json more = json({"verify", file().string(), "--threads", "3"}, "cli_verify.json", 0);
  EXPECT_EQ(more["evaluation"]["certificate"]["threads"], 3);
  ASSERT_EQ(more["differences"].size(), 1U);
  EXPECT_EQ(more["differences"][0]["what"], "threads");
}

TEST_F(Verify, ACertificateThatWasTamperedWithDoesNotHold) {
  const Json good = certificate();
  Json forged = good;
  forged["candidate"]["source"] = content_of(data("wrong.cpp"));
  save(forged);
  const Finished wrong = verify();
  expect_exit(wrong, 3);
  EXPECT_THAT(wrong.output,
              AllOf(HasSubstr("does not hold"), HasSubstr("  ! verdict: passed → incorrect"),
                    HasSubstr("  ! source: ")));
  // Right, but not what was judged; and judged otherwise than it says.
  forged["candidate"]["source"] = content_of(data("fast.cpp")) + "// changed\n";
  forged["verdict"]["outcome"] = "crashed";
  save(forged);
  const Finished other = verify();
  expect_exit(other, 3);
  EXPECT_THAT(other.output,
              AllOf(HasSubstr("  ! source: "), HasSubstr("  ! verdict: crashed → passed")));
}

// What failed on values that are drawn no more may pass on others.
TEST_F(Verify, AnOlderCertificateOfAFailureIsNotRefutedByOtherValues) {
  Json old = certificate();
  old["verdict"]["outcome"] = "incorrect";
  old["verdict"]["stage"] = "held_out";
  save(old);
  expect_exit(verify(), 3);
  old["version"] = 4;
  save(old);
  const Finished undecided = verify();
  expect_exit(undecided, 5);
  EXPECT_THAT(undecided.output,
              AllOf(HasSubstr("cannot tell: an older version drew the values"),
                    HasSubstr("  ! verdict: incorrect → passed"), Not(HasSubstr("does not hold"))));
  // Whether it builds is no matter of values, and another source is another claim.
  old["verdict"]["outcome"] = "build_failed";
  old["verdict"]["stage"] = "build";
  save(old);
  expect_exit(verify(), 3);
  old["verdict"]["outcome"] = "incorrect";
  old["verdict"]["stage"] = "held_out";
  old["candidate"]["source"] = content_of(data("fast.cpp")) + "// changed\n";
  save(old);
  expect_exit(verify(), 3);
}

// Whoever writes a certificate knows what is in it: values from its master, and shapes.
TEST_F(Verify, ASourceThatIsRightOnlyWhereItsCertificateLooksDoesNotHold) {
  Json forged = certificate();
  std::string source = content_of(data("fast.cpp"));
  std::string known;
  for (const Json& check : forged["verdict"]["checks"]) {
    known += (known.empty() ? "" : " || ") + std::string("context->axes[0] == ") +
             check["shape"]["n"].dump();
  }
  const std::string first = "  const auto a =";
  source.insert(source.find(first), "  if (!(" + known + ")) return 0;\n");
  forged["candidate"]["source"] = source;
  forged["build"]["source_hash"] = sha256(source);
  save(forged);
  const Finished wrong = verify();
  expect_exit(wrong, 3);
  EXPECT_THAT(wrong.output,
              AllOf(HasSubstr("does not hold"), HasSubstr("  ! verdict: passed → incorrect"),
                    Not(HasSubstr("  ! source: "))));
}

TEST_F(Verify, BrokenCertificatesAreRefusedWithThePlace) {
  const Json good = certificate();
  const std::string text = good.dump(2);
  write(file(), text.substr(0, text.size() / 2));
  const Finished truncated = verify();
  expect_exit(truncated, 2);
  EXPECT_THAT(truncated.errors, AllOf(HasSubstr("wave-fast.certificate.json: line "),
                                      HasSubstr("column "), HasSubstr("not valid JSON")));

  const struct {
    Json change;
    Words said;
  } cases[] = {
      {{{"version", 6}},
       {"/version", "certificate version 6, expected 1 to 5", "kernelpro that wrote"}},
      {{{"master", 7}}, {"/master"}},
      {{{"verdict", {{"outcome", "splendid"}}}}, {"/verdict/outcome", "splendid"}},
      {{{"color", "red"}}, {"color"}},
      {{{"task", {{"files", {{"baseline.cpp", nullptr}}}}}}, {"baseline.cpp"}},
  };
  for (const auto& broken : cases) {
    Json certificate = good;
    certificate.merge_patch(broken.change);
    save(certificate);
    const Finished finished = verify();
    expect_exit(finished, 2);
    for (const std::string& part : broken.said) {
      EXPECT_THAT(finished.errors, HasSubstr(part)) << broken.change;
    }
  }

  const Finished missing = kernelpro({"verify", "none.json"});
  expect_exit(missing, 2);
  EXPECT_THAT(missing.errors, HasSubstr("No such file or directory (while reading none.json)"));
}

// A project's own regression test: its source today beside the one that has the certificate, by the
// last line of the example.
TEST_F(Verify, ASourceOfTodayFailsWhereItIsWrongOrSlowerThanTheCertificates) {
  (void)certificate({});
  fs::create_directories(work() / "kernels");
  fs::create_directories(work() / "src");
  fs::rename(file(), work() / "kernels/blur.certificate.json");
  std::string line = content_of(KERNELPRO_SOURCE_DIR "/examples/ci/kernels.yml");
  line = line.substr(line.rfind("kernelpro verify "));
  const auto today = [&](const std::string& source) {
    write(work() / "src/blur.cpp", source);
    return run_to_end(command({"/bin/bash", "-c", "PATH=" KERNELPRO_BIN_DIR ":$PATH; " + line}));
  };
  const std::string fast = content_of(data("fast.cpp"));
  const Finished same = today(fast);
  // Calls of a microsecond beside other programs: then nothing is claimed either way.
  const bool busy = same.exit_code == 5;
  EXPECT_TRUE(same.exit_code == 0 || busy) << same.exit_code;
  EXPECT_THAT(same.output, HasSubstr(busy ? "0.95 was asked for: cannot tell on a machine as busy"
                                          : "0.95 was asked for: holds"));

  const Finished wrong = today(content_of(data("wrong.cpp")));
  expect_exit(wrong, 3);
  EXPECT_THAT(wrong.output, AllOf(HasSubstr("wave · blur: incorrect"),
                                  Not(HasSubstr(" of the certificate's speed"))));

  // Steps on values that are overwritten, then the eight that count.
  std::string slower = fast;
  for (const auto& [text, by] : {std::pair{"k < 8", "k < 64"},
                                 {"float sum", "volatile float sum"},
                                 {"sum = sum", "if (k == 56) sum = a;\n      sum = sum"}}) {
    slower.replace(slower.find(text), std::string(text).size(), by);
  }
  const Finished slow = today(slower);
  expect_exit(slow, 3);
  EXPECT_THAT(slow.output, AllOf(HasSubstr(" of the certificate's speed"),
                                 HasSubstr("0.95 was asked for: does not hold")));

  const Finished missing =
      kernelpro({"verify", (work() / "kernels/blur.certificate.json").string(), "none.cpp"});
  expect_exit(missing, 2);
  EXPECT_THAT(missing.errors, HasSubstr("none.cpp"));
}

TEST_F(Verify, HowMuchOfASpeedUpMustBeLeftCanBeSaid) {
  const Json good = certificate({});
  const Words asked = {"verify", file().string(), "--fail-below", "0.5"};
  EXPECT_EQ(json(asked, "cli_verify.json", 0)["holds"], true);
  Json faster = good;
  for (Json& bound : faster["verdict"]["timing"]["speedup_interval"]) {
    bound = 100 * bound.get<double>();
  }
  faster["verdict"]["timing"]["speedup"] = 100 * good["verdict"]["timing"]["speedup"].get<double>();
  save(faster);
  Words again = asked;
  again.emplace_back("--json");
  const Finished finished = kernelpro(again);
  const Json lost = checked_json(finished, "cli_verify.json");
  // Beside other programs only the least speed-up is known, and "lost" is not proven.
  EXPECT_TRUE(finished.exit_code == 3 || finished.exit_code == 5) << finished.exit_code;
  EXPECT_EQ(lost["holds"], false);
  EXPECT_LT(lost["kept"]["ratio"], 0.5);
}

TEST_F(Verify, NothingIsHeldAgainstASourceThatDidNotPass) {
  Json failed = certificate();
  failed["verdict"]["outcome"] = "crashed";
  save(failed);
  const Finished refused = kernelpro({"verify", file().string(), data("fast.cpp")});
  expect_exit(refused, 2);
  EXPECT_THAT(refused.errors, HasSubstr("did not pass"));
}

}  // namespace
}  // namespace kernelpro
