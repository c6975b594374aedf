import { getEventListeners } from "node:events";
import { messageOf } from "../../src/base/errors.ts";
import type { Log, LogFields } from "../../src/base/log.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { composeConfiguration } from "../../src/config/compose-configuration.ts";
import { createNodeAgentConfig, type NodeAgentConfig } from "../../src/config/node-agent-config.ts";
import { createRuntimeEvents } from "../../src/cri/create-runtime-events.ts";
import type { FakeCri } from "../../src/cri/fake/create-fake-cri.ts";
import type { FakeHost } from "../../src/host/fake/create-fake-host.ts";
import { createNodeAgent, type NodeAgent } from "../../src/node/compose/node-agent.ts";
import type { PodStatuses } from "../../src/node/pods/status/pod-statuses.ts";
import type { Cluster } from "./api/create-cluster.ts";
import { type Faults, isInjected } from "./faults.ts";
import { type CrashPoint, createIncarnation, type Incarnation, type PendingCall } from "./incarnation.ts";
import { CRITICAL_PERIOD_MS, SHUTDOWN_PERIOD_MS } from "./machine-shutdown.ts";
import { MANIFEST_DIRECTORY, NODE_NAME } from "./manifests.ts";
import { PID_THRESHOLD } from "./shortage/scarce-resource.ts";
import type { Trace } from "./trace.ts";

/** The node agent, which is started again whenever it dies, as systemd does. */
export interface SimulatedNode {
  /** `crashAt`: where this process will be killed. */
  start(crashAt?: CrashPoint): Promise<void>;
  /** kill -9. Comes back after the delay, unless it is started before. */
  crash(why: string, restartAfterMs: number): void;
  /** SIGTERM; resolves when it has ended. */
  stop(): Promise<void>;
  breakEvents(): void;
  /** Undefined while no process is up. */
  readonly memory: NodeAgent["memory"] | undefined;
  /** What the process that is up has not let go of; undefined while none is. */
  readonly held: HeldByProcess | undefined;
  /** When the process that is up was started, milliseconds of the clock; undefined while none is. */
  readonly startedAt: number | undefined;
}

/** Timers that will fire, calls without an answer, and who listens for the end of the process. */
interface HeldByProcess {
  readonly timers: number;
  readonly calls: number;
  readonly listeners: number;
}

export type PublishedStatus = ReturnType<PodStatuses["list"]>[number];

interface NodeDeps {
  host: FakeHost;
  cri: FakeCri;
  /** Undefined on a node that has none. */
  cluster: Cluster | undefined;
  faults: Faults;
  trace: Trace;
  fail(invariant: string, message: string): void;
  onStarted(): void;
  /** About to be killed: its memory can still be looked at. */
  onKilled(): void;
  onCall(rpc: string, request: unknown): void;
  /** Every line of the log, whole and of every level. */
  onLogged(line: string): void;
  onPublished(published: PublishedStatus): void;
  /** How long until a process that a crash point killed comes back. */
  restartDelayMs(): number;
  /** Pods are given time when the machine goes down. */
  hasShutdown: boolean;
  /** Undefined: as many as by default. */
  maxPods: number | undefined;
  /** The node agent ends pods where the machine has too few processes left. */
  lacksProcesses: boolean;
}

interface Process {
  incarnation: Incarnation;
  agent: NodeAgent | undefined;
  stopping: AbortController;
  ended: Promise<void>;
  startedAt: number;
}

const RETRY_START_MS = 1_000;
/** More than any orderly stop may take; towards an API server that does not answer, it says good-bye for 6 s. */
const STOP_LIMIT_MS = { alone: 1_000, inCluster: 8_000 };

