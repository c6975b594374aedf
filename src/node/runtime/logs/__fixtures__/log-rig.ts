import { silentLog } from "../../../../base/log.ts";
import { ContainerState, ContainerStatusResponse } from "../../../../cri/gen/cri-v1.ts";
import { CriError } from "../../../../cri/port.ts";
import { createFakeHost } from "../../../../host/fake/create-fake-host.ts";
import { createContainerChanges } from "../container-changes.ts";
import type { LogOptions } from "../log-options.ts";
import { type ReadLogDeps, readLog } from "../read-log.ts";

const ROOT = "/var/log/pods";
const PATH = "ns_pod_uid/main/0.log";
/** Where the container of the rig writes. */
export const LOG = `${ROOT}/${PATH}`;

/** Everything, once. */
const ALL: LogOptions = {
  follow: false,
  previous: false,
  timestamps: false,
  tailLines: undefined,
  limitBytes: undefined,
  since: undefined,
  stream: "All",
};

/** A line as the runtime writes it, one second after the other. */
export function line(text: string, { second = 0, stream = "stdout", tag = "F" } = {}): string {
  return `2026-01-02T03:04:${String(second).padStart(2, "0")}.5Z ${stream} ${tag} ${text}\n`;
}

/** A machine with one container's log, and a client that may be slow. */
export function createLogRig() {
  const host = createFakeHost();
  const { clock, files } = host;
  const changes = createContainerChanges();
  let state: ContainerState | "gone" | "away" = ContainerState.CONTAINER_RUNNING;
  const deps: ReadLogDeps = {
    files,
    clock,
    log: silentLog,
    onContainerChange: changes.subscribe,
    runtime: {
      async containerStatus({ containerId }) {
        const call = { rpc: "ContainerStatus", endpoint: "fake", detail: "" };
        if (state === "gone") throw new CriError("not-found", call);
        if (state === "away") throw new CriError("unavailable", call);
        return ContainerStatusResponse.fromPartial({ status: { id: containerId, state, logPath: LOG } });
      },
    },
  };
  return {
    host,
    files,
    clock,
    deps,
    append: (text: string, path = LOG) => files.put(path, (files.text(path) ?? "") + text),
    /** What rotation does: the file gets another name, the runtime makes a new one. */
    rotate(name: string) {
      files.move(LOG, `${LOG}.${name}`);
      files.put(LOG, "");
    },
    setState(next: typeof state) {
      state = next;
      changes.tell("id");
    },
    read(options: Partial<LogOptions> = {}) {
      const controller = new AbortController();
      const client = { received: "", isStalled: false, release: (): void => undefined };
      const write = async (bytes: Buffer) => {
        controller.signal.throwIfAborted();
        if (client.isStalled) await new Promise<void>((resolve) => (client.release = resolve));
        client.received += bytes.toString("utf8");
      };
      const place = { root: ROOT, path: PATH };
      let hasEnded = false;
      const to = { options: { ...ALL, ...options }, write, signal: controller.signal };
      const done = readLog(deps, { containerId: "id", place }, to).finally(() => {
        hasEnded = true;
      });
      done.catch(() => undefined);
      return { client, done, abort: () => controller.abort(), hasEnded: () => hasEnded };
    },
  };
}
