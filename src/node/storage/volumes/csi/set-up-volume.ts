import { CSI_PLUGIN, uniqueVolumeName } from "../../../../api/csi-volumes.ts";
import type { CSIDriver } from "../../../../api/gen/types.ts";
import { podUid as uidOf } from "../../../../api/pods.ts";
import { isAbort } from "../../../../base/abort.ts";
import { type BackOff, createBackOff } from "../../../../base/back-off.ts";
import { messageOf } from "../../../../base/errors.ts";
import type { CsiDriver } from "../../../../csi/port.ts";
import { VolumeOperationError, VolumeSetUpError } from "../volume-error.ts";
import type { ReadyVolume, VolumeRequest } from "../volume-plugin.ts";
import { AwaitedError, inStep, missingDriver } from "./csi-failure.ts";
import { type CsiVolume, csiVolumeOf } from "./csi-volume.ts";
import { type Device, userKey, volumeKey } from "./devices.ts";
import { computeLifecycleRefusal, isAttachable } from "./driver-policy.ts";
import { growVolume, type MountedVolume, mountVolume, republishVolume } from "./mount-volume.ts";
import type { PluginParts } from "./plugin-parts.ts";
import { type MountWork, prepareDevice, STEPS } from "./prepare-device.ts";
import { computeMountLabel } from "./se-linux-label.ts";

/** The wait between two attempts that need somebody else to act first; upstream's numbers for attachments. */
const AWAIT_INITIAL_MS = 500;
const AWAIT_MAX_MS = 7_000;
/** The wait between two attempts to expand a volume that a pod uses. */
const EXPAND_INITIAL_MS = 500;
const EXPAND_MAX_MS = 122_000;

/** Sets volumes up for pods, and keeps them up to date. */
interface VolumeSetUps {
  setUp(request: VolumeRequest): Promise<ReadyVolume>;
  /** The volumes that pods have, by `userKey`. */
  readonly mounted: Map<string, MountedVolume>;
  /** The pod is gone. */
  forget(podUid: string): void;
}

export function createVolumeSetUps(parts: PluginParts): VolumeSetUps {
  const { devices, lock, clock } = parts;
  const mounted = new Map<string, MountedVolume>();
  const awaits = createBackOff({ initialMs: AWAIT_INITIAL_MS, maxMs: AWAIT_MAX_MS });
  const expansions = createBackOff({ initialMs: EXPAND_INITIAL_MS, maxMs: EXPAND_MAX_MS });

  const mountFirst = async (request: VolumeRequest, volume: CsiVolume, key: string): Promise<ReadyVolume> => {
    const work = await begin(parts, { request, volume, key });
    const device = await reserve(parts, work);
    return await lock.run(
      volumeKey(volume),
      async () => {
        // A pod may name one claim twice, so that the volume may be mounted by now.
        const known = mounted.get(key);
        if (known) return known.ready;
        const prepared = device && (await prepareDevice({ ...parts, ...parts.options }, device, work));
        const now = await mountVolume(parts, work, { device, prepared });
        mounted.set(key, now);
        return now.ready;
      },
      request.signal,
    );
  };

  return {
    mounted,
    async setUp(request) {
      await devices.load();
      const volume = csiVolumeOf(request.source, request.pod);
      const key = userKey(uidOf(request.pod), volume.specName);
      const known = mounted.get(key);
      if (known) {
        await refresh({ ...parts, expansions }, known, { request, volume, key });
        return known.ready;
      }
      try {
        const ready = await mountFirst(request, volume, key);
        awaits.reset(key);
        return ready;
      } catch (error) {
        throw withRetry(error, () => awaits.next(key, clock.monotonic(), clock.monotonic()));
      }
    },
    forget(podUid) {
      for (const key of mounted.keys()) if (key.startsWith(`${podUid}/`)) mounted.delete(key);
      for (const backOff of [awaits, expansions]) backOff.resetAll(`${podUid}/`);
      devices.releaseUnmounted(podUid);
    },
  };
}

interface Begun {
  readonly request: VolumeRequest;
  readonly volume: CsiVolume;
  readonly key: string;
}

async function begin(parts: PluginParts, { request, volume, key }: Begun): Promise<MountWork> {
  const { pod, volumeName } = request;
  const { publish } = STEPS[volume.kind];
  const driverObject = await inStep(publish, volume, async () => await readDriver(parts, volume, request.signal));
  const { seLinuxEnabled, seLinuxMount: anyAccessMode = false } = parts.options;
  const seLinuxLabel = seLinuxEnabled
    ? computeMountLabel(driverObject, volume, { pod, volumeName, anyAccessMode })
    : undefined;
  const driver = await findDriver(parts, volume);
  return { request, volume, key, podUid: uidOf(pod), driverObject, driver, seLinuxLabel };
}

