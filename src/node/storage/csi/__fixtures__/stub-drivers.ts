import { sleep } from "../../../../base/abort.ts";
import type { Clock } from "../../../../base/clock.ts";
import { CodedError } from "../../../../base/errors.ts";
import type { CsiNode, CsiNodeInfo } from "../../../../csi/port.ts";
import type { Plugin } from "../../plugins/plugin-handler.ts";

/** The driver behind an endpoint; the test changes it. */
interface StubDriver {
  info: CsiNodeInfo | Error | "hang";
  /** The driver answers when this settles. */
  infoAfter?: Promise<void>;
  /** The driver fails with the error, or answers when the promise settles. */
  capabilities?: Error | Promise<void>;
  /** Unpublishing waits until this settles. */
  unpublish?: Promise<void>;
}

/** Clients of drivers that behave as the test tells them. */
export function createStubDrivers(clock: Clock) {
  const drivers = new Map<string, StubDriver>();
  const open: string[] = [];
  const calls: string[] = [];

  const connect = ({ endpoint }: { readonly endpoint: string }): CsiNode => {
    if (endpoint === "/invalid") throw new CodedError("invalid-endpoint", "no such path");
    open.push(endpoint);
    const driver = () => drivers.get(endpoint);
    const unused = async () => {
      throw new Error("not called in these tests");
    };
    return {
      async info(options) {
        calls.push(`info ${endpoint} ${options?.timeoutMs}`);
        options?.signal?.throwIfAborted();
        const info = driver()?.info ?? new CodedError("unavailable", "connection refused");
        await driver()?.infoAfter;
        if (info instanceof Error) throw info;
        if (info !== "hang") return info;
        await sleep(clock, options?.timeoutMs ?? Number.MAX_SAFE_INTEGER, options?.signal);
        throw new CodedError("deadline-exceeded", "the call took too long");
      },
      async capabilities() {
        const outcome = driver()?.capabilities;
        if (outcome instanceof Error) throw outcome;
        await outcome;
        return new Set(["STAGE_UNSTAGE_VOLUME"] as const);
      },
      unpublish: async () => driver()?.unpublish,
      close() {
        open.splice(open.indexOf(endpoint), 1);
      },
      pluginInfo: unused,
      stage: unused,
      unstage: unused,
      publish: unused,
      expand: unused,
      stats: unused,
    };
  };
  return { drivers, open, calls, connect };
}

export const nodeInfo = (nodeId: string, more: Partial<CsiNodeInfo> = {}): CsiNodeInfo => ({
  nodeId,
  maxVolumes: undefined,
  topology: {},
  ...more,
});

export const plugin = (name: string, more: Partial<Plugin> = {}): Plugin => ({
  type: "CSIPlugin",
  name,
  endpoint: `/plugins/${name}`,
  socketPath: `/registry/${name}.sock`,
  supportedVersions: ["1.0.0"],
  ...more,
});
