import type { Container, Pod } from "../../../../api/gen/types.ts";
import type {
  ContainerRuntimeStatus,
  ContainerState,
  PodRuntimeStatus,
  SandboxRuntimeStatus,
} from "../../reading/pod-runtime-status.ts";
import type { PodActions } from "../pod-actions.ts";

export interface PodShape {
  restartPolicy?: string;
  /** Names; one that ends in `*` is a sidecar. */
  init?: string[];
  main?: string[];
  ephemeral?: string[];
}

export function makePod({ restartPolicy = "Always", init = [], main = ["main"], ephemeral = [] }: PodShape): Pod {
  return {
    metadata: { uid: "uid-1", name: "web", namespace: "default" },
    spec: {
      restartPolicy,
      ...(init.length > 0 ? { initContainers: init.map(makeInit) } : {}),
      containers: main.map((name) => ({ name, image: `${name}:1` })),
      ...(ephemeral.length > 0 ? { ephemeralContainers: ephemeral.map((name) => ({ name, image: "debug:1" })) } : {}),
    },
  };
}

function makeInit(text: string): Container {
  const isSidecar = text.endsWith("*");
  const name = isSidecar ? text.slice(0, -1) : text;
  return { name, image: `${name}:1`, ...(isSidecar ? { restartPolicy: "Always" } : {}) };
}

export function makeSandbox(overrides: Partial<SandboxRuntimeStatus> = {}): SandboxRuntimeStatus {
  const attempt = overrides.attempt ?? 0;
  const sandbox = { id: `sandbox-${attempt}`, attempt, createdAt: 1_000 + attempt, runtimeHandler: "" };
  return { ...sandbox, state: "ready", hostNetwork: false, ips: ["10.0.0.7"], ...overrides };
}

/** `name state`, e.g. `main exited:1`; the hash is `same` unless overridden. */
export function makeContainer(text: string, overrides: Partial<ContainerRuntimeStatus> = {}): ContainerRuntimeStatus {
  const [name = "", stateText = ""] = text.split(" ");
  const [state = "", exitCode = "0"] = stateText.split(":");
  const exited = state === "exited";
  const restartCount = overrides.restartCount ?? 0;
  return {
    id: `${name}-${restartCount}`,
    sandboxId: "sandbox-0",
    name,
    state: toState(state),
    createdAt: 2_000 + restartCount,
    startedAt: state === "created" ? 0 : 3_000 + restartCount,
    finishedAt: exited ? 4_000 + restartCount : 0,
    exitCode: Number(exitCode),
    hash: "same",
    restartCount,
    image: `${name}:1`,
    imageId: "sha256:1",
    reason: exited ? (exitCode === "0" ? "Completed" : "Error") : "",
    message: "",
    logPath: "",
    ...overrides,
  };
}

function toState(text: string): ContainerState {
  if (text === "created" || text === "running" || text === "exited" || text === "unknown") return text;
  throw new Error(`no container state: ${text}`);
}

/** A pod of one ready sandbox, unless others are given; its containers are newest first. */
export function makeRuntimeStatus(
  containers: Array<ContainerRuntimeStatus | string>,
  sandboxes: SandboxRuntimeStatus[] = [makeSandbox()],
): PodRuntimeStatus {
  return {
    uid: "uid-1",
    name: "web",
    namespace: "default",
    sandboxes,
    containers: containers.map((container) => (typeof container === "string" ? makeContainer(container) : container)),
    ips: sandboxes[0]?.state === "ready" ? sandboxes[0].ips : [],
    observedAt: 10_000,
  };
}

/** A plan in one line, for tables: `kill sandbox-not-ready; sandbox 1; stop a-0; start main#1; wait b`. */
export function describeActions(actions: PodActions): string {
  const parts = [
    ...(actions.killPod === undefined ? [] : [`kill ${actions.killPod}`]),
    ...(actions.createSandbox === undefined ? [] : [`sandbox ${actions.createSandbox.attempt}`]),
    ...actions.containersToKill.map(({ id }) => `stop ${id}`),
    ...actions.containersToStart.map(({ container, restartCount }) => `start ${container.name}#${restartCount}`),
    ...actions.backingOff.map(({ container }) => `wait ${container.name}`),
  ];
  return parts.join("; ");
}
