import type { Clock } from "../../base/clock.ts";
import { type ContainerEventResponse, ContainerEventType } from "../gen/cri-v1.ts";
import type { Cri } from "../port.ts";
import { computeId, nanoseconds } from "./fake-answers.ts";
import { connectFake } from "./fake-connection.ts";
import { exitContainer } from "./fake-container-life.ts";
import { describeContainerStatus } from "./fake-containers.ts";
import { createFakeEvents } from "./fake-events.ts";
import type { FakeFaults } from "./fake-faults.ts";
import { createFakeImages, DEFAULT_FAKE_IMAGE, type FakeImage } from "./fake-images.ts";
import { describeSandboxStatus, stopSandbox } from "./fake-sandboxes.ts";
import { createFakeServer } from "./fake-server.ts";
import type { FakeContainer, FakeFiles, FakeOccurrence, FakeSandbox, FakeState } from "./fake-state.ts";

export interface FakeCriOptions {
  /** The clock of everything that takes time. */
  clock: Clock;
  /** The images on the node from the start. Default: busybox. */
  images?: readonly FakeImage[];
  /** Images that can be pulled besides. Default: none. */
  registry?: readonly FakeImage[];
  /** The place for container logs and files under mounts. Default: they are not written. */
  files?: FakeFiles;
  faults?: FakeFaults;
  /** How long an RPC takes before it has an effect, milliseconds. Default: no time. */
  latencyMs?(rpc: string): number;
  /** Called for everything that is added to the history, at the moment when it became true. */
  onOccurrence?(occurrence: FakeOccurrence): void;
  /** RPCs that this runtime answers with `unimplemented`, by method name, as an older one would. */
  lacks?: readonly string[];
}

/**
 * A container runtime in memory, with containerd's semantics as far as a node agent can tell: it passes the same
 * contract suite. The behaviour of containers is read from their commands (see `readCommand`).
 */
export interface FakeCri extends Cri {
  /** Makes one more client; closing it leaves the others alone. The fake itself is a client too. */
  connect(): Cri;
  /** Everything that happened, oldest first; it holds the newest 100,000 entries. */
  readonly history: readonly FakeOccurrence[];
  sandboxes(): ReadonlyArray<Readonly<FakeSandbox>>;
  containers(): ReadonlyArray<Readonly<FakeContainer>>;
  runningContainers(): ReadonlyArray<Readonly<FakeContainer>>;
  /** Drops every connection and is back at once; containers run on. */
  restart(): void;
  /** Drops every connection and refuses new ones until `start`; containers run on. */
  stop(): void;
  /** Idempotent. */
  start(): void;
  /** The machine restarts: nothing runs any more, and the runtime still knows what did. */
  reboot(): void;
  /** The container's process ends by itself. */
  exitContainer(id: string, exitCode: number): void;
  /** The kernel kills the container's process for want of memory. */
  oomKill(id: string): void;
  /** The sandbox dies with everything that runs in it, as when its pause process is killed. */
  killSandbox(id: string): void;
  /** Sets how many bytes the container has written to files of its own. */
  setWritableLayer(id: string, bytes: number): void;
  setNetworkReady(ready: boolean, message?: string): void;
  addImage(image: FakeImage): void;
}

const KILLED = 137;
/** The exit code that containerd gives a container whose end it did not see. */
const UNKNOWN_EXIT = 255;

