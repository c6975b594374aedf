import { installedPackage } from "./installed-package.ts";
import { mountPropagation, sysctls } from "./isolation.ts";
import { oomScores, securityProfiles } from "./kernel-features.ts";
import { kills } from "./kills.ts";
import { ownUnits } from "./own-units.ts";
import { reboot } from "./reboot.ts";
import { removal } from "./removal.ts";
import type { Scenario } from "./scenario.ts";
import { shutdownLock } from "./shutdown-lock.ts";
import { upstreamSuite } from "./upstream-suite.ts";

/** All scenarios, in the order in which they run: the first installs the service that the others need. */
export const SCENARIOS: readonly Scenario[] = [
  installedPackage,
  ...[kills, reboot, shutdownLock],
  ...[ownUnits, oomScores, securityProfiles],
  ...[sysctls, mountPropagation],
  upstreamSuite,
  removal,
];
