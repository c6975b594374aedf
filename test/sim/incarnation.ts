import { isRecord } from "../../src/api/object.ts";
import { childController, sleep } from "../../src/base/abort.ts";
import type { Clock, Timer } from "../../src/base/clock.ts";
import { type Cri, CriError, type RuntimeService } from "../../src/cri/port.ts";
import type { CgroupTree } from "../../src/host/cgroup-tree-port.ts";
import type { FakeHost } from "../../src/host/fake/create-fake-host.ts";
import type { Logind } from "../../src/host/logind-port.ts";
import type { Mounts } from "../../src/host/mounts-port.ts";
import type { Files, Host } from "../../src/host/port.ts";
import type { ProbeClient } from "../../src/host/probe-port.ts";
import type { KubePorts, PluginPorts } from "../../src/node/compose/node-agent-ports.ts";
import type { Cluster } from "./api/create-cluster.ts";
import type { Faults } from "./faults.ts";
import { NO_DEVICES } from "./no-devices.ts";

/** Kill the process at its n-th call of a port, before or after the call's effect. */
export interface CrashPoint {
  call: number;
  phase: "before" | "after";
}

/**
 * One process of the node agent, as far as the world can tell: its doors. Once it is killed its timers never fire, its
 * calls have no effect and their promises never settle.
 */
export interface Incarnation {
  readonly host: Host;
  readonly cri: Cri;
  /** Undefined on a node without an API server. */
  readonly kube: KubePorts | undefined;
  readonly plugins: PluginPorts;
  kill(): void;
  readonly isDead: boolean;
  /** Ends the stream of container events with an error, if there is one. */
  breakEvents(): void;
  /** Those that have not settled. */
  pendingCalls(): readonly PendingCall[];
  readonly pendingTimers: number;
}

/** A call of one of the doors. */
export interface PendingCall {
  readonly name: string;
  /** A system call that takes long, which nobody can end. */
  readonly isHeldUp: boolean;
}

interface IncarnationDeps {
  host: FakeHost;
  /** This process's own connection to the runtime. */
  cri: Cri;
  cluster: Cluster | undefined;
  faults: Faults;
  crashPoint: CrashPoint | undefined;
  onCrashPoint(where: string): void;
  /** Called when the process calls the runtime. */
  onCall(rpc: string, request: unknown): void;
}

