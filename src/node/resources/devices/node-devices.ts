import type { Container, Pod, ResourceStatus } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { Part } from "../../../base/run-parts.ts";
import type { Tasks } from "../../../base/tasks.ts";
import { serveDeviceRegistration } from "../../../device-plugin/connect.ts";
import type { DevicePlugin } from "../../../device-plugin/port.ts";
import type { Files } from "../../../host/port.ts";
import { keepSocketServed, type ServeSocket } from "../local-sockets/keep-served.ts";
import { createDeviceCheckpointFile } from "./checkpoint-file.ts";
import { type ContainerDevices, createContainerDevices } from "./container-devices.ts";
import { createDeviceAssignments, type DeviceAssignments } from "./device-assignments.ts";
import { computeDeviceHealth } from "./device-health.ts";
import { createDeviceInventory, type DeviceInventory } from "./device-inventory.ts";
import { createDevicePlugins, type DevicePlugins } from "./device-plugins.ts";
import { declareDeviceMetrics } from "./metrics.ts";
import { removeOldSockets } from "./remove-old-sockets.ts";

/** The devices of this node, which plugins bring, and which containers have them. */
export interface NodeDevices {
  readonly inventory: DeviceInventory;
  readonly assignments: DeviceAssignments;
  readonly containers: ContainerDevices;
  readonly handler: DevicePlugins["handler"];
  /** An agent before this one left its account. */
  readonly wasRestored: boolean;
  /** What a container's status tells of its devices. */
  healthOf(pod: Pod, container: Container): ResourceStatus[];
  readonly parts: readonly Part[];
}

interface NodeDevicesDeps {
  readonly clock: Clock;
  readonly files: Files;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tasks: Pick<Tasks, "spawn">;
  /** Connects with the first call. Throws for a path that no socket can have. */
  connect(socketPath: string): DevicePlugin;
  readonly serve: ServeSocket;
  /** The node has other devices to tell of. */
  onChanged(): void;
  /** The health of the pod's devices may have changed. */
  onPodChanged(podUid: string): void;
}

/** Reads the account that is on the disk, in `directory`, where plugins find the node agent's socket. */
export async function createNodeDevices(
  deps: NodeDevicesDeps,
  { directory, tellsHealth }: { readonly directory: string; readonly tellsHealth: boolean },
): Promise<NodeDevices> {
  const { clock, files, log, serve } = deps;
  const metrics = declareDeviceMetrics(deps.metrics, clock);
  const inventory = createDeviceInventory();
  const assignments = createDeviceAssignments();
  const checkpoint = createDeviceCheckpointFile({ files, log, inventory, assignments }, directory);
  const wasRestored = await checkpoint.restore();
  const changed = () => {
    deps.onChanged();
    deps.tasks.spawn("device checkpoint", async () => {
      await checkpoint.save().catch((error: unknown) => {
        log.error("Cannot write the checkpoint of devices", { error: messageOf(error) });
      });
    });
  };
  const plugins = createDevicePlugins(
    {
      clock,
      log,
      inventory,
      connect: deps.connect,
      onRegistration: metrics.countRegistration,
      onListed(resource, devices) {
        changed();
        for (const uid of assignments.podsWith(resource, devices)) deps.onPodChanged(uid);
      },
      onGone: changed,
    },
    directory,
  );
  const services = [serveDeviceRegistration(plugins.register)];
  const prepare = async () => await removeOldSockets(files, directory);
  const socket = { directory, services, purpose: "Device plugins cannot register", prepare };
  const registration = async (signal: AbortSignal) =>
    await keepSocketServed({ clock, files, log, serve }, socket, signal);
  const { measureAllocate } = metrics;
  return {
    inventory,
    assignments,
    containers: createContainerDevices({ inventory, assignments, save: checkpoint.save, measureAllocate }),
    handler: plugins.handler,
    wasRestored,
    healthOf: (pod, { name }) =>
      tellsHealth ? computeDeviceHealth({ inventory, assignments }, podUid(pod), name) : [],
    parts: [
      { name: "device plugins", run: plugins.run },
      { name: "device plugin registration", run: registration },
    ],
  };
}
