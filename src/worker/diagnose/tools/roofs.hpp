// How far a kernel loads each unit that could limit it, against what a kernel can reach of it.
#pragma once

#include <string>

#include "common/model/profile.hpp"
#include "worker/diagnose/tools/thresholds.hpp"

namespace kernelpro {

// A number for each roof: its load (1: full for the kernel's whole time), or the share of that load
// which a change would take away.
struct Roofs {
  double dram = 0;
  double l2 = 0;
  double l1 = 0;
  double lsu = 0;
  double issue = 0;
  double tensor = 0;
  double pipes = 0;    // the fullest of the pipes for multiply-adds, integers and double
  double special = 0;  // the unit for reciprocals, roots, exponentials and conversions
  double atomics = 0;  // the busiest slice of L2
};

// The figures that roofs are made of: those without which the bound of a gain is not known, and
// those that are zero for most kernels and taken where they are.
[[nodiscard]] const std::vector<std::string>& needed_roof_figures();
[[nodiscard]] const std::vector<std::string>& further_roof_figures();

// Over the time in which there was work: of DRAM and L2 until the last multiprocessor was done, of
// the units of a multiprocessor while it had blocks. Absent figures count as no load, and as work
// for the whole time.
[[nodiscard]] Roofs roofs_of(const Profile& profile, const KernelProfile& kernel,
                             const Thresholds& limits);

// The same, but of the units of a multiprocessor over the kernel's whole time: what better balance
// would leave.
[[nodiscard]] Roofs balanced_roofs_of(const Profile& profile, const KernelProfile& kernel,
                                      const Thresholds& limits);

// Of the kernel's whole time, from 0 to 1; 1 where that is not known.
struct ActiveShare {
  double mean = 1;  // of the multiprocessors
  double most = 1;  // of the one that worked longest
};
[[nodiscard]] ActiveShare active_share(const KernelProfile& kernel);

// The part of the bytes moved that the needed ones cannot have caused; 0 where none moved.
[[nodiscard]] double relief_of(double needed_bytes, double moved_bytes);

// The fullest one once `relief` is gone, from 0 to 1, and its name.
struct FullestRoof {
  double load = 0;
  std::string name;
};
[[nodiscard]] FullestRoof fullest_after(const Roofs& loads, const Roofs& relief);

// Each load times `factor`, 1 at most.
[[nodiscard]] Roofs scaled(const Roofs& loads, double factor);

// The most time that the relief of a full roof saves.
[[nodiscard]] double saved_at_full_roofs(const Roofs& loads, const Roofs& relief, double full);

}  // namespace kernelpro
