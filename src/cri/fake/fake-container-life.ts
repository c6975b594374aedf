import { untilAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { NamespaceMode } from "../gen/cri-v1.ts";
import { refusal } from "./fake-answers.ts";
import { runFakeProcess } from "./fake-process.ts";
import { readCommand } from "./fake-shell.ts";
import type { FakeContainer, FakeState } from "./fake-state.ts";

/** A failure of runc leaves an exited container with this code. */
const START_ERROR_CODE = 128;

/** Rejects with a refusal. After a failure of the process itself the container is exited. */
export async function startContainer(state: FakeState, container: FakeContainer): Promise<void> {
  const logFailure = await openLog(state, container);
  assertStartable(state, container);
  const argv = computeArgv(container);
  const steps = readCommand(argv);
  const fail = (message: string) => {
    exitContainer(state, container, { exitCode: START_ERROR_CODE, reason: "StartError", message });
    throw refusal("unknown", message);
  };
  if (steps === undefined) return fail(noSuchProgram(argv[0]));
  if (logFailure !== undefined) return fail(logFailure);
  container.state = "running";
  container.startedAt = state.clock.now();
  container.process = runFakeProcess({
    steps,
    isInit: hasOwnPidNamespace(container),
    clock: state.clock,
    onPrint: async (text, path) => await print(state, container, { text, path }),
    onExit: (exitCode) => exitContainer(state, container, { exitCode, reason: reasonOf(exitCode), message: "" }),
  });
  state.record("container-started", container);
}

function assertStartable(state: FakeState, container: FakeContainer): void {
  if (container.state !== "created")
    throw refusal("unknown", `container is in CONTAINER_${container.state.toUpperCase()} state`);
  if (state.sandboxes.get(container.sandboxId)?.state === "ready") return;
  throw refusal("unknown", `sandbox container "${container.sandboxId}" is not running`);
}

/** Where processes are shared with the pod or the node, another process is number one. */
function hasOwnPidNamespace({ config }: FakeContainer): boolean {
  return config.linux?.securityContext?.namespaceOptions?.pid === NamespaceMode.CONTAINER;
}

function reasonOf(exitCode: number): string {
  return exitCode === 0 ? "Completed" : "Error";
}

/** The message is runc's. */
export function noSuchProgram(program = ""): string {
  return `failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "${program}": executable file not found in $PATH: unknown`;
}

/**
 * Computes the command as a container runtime does: a command replaces the entrypoint and drops the image's arguments.
 */
function computeArgv({ config, image }: FakeContainer): readonly string[] {
  if (config.command.length > 0) return [...config.command, ...config.args];
  return [...(image.entrypoint ?? []), ...(config.args.length > 0 ? config.args : (image.cmd ?? []))];
}

async function openLog(state: FakeState, container: FakeContainer): Promise<string | undefined> {
  if (state.files === undefined || container.logPath === "") return undefined;
  try {
    await state.files.writeAtomically(container.logPath, container.log, LOG_MODE);
    return undefined;
  } catch (error) {
    return `failed to create container loggers: failed to open ${container.logPath}: ${messageOf(error)}`;
  }
}

/** Makes the container's output go to a new file from now on. The caller has renamed the old one. */
export async function reopenLog({ files }: FakeState, container: FakeContainer): Promise<void> {
  if (files === undefined || container.logPath === "") return;
  container.log = "";
  await files.writeAtomically(container.logPath, container.log, LOG_MODE);
}

const LOG_MODE = 0o640;
/** At this bound the oldest lines are dropped. */
const MAX_LOG_CHARACTERS = 64 * 1024;

/**
 * Prints to the log in CRI's format, to the file that a mount of the container shows under this path, or to its own
 * layer.
 */
async function print(
  { files, clock }: FakeState,
  container: FakeContainer,
  { text, path }: { text: string; path: string | undefined },
): Promise<void> {
  if (path !== undefined) {
    const mount = container.config.mounts.find(
      ({ containerPath }) => path === containerPath || path.startsWith(`${containerPath}/`),
    );
    if (mount === undefined) {
      container.writableLayerBytes += text.length + 1;
    } else {
      const hostPath = mount.hostPath + path.slice(mount.containerPath.length);
      await files?.writeAtomically(hostPath, `${text}\n`, 0o644);
    }
    return;
  }
  const line = `${new Date(clock.now()).toISOString().slice(0, -1)}000000Z stdout F ${text}\n`;
  if (files === undefined) return;
  container.log = (container.log + line).slice(-MAX_LOG_CHARACTERS);
  if (container.logPath !== "") await files.writeAtomically(container.logPath, container.log, LOG_MODE);
}

/** Makes the container exited and tells those who wait for that. Does nothing for an exited container. */
export function exitContainer(
  state: FakeState,
  container: FakeContainer,
  how: { exitCode: number; reason: string; message: string },
): void {
  if (container.state === "exited") return;
  const wasRunning = container.state === "running";
  Object.assign(container, how, { state: "exited", finishedAt: state.clock.now() });
  if (wasRunning) state.record("container-exited", container);
  for (const listener of container.onExited) listener();
  container.onExited.clear();
}

/** Returns when the container has exited. Rejects, and leaves it running, when the caller goes before. */
export async function stopContainer(
  clock: Clock,
  container: FakeContainer,
  { gracePeriodMs, signal }: { gracePeriodMs: number; signal: AbortSignal },
): Promise<void> {
  if (container.state !== "running") return;
  const exited = new Promise<void>((resolve) => container.onExited.add(resolve));
  if (gracePeriodMs <= 0) return killContainer(container);
  container.process?.signal("TERM");
  const kill = clock.setTimer(gracePeriodMs, () => killContainer(container));
  try {
    await untilAborted(exited, signal);
  } finally {
    kill.cancel();
  }
}

/** The container is exited when this returns. Does nothing for a container that does not run. */
export function killContainer(container: FakeContainer): void {
  if (container.state === "running") container.process?.signal("KILL");
}

/** Removes the container, and kills it first where it runs. */
export function removeContainer(state: FakeState, container: FakeContainer): void {
  killContainer(container);
  state.containers.delete(container.id);
  state.record("container-removed", container);
}
