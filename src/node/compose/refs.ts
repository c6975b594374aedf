import type { Pod } from "../../api/gen/types.ts";
import { isMirrorPod } from "../../api/pods.ts";
import type { Part } from "../../base/run-parts.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import { type Claims, createClaims } from "../cluster/refs/claims.ts";
import { type ClusterTrustBundles, createClusterTrustBundles } from "../cluster/refs/cluster-trust-bundles.ts";
import { createObjectRefs, type ObjectRefs, type ObjectRefsOptions } from "../cluster/refs/object-refs.ts";
import { createPullSecrets, type PullSecrets } from "../cluster/refs/pull-secrets.ts";
import { createRuntimeClasses, type RuntimeClasses } from "../cluster/refs/runtime-classes.ts";
import { createServiceAccountTokens, type ServiceAccountTokens } from "../cluster/refs/service-account-tokens.ts";
import { createServices, type Services } from "../cluster/refs/services.ts";
import type { LoopInbox } from "../pods/loop/loop-inbox.ts";
import type { KubePorts, NodeAgentPorts } from "./node-agent-ports.ts";

/** What pods of a cluster refer to, kept at hand. */
export interface RefParts {
  objects: ObjectRefs;
  pullSecrets: PullSecrets;
  tokens: ServiceAccountTokens;
  services: Services;
  runtimeClasses: RuntimeClasses;
  claims: Claims;
  trustBundles: ClusterTrustBundles;
  /** The API server shows this of a pod: what it names can be read from now on. */
  show(pod: Pod): void;
  forget(uid: string): void;
  /** Pods of which something is held. */
  podUids(): readonly string[];
  parts: readonly Part[];
}

interface RefPartsDeps {
  ports: NodeAgentPorts;
  kube: KubePorts;
  inbox: LoopInbox;
  /** Of the node's annotation, for the strategy Cache. */
  ttlMs(): number | undefined;
}

/** Builds the copies of secrets, config maps, services and runtime classes; a change of one wakes the pods that name it. */
export function composeRefs({ ports, kube, inbox, ttlMs }: RefPartsDeps, { kubelet }: NodeAgentConfig): RefParts {
  const { host, log } = ports;
  const deps = { client: kube.client, clock: host.clock, random: host.random, log };
  const objects = createObjectRefs(deps, {
    strategy: strategyOf(kubelet.configMapAndSecretChangeDetectionStrategy),
    ttlMs,
  });
  const wake = (podUids: readonly string[]) => {
    for (const uid of podUids) inbox.offerReferenced(uid);
  };
  objects.subscribe(({ podUids }) => wake(podUids));
  const tokens = createServiceAccountTokens(deps);
  tokens.subscribe((podUid) => wake([podUid]));
  const trustBundles = createClusterTrustBundles(deps);
  trustBundles.subscribe(wake);
  const services = createServices(deps);
  const runtimeClasses = createRuntimeClasses(deps);
  return {
    objects,
    pullSecrets: createPullSecrets({ refs: objects, log }),
    tokens,
    services,
    runtimeClasses,
    claims: createClaims(deps),
    trustBundles,
    show(pod) {
      if (isMirrorPod(pod)) return;
      objects.registerPod(pod);
      trustBundles.registerPod(pod);
    },
    forget(uid) {
      objects.unregisterPod(uid);
      trustBundles.unregisterPod(uid);
      tokens.forgetPod(uid);
    },
    podUids: () => [...objects.podUids(), ...tokens.podUids()],
    parts: [
      { name: "secrets and config maps", run: async (signal) => await objects.run(signal) },
      { name: "tokens", run: async (signal) => await tokens.run(signal) },
      { name: "trust bundles", run: async (signal) => await trustBundles.run(signal) },
      { name: "services", run: async (signal) => await services.run(signal) },
      { name: "runtime classes", run: async (signal) => await runtimeClasses.run(signal) },
    ],
  };
}

/** Validated when the configuration was read. */
function strategyOf(name: string): ObjectRefsOptions["strategy"] {
  return name === "Cache" || name === "Get" ? name : "Watch";
}
