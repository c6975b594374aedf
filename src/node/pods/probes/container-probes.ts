import type { Container, Pod, Probe } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { childController, sleep } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Random } from "../../../base/random.ts";
import type { Tasks } from "../../../base/tasks.ts";
import type { Timeline } from "../../../base/timeline.ts";
import { firstProbeDelay, periodMsOf } from "./first-probe.ts";
import type { ProbeMetrics } from "./metrics.ts";
import type { ProbeAttempt, ProbedContainer } from "./probe-attempt.ts";
import { addResult, type ProbeTrack, startTrack } from "./probe-track.ts";
import { PROBE_NAMES, type ProbeType, probesOf } from "./probe-type.ts";

/** The verdict of the probes on a running container. */
export interface ContainerVerdict {
  /** The startup probe has succeeded, or there is none. */
  started: boolean;
  /** The container has started, and its readiness probe succeeds, or there is none. */
  ready: boolean;
  /** The probe because of which the container must end; undefined: none. */
  failed: "startup" | "liveness" | undefined;
}

/** The probes of one run of a container, from its start to its end. */
export interface ContainerProbes {
  readonly containerId: string;
  verdict(): ContainerVerdict;
  /** The pod is about to end: only the readiness probe goes on. The verdicts so far stay. */
  endAllButReadiness(): void;
  /** Ends all probes; the verdicts so far stay. */
  end(): void;
}

export interface ContainerProbesDeps {
  clock: Clock;
  random: Random;
  timeline: Timeline;
  tasks: Tasks;
  metrics: ProbeMetrics;
  /** Rejects only when the signal fires. */
  attempt(target: ProbedContainer, signal: AbortSignal): Promise<ProbeAttempt>;
  podIpOf(uid: string): string | undefined;
  /** A verdict changed. */
  onChange(kind: ProbeType): void;
}

/** One run of a container. */
interface ProbedRun {
  pod: Pod;
  container: Container;
  containerId: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** The published verdict on this very run, where the node agent did not see the run from its beginning. */
  known: Pick<ContainerVerdict, "started" | "ready"> | undefined;
}

interface OneProbe {
  readonly kind: ProbeType;
  readonly probe: Probe;
  track: ProbeTrack;
  /** What the container last answered, in short, the newest last. */
  answers: readonly string[];
  loop: { stop(): void } | undefined;
}

