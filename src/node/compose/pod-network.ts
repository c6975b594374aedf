import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Part } from "../../base/run-parts.ts";
import type { Cri } from "../../cri/port.ts";
import { createPodNetwork } from "../runtime/pod-runtime/pod-network.ts";

/** What tells the runtime the ranges of this node's pods. */
export interface PodNetworkParts {
  /** Takes the ranges of the node object, primary first. */
  observe(podCidrs: readonly string[]): void;
  readonly part: Part;
}

/** The part of the foundation that is needed here. */
interface PodNetworkFoundation {
  readonly ports: {
    readonly host: { readonly clock: Clock };
    readonly cri: { readonly runtime: Pick<Cri["runtime"], "updateRuntimeConfig"> };
    readonly log: Log;
  };
  readonly config: { readonly kubelet: { readonly podCIDR: string } };
}

/** Begins with the range of the configuration; a standalone node has no other. */
export function composePodNetwork({ ports, config }: PodNetworkFoundation): PodNetworkParts {
  const { host, cri, log } = ports;
  const { podCIDR } = config.kubelet;
  const network = createPodNetwork({ runtime: cri.runtime, clock: host.clock, log });
  network.observe(podCIDR === "" ? [] : [podCIDR]);
  return { observe: network.observe, part: { name: "pod network", run: network.run } };
}
