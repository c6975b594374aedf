import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import {
  ContainerConfig,
  ContainerState,
  type ContainerStatus,
  NamespaceMode,
  PodSandboxConfig,
  type PodSandboxStatus,
} from "../../src/cri/gen/cri-v1.ts";
import type { RuntimeUnderTest } from "./runtime-under-test.ts";

/** What the cases say to a runtime, short. Everything that they make is of one run of the suite. */
export interface Driver {
  readonly runtime: RuntimeUnderTest;
  /** A sandbox config of a pod that no other case has. */
  pod(overrides?: Parameters<typeof PodSandboxConfig.fromPartial>[0]): PodSandboxConfig;
  runSandbox(config: PodSandboxConfig): Promise<string>;
  sandboxStatus(id: string): Promise<PodSandboxStatus>;
  /** Creates `main`, which runs this script as the first process of a PID namespace unless the pod shares one. */
  create(
    sandbox: { id: string; config: PodSandboxConfig },
    script: string | string[],
    attempt?: number,
  ): Promise<string>;
  start(id: string): Promise<void>;
  stop(id: string, graceSeconds: number): Promise<void>;
  status(id: string): Promise<ContainerStatus>;
  /** A running container in a sandbox of its own. */
  run(
    script: string | string[],
    config?: PodSandboxConfig,
  ): Promise<{ id: string; sandboxId: string; config: PodSandboxConfig }>;
  /** As `run`, and waits until it has printed a line. Fakes keep no logs, and run a script up to its first wait at once. */
  runUntilPrinted(script: string): Promise<{ id: string }>;
  /** Waits until it has exited. */
  untilExited(id: string): Promise<ContainerStatus>;
  eventually(what: string, check: () => Promise<boolean> | boolean): Promise<void>;
  removeAll(): Promise<void>;
}

const LONGEST_WAIT_MS = 15_000;
const POLL_MS = 20;

export function createDriver(runtime: RuntimeUnderTest): Driver {
  const { cri, settled } = runtime;
  let pods = 0;
  const driver: Driver = {
    runtime,
    pod(overrides = {}) {
      const uid = `uid-${process.pid}-${++pods}`;
      const metadata = { name: `pod-${pods}`, namespace: "contract", uid, attempt: 0 };
      return PodSandboxConfig.fromPartial({
        metadata,
        hostname: metadata.name,
        logDirectory: runtime.logDirectory && `${runtime.logDirectory}/${uid}`,
        labels: { "io.kubernetes.pod.uid": uid },
        annotations: { "example.com/note": "kept as it is: äöü" },
        linux: { securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER } } },
        ...overrides,
      });
    },
    async runSandbox(config) {
      const { podSandboxId } = await settled(cri.runtime.runPodSandbox({ config, runtimeHandler: "" }));
      return podSandboxId;
    },
    async sandboxStatus(id) {
      const { status } = await cri.runtime.podSandboxStatus({ podSandboxId: id, verbose: false });
      if (status === undefined) throw new Error("a status without a status");
      return status;
    },
    async create({ id, config: sandboxConfig }, script, attempt = 0) {
      const config = ContainerConfig.fromPartial({
        metadata: { name: "main", attempt },
        image: { image: runtime.image, userSpecifiedImage: runtime.image },
        command: typeof script === "string" ? ["sh", "-c", script] : script,
        labels: { "io.kubernetes.container.name": "main" },
        annotations: { "io.kubernetes.container.restartCount": String(attempt) },
        linux: { securityContext: { namespaceOptions: sandboxConfig.linux?.securityContext?.namespaceOptions ?? {} } },
        logPath: `main_${attempt}.log`,
      });
      const { containerId } = await settled(cri.runtime.createContainer({ podSandboxId: id, config, sandboxConfig }));
      return containerId;
    },
    start: async (id) => void (await settled(cri.runtime.startContainer({ containerId: id }))),
    stop: async (id, graceSeconds) =>
      void (await settled(cri.runtime.stopContainer({ containerId: id, timeout: BigInt(graceSeconds) }))),
    async status(id) {
      const { status } = await cri.runtime.containerStatus({ containerId: id, verbose: false });
      if (status === undefined) throw new Error("a status without a status");
      return status;
    },
    async run(script, config = driver.pod()) {
      const sandboxId = await driver.runSandbox(config);
      const id = await driver.create({ id: sandboxId, config }, script);
      await driver.start(id);
      return { id, sandboxId, config };
    },
    async runUntilPrinted(script) {
      const { id, config } = await driver.run(script);
      if (config.logDirectory === "") return { id };
      const log = join(config.logDirectory, "main_0.log");
      await driver.eventually("it has printed a line", async () => {
        return (await readFile(log, "utf8").catch(() => "")).endsWith("\n");
      });
      return { id };
    },
    async untilExited(id) {
      await driver.eventually("the container has exited", async () => {
        return (await driver.status(id)).state === ContainerState.CONTAINER_EXITED;
      });
      return await driver.status(id);
    },
    async eventually(what, check) {
      for (let waited = 0; waited < LONGEST_WAIT_MS; waited += POLL_MS) {
        if (await check()) return;
        await runtime.wait(POLL_MS);
      }
      expect.fail(`it did not come about that ${what}`);
    },
    async removeAll() {
      const { items } = await cri.runtime.listPodSandbox({ filter: undefined });
      for (const { id } of items) {
        await settled(cri.runtime.stopPodSandbox({ podSandboxId: id }));
        await settled(cri.runtime.removePodSandbox({ podSandboxId: id }));
      }
    },
  };
  return driver;
}
