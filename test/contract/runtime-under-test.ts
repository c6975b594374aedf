import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { findCniBinDirectory, findProgram } from "../../src/cluster/containerd/machine-facts.ts";
import { removeRuntime } from "../../src/cluster/containerd/remove-runtime.ts";
import { type Containerd, startContainerd } from "../../src/cluster/containerd/start-containerd.ts";
import { buildImages } from "../../src/cluster/images/build-images.ts";
import { DEMO_IMAGE } from "../../src/cluster/images/image-references.ts";
import { connectCri } from "../../src/cri/connect.ts";
import type { RuntimeEvents } from "../../src/cri/container-events.ts";
import { connectContainerdEvents } from "../../src/cri/containerd-events.ts";
import { createRuntimeEvents } from "../../src/cri/create-runtime-events.ts";
import { createFakeCri } from "../../src/cri/fake/create-fake-cri.ts";
import { watchOwnStops } from "../../src/cri/own-stops.ts";
import type { Cri } from "../../src/cri/port.ts";
import { createFakeClock } from "../../src/host/fake/fake-clock.ts";
import { createLinuxHost } from "../../src/host/linux/create-linux-host.ts";
import { claimNetwork } from "../machine/claims.ts";

/** A runtime that the contract's cases run on, and time as it passes for that runtime. */
export interface RuntimeUnderTest {
  cri: Cri;
  events: RuntimeEvents;
  clock: Clock;
  /** An image with a shell, on the node. */
  image: string;
  /** An existing directory for container logs; empty where none are written. */
  logDirectory: string;
  wait(ms: number): Promise<void>;
  /** Settles as the promise does, with time passing meanwhile. */
  settled<T>(promise: Promise<T>): Promise<T>;
  /** Resolves when the runtime runs again. */
  restart(): Promise<void>;
  dispose(): Promise<void>;
}

/** The fake, on a clock that passes as fast as the cases wait. */
export async function startFakeRuntime(): Promise<RuntimeUnderTest> {
  const clock = createFakeClock();
  const fake = createFakeCri({ clock, images: [{ ref: DEMO_IMAGE, cmd: ["/bin/sh"] }] });
  return {
    cri: fake,
    events: createRuntimeEvents({ runtime: fake.runtime, clock, log: silentLog }),
    clock,
    image: DEMO_IMAGE,
    logDirectory: "",
    wait: clock.advance,
    async settled(promise) {
      let pending = true;
      const done = promise.finally(() => {
        pending = false;
      });
      done.catch(() => undefined);
      await clock.settle();
      while (pending) await clock.advance(clock.untilNextTimer() ?? 1);
      return await done;
    },
    restart: async () => fake.restart(),
    dispose: async () => fake.close(),
  };
}

/** Why the cases cannot run on real containerd here; undefined where they can. */
export async function readWhyNoContainerd(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return "this is not root";
  for (const program of [process.env["NODELET_TEST_CONTAINERD"] || "containerd", "runc", "busybox"]) {
    if ((await findProgram(program)) === undefined) return `${program} is not installed`;
  }
  return (await findCniBinDirectory()) === undefined ? "the CNI plugins are not installed" : undefined;
}

/** `NODELET_TEST_CONTAINERD` names another containerd than the one on the search path. */
export async function startRealRuntime(): Promise<RuntimeUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-cri-"));
  try {
    return await startIn(directory);
  } catch (error) {
    await removeRuntime(directory);
    throw error;
  }
}

async function startIn(directory: string): Promise<RuntimeUnderTest> {
  const options = await containerdOptions(directory);
  const start = async () => await startContainerd(options);
  let containerd: Containerd = await start();
  for (const { tar } of await buildImages(join(directory, "images"))) await containerd.importImage(tar);
  const { close, ...connected } = connectRuntime(containerd.endpoint);
  await untilNetworkReady(connected.cri);
  return {
    ...connected,
    logDirectory: join(directory, "pod-logs"),
    async restart() {
      await containerd.stop();
      containerd = await start();
    },
    async dispose() {
      close();
      await containerd.stop();
      await removeRuntime(directory);
    },
  };
}

/** A real runtime as the cases talk to it, on this machine's clock. */
export function connectRuntime(endpoint: string) {
  const connected = connectCri({ endpoint, requestTimeoutMs: 20_000, log: silentLog, metrics: createMetrics() });
  const { runtime, stops } = watchOwnStops(connected.runtime);
  const containerd = connectContainerdEvents(endpoint);
  const { clock } = createLinuxHost();
  return {
    cri: { ...connected, runtime },
    events: createRuntimeEvents({ runtime, containerd, stops, clock, log: silentLog }),
    clock,
    image: DEMO_IMAGE,
    wait: async (ms: number) => await delay(ms),
    settled: async <T>(promise: Promise<T>) => await promise,
    close() {
      connected.close();
      containerd.close();
    },
  };
}

async function containerdOptions(directory: string) {
  const binary = process.env["NODELET_TEST_CONTAINERD"];
  const network = await claimNetwork();
  return { directory, log: silentLog, ...network, ...(binary ? { binary } : {}) };
}

/** Waits until the runtime answers and says that all is ready. */
export async function untilNetworkReady({ runtime }: Cri): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt++) {
    const answer = await runtime.status({ verbose: false }).catch(() => undefined);
    if (answer?.status?.conditions.every((condition) => condition.status) === true) return;
    await delay(50);
  }
  throw new Error("the runtime's network did not become ready");
}
