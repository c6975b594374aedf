import type { Clock } from "../../base/clock.ts";
import { createMemoryServer } from "../../grpc/fake/memory-server.ts";
import { implement, type ServedService } from "../../grpc/served-service.ts";
import { createPluginRegistration } from "../connect.ts";
import { RegistrationDefinition } from "../gen/plugin-registration-v1.ts";
import type { PluginInfo, PluginRegistration, PluginStatus } from "../port.ts";

/** A plugin in memory. */
export interface FakePlugin {
  /** The plugin's description of itself; tests may change it. */
  info: PluginInfo;
  /** The statuses that the plugin received, oldest first. */
  readonly notifications: readonly PluginStatus[];
  /**
   * The hook by which a test breaks the plugin before it answers. A hook that waits delays the call. A hook that
   * rejects fails it, and a CodedError with a GrpcErrorCode decides how.
   */
  readonly faults: { before?(rpc: "GetInfo" | "NotifyRegistrationStatus", signal: AbortSignal): Promise<void> | void };
  /** The services, to be served on a socket. */
  readonly services: readonly ServedService[];
  connect(): PluginRegistration;
  /** The plugin's process dies: calls in flight break, and new calls fail until `start`. */
  stop(): void;
  start(): void;
}

/** The default of `info` is a CSI driver `csi.example.com`, version 1.0.0. */
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