export function createSimulatedNode(deps: NodeDeps): SimulatedNode {
  const { host, cri, trace, faults } = deps;
  const { clock } = host;
  const config = createConfig(deps);
  const stopLimitMs = deps.cluster === undefined ? STOP_LIMIT_MS.alone : STOP_LIMIT_MS.inCluster;
  let process: Process | undefined;
  let incarnations = 0;

  const boot = async (own: Process, number: number): Promise<void> => {
    const { incarnation, stopping } = own;
    const log = createTraceLog({ trace, incarnation, onLine: deps.onLogged });
    const events = createRuntimeEvents({ runtime: incarnation.cri.runtime, clock: incarnation.host.clock, log });
    const { host, cri, kube, plugins } = incarnation;
    const ports = { host, cri, events, kube, plugins, log, metrics: createMetrics() };
    try {
      own.agent = await createNodeAgent(ports, config);
      own.agent.memory.statuses.subscribe((published) => {
        if (!incarnation.isDead) deps.onPublished(published);
      });
      await own.agent.run(stopping.signal);
      const left = listLeft(own);
      if (!incarnation.isDead && left.length > 0) deps.fail("a stopped agent leaves nothing", left.join(", "));
      trace.note(`node agent #${number} ended`);
    } catch (error) {
      if (!isInjected(error) || own.agent !== undefined) {
        deps.fail(
          "the node agent never ends by itself",
          error instanceof Error ? (error.stack ?? "") : messageOf(error),
        );
        return;
      }
      trace.note(`node agent #${number} could not start: ${messageOf(error)}`);
      if (process === own) {
        process = undefined;
        clock.setTimer(RETRY_START_MS, () => void start());
      }
    }
  };

  const crash = (why: string, restartAfterMs: number) => {
    if (process === undefined) return;
    faults.count("crash");
    trace.note(`node agent #${incarnations} is killed ${why}`);
    deps.onKilled();
    process.incarnation.kill();
    process = undefined;
    clock.setTimer(restartAfterMs, () => void start());
  };

  const start = async (crashPoint?: CrashPoint): Promise<void> => {
    if (process !== undefined) return;
    const number = ++incarnations;
    trace.note(`node agent #${number} starts${crashPoint ? `, to be killed at call ${crashPoint.call}` : ""}`);
    faults.count("start");
    const incarnation = createIncarnation({
      host,
      cri: cri.connect(),
      cluster: deps.cluster,
      faults,
      crashPoint,
      onCrashPoint: (where) => crash(where, deps.restartDelayMs()),
      onCall: deps.onCall,
    });
    const own: Process = {
      incarnation,
      agent: undefined,
      stopping: new AbortController(),
      ended: Promise.resolve(),
      startedAt: clock.monotonic(),
    };
    process = own;
    deps.onStarted();
    own.ended = boot(own, number);
  };

  const stop = async () => {
    const own = process;
    if (own === undefined) return;
    faults.count("graceful stop");
    trace.note(`node agent #${incarnations} is asked to stop`);
    deps.onKilled();
    own.stopping.abort();
    let hasEnded = false;
    void own.ended.then(() => {
      hasEnded = true;
    });
    await clock.advance(0);
    for (let waitedMs = 0; !hasEnded && waitedMs < stopLimitMs; ) {
      if (listHeldUp(own).length === 0) waitedMs += 100;
      await clock.advance(100);
    }
    if (!hasEnded && !own.incarnation.isDead) {
      deps.fail("a stopped agent ends", `after ${stopLimitMs} ms it still has ${listLeft(own).join(", ")}`);
    }
    if (process === own) process = undefined;
    own.incarnation.kill();
  };

  return {
    start,
    crash,
    stop,
    breakEvents: () => process?.incarnation.breakEvents(),
    get memory() {
      return process?.agent?.memory;
    },
    get held() {
      if (process === undefined) return undefined;
      const { incarnation, stopping } = process;
      return {
        timers: incarnation.pendingTimers,
        calls: incarnation.pendingCalls().length,
        listeners: getEventListeners(stopping.signal, "abort").length,
      };
    },
    get startedAt() {
      return process?.startedAt;
    },
  };
}

/** What the process has not ended, and could have. */
function listLeft(own: Process): string[] {
  const { pendingTimers, pendingCalls } = own.incarnation;
  const calls = [...pendingCalls().filter(({ isHeldUp }) => !isHeldUp), ...listHeldUp(own)];
  return [...(pendingTimers > 0 ? [`${pendingTimers} timers`] : []), ...calls.map(({ name }) => name)];
}

/** System calls that it waits for. Those that it has given up on go on after its end, since nobody can end them. */
function listHeldUp({ incarnation, agent }: Process): PendingCall[] {
  const calls = incarnation.pendingCalls().filter(({ isHeldUp }) => isHeldUp);
  return calls.length > (agent?.memory.storageCalls.overdue ?? 0) ? calls : [];
}

function createConfig({
  cluster,
  hasShutdown,
  maxPods,
  lacksProcesses,
}: Pick<NodeDeps, "cluster" | "hasShutdown" | "maxPods" | "lacksProcesses">): NodeAgentConfig {
  const flags = new Map<string, unknown>([["pod-manifest-path", MANIFEST_DIRECTORY]]);
  if (cluster !== undefined) flags.set("kubeconfig", "/etc/kubernetes/kubelet.conf");
  const text = JSON.stringify({
    kind: "KubeletConfiguration",
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    ...(cluster && { configMapAndSecretChangeDetectionStrategy: cluster.strategy }),
    ...(maxPods !== undefined && { maxPods }),
    ...(lacksProcesses && { evictionHard: { "pid.available": PID_THRESHOLD } }),
    ...(hasShutdown && {
      shutdownGracePeriod: `${SHUTDOWN_PERIOD_MS + CRITICAL_PERIOD_MS}ms`,
      shutdownGracePeriodCriticalPods: `${CRITICAL_PERIOD_MS}ms`,
    }),
  });
  const dropIns = [{ path: "/etc/kubernetes/kubelet.conf.d/10-sim.conf", text }];
  const { configuration, featureGates, errors } = composeConfiguration({ dropIns, flags });
  const [error] = errors;
  if (error !== undefined) throw new Error(`the simulator's configuration: ${error.path}: ${error.message}`);
  return createNodeAgentConfig({ configuration, featureGates, flags, hostname: NODE_NAME, workingDirectory: "/" })
    .config;
}

interface TraceLogDeps {
  trace: Trace;
  incarnation: { readonly isDead: boolean };
  onLine(line: string): void;
}

/** Warnings and errors join the trace; a dead process says nothing. */
function createTraceLog(deps: TraceLogDeps, common: LogFields = {}): Log {
  const note = (level: string, message: string, { fields = {}, isShown = true }: NoteOptions) => {
    if (deps.incarnation.isDead) return;
    const line = `${level}: ${message} ${JSON.stringify({ ...common, ...fields })}`;
    deps.onLine(line);
    if (isShown) deps.trace.note(line.slice(0, 300));
  };
  return {
    error: (message, fields) => note("error", message, { fields }),
    warn: (message, fields) => note("warn", message, { fields }),
    info: (message, fields) => note("info", message, { fields }),
    debug: (message, fields, verbosity = 4) => note("debug", message, { fields, isShown: verbosity <= 2 }),
    with: (fields) => createTraceLog(deps, { ...common, ...fields }),
  };
}

interface NoteOptions {
  fields: LogFields | undefined;
  isShown?: boolean;
}
