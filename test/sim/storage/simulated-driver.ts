import { CodedError, messageOf } from "../../../src/base/errors.ts";
import { createFakeCsi, type FakeCsi } from "../../../src/csi/fake/create-fake-csi.ts";
import type { CsiNode } from "../../../src/csi/port.ts";
import type { FakeHost } from "../../../src/host/fake/create-fake-host.ts";
import type { PluginPorts } from "../../../src/node/compose/node-agent-ports.ts";
import { createFakePlugin } from "../../../src/plugin-registration/fake/create-fake-plugin.ts";
import type { CallGate } from "../api/gated-client.ts";
import { NODE_NAME } from "../manifests.ts";
import { NO_DEVICES } from "../no-devices.ts";
import type { Trace } from "../trace.ts";
import type { DriverFaults } from "./driver-faults.ts";
import { DATA_DIRECTORY, DRIVER_NAME, handleOf, PART, type StoragePlan } from "./storage-plan.ts";

/** A storage driver on the node: what it does for the node agent, and what the world does to it. */
export interface SimulatedDriver extends Pick<FakeCsi, "staged" | "published"> {
  /** Its process dies; its sockets stay. */
  stop(): void;
  /** The process is there again, behind the sockets that were there before. */
  resume(): void;
  /** It is there, with sockets made anew. */
  start(): void;
  hideSocket(): void;
  readonly isUp: boolean;
  /** The machine starts anew: nothing is mounted, and the process has not been started yet. */
  reboot(): void;
  /** As one process of the node agent reaches it. */
  connect(gate: CallGate): PluginPorts;
}

/** A call of the driver's, as the node agent's end of the connection sees it. */
export interface DriverCallSeen {
  readonly rpc: string;
  readonly volumeId?: string;
  readonly stagingPath?: string | undefined;
  readonly targetPath?: string;
}

interface SimulatedDriverDeps {
  host: FakeHost;
  plan: StoragePlan;
  faults: DriverFaults;
  trace: Trace;
  /** The node agent calls; the second one when it has its answer, whatever that is, or has given up. */
  onCalled(call: DriverCallSeen): void;
  onAnswered(call: DriverCallSeen): void;
}

const ENDPOINT = `/var/lib/kubelet/plugins/${DRIVER_NAME}/csi.sock`;
const REGISTRATION_SOCKET = `/var/lib/kubelet/plugins_registry/${DRIVER_NAME}-reg.sock`;

export function createSimulatedDriver(deps: SimulatedDriverDeps): SimulatedDriver {
  const { host, plan, faults } = deps;
  const { clock, files, mounts } = host;
  let boots = 0;
  /** A mount that was under way when the machine went down is never made. */
  const beforeMount = async (path: string) => {
    const bootBefore = boots;
    await faults.beforeMount(path);
    if (boots !== bootBefore) throw new CodedError("unavailable", "the machine has started anew");
  };
  const volumes = plan.claims.filter(({ kind }) => kind === "csi").map(({ name }) => handleOf(name));
  for (const volume of volumes) files.put(`${DATA_DIRECTORY}/${volume}/${PART}/.keep`, "");
  const csi = createFakeCsi({
    clock,
    name: DRIVER_NAME,
    capabilities: plan.capabilities,
    volumes: Object.fromEntries(volumes.map((volume) => [volume, {}])),
    mounts: {
      files,
      mounts: {
        isMountPoint: mounts.isMountPoint,
        async bind(source, target, options) {
          await beforeMount(target);
          await mounts.bind(source, target, options);
        },
        async unmount(path) {
          await beforeMount(path);
          await mounts.unmount(path);
        },
      },
      dataDirectory: DATA_DIRECTORY,
    },
  });
  csi.identity.nodeId = `sim-${NODE_NAME}`;
  csi.identity.maxVolumes = plan.maxVolumes;
  Object.assign(csi.faults, faults.hooks);
  const plugin = createFakePlugin({ clock, info: { name: DRIVER_NAME, endpoint: ENDPOINT } });
  let isUp = false;
  let isShown = false;
  const stop = () => {
    isUp = false;
    csi.stop();
    plugin.stop();
  };
  const resume = () => {
    isUp = true;
    csi.start();
    plugin.start();
  };
  const hideSocket = () => {
    if (isShown) files.delete(REGISTRATION_SOCKET);
    isShown = false;
  };
  stop();

  return {
    staged: csi.staged,
    published: csi.published,
    stop,
    resume,
    start() {
      resume();
      hideSocket();
      isShown = true;
      files.putSpecial(REGISTRATION_SOCKET, "socket");
    },
    hideSocket,
    get isUp() {
      return isUp;
    },
    reboot() {
      boots++;
      stop();
      csi.reboot();
    },
    connect(gate) {
      const through = async <T>(call: DriverCallSeen, effect: () => Promise<T>): Promise<T> =>
        await gate.pass(`${call.rpc} ${call.volumeId ?? ""}`, async () => {
          deps.onCalled(call);
          try {
            const answer = await effect();
            if (call.volumeId !== undefined) deps.trace.note(`driver: ${call.rpc} ${call.volumeId}`);
            return answer;
          } catch (error) {
            deps.trace.note(`driver: ${call.rpc} ${call.volumeId ?? ""}: ${messageOf(error)}`);
            throw error;
          } finally {
            // Nothing waits any more for what a dead process was waiting for.
            if (!gate.isDead) deps.onAnswered(call);
          }
        });
      /** The kernel closes what a process had open. */
      const closing = <T extends { close(): void }>(client: T): T => {
        gate.died.addEventListener("abort", () => client.close(), { once: true });
        return client;
      };
      return {
        connectRegistration(socketPath) {
          if (socketPath !== REGISTRATION_SOCKET) throw new Error(`nobody listens at ${socketPath}`);
          const client = closing(plugin.connect());
          return {
            getInfo: async (options) => await through({ rpc: "GetInfo" }, async () => await client.getInfo(options)),
            notify: async (status, options) =>
              await through({ rpc: "NotifyRegistrationStatus" }, async () => await client.notify(status, options)),
            close: () => client.close(),
          };
        },
        connectCsi({ endpoint }) {
          if (endpoint !== ENDPOINT) throw new Error(`nobody listens at ${endpoint}`);
          return createWatchedNode(createLyingNode(closing(csi.connect()), faults.liesAbout), through);
        },
        ...NO_DEVICES,
      };
    },
  };
}