export function createFakeCri(options: FakeCriOptions): FakeCri {
  const history: FakeOccurrence[] = [];
  const { faults = {}, latencyMs, lacks = [] } = options;
  const events = createFakeEvents(faults);
  const state = createState(options, (occurrence) => {
    keepOccurrence(history, occurrence);
    options.onOccurrence?.(occurrence);
    events.emit(describeEvent(state, occurrence));
  });
  const server = createFakeServer(state, { faults, latencyMs, lacks, subscribe: events.subscribe });
  const withContainer = (id: string, act: (container: FakeContainer) => void) => {
    const container = state.containers.get(id);
    if (container?.state === "running") act(container);
  };
  return {
    ...connectFake(server),
    connect: () => connectFake(server),
    history,
    sandboxes: () => [...state.sandboxes.values()],
    containers: () => [...state.containers.values()],
    runningContainers: () => [...state.containers.values()].filter((container) => container.state === "running"),
    restart() {
      server.stop();
      server.start();
    },
    stop: server.stop,
    start: server.start,
    reboot() {
      server.stop();
      for (const container of state.containers.values()) lose(state, container);
      for (const sandbox of state.sandboxes.values()) stopSandbox(state, sandbox);
      server.start();
    },
    exitContainer: (id, exitCode) => withContainer(id, (container) => container.process?.end(exitCode)),
    oomKill: (id) =>
      withContainer(id, (container) => {
        exitContainer(state, container, { exitCode: KILLED, reason: "OOMKilled", message: "" });
        container.process?.end(KILLED);
      }),
    killSandbox(id) {
      const sandbox = state.sandboxes.get(id);
      if (sandbox) stopSandbox(state, sandbox);
    },
    setWritableLayer(id, bytes) {
      const container = state.containers.get(id);
      if (container) container.writableLayerBytes = bytes;
    },
    setNetworkReady: (ready, message = "") => {
      state.network = { ready, message };
    },
    addImage: state.images.add,
  };
}

/** The process is gone, and the runtime did not see its exit. */
function lose(state: FakeState, container: FakeContainer): void {
  if (container.state !== "running") return;
  exitContainer(state, container, { exitCode: UNKNOWN_EXIT, reason: "Unknown", message: "" });
  container.process?.end(UNKNOWN_EXIT);
}

function createState(options: FakeCriOptions, onOccurrence: (occurrence: FakeOccurrence) => void): FakeState {
  const { clock, images = [DEFAULT_FAKE_IMAGE], registry = [], files } = options;
  let made = 0;
  const state: FakeState = {
    clock,
    sandboxes: new Map(),
    containers: new Map(),
    images: createFakeImages(clock, { present: images, registry }),
    files,
    network: { ready: true, message: "" },
    nextId: (kind) => computeId(`${kind} ${++made}`),
    record: (what, subject) => onOccurrence(describe(state, what, subject)),
  };
  return state;
}

function describe(
  state: FakeState,
  what: FakeOccurrence["what"],
  subject: FakeSandbox | FakeContainer,
): FakeOccurrence {
  const isContainer = "sandboxId" in subject;
  const sandboxId = isContainer ? subject.sandboxId : subject.id;
  const pod = (isContainer ? state.sandboxes.get(sandboxId) : subject)?.config.metadata;
  return {
    what,
    at: state.clock.now(),
    podUid: pod?.uid ?? "",
    podName: pod?.name ?? "",
    containerName: isContainer ? (subject.config.metadata?.name ?? "") : "",
    attempt: subject.config.metadata?.attempt ?? 0,
    id: subject.id,
    sandboxId,
    exitCode: isContainer ? subject.exitCode : 0,
  };
}

const MAX_HISTORY = 100_000;

function keepOccurrence(history: FakeOccurrence[], occurrence: FakeOccurrence): void {
  history.push(occurrence);
  if (history.length > MAX_HISTORY) history.shift();
}

const EVENT_TYPES: Record<FakeOccurrence["what"], ContainerEventType> = {
  "sandbox-ready": ContainerEventType.CONTAINER_STARTED_EVENT,
  "sandbox-stopped": ContainerEventType.CONTAINER_STOPPED_EVENT,
  "sandbox-removed": ContainerEventType.CONTAINER_DELETED_EVENT,
  "container-created": ContainerEventType.CONTAINER_CREATED_EVENT,
  "container-started": ContainerEventType.CONTAINER_STARTED_EVENT,
  "container-exited": ContainerEventType.CONTAINER_STOPPED_EVENT,
  "container-removed": ContainerEventType.CONTAINER_DELETED_EVENT,
};

/** Describes the event with the statuses of the pod as they were at that moment, as containerd does. */
function describeEvent(state: FakeState, { what, at, id, sandboxId }: FakeOccurrence): ContainerEventResponse {
  const sandbox = state.sandboxes.get(sandboxId);
  const containers = [...state.containers.values()].filter((container) => container.sandboxId === sandboxId);
  return {
    containerId: id,
    containerEventType: EVENT_TYPES[what],
    createdAt: nanoseconds(at),
    podSandboxStatus: sandbox && describeSandboxStatus(sandbox),
    containersStatuses: containers.map(describeContainerStatus),
  };
}