/** Begins with the startup probe, and with the others when that has succeeded. `signal` ends them all. */
export function createContainerProbes(deps: ContainerProbesDeps, run: ProbedRun, signal: AbortSignal): ContainerProbes {
  const { clock } = deps;
  const probes: OneProbe[] = probesOf(run.container).map(({ kind, probe }) => {
    return { kind, probe, track: startTrack(kind, knownOf(kind, run)), answers: [], loop: undefined };
  });
  const find = (kind: ProbeType) => probes.find((one) => one.kind === kind);
  const hasStarted = () => (find("startup")?.track.verdict ?? "success") === "success";
  let ending: "no" | "all but readiness" | "all" = "no";

  const mayRun = ({ kind, track }: OneProbe): boolean => {
    if (ending === "all" || (ending !== "no" && kind !== "readiness") || track.isOver) return false;
    return kind === "startup" || hasStarted();
  };

  const settle = (one: OneProbe, result: "success" | "failure") => {
    const before = one.track;
    one.track = addResult(before, result, one);
    if (one.track.verdict === before.verdict) return;
    recordVerdict(deps.timeline, run, one);
    if (one.kind === "startup" && result === "success") startDue(false);
    deps.onChange(one.kind);
  };

  const loop = async (one: OneProbe, firstMs: number, stopped: AbortSignal): Promise<void> => {
    const metrics = deps.metrics.of(run.pod, run.container, one.kind);
    const { pod, container, containerId } = run;
    await sleep(clock, firstMs, stopped);
    for (;;) {
      const begun = clock.monotonic();
      const podIp = deps.podIpOf(podReference(pod).uid);
      const attempt = await deps.attempt({ ...one, pod, container, containerId, podIp }, stopped);
      stopped.throwIfAborted();
      recordAttempt(deps.timeline, run, one, attempt);
      one.answers = [...one.answers, answerOf(attempt)].slice(-MAX_ANSWERS);
      if (attempt.result !== "error") {
        const result = attempt.result === "failure" ? "failure" : "success";
        metrics.count(result, (clock.monotonic() - begun) / 1000);
        settle(one, result);
      }
      if (!mayRun(one)) return;
      await sleep(clock, Math.max(0, begun + periodMsOf(one.probe) - clock.monotonic()), stopped);
    }
  };

  /** `isKnown`: the verdict was known at the beginning, so that the first probe may wait its turn. */
  const startDue = (isFirst: boolean) => {
    for (const one of probes) {
      if (one.loop !== undefined || !mayRun(one) || signal.aborted) continue;
      const { kind, probe } = one;
      const isKnown = isFirst && run.known !== undefined && one.track.verdict === "success";
      const { startedAt } = run;
      const firstMs = firstProbeDelay({ kind, probe, startedAt, isKnown, now: clock.now(), random: deps.random });
      const { controller, release } = childController(signal);
      one.loop = { stop: () => controller.abort() };
      deps.tasks.spawn(`${kind} probe`, async () => {
        try {
          await loop(one, firstMs, controller.signal);
        } finally {
          release();
        }
      });
    }
  };

  const stopLoops = () => {
    for (const one of probes) if (!mayRun(one)) one.loop?.stop();
  };

  startDue(true);
  return {
    containerId: run.containerId,
    verdict() {
      const started = hasStarted();
      const isReady = (find("readiness")?.track.verdict ?? "success") === "success";
      const failed = (["liveness", "startup"] as const).find((kind) => find(kind)?.track.verdict === "failure");
      return { started, ready: started && isReady, failed };
    },
    endAllButReadiness() {
      if (ending === "no") ending = "all but readiness";
      stopLoops();
    },
    end() {
      ending = "all";
      stopLoops();
    },
  };
}

/** A container that was published as started or ready stays so at first; any other verdict is found out anew. */
function knownOf(kind: ProbeType, { known }: ProbedRun): "success" | undefined {
  if (kind === "startup") return known?.started === true ? "success" : undefined;
  return kind === "readiness" && known?.ready === true ? "success" : undefined;
}

/** The events of pkg/kubelet/prober/prober.go, word for word. */
function recordAttempt(timeline: Timeline, { pod, container }: ProbedRun, { kind }: OneProbe, attempt: ProbeAttempt) {
  const warn = (reason: string, message: string) =>
    timeline.record(podReference(pod), { type: "Warning", reason, message, container: container.name });
  const name = PROBE_NAMES[kind];
  if (attempt.result === "failure") warn("Unhealthy", `${name} probe failed: ${attempt.output}`);
  else if (attempt.result === "warning") warn("ProbeWarning", `${name} probe warning: ${attempt.output}`);
  else if (attempt.result === "error") {
    warn("Unhealthy", `${name} probe errored and resulted in ${attempt.state} state: ${attempt.message}`);
  }
}

/** A verdict tells so many answers, each cut at this length: what a program says may be long. */
const MAX_ANSWERS = 3;
const MAX_ANSWER_LENGTH = 200;

function answerOf(attempt: ProbeAttempt): string {
  const text = (attempt.result === "error" ? attempt.message : attempt.output).trim();
  return text.length > MAX_ANSWER_LENGTH ? `${text.slice(0, MAX_ANSWER_LENGTH)}…` : text;
}

/** Logs every result, while the events tell only the failures. */
function recordVerdict(timeline: Timeline, { pod, container }: ProbedRun, { kind, track, answers }: OneProbe) {
  const name = PROBE_NAMES[kind];
  const has = track.verdict === "success" ? "succeeded" : "failed";
  const times = track.inARow === 1 ? "once" : `${track.inARow} times in a row`;
  const type = track.verdict === "success" ? "Normal" : "Warning";
  const said =
    track.verdict === "success" ? "" : `; its last answers: ${answers.map((text) => JSON.stringify(text)).join(", ")}`;
  const message = `${name} probe ${has} ${times}${said}`;
  timeline.record(podReference(pod), { type, reason: "ProbeVerdict", message, container: container.name });
}
