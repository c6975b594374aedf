import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { Tracing } from "../../base/tracing.ts";
import type { RuntimeEvents } from "../../cri/container-events.ts";
import type { Download } from "../../cri/containerd-content.ts";
import type { Cri } from "../../cri/port.ts";
import type { CsiNode } from "../../csi/port.ts";
import type { DevicePlugin } from "../../device-plugin/port.ts";
import type { ConnectDraPlugin } from "../../dra/connect.ts";
import type { Host } from "../../host/port.ts";
import type { KubeClient } from "../../kube/port.ts";
import type { PluginRegistration } from "../../plugin-registration/port.ts";
import type { ServeSocket } from "../resources/local-sockets/keep-served.ts";

/** The doors that the node agent goes through; everything else it makes itself. */
export interface NodeAgentPorts {
  host: Host;
  cri: Cri;
  events: RuntimeEvents;
  /** Reads which parts of images are on their way to the machine. Undefined where the runtime cannot tell. */
  listDownloads?: ((signal: AbortSignal) => Promise<readonly Download[]>) | undefined;
  plugins: PluginPorts;
  /** Undefined: standalone, pods of files and URLs only. */
  kube: KubePorts | undefined;
  log: Log;
  metrics: Metrics;
  /** Makes spans of what the node agent does. Undefined: none are made. */
  tracing?: Tracing | undefined;
}

/** What makes clients of plugins on this node, which connect with their first call, and serves those that come to it. */
export interface PluginPorts {
  /** Throws for a path that no socket can have. */
  connectRegistration(socketPath: string): PluginRegistration;
  /** Throws for an endpoint that cannot be one. */
  connectCsi(driver: { readonly endpoint: string; readonly driverName: string }): CsiNode;
  /** Throws for a path that no socket can have. */
  connectDevicePlugin(socketPath: string): DevicePlugin;
  /** Throws for a path that no socket can have. */
  connectDraPlugin: ConnectDraPlugin;
  readonly serve: ServeSocket;
}

/** Clients of one API server that do not slow each other down. */
export interface KubePorts {
  /** Pods and what they refer to. */
  client: KubeClient;
  /** The node's status and lease: without a limit, with a time-out and connections of its own. */
  heartbeat: KubeClient;
  events: KubeClient;
  /** The URL of the API server. Default: it is not known. */
  server?: string;
}
