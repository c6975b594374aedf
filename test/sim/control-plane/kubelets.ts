import type { Pod } from "../../../src/api/gen/types.ts";
import { typed } from "../../../src/api/object.ts";
import { isTerminalPhase, podUid } from "../../../src/api/pods.ts";
import { type Clock, formatTime } from "../../../src/base/clock.ts";
import { messageOf } from "../../../src/base/errors.ts";
import type { Dice } from "../dice.ts";
import type { Trace } from "../trace.ts";
import { type Ledger, NAMESPACE } from "./ledger.ts";
import type { Server } from "./server.ts";

/** What a node does with a pod, and then with its status. */
type Step = "start" | "end" | "stop" | "remove";

/** The nodes: they run what is bound to them, and tell how it is, as often as it takes until the API has it. */
export interface Kubelets {
  /** The readiness of a pod that runs changes by itself. */
  flap(pod: Pod): void;
  /** The node evicts the pod, which fails. */
  evict(pod: Pod): void;
}

/** How long a container of a job runs. */
const LONGEST_RUN_MS = 20_000;
const LONGEST_START_MS = 3_000;
const LONGEST_STOP_MS = 8_000;
const LONGEST_FLAP_MS = 6_000;
const RETRY_MS = 1_000;
const FAILED_SHARE = 0.25;

interface KubeletDeps {
  clock: Clock;
  dice: Dice;
  ledger: Ledger;
  server: Server;
  trace: Trace;
}

export function createKubelets({ clock, dice, ledger, server, trace }: KubeletDeps): Kubelets {
  const begun = new Map<string, Set<Step>>();
  const busy = new Set<string>();
  const unready = new Set<string>();
  const ends = new Map<string, "Succeeded" | "Failed">();
  let addresses = 0;

  const isThere = (pod: Pod) => {
    const found = ledger.get("pods", pod.metadata?.name ?? "");
    return found?.metadata.uid === podUid(pod) ? typed("Pod", found) : undefined;
  };
  const pathOf = (pod: Pod) => `/api/v1/namespaces/${NAMESPACE}/pods/${pod.metadata?.name}`;
  /** Tells the API something about the pod until it has heard, or the pod is gone. */
  const tell = (pod: Pod, what: string, work: (current: Pod) => Promise<unknown>) => {
    const current = isThere(pod);
    if (current === undefined) return;
    // A node tells one thing about a pod after the other.
    if (busy.has(podUid(pod))) return void clock.setTimer(RETRY_MS, () => tell(pod, what, work));
    busy.add(podUid(pod));
    work(current).then(
      () => {
        busy.delete(podUid(pod));
        trace.note(`node: ${what} pod ${pod.metadata?.name}`);
      },
      (error: unknown) => {
        busy.delete(podUid(pod));
        trace.note(`node: ${what} pod ${pod.metadata?.name}: ${messageOf(error)}`);
        clock.setTimer(RETRY_MS, () => tell(pod, what, work));
      },
    );
  };
  const writeStatus = (pod: Pod, what: string, status: (current: Pod) => object | undefined) => {
    tell(pod, what, async (current) => {
      const next = isTerminalPhase(current.status?.phase) ? undefined : status(current);
      if (next === undefined) return;
      const body = { metadata: { uid: podUid(pod) }, status: next };
      const contentType = "application/strategic-merge-patch+json";
      await server.ask({ method: "PATCH", path: `${pathOf(pod)}/status`, body, contentType });
    });
  };
  const conditionOf = (isReady: boolean) => {
    const status = isReady ? "True" : "False";
    const lastTransitionTime = formatTime(clock.now());
    return [
      { type: "Ready", status, lastTransitionTime },
      { type: "ContainersReady", status, lastTransitionTime },
    ];
  };
  const finish = (pod: Pod, end: "Succeeded" | "Failed", reason?: string) => {
    // A pod ends once, however long it takes to tell.
    const phase = ends.get(podUid(pod)) ?? end;
    ends.set(podUid(pod), phase);
    writeStatus(pod, phase, () => ({ phase, conditions: conditionOf(false), ...(reason && { reason }) }));
  };

  const steps: Record<Step, (pod: Pod) => void> = {
    start(pod) {
      addresses += 1;
      const podIP = `10.64.${addresses >> 8}.${addresses & 255}`;
      const startTime = formatTime(clock.now());
      const ready = () => ({
        ...{ phase: "Running", startTime, podIP, podIPs: [{ ip: podIP }] },
        conditions: conditionOf(true),
      });
      writeStatus(pod, "runs", (current) => (current.metadata?.deletionTimestamp === undefined ? ready() : undefined));
      if (pod.spec?.restartPolicy === "Always") return;
      clock.setTimer(dice.between(500, LONGEST_RUN_MS), () => begin(pod, "end"));
    },
    end: (pod) => finish(pod, dice.chance(FAILED_SHARE) ? "Failed" : "Succeeded"),
    stop(pod) {
      finish(pod, "Failed");
      clock.setTimer(1, () => begin(pod, "remove"));
    },
    remove(pod) {
      tell(pod, "removes", async (current) => {
        const body = { gracePeriodSeconds: 0, preconditions: { uid: podUid(current) } };
        await server.ask({ method: "DELETE", path: pathOf(pod), body });
      });
    },
  };
  /** Each step is taken once in a pod's life. */
  const begin = (pod: Pod, step: Step) => {
    const done = begun.get(podUid(pod)) ?? new Set();
    if (done.has(step)) return;
    // A container that is being stopped does not end by itself as well.
    if (step === "end" && done.has("stop")) return;
    begun.set(podUid(pod), done.add(step));
    steps[step](pod);
  };

  ledger.follow(({ type, resource, object }) => {
    if (resource !== "pods") return;
    const pod = typed("Pod", object);
    if (type === "DELETED") {
      for (const known of [begun, unready, ends]) known.delete(podUid(pod));
      return;
    }
    if (pod.spec?.nodeName === undefined) return;
    const isOver = isTerminalPhase(pod.status?.phase);
    const known = begun.get(podUid(pod));
    if (pod.metadata.deletionTimestamp !== undefined) {
      if (isOver) begin(pod, "stop");
      else if (known?.has("stop") !== true) {
        begun.set(podUid(pod), (known ?? new Set<Step>()).add("start"));
        clock.setTimer(dice.between(1, LONGEST_STOP_MS), () => begin(pod, "stop"));
      }
    } else if (known === undefined && !isOver) {
      begun.set(podUid(pod), new Set());
      clock.setTimer(dice.between(10, LONGEST_START_MS), () => begin(pod, "start"));
    }
  });

  return {
    flap(pod) {
      const set = (isReady: boolean) => {
        if (isReady) unready.delete(podUid(pod));
        else unready.add(podUid(pod));
        // What is told late, after it has failed, is how the pod is then.
        writeStatus(pod, isReady ? "is ready" : "is not ready", (current) =>
          current.status?.phase === "Running" ? { conditions: conditionOf(!unready.has(podUid(pod))) } : undefined,
        );
      };
      set(false);
      clock.setTimer(dice.between(100, LONGEST_FLAP_MS), () => set(true));
    },
    evict: (pod) => finish(pod, "Failed", "Evicted"),
  };
}