export function createIncarnation(deps: IncarnationDeps): Incarnation {
  const { host, faults } = deps;
  const pending = new Map<number, Mutable<PendingCall>>();
  const timers = new Set<Timer>();
  let calls = 0;
  let isDead = false;
  const death = new AbortController();
  let stream: AbortController | undefined;

  const clock: Clock = {
    now: host.clock.now,
    monotonic: host.clock.monotonic,
    setTimer(delayMs, fire) {
      if (isDead) return { cancel: () => undefined };
      const timer = host.clock.setTimer(delayMs, () => {
        timers.delete(timer);
        fire();
      });
      timers.add(timer);
      return {
        cancel() {
          timers.delete(timer);
          timer.cancel();
        },
      };
    },
  };

  /** Lets a call through; where the process is dead before it or by its end, it never settles. */
  const pass = async <T>(name: string, call: (own: Mutable<PendingCall>) => Promise<T>): Promise<T> => {
    if (isDead) return await never();
    const number = ++calls;
    const isCrashing = deps.crashPoint?.call === number;
    if (isCrashing && deps.crashPoint?.phase === "before") {
      deps.onCrashPoint(`before ${name}`);
      return await never();
    }
    const own = { name, isHeldUp: false };
    pending.set(number, own);
    try {
      return await call(own);
    } finally {
      if (isCrashing && !isDead) deps.onCrashPoint(`after ${name}`);
      if (isDead) await never();
      pending.delete(number);
    }
  };

  const disturbed = async (operation: string, path: string, call: () => Promise<unknown>) => {
    const fault = operation === "watch" ? undefined : faults.fileFault(operation, path);
    if (fault === undefined) return await call();
    // Half of the failures have happened nevertheless, as those of a write that cannot be flushed.
    if (fault.message.startsWith("ENOSPC")) await call();
    throw fault;
  };
  const files = gateMethods<Files>(host.files, (operation, [path], call) =>
    pass(`${operation} ${String(path)}`, async () => await disturbed(operation, String(path), call)),
  );
  const probes = gateMethods<ProbeClient>(host.probes, (kind, _parameters, make) => pass(`${kind} probe`, make));
  const logind = gateMethods<Logind>(host.logind, (call, _parameters, make) => pass(call, make));
  const mounts = gateMethods<Mounts>(host.mounts, (operation, parameters, call) => {
    const path = mountTargetOf(parameters);
    return pass(`${operation} ${path}`, async (own) => {
      const delayMs = faults.mountDelay(operation, path);
      own.isHeldUp = true;
      if (delayMs > 0) await faults.during(async () => await sleep(host.clock, delayMs));
      own.isHeldUp = false;
      // Killed meanwhile: a system call that is under way ends nevertheless.
      return await disturbed(operation, path, call);
    });
  });

  const { make, limit, remove } = host.cgroups;
  const changes: Pick<CgroupTree, "make" | "limit" | "remove"> = { make, limit, remove };
  const cgroups = gateMethods(changes, (operation, [path], call) =>
    pass(`${operation} cgroup ${String(path)}`, async () => {
      const fault = faults.cgroupFault(operation, String(path));
      if (fault !== undefined) throw fault;
      return await call();
    }),
  );

  async function* events(...[request, options]: Parameters<RuntimeService["getContainerEvents"]>) {
    const ended = new AbortController();
    const { controller, release } = childController(options?.signal ?? ended.signal);
    stream = controller;
    try {
      for await (const event of deps.cri.runtime.getContainerEvents(request, { signal: controller.signal })) {
        if (isDead) await never();
        const delayMs = faults.eventDelay();
        if (delayMs > 0) await sleep(clock, delayMs, controller.signal);
        yield event;
      }
    } catch (error) {
      if (isDead) await never();
      if (!controller.signal.aborted) throw error;
    } finally {
      release();
      if (stream === controller) stream = undefined;
    }
    if (isDead) await never();
    if (options?.signal?.aborted !== true) {
      throw new CriError("unavailable", { rpc: "GetContainerEvents", endpoint: "fake", detail: "the stream broke" });
    }
  }

  const runtime = gateMethods<RuntimeService>(deps.cri.runtime, (rpc, [request], call) => {
    return pass(rpc, async () => {
      deps.onCall(rpc, request);
      return await call();
    });
  });
  const images = gateMethods(deps.cri.images, (rpc, _request, call) => pass(rpc, call));
  const gate = {
    pass,
    get isDead() {
      return isDead;
    },
    died: death.signal,
  };
  return {
    host: { ...host, clock, files, mounts, probes, logind, cgroups: { ...host.cgroups, ...cgroups } },
    kube: deps.cluster?.connect({ gate, clock }),
    plugins: deps.cluster?.storage?.driver.connect(gate) ?? NO_PLUGINS,
    cri: { runtime: { ...runtime, getContainerEvents: events }, images, close: deps.cri.close },
    kill() {
      isDead = true;
      for (const timer of timers) timer.cancel();
      timers.clear();
      host.logind.endProcess();
      deps.cri.close();
      death.abort();
    },
    get isDead() {
      return isDead;
    },
    breakEvents: () => stream?.abort(),
    pendingCalls: () => [...pending.values()],
    get pendingTimers() {
      return timers.size;
    },
  };
}

const noPlugin = (): never => {
  throw new Error("there are no plugins on this machine");
};
const NO_PLUGINS: PluginPorts = { connectRegistration: noPlugin, connectCsi: noPlugin, ...NO_DEVICES };

/** Paths are told apart from requests, which name theirs. */
function mountTargetOf([first, second]: readonly unknown[]): string {
  if (isRecord(first)) return String(first["target"]);
  return String(typeof second === "string" ? second : first);
}

async function never(): Promise<never> {
  return await new Promise<never>(() => undefined);
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

type Gate = (name: string, parameters: readonly unknown[], call: () => Promise<unknown>) => Promise<unknown>;

/** The same methods, each of which goes through the gate. */
function gateMethods<Service extends object>(service: Service, gate: Gate): Service {
  const methods = Object.entries(service).map(([name, method]) => {
    const gated = (...parameters: unknown[]) =>
      gate(name, parameters, async () => await Reflect.apply(method, service, parameters));
    return [name, gated];
  });
  return { ...service, ...Object.fromEntries(methods) };
}
