import type { Clock } from "../../base/clock.ts";
import { createMemoryServer } from "../../grpc/fake/memory-server.ts";
import { implement, type ServedService } from "../../grpc/served-service.ts";
import { createPluginRegistration } from "../connect.ts";
import { RegistrationDefinition } from "../gen/plugin-registration-v1.ts";
import type { PluginInfo, PluginRegistration, PluginStatus } from "../port.ts";

/** A plugin in memory. */
export interface FakePlugin {
  /** What it says of itself; tests may change it. */
  info: PluginInfo;
  /** What it was told, oldest first. */
  readonly notifications: readonly PluginStatus[];
  /**
   * Where a test breaks it, before it answers. A hook that waits delays the call, one that rejects fails it, with a
   * CodedError of a GrpcErrorCode in a certain way.
   */
  readonly faults: { before?(rpc: "GetInfo" | "NotifyRegistrationStatus", signal: AbortSignal): Promise<void> | void };
  /** For a socket. */
  readonly services: readonly ServedService[];
  connect(): PluginRegistration;
  /** Its process dies: calls in flight break, and others find nobody until `start`. */
  stop(): void;
  start(): void;
}

/** `info`: default a CSI driver `csi.example.com`, version 1.0.0. */
export function createFakePlugin(options: { clock: Clock; info?: Partial<PluginInfo> }): FakePlugin {
  const notifications: PluginStatus[] = [];
  const faults: FakePlugin["faults"] = {};
  const service = implement(RegistrationDefinition, {
    async getInfo(_request, { signal }) {
      await faults.before?.("GetInfo", signal);
      return { ...plugin.info, supportedVersions: [...plugin.info.supportedVersions] };
    },
    async notifyRegistrationStatus({ pluginRegistered: registered, error }, { signal }) {
      await faults.before?.("NotifyRegistrationStatus", signal);
      notifications.push({ registered, error });
      return {};
    },
  });
  const server = createMemoryServer({
    clock: options.clock,
    endpoint: "unix:///run/fake-plugin-reg.sock",
    services: [service],
  });
  const plugin: FakePlugin = {
    info: {
      type: "CSIPlugin",
      name: "csi.example.com",
      endpoint: "/run/fake-csi.sock",
      supportedVersions: ["1.0.0"],
      ...options.info,
    },
    notifications,
    faults,
    services: [service],
    connect: () => createPluginRegistration(server.connect({ requestTimeoutMs: 10_000 })),
    stop: () => server.stop(),
    start: () => server.start(),
  };
  return plugin;
}
