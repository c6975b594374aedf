import type { Node } from "../../../api/gen/types.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import type { GaugeSeries, Metrics } from "../../../base/metrics.ts";

/**
 * Measures how long the node took to start, once, and only for a node that was not registered before
 * (pkg/kubelet/util/node_startup_latency_tracker.go): from the start of the machine to that of the node agent, to its
 * first attempt to register, to its object, to Ready.
 */
export interface NodeStartup {
  attempted(): void;
  /** Tells that this agent has just made the object. */
  created(): Promise<void>;
  observe(node: Node): void;
}

interface NodeStartupDeps {
  readonly clock: Pick<Clock, "now">;
  readonly metrics: Metrics;
  /** The time in milliseconds since the epoch; undefined where it is unknown. */
  bootedAt(): Promise<number | undefined>;
}

/** Must be called when the node agent starts. */
export function createNodeStartup({ clock, metrics, bootedAt }: NodeStartupDeps): NodeStartup {
  const gauge = (part: string, help: string) =>
    metrics.gauge(`kubelet_node_startup${part}_duration_seconds`, `Duration in seconds of node startup ${help}.`);
  const preKubelet = gauge("_pre_kubelet", "before kubelet starts");
  const preRegistration = gauge("_pre_registration", "before registration");
  const registration = gauge("_registration", "during registration");
  const postRegistration = gauge("_post_registration", "after registration");
  const total = gauge("", "in total");
  const between = (series: GaugeSeries<never>, from: number | undefined, to: number) => {
    if (from !== undefined) series.set((to - from) / SECOND);
  };
  const startedAt = clock.now();
  let attemptedAt: number | undefined;
  let createdAt: number | undefined;
  let machineAt: number | undefined;
  let isReady = false;
  return {
    attempted() {
      attemptedAt ??= clock.now();
    },
    async created() {
      if (attemptedAt === undefined || createdAt !== undefined) return;
      createdAt = clock.now();
      between(preRegistration, startedAt, attemptedAt);
      between(registration, attemptedAt, createdAt);
      machineAt = await bootedAt();
      between(preKubelet, machineAt, startedAt);
    },
    observe({ status }) {
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      if (createdAt === undefined || isReady || ready?.status !== "True") return;
      isReady = true;
      between(postRegistration, createdAt, clock.now());
      between(total, machineAt, clock.now());
    },
  };
}
