import { setMaxListeners } from "node:events";
import type { Pod } from "../../../../api/gen/types.ts";
import { podReference } from "../../../../api/pods.ts";
import {
  CONTAINER_NAME_LABEL,
  CONTAINER_RESTART_COUNT_ANNOTATION,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_UID_LABEL,
} from "../../../../api/well-known.ts";
import { CodedError } from "../../../../base/errors.ts";
import { createTimeline } from "../../../../base/timeline.ts";
import { createFakeCri, type FakeCriOptions } from "../../../../cri/fake/create-fake-cri.ts";
import {
  CreateContainerRequest,
  type LinuxPodSandboxConfig,
  NamespaceMode,
  RunPodSandboxRequest,
  StartContainerRequest,
  StopContainerRequest,
} from "../../../../cri/gen/cri-v1.ts";
import type { CriErrorCode } from "../../../../cri/port.ts";
import { createFakeHost } from "../../../../host/fake/create-fake-host.ts";
import type { PodRuntimeStatus } from "../pod-runtime-status.ts";
import { readPodRuntimeStatus } from "../read-pods.ts";

/** As many calls as a runtime is asked at a time listen to it, as in the node agent. */
export const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

/** A command that ends as soon as it is told to. */
export const POLITE = ["sh", "-c", "trap 'exit 0' TERM; sleep 9999 & wait"];
/** A command that has to be killed. */
export const STUBBORN = ["sleep", "9999"];
/** A command that takes three seconds to end. */
export const SLOW = ["sh", "-c", "trap 'sleep 3; exit 0' TERM; sleep 9999 & wait"];

export interface MadeContainer {
  command: readonly string[];
  attempt?: number;
  annotations?: Record<string, string>;
}

/** A fake machine with a fake runtime, and a record of the calls to the runtime. */
export function createFakeNode(options: Partial<FakeCriOptions> = {}) {
  const host = createFakeHost();
  const { clock } = host;
  const timeline = createTimeline(clock);
  /** Each entry is the seconds since the start and the call: `0s stopContainer main timeout=30`. */
  const calls: string[] = [];
  /** RPCs that fail, before they do anything, until they are removed from this map. */
  const failing = new Map<string, CriErrorCode>();
  const startedAt = clock.monotonic();
  const cri = createFakeCri({
    clock,
    files: host.files,
    ...options,
    faults: {
      before(call) {
        const at = (clock.monotonic() - startedAt) / 1000;
        const asked = describeCall(call.rpc, call.request);
        if (asked !== undefined) calls.push(`${at}s ${asked}`);
        const code = failing.get(call.rpc);
        if (code !== undefined) throw new CodedError(code, `${call.rpc} fails`);
        return options.faults?.before?.(call);
      },
    },
  });
  const nameOf = (id: string) => cri.containers().find((container) => container.id === id)?.config.metadata?.name ?? id;
  const describeCall = (rpc: string, request: unknown): string | undefined => {
    switch (rpc) {
      case "stopContainer": {
        const { containerId, timeout } = StopContainerRequest.fromPartial(asMessage(request));
        return `stop ${nameOf(containerId)} ${timeout}`;
      }
      case "execSync":
      case "stopPodSandbox":
      case "removePodSandbox":
      case "removeContainer":
      case "runPodSandbox":
      case "createContainer":
      case "startContainer":
        return rpc;
      default:
        return undefined;
    }
  };

  /** Makes the pod's sandbox and starts containers in it, as an earlier run of the node agent did. */
  const makePod = async (
    pod: Pod,
    containers: Record<string, MadeContainer>,
    { attempt = 0, linux }: { attempt?: number; linux?: LinuxPodSandboxConfig } = {},
  ) => {
    const { uid, name, namespace } = podReference(pod);
    const labels = { [POD_UID_LABEL]: uid, [POD_NAME_LABEL]: name, [POD_NAMESPACE_LABEL]: namespace };
    const logDirectory = `/var/log/pods/${namespace}_${name}_${uid}`;
    const config = { metadata: { uid, name, namespace, attempt }, labels, logDirectory, ...(linux ? { linux } : {}) };
    const { podSandboxId } = await cri.runtime.runPodSandbox(RunPodSandboxRequest.fromPartial({ config }));
    const ids: Record<string, string> = {};
    for (const [container, made] of Object.entries(containers)) {
      const restartCount = made.attempt ?? 0;
      const logPath = `${container}/${restartCount}.log`;
      host.files.put(`${logDirectory}/${logPath}`, "");
      const { containerId } = await cri.runtime.createContainer(
        CreateContainerRequest.fromPartial({
          podSandboxId,
          sandboxConfig: config,
          config: {
            metadata: { name: container, attempt: restartCount },
            image: { image: "busybox" },
            command: [...made.command],
            labels: { ...labels, [CONTAINER_NAME_LABEL]: container },
            annotations: { [CONTAINER_RESTART_COUNT_ANNOTATION]: `${restartCount}`, ...made.annotations },
            logPath,
            // As for every container of ours, its first process has no default action for SIGTERM.
            linux: { securityContext: { namespaceOptions: { pid: NamespaceMode.CONTAINER } } },
          },
        }),
      );
      await cri.runtime.startContainer(StartContainerRequest.fromPartial({ containerId }));
      ids[container] = containerId;
    }
    calls.length = 0;
    return { podSandboxId, ids };
  };
  const read = async (pod: Pod): Promise<PodRuntimeStatus> =>
    await readPodRuntimeStatus({ runtime: cri.runtime, host }, podReference(pod), NEVER);
  const events = (uid = "uid-1") => timeline.read(uid).map(({ reason, message }) => `${reason}: ${message}`);
  return { host, clock, cri, timeline, calls, failing, makePod, read, events };
}

/** A hook receives what the codec made, and the type of that is unknown. */
function asMessage(request: unknown): object {
  return typeof request === "object" && request !== null ? request : {};
}
