import { createPartRunner, type PartRunner } from "../../base/run-parts.ts";
import { createTimeline, type Timeline } from "../../base/timeline.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import { createLoopInbox, type LoopInbox } from "../pods/loop/loop-inbox.ts";
import { createPodStatuses, type PodStatuses } from "../pods/status/pod-statuses.ts";
import { requireCgroups } from "../resources/capacity/cgroup-version.ts";
import { requireNoSwap } from "../resources/capacity/machine-swap.ts";
import { createHangGuards, type HangGuards } from "../resources/file-access/hang-guards.ts";
import { ensureKernelTunables } from "../resources/kernel/kernel-tunables.ts";
import { warnOfMemorySettings } from "../resources/sizes/memory-settings.ts";
import type { NodeFacts } from "../runtime/config/node-facts.ts";
import { readNodeFacts } from "../runtime/config/read-node-facts.ts";
import { createPressureNotice, type PressureNotice } from "../upkeep/eviction/pressure-notice.ts";
import { createShutdownNotice, type ShutdownNotice } from "../upkeep/shutdown/shutdown-notice.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";

/** What every part of the node agent stands on: it is made first and knows none of them. */
export interface Foundation {
  readonly ports: NodeAgentPorts;
  readonly config: NodeAgentConfig;
  readonly facts: NodeFacts;
  readonly runner: PartRunner;
  readonly timeline: Timeline;
  /** The way in which parts tell the sync loop, which is made last. */
  readonly inbox: LoopInbox;
  readonly statuses: PodStatuses;
  readonly guards: HangGuards;
  /** Told by those who look after the node; heard by its status and by admission. */
  readonly shutdown: ShutdownNotice;
  readonly pressure: PressureNotice;
}

/** Rejects when the machine cannot be read, or is not as the configuration demands. */
export async function composeFoundation(ports: NodeAgentPorts, config: NodeAgentConfig): Promise<Foundation> {
  const { clock, machine, files } = ports.host;
  if (config.kubelet.failSwapOn === true) await requireNoSwap(files);
  await requireCgroups(files, config.kubelet);
  await ensureKernelTunables({ proc: ports.host.proc, log: ports.log }, tunableTreatment(config));
  const facts = await readNodeFacts(ports.host, config);
  const { kernelRelease } = await machine.identity();
  warnOfMemorySettings(ports.log, config, { ...facts, kernelRelease });
  return {
    ports,
    config,
    facts,
    runner: createPartRunner(),
    timeline: createTimeline(clock),
    inbox: createLoopInbox(),
    statuses: createPodStatuses({ clock }),
    guards: createHangGuards(clock, machine),
    shutdown: createShutdownNotice(),
    pressure: createPressureNotice(),
  };
}

function tunableTreatment({ kubelet, keepsKernelTunables }: NodeAgentConfig) {
  if (kubelet.protectKernelDefaults) return "refuse";
  return keepsKernelTunables ? "keep" : "set";
}
