import {
  NamespaceMode,
  PodSandbox,
  type PodSandboxConfig,
  type PodSandboxFilter,
  PodSandboxState,
  PodSandboxStatus,
} from "../gen/cri-v1.ts";
import type { RuntimeService } from "../port.ts";
import { type Handlers, matchesLabels, nanoseconds, notFound, refusal } from "./fake-answers.ts";
import { killContainer, removeContainer } from "./fake-container-life.ts";
import type { FakeSandbox, FakeState } from "./fake-state.ts";

/** The RPCs of RuntimeService that are about sandboxes. */
export function createSandboxHandlers(state: FakeState): Handlers<RuntimeService> {
  const find = (id: string) => {
    const sandbox = state.sandboxes.get(id);
    if (sandbox === undefined) throw notFound("sandbox", id);
    return sandbox;
  };
  return {
    runPodSandbox({ config, runtimeHandler }) {
      if (!config?.metadata?.name) throw refusal("invalid-argument", "sandbox config must include metadata");
      assertNameIsFree(state, config);
      const sandbox = addSandbox(state, { config, runtimeHandler });
      return { podSandboxId: sandbox.id };
    },
    stopPodSandbox({ podSandboxId }) {
      const sandbox = state.sandboxes.get(podSandboxId);
      if (sandbox) stopSandbox(state, sandbox);
      return {};
    },
    removePodSandbox({ podSandboxId }) {
      const sandbox = state.sandboxes.get(podSandboxId);
      if (sandbox) removeSandbox(state, sandbox);
      return {};
    },
    podSandboxStatus({ podSandboxId }) {
      const status = describeSandboxStatus(find(podSandboxId));
      return { status, info: {}, containersStatuses: [], timestamp: nanoseconds(state.clock.now()) };
    },
    listPodSandbox: ({ filter }) => ({
      items: [...state.sandboxes.values()].filter((sandbox) => matches(sandbox, filter)).map(describeSandbox),
    }),
  };
}

function addSandbox(state: FakeState, request: { config: PodSandboxConfig; runtimeHandler: string }): FakeSandbox {
  const { config, runtimeHandler } = request;
  const hostNetwork = isHostNetwork(config);
  if (!hostNetwork && !state.network.ready) {
    throw refusal(
      "unknown",
      `failed to setup network for sandbox: cni plugin not initialized: ${state.network.message}`,
    );
  }
  const sandbox: FakeSandbox = {
    id: state.nextId("sandbox"),
    config,
    runtimeHandler,
    createdAt: state.clock.now(),
    state: "ready",
    ip: hostNetwork ? "" : takeAddress(state),
  };
  state.sandboxes.set(sandbox.id, sandbox);
  state.record("sandbox-ready", sandbox);
  return sandbox;
}

/** Kills every container in the sandbox. Idempotent. */
export function stopSandbox(state: FakeState, sandbox: FakeSandbox): void {
  for (const container of containersOf(state, sandbox)) killContainer(container);
  if (sandbox.state === "notready") return;
  sandbox.state = "notready";
  sandbox.ip = "";
  state.record("sandbox-stopped", sandbox);
}

function removeSandbox(state: FakeState, sandbox: FakeSandbox): void {
  stopSandbox(state, sandbox);
  for (const container of containersOf(state, sandbox)) removeContainer(state, container);
  state.sandboxes.delete(sandbox.id);
  state.record("sandbox-removed", sandbox);
}

function containersOf(state: FakeState, sandbox: FakeSandbox) {
  return [...state.containers.values()].filter((container) => container.sandboxId === sandbox.id);
}

/** containerd builds a name from the metadata and keeps it until the sandbox is removed. */
function assertNameIsFree(state: FakeState, config: PodSandboxConfig): void {
  const name = sandboxNameOf(config);
  const holder = [...state.sandboxes.values()].find((sandbox) => sandboxNameOf(sandbox.config) === name);
  if (holder === undefined) return;
  throw refusal("unknown", `failed to reserve sandbox name "${name}": name "${name}" is reserved for "${holder.id}"`);
}

function sandboxNameOf({ metadata }: PodSandboxConfig): string {
  return [metadata?.name, metadata?.namespace, metadata?.uid, metadata?.attempt].join("_");
}

/** The lowest free address of 10.88.0.0/16; .0.1 is the bridge. */
function takeAddress(state: FakeState): string {
  const taken = new Set([...state.sandboxes.values()].map((sandbox) => sandbox.ip));
  for (let number = 2; number < 65_535; number++) {
    const address = `10.88.${number >> 8}.${number & 255}`;
    if (!taken.has(address)) return address;
  }
  throw refusal("unknown", "no IP addresses available in range set: 10.88.0.1-10.88.255.254");
}

function isHostNetwork(config: PodSandboxConfig): boolean {
  return config.linux?.securityContext?.namespaceOptions?.network === NamespaceMode.NODE;
}

function matches(sandbox: FakeSandbox, filter: PodSandboxFilter | undefined): boolean {
  if (filter?.id && !sandbox.id.startsWith(filter.id)) return false;
  if (filter?.state && filter.state.state !== stateOf(sandbox)) return false;
  return matchesLabels(sandbox.config.labels, filter?.labelSelector);
}

function stateOf(sandbox: FakeSandbox): PodSandboxState {
  return sandbox.state === "ready" ? PodSandboxState.SANDBOX_READY : PodSandboxState.SANDBOX_NOTREADY;
}

function describeSandbox(sandbox: FakeSandbox): PodSandbox {
  return PodSandbox.fromPartial(commonFields(sandbox));
}

/** Describes the sandbox as PodSandboxStatus and the events do. */
export function describeSandboxStatus(sandbox: FakeSandbox): PodSandboxStatus {
  const options = sandbox.config.linux?.securityContext?.namespaceOptions;
  return PodSandboxStatus.fromPartial({
    ...commonFields(sandbox),
    network: { ip: sandbox.ip },
    linux: { namespaces: { options: options ?? {} } },
  });
}

function commonFields(sandbox: FakeSandbox) {
  const { id, createdAt, runtimeHandler } = sandbox;
  const { labels, annotations, metadata = {} } = sandbox.config;
  return {
    id,
    metadata,
    state: stateOf(sandbox),
    createdAt: nanoseconds(createdAt),
    labels,
    annotations,
    runtimeHandler,
  };
}