/**
 * Says that it has taken back what it has not, and tells nonsense of itself and of what volumes hold. That it has mounted
 * what it has not is no lie of this one: the node cannot know, and upstream's believes it too.
 */
function createLyingNode(node: CsiNode, liesAbout: (rpc: string, volumeId: string) => boolean): CsiNode {
  return {
    ...node,
    async pluginInfo(options) {
      const info = await node.pluginInfo(options);
      return liesAbout("GetPluginInfo", "") ? { ...info, name: "another.example.com" } : info;
    },
    async info(options) {
      const info = await node.info(options);
      return liesAbout("NodeGetInfo", "") ? { ...info, nodeId: "", maxVolumes: -1n } : info;
    },
    async unstage(request, options) {
      if (!liesAbout("NodeUnstageVolume", request.volumeId)) await node.unstage(request, options);
    },
    async unpublish(request, options) {
      if (!liesAbout("NodeUnpublishVolume", request.volumeId)) await node.unpublish(request, options);
    },
  };
}

type Through = <T>(call: DriverCallSeen, effect: () => Promise<T>) => Promise<T>;

function createWatchedNode(node: CsiNode, through: Through): CsiNode {
  return {
    pluginInfo: async (options) => await through({ rpc: "GetPluginInfo" }, async () => await node.pluginInfo(options)),
    info: async (options) => await through({ rpc: "NodeGetInfo" }, async () => await node.info(options)),
    capabilities: async (options) =>
      await through({ rpc: "NodeGetCapabilities" }, async () => await node.capabilities(options)),
    stage: async (request, options) =>
      await through(see("NodeStageVolume", request), async () => await node.stage(request, options)),
    unstage: async (request, options) =>
      await through(see("NodeUnstageVolume", request), async () => await node.unstage(request, options)),
    publish: async (request, options) =>
      await through(see("NodePublishVolume", request), async () => await node.publish(request, options)),
    unpublish: async (request, options) =>
      await through(see("NodeUnpublishVolume", request), async () => await node.unpublish(request, options)),
    expand: async (request, options) =>
      await through(see("NodeExpandVolume", request), async () => await node.expand(request, options)),
    stats: async (request, options) =>
      await through(see("NodeGetVolumeStats", request), async () => await node.stats(request, options)),
    close: () => node.close(),
  };
}

/** Without its secrets. */
function see(rpc: string, request: Omit<DriverCallSeen, "rpc">): DriverCallSeen {
  const { volumeId, stagingPath, targetPath } = request;
  return {
    rpc,
    ...(volumeId !== undefined && { volumeId }),
    ...(stagingPath !== undefined && { stagingPath }),
    ...(targetPath !== undefined && { targetPath }),
  };
}
