import {
  Container,
  type ContainerConfig,
  type ContainerFilter,
  ContainerState,
  ContainerStatus,
  type CreateContainerRequest,
} from "../gen/cri-v1.ts";
import type { RuntimeService } from "../port.ts";
import { type Handlers, matchesLabels, nanoseconds, notFound, refusal } from "./fake-answers.ts";
import { removeContainer, reopenLog, startContainer, stopContainer } from "./fake-container-life.ts";
import { fakeExecSync } from "./fake-exec.ts";
import { digestRefOf, imageIdOf, normaliseImageRef } from "./fake-images.ts";
import type { FakeContainer, FakeSandbox, FakeState } from "./fake-state.ts";

/** The RPCs of RuntimeService that are about containers. */
export function createContainerHandlers(state: FakeState): Handlers<RuntimeService> {
  const find = (id: string) => {
    const container = state.containers.get(id);
    if (container === undefined) throw notFound("container", id);
    return container;
  };
  return {
    createContainer: (request) => ({ containerId: addContainer(state, request).id }),
    async startContainer({ containerId }) {
      await startContainer(state, find(containerId));
      return {};
    },
    async stopContainer({ containerId, timeout }, signal) {
      const container = state.containers.get(containerId);
      if (container) await stopContainer(state.clock, container, { gracePeriodMs: Number(timeout) * 1_000, signal });
      return {};
    },
    removeContainer({ containerId }) {
      const container = state.containers.get(containerId);
      if (container) removeContainer(state, container);
      return {};
    },
    containerStatus: ({ containerId }) => ({ status: describeContainerStatus(find(containerId)), info: {} }),
    listContainers: ({ filter }) => ({
      containers: [...state.containers.values()]
        .filter((container) => matches(container, filter))
        .map(describeContainer),
    }),
    updateContainerResources({ containerId, linux }) {
      const container = find(containerId);
      container.resources = linux ?? container.resources;
      return {};
    },
    async reopenContainerLog({ containerId }) {
      const container = find(containerId);
      assertRunning(container);
      await reopenLog(state, container);
      return {};
    },
    execSync: async ({ containerId, cmd, timeout }, signal) => {
      assertRunning(find(containerId));
      return await fakeExecSync(state.clock, cmd, { timeoutMs: Number(timeout) * 1_000, signal });
    },
  };
}

function addContainer(
  state: FakeState,
  { podSandboxId, config, sandboxConfig }: CreateContainerRequest,
): FakeContainer {
  const sandbox = state.sandboxes.get(podSandboxId);
  if (sandbox === undefined) throw notFound("sandbox", podSandboxId);
  if (!config?.metadata?.name) throw refusal("invalid-argument", "container config must include metadata");
  if (sandbox.state !== "ready")
    throw refusal("not-found", `failed to get sandbox container task: no running task found`);
  const image = state.images.find(config.image?.image ?? "");
  if (image === undefined) throw refusal("not-found", `failed to resolve image "${config.image?.image}": not found`);
  assertNameIsFree(state, sandbox, config);
  const logDirectory = sandboxConfig?.logDirectory ?? sandbox.config.logDirectory;
  const container: FakeContainer = {
    id: state.nextId("container"),
    sandboxId: sandbox.id,
    config,
    image,
    createdAt: state.clock.now(),
    logPath: logDirectory && config.logPath ? `${logDirectory}/${config.logPath}` : "",
    state: "created",
    startedAt: 0,
    finishedAt: 0,
    exitCode: 0,
    reason: "",
    message: "",
    resources: config.linux?.resources,
    process: undefined,
    log: "",
    writableLayerBytes: 0,
    onExited: new Set(),
  };
  state.containers.set(container.id, container);
  state.record("container-created", container);
  return container;
}

function assertNameIsFree(state: FakeState, sandbox: FakeSandbox, { metadata }: ContainerConfig): void {
  const holder = [...state.containers.values()].find(
    ({ sandboxId, config }) =>
      sandboxId === sandbox.id &&
      config.metadata?.name === metadata?.name &&
      config.metadata?.attempt === metadata?.attempt,
  );
  if (holder === undefined) return;
  const { name, namespace, uid } = sandbox.config.metadata ?? { name: "", namespace: "", uid: "" };
  const full = [metadata?.name, name, namespace, uid, metadata?.attempt].join("_");
  throw refusal("unknown", `failed to reserve container name "${full}": name "${full}" is reserved for "${holder.id}"`);
}

function assertRunning(container: FakeContainer): void {
  if (container.state !== "running")
    throw refusal("unknown", `container is in CONTAINER_${container.state.toUpperCase()} state`);
}

function matches(container: FakeContainer, filter: ContainerFilter | undefined): boolean {
  if (filter?.id && !container.id.startsWith(filter.id)) return false;
  if (filter?.podSandboxId && container.sandboxId !== filter.podSandboxId) return false;
  if (filter?.state && filter.state.state !== STATES[container.state]) return false;
  return matchesLabels(container.config.labels, filter?.labelSelector);
}

const STATES = {
  created: ContainerState.CONTAINER_CREATED,
  running: ContainerState.CONTAINER_RUNNING,
  exited: ContainerState.CONTAINER_EXITED,
} as const;

function describeContainer(container: FakeContainer): Container {
  const imageRef = imageIdOf(container.image);
  const image = container.config.image ?? {};
  return Container.fromPartial({ ...commonFields(container), podSandboxId: container.sandboxId, image, imageRef });
}

/** Describes the container as ContainerStatus and the events do. */
export function describeContainerStatus(container: FakeContainer): ContainerStatus {
  const { startedAt, finishedAt, exitCode, reason, message, logPath, resources } = container;
  return ContainerStatus.fromPartial({
    ...commonFields(container),
    startedAt: nanoseconds(startedAt),
    finishedAt: nanoseconds(finishedAt),
    exitCode,
    reason,
    message,
    image: { image: normaliseImageRef(container.image.ref) },
    imageRef: digestRefOf(container.image),
    mounts: container.config.mounts,
    logPath,
    resources: resources ? { linux: resources } : undefined,
  });
}

function commonFields({ id, config, state, createdAt, image }: FakeContainer) {
  const { labels, annotations, metadata = {} } = config;
  const imageId = imageIdOf(image);
  return { id, metadata, state: STATES[state], createdAt: nanoseconds(createdAt), labels, annotations, imageId };
}