async function readDriver(
  { objects }: PluginParts,
  volume: CsiVolume,
  signal: AbortSignal,
): Promise<CSIDriver | undefined> {
  const driver = await objects.csiDriver(volume.driverName, signal);
  const refusal = computeLifecycleRefusal(driver, volume);
  if (refusal === undefined) return driver;
  throw new VolumeSetUpError(
    "invalid",
    `${CSI_PLUGIN}: mounter.SetupAt failed to check volume lifecycle mode: ${refusal}`,
  );
}

async function findDriver({ drivers }: PluginParts, volume: CsiVolume): Promise<CsiDriver> {
  const { driverName, kind, lifecycle } = volume;
  const { stage, publish } = STEPS[kind];
  const isStaged = lifecycle === "Persistent";
  return await inStep(isStaged ? stage : publish, volume, () => {
    const driver = drivers.get(driverName);
    if (driver) return driver;
    if (kind === "block") throw missingDriver("blockMapper.SetUpDevice failed to get CSI client", driverName);
    if (isStaged) throw missingDriver("attacher.MountDevice failed to create newCsiDriverClient", driverName);
    throw missingDriver("mounter.SetUpAt failed to get CSI client", driverName);
  });
}

/** Takes the device of a persistent volume into use. The node reports that use, so that the volume is not detached. */
async function reserve(parts: PluginParts, work: MountWork): Promise<Device | undefined> {
  const { volume, key, podUid, driverObject, request } = work;
  if (volume.lifecycle === "Ephemeral") return undefined;
  const { devices, paths, inUse } = parts;
  const { driverName, handle, specName } = volume;
  const place = volume.kind === "block" ? paths.block(specName) : paths.device(driverName, handle);
  const device = devices.use({ place, driverName, handle }, key, podUid);
  device.isAttachable = isAttachable(driverObject, volume);
  devices.changed();
  if (!device.isAttachable) return device;
  await inStep(STEPS[volume.kind].attach, volume, async () => {
    // Only this volume's report is awaited: another one may be unstaged meanwhile, and its use is then never reported.
    await inUse.report([uniqueVolumeName({ driver: driverName, volumeHandle: handle })], request.signal);
  });
  return device;
}

/** Updates what can change of a volume while a pod has it. Failures are events, and the pod keeps what it has. */
async function refresh(
  parts: PluginParts & { readonly expansions: BackOff },
  known: MountedVolume,
  { request, volume, key }: Begun,
): Promise<void> {
  const { clock, lock, onEvent, objects } = parts;
  const { pod, signal } = request;
  const tell = (reason: string, message: string) => onEvent(pod, { type: "Warning", reason, message });
  const isDue = known.expandAfter === undefined || clock.monotonic() >= known.expandAfter;
  try {
    const driverObject = await objects.csiDriver(volume.driverName, signal);
    const isStale = driverObject?.spec.requiresRepublish === true;
    const isGrown = isDue && hasGrown(volume, known);
    if (!isStale && !isGrown) return;
    const work = await begin(parts, { request, volume, key });
    await lock.run(
      volumeKey(volume),
      async () => {
        if (isStale) await republishVolume(parts, work, known);
        if (isGrown) await growOnline({ ...parts, tell }, work, known);
      },
      signal,
    );
  } catch (error) {
    if (isAbort(error)) throw error;
    tell(volume.kind === "block" ? "FailedMapVolume" : "FailedMount", messageOf(error));
  }
}

async function growOnline(
  parts: PluginParts & { readonly expansions: BackOff; readonly tell: (reason: string, message: string) => void },
  work: MountWork,
  known: MountedVolume,
): Promise<void> {
  const { clock, expansions, tell } = parts;
  try {
    known.size = await growVolume(parts, work, known);
    expansions.reset(work.key);
  } catch (error) {
    if (isAbort(error)) throw error;
    const now = clock.monotonic();
    known.expandAfter = now + expansions.next(work.key, now, now);
    const what = `NodeExpandVolume.NodeExpandVolume failed for volume "${work.volume.specName}"`;
    tell("VolumeResizeFailed", `${what} : ${messageOf(error)}`);
  }
}

/** Whether the persistent volume is larger than what the pod has. It runs at every sync and so makes no calls. */
function hasGrown({ claimed }: CsiVolume, { size }: MountedVolume): boolean {
  const volumeSize = claimed?.persistentVolume.spec?.capacity?.["storage"];
  return volumeSize !== undefined && volumeSize !== size;
}

function withRetry(error: unknown, computeDelay: () => number): unknown {
  if (!(error instanceof VolumeOperationError) || !(error.cause instanceof AwaitedError)) return error;
  const { message, reason, cause } = error;
  const retryAfterMs = computeDelay();
  const isQuiet = error.cause.isUsual && retryAfterMs < AWAIT_MAX_MS;
  return new VolumeOperationError(message, { reason, retryAfterMs, isQuiet, cause });
}
