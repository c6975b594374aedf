import { createHash } from "node:crypto";
import { isApiError } from "../../api/api-error.ts";
import type { Pod, ServiceAccountTokenProjection, Volume, VolumeProjection } from "../../api/gen/types.ts";
import { podReference } from "../../api/pods.ts";
import { isAbort, throwIfAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Files } from "../../host/port.ts";
import { computePayload, type FetchedSource, type Payload } from "./compute-payload.ts";
import { computeFileOwner } from "./file-owner.ts";
import { computeMemorySize } from "./memory-size.ts";
import { computeNestedMountPoints } from "./nested-mount-points.ts";
import { DATA_LINK, publishPayload } from "./publish-payload.ts";
import type { ApiKind, VolumeDirectories } from "./volume-directories.ts";
import type { VolumeDirectoryMaker } from "./volume-directory-maker.ts";
import type { VolumeSources, VolumeTokenRequest } from "./volume-sources.ts";

/** What one volume of a pod is made of, in the form of a projected volume whatever its kind. */
export interface ApiVolumePlan {
  readonly kind: ApiKind;
  readonly volumeName: string;
  readonly sources: readonly VolumeProjection[];
  /** Of the files that name no mode of their own. */
  readonly defaultMode: number;
}

/** Volumes that the node agent fills with what it reads from the API. */
export interface ApiVolumes {
  /**
   * Brings the volume up to date, and resolves when what it is to show is known. One call at a time for a volume, until it
   * has finished. A volume that this process has shown before, and that cannot be brought up to date now, stays as it was:
   * `onOutdated` is told why.
   */
  setUp(pod: Pod, plan: ApiVolumePlan, where: VolumePlace): Promise<VolumeSetUp>;
  /** The pod's volumes are about to be removed. */
  forget(podUid: string): void;
}

/** Where the pod's volumes go, and how long the attempt may take. */
export interface VolumePlace {
  readonly directories: VolumeDirectories;
  readonly signal: AbortSignal;
}

/** A volume that lacks nothing. */
export interface VolumeSetUp {
  path: string;
  /** Resolves when the volume may be used. Who has no use for it need not ask what became of it. */
  finished: Promise<void>;
}

export interface ApiVolumesDeps {
  files: Files;
  clock: Pick<Clock, "now">;
  api: VolumeSources;
  directoryMaker: VolumeDirectoryMaker;
  onOutdated(pod: Pod, volumeName: string, error: unknown): void;
}

interface ShownVersion {
  /** Of the payload. */
  digest: string;
  version: string;
}

const DEFAULT_FILE_MODE = 0o644;
const DEFAULT_TOKEN_EXPIRATION_SECONDS = 3600;
const DIRECTORY_MODE = 0o755;
/** Those who may read the files may enter: upstream's ownership of read-only volumes (pkg/volume/volume_linux.go). */
const GROUP_DIRECTORY_MODE = 0o2755;

/** Undefined for a volume of another kind. */
export function planApiVolume({ name, secret, configMap, downwardAPI, projected }: Volume): ApiVolumePlan | undefined {
  const plan = (kind: ApiKind, sources: readonly VolumeProjection[], defaultMode = DEFAULT_FILE_MODE) => {
    return { kind, volumeName: name, sources, defaultMode };
  };
  if (secret) {
    const { defaultMode, secretName, ...rest } = secret;
    return plan("secret", [{ secret: { ...rest, name: secretName ?? "" } }], defaultMode);
  }
  if (configMap) {
    const { defaultMode, ...rest } = configMap;
    return plan("configMap", [{ configMap: rest }], defaultMode);
  }
  if (downwardAPI) {
    const { defaultMode, ...rest } = downwardAPI;
    return plan("downwardAPI", [{ downwardAPI: rest }], defaultMode);
  }
  return projected && plan("projected", projected.sources ?? [], projected.defaultMode);
}

