import { busDenied } from "./bus-denied.ts";
import { cgroupV1 } from "./cgroup-v1.ts";
import { clockSet } from "./clock-set.ts";
import { container } from "./container.ts";
import { devices } from "./devices.ts";
import { exclusiveCpus } from "./exclusive-cpus.ts";
import { fullDisk } from "./full-disk.ts";
import { gracefulShutdown } from "./graceful-shutdown.ts";
import { hugePages } from "./huge-pages.ts";
import { installedKubelet } from "./installed-kubelet.ts";
import { installedPackage } from "./installed-package.ts";
import { iscsi } from "./iscsi.ts";
import { mountPropagation, sysctls } from "./isolation.ts";
import { oomScores, securityProfiles } from "./kernel-features.ts";
import { kills } from "./kills.ts";
import { kubeadm } from "./kubeadm.ts";
import { kubeletSwap } from "./kubelet-swap.ts";
import { memoryController } from "./memory-controller.ts";
import { memoryPressure } from "./memory-pressure.ts";
import { memoryQos } from "./memory-qos.ts";
import { newerRuntime, runtimeUpgrade } from "./newer-runtime.ts";
import { groupKill, outOfMemory } from "./out-of-memory.ts";
import { ownUnits } from "./own-units.ts";
import { powerCuts } from "./power-cuts.ts";
import { pressure } from "./pressure.ts";
import { reboot } from "./reboot.ts";
import { removal } from "./removal.ts";
import { rescue } from "./rescue.ts";
import type { Scenario } from "./scenario.ts";
import { serviceLife } from "./service-life.ts";
import { diskPressure, pidsLimit } from "./shortage.ts";
import { shutdownCalledOff } from "./shutdown-called-off.ts";
import { shutdownLock } from "./shutdown-lock.ts";
import { swap } from "./swap.ts";
import { upstreamSuite } from "./upstream-suite.ts";
import { userNamespaces, userNamespacesRefused } from "./user-namespaces.ts";

/** All scenarios, in the order in which they run: the first installs the service that the others need. */
export const SCENARIOS: readonly Scenario[] = [
  installedPackage,
  ...[serviceLife, kills, reboot, rescue, powerCuts, clockSet],
  ...[shutdownLock, busDenied, shutdownCalledOff, gracefulShutdown],
  ...[ownUnits, container, oomScores, securityProfiles, devices],
  ...[
    outOfMemory,
    groupKill,
    memoryPressure,
    memoryQos,
    hugePages,
    pidsLimit,
    exclusiveCpus,
    diskPressure,
    fullDisk,
    swap,
  ],
  ...[pressure, memoryController, cgroupV1],
  ...[sysctls, mountPropagation],
  iscsi,
  ...[installedKubelet, kubeletSwap, kubeadm, upstreamSuite],
  ...[userNamespacesRefused, runtimeUpgrade, userNamespaces, newerRuntime],
  removal,
];
