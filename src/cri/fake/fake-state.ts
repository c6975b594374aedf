import type { Clock } from "../../base/clock.ts";
import type { ContainerConfig, LinuxContainerResources, PodSandboxConfig } from "../gen/cri-v1.ts";
import type { FakeImage, FakeImages } from "./fake-images.ts";
import type { FakeProcess } from "./fake-process.ts";

/**
 * The state that a runtime remembers; a restart of the runtime loses nothing. Times are milliseconds since the epoch, 0
 * for never.
 */
export interface FakeState {
  readonly clock: Clock;
  readonly sandboxes: Map<string, FakeSandbox>;
  readonly containers: Map<string, FakeContainer>;
  readonly images: FakeImages;
  readonly files: FakeFiles | undefined;
  network: { ready: boolean; message: string };
  /** The id has 64 hex digits and is the same in every run. */
  nextId(kind: "sandbox" | "container"): string;
  /** Appends to the history and tells the event streams. */
  record(what: FakeOccurrence["what"], subject: FakeSandbox | FakeContainer): void;
}

export interface FakeSandbox {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly runtimeHandler: string;
  readonly createdAt: number;
  state: "ready" | "notready";
  /** Empty on the host network, and once the sandbox was stopped. */
  ip: string;
}

/** created ─start─► running ─exit, stop, kill─► exited; a start that fails leads straight to exited. */
export interface FakeContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly config: ContainerConfig;
  readonly image: FakeImage;
  readonly createdAt: number;
  readonly logPath: string;
  state: "created" | "running" | "exited";
  startedAt: number;
  finishedAt: number;
  exitCode: number;
  reason: string;
  message: string;
  resources: LinuxContainerResources | undefined;
  process: FakeProcess | undefined;
  log: string;
  /** The bytes that the container has written to files of its own, as far as the runtime reports them. */
  writableLayerBytes: number;
  /** Called when it has exited. */
  readonly onExited: Set<() => void>;
}

/** Something that became true in the runtime, for tests that check the order of events. */
export interface FakeOccurrence {
  what: "sandbox-ready" | "sandbox-stopped" | "sandbox-removed" | ContainerOccurrence;
  /** Milliseconds since the epoch. */
  at: number;
  podUid: string;
  podName: string;
  /** The container's name; empty for a sandbox. */
  containerName: string;
  attempt: number;
  id: string;
  sandboxId: string;
  /** The exit code, for a container that exited. */
  exitCode: number;
}

type ContainerOccurrence = "container-created" | "container-started" | "container-exited" | "container-removed";

/** The place for logs and termination messages; without it they are dropped. */
export interface FakeFiles {
  writeAtomically(path: string, data: string, mode: number): Promise<void>;
}