export function createApiVolumes(deps: ApiVolumesDeps): ApiVolumes {
  const { files } = deps;
  /** By pod UID and volume name: what was last shown in full. The pod's end takes its part away. */
  const shown = new Map<string, Map<string, ShownVersion>>();

  const ensureDirectory = async (pod: Pod, plan: ApiVolumePlan, { directories, signal }: VolumePlace) => {
    const { memory: allocatable } = deps.api.podFacts(pod).allocatable;
    const memory = plan.kind === "configMap" ? undefined : { sizeBytes: computeMemorySize(pod, { allocatable }) };
    const group = pod.spec?.securityContext?.fsGroup;
    const path = await deps.directoryMaker.ensure(directories, { ...plan, memory, group }, signal);
    for (const nested of computeNestedMountPoints(pod, plan.volumeName)) {
      const mountPoint = `${path}/${nested}`;
      if ((await files.stat(mountPoint)) === undefined) await files.makeDirectory(mountPoint, DIRECTORY_MODE);
    }
  };

  const publish = async (
    pod: Pod,
    plan: ApiVolumePlan,
    place: VolumePlace,
    payload: Payload,
  ): Promise<ShownVersion> => {
    throwIfAborted(place.signal);
    const group = pod.spec?.securityContext?.fsGroup;
    const directoryMode = group === undefined ? DIRECTORY_MODE : GROUP_DIRECTORY_MODE;
    const path = place.directories.of(plan.kind, plan.volumeName);
    const version = await publishPayload(deps, path, { files: payload, directoryMode, group });
    return { digest: digestOf(payload), version };
  };

  const bringUpToDate = async (pod: Pod, plan: ApiVolumePlan, place: VolumePlace, last: ShownVersion) => {
    const path = place.directories.of(plan.kind, plan.volumeName);
    const payload = await fetchPayload(deps.api, pod, plan, place.signal);
    if (last.digest === digestOf(payload) && (await isShown(path, last))) return last;
    await ensureDirectory(pod, plan, place);
    return await publish(pod, plan, place, payload);
  };

  const isShown = async (path: string, { version }: ShownVersion) => {
    return (await files.readLink(`${path}/${DATA_LINK}`)) === version;
  };

  const remember = (pod: Pod, { volumeName }: ApiVolumePlan, version: ShownVersion) => {
    const { uid } = podReference(pod);
    // Looked up again: the pod's volumes are set up side by side.
    const ofPod = shown.get(uid) ?? new Map<string, ShownVersion>();
    shown.set(uid, ofPod.set(volumeName, version));
  };

  /** A mount takes about as long as a token does: they go side by side. */
  const showFirst = async (pod: Pod, plan: ApiVolumePlan, place: VolumePlace): Promise<VolumeSetUp> => {
    const made = ensureDirectory(pod, plan, place);
    made.catch(() => undefined);
    const payload = await fetchPayload(deps.api, pod, plan, place.signal).catch(async (error: unknown) => {
      await Promise.allSettled([made]);
      throw error;
    });
    const finish = async () => {
      await made;
      remember(pod, plan, await publish(pod, plan, place, payload));
    };
    const finished = finish();
    finished.catch(() => undefined);
    return { path: place.directories.of(plan.kind, plan.volumeName), finished };
  };

  return {
    async setUp(pod, plan, place) {
      const path = place.directories.of(plan.kind, plan.volumeName);
      const last = shown.get(podReference(pod).uid)?.get(plan.volumeName);
      if (last === undefined) return await showFirst(pod, plan, place);
      try {
        remember(pod, plan, await bringUpToDate(pod, plan, place, last));
      } catch (error) {
        // Neither an object that was deleted nor a server that is away may stop the containers that run on the volume.
        if (isAbort(error) || !(await isShown(path, last))) throw error;
        deps.onOutdated(pod, plan.volumeName, error);
      }
      return { path, finished: Promise.resolve() };
    },
    forget: (podUid) => void shown.delete(podUid),
  };
}

async function fetchPayload(
  api: VolumeSources,
  pod: Pod,
  { sources, defaultMode }: ApiVolumePlan,
  signal: AbortSignal,
): Promise<Payload> {
  const fetched = await Promise.all(sources.map(async (source) => await fetchSource(api, pod, source, signal)));
  const { allocatable } = api.podFacts(pod);
  return computePayload(fetched, { pod, allocatable, defaultMode, owner: computeFileOwner(pod) });
}

async function fetchSource(
  api: VolumeSources,
  pod: Pod,
  source: VolumeProjection,
  signal: AbortSignal,
): Promise<FetchedSource> {
  const { namespace } = podReference(pod);
  const { secret, configMap, downwardAPI, serviceAccountToken } = source;
  try {
    if (secret) {
      const found = api.secret(namespace, secret.name ?? "", signal);
      return { kind: "secret", projection: secret, secret: await orAbsent(found, secret.optional) };
    }
    if (configMap) {
      const found = api.configMap(namespace, configMap.name ?? "", signal);
      return { kind: "configMap", projection: configMap, configMap: await orAbsent(found, configMap.optional) };
    }
    if (downwardAPI) return { kind: "downwardAPI", projection: downwardAPI };
    if (serviceAccountToken) {
      const { token } = await api.token(tokenRequest(pod, serviceAccountToken), signal);
      return { kind: "serviceAccountToken", projection: serviceAccountToken, token };
    }
    const [kind = "nothing"] = Object.keys(source);
    throw new Error(`projected source ${kind} is not supported by this version of nodelet`);
  } catch (error) {
    if (isAbort(error)) throw error;
    return { kind: "failed", error };
  }
}

async function orAbsent<T>(found: Promise<T>, isOptional = false): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (isOptional && isApiError(error, "NotFound")) return undefined;
    throw error;
  }
}

function tokenRequest(pod: Pod, projection: ServiceAccountTokenProjection): VolumeTokenRequest {
  const { name, namespace, uid } = podReference(pod);
  const { audience = "", expirationSeconds = DEFAULT_TOKEN_EXPIRATION_SECONDS } = projection;
  return {
    namespace,
    serviceAccount: pod.spec?.serviceAccountName ?? "",
    audiences: audience === "" ? [] : [audience],
    expirationSeconds,
    pod: { name, uid },
  };
}

/** The content itself is not kept: secrets belong in as few places as possible. */
function digestOf(payload: Payload): string {
  const hash = createHash("sha256");
  for (const [path, { data, mode, user }] of [...payload].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${path}\0${mode}\0${user ?? ""}\0${data.length}\0`).update(data);
  }
  return hash.digest("base64");
}
