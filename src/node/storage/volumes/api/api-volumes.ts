import { createHash } from "node:crypto";
import { isApiError } from "../../../../api/api-error.ts";
import type {
  ClusterTrustBundleProjection,
  Pod,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from "../../../../api/gen/types.ts";
import { podReference } from "../../../../api/pods.ts";
import { isAbort, throwIfAborted } from "../../../../base/abort.ts";
import { assert } from "../../../../base/assert.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { Files } from "../../../../host/port.ts";
import { computeMemorySize } from "../local/memory-size.ts";
import { CONFIG_MAP_PLUGIN } from "../volume-directories.ts";
import type { VolumeDirectoryMaker } from "../volume-directory-maker.ts";
import { VolumeOperationError, VolumeSetUpError } from "../volume-error.ts";
import type { VolumePlugin, VolumeRequest, VolumeSetUp } from "../volume-plugin.ts";
import { computePayload, type FetchedSource, type Payload } from "./compute-payload.ts";
import { computeFileOwner } from "./file-owner.ts";
import { computeNestedMountPoints } from "./nested-mount-points.ts";
import { cleanPayloadPath } from "./payload-path.ts";
import { DATA_LINK, publishFirstPayload, publishPayload } from "./publish-payload.ts";
import { computeTrustAnchors } from "./trust-anchors.ts";
import type { CertificateSource, ProjectedTrustBundles, VolumeSources, VolumeTokenRequest } from "./volume-sources.ts";

/** The kinds of volumes that the node agent fills with content from the API, with the names of upstream's plugins. */
const PLUGIN_NAMES = {
  secret: "kubernetes.io/secret",
  configMap: CONFIG_MAP_PLUGIN,
  projected: "kubernetes.io/projected",
  downwardAPI: "kubernetes.io/downward-api",
} as const;

type ApiKind = keyof typeof PLUGIN_NAMES;

/** The sources of one volume, in the form of a projected volume whatever its kind. */
interface ApiVolumePlan {
  readonly kind: ApiKind;
  readonly volumeName: string;
  readonly sources: readonly VolumeProjection[];
  /** The mode of files that do not name one themselves. */
  readonly defaultMode: number;
}

/** What the plugins work with. `onOutdated` is told of a volume that could not be updated. */
interface ApiVolumesDeps {
  files: Files;
  clock: Pick<Clock, "now">;
  directoryMaker: VolumeDirectoryMaker;
  api: VolumeSources;
  onOutdated(pod: Pod, volumeName: string, error: unknown): void;
}

interface ShownVersion {
  /** A digest of the payload. */
  digest: string;
  version: string;
}

const DEFAULT_FILE_MODE = 0o644;
const DEFAULT_TOKEN_EXPIRATION_SECONDS = 3600;
const MAX_TOKEN_BYTES = 16 * 1024;
const DIRECTORY_MODE = 0o755;
/** Lets the group enter directories whose files it may read, as upstream (pkg/volume/volume_linux.go). */
const GROUP_DIRECTORY_MODE = 0o2755;

/**
 * The plugins for volumes of API objects. Each set-up updates the volume, and resolves as soon as the content is known. A
 * volume that this process has shown before, and that cannot be updated now, stays as it is: `onOutdated` is told why.
 */
export function createApiVolumePlugins(deps: ApiVolumesDeps): VolumePlugin[] {
  const shower = createVolumeShower(deps);
  const kinds = ["secret", "configMap", "projected", "downwardAPI"] as const satisfies readonly ApiKind[];
  return kinds.map((kind) => ({
    name: PLUGIN_NAMES[kind],
    supports: (source) => source.kind === "pod" && source.volume[kind] !== undefined,
    setUp: async (request) => await shower.setUp(request, planApiVolume(kind, request)),
    tearDown: async ({ path }) => await deps.directoryMaker.remove(path),
    forget: (podUid) => shower.forget(podUid),
  }));
}

function planApiVolume(kind: ApiKind, { volumeName, source }: VolumeRequest): ApiVolumePlan {
  const plan = (sources: readonly VolumeProjection[], defaultMode = DEFAULT_FILE_MODE) => {
    return { kind, volumeName, sources, defaultMode };
  };
  assert(source.kind === "pod", "volumes of API objects are the pod's own");
  const { secret, configMap, downwardAPI, projected } = source.volume;
  if (secret) {
    const { defaultMode, secretName, ...rest } = secret;
    return plan([{ secret: { ...rest, name: secretName ?? "" } }], defaultMode);
  }
  if (configMap) {
    const { defaultMode, ...rest } = configMap;
    return plan([{ configMap: rest }], defaultMode);
  }
  if (downwardAPI) {
    const { defaultMode, ...rest } = downwardAPI;
    return plan([{ downwardAPI: rest }], defaultMode);
  }
  return plan(projected?.sources ?? [], projected?.defaultMode);
}

interface VolumeShower {
  setUp(request: VolumeRequest, plan: ApiVolumePlan): Promise<VolumeSetUp>;
  forget(podUid: string): void;
}

function createVolumeShower(deps: ApiVolumesDeps): VolumeShower {
  const { files } = deps;
  /** The versions that were last shown in full, by pod UID and volume name. A pod's entry is removed when the pod ends. */
  const shown = new Map<string, Map<string, ShownVersion>>();

  const remember = ({ directories, volumeName }: VolumeRequest, version: ShownVersion) => {
    // The entry is read again here, because the pod's volumes are set up concurrently.
    const ofPod = shown.get(directories.podUid) ?? new Map<string, ShownVersion>();
    shown.set(directories.podUid, ofPod.set(volumeName, version));
  };

  const isShown = async (path: string, { version }: ShownVersion) => {
    return (await files.readLink(`${path}/${DATA_LINK}`)) === version;
  };

  const bringUpToDate = async (request: VolumeRequest, plan: ApiVolumePlan, last: ShownVersion) => {
    const payload = await fetchPayload(deps, request, plan);
    if (last.digest === digestOf(payload) && (await isShown(pathOf(request, plan), last))) return last;
    const isEmpty = await ensureDirectory(deps, request, plan);
    return await publish(deps, request, plan, { payload, isEmpty });
  };

  /** The mount and the fetch of the content take about equally long, so they run concurrently. */
  const showFirst = async (request: VolumeRequest, plan: ApiVolumePlan): Promise<{ finished: Promise<void> }> => {
    const made = ensureDirectory(deps, request, plan);
    made.catch(() => undefined);
    const payload = await fetchPayload(deps, request, plan).catch(async (error: unknown) => {
      await Promise.allSettled([made]);
      throw error;
    });
    const finish = async () => {
      const isEmpty = await made;
      remember(request, await publish(deps, request, plan, { payload, isEmpty }));
    };
    const finished = finish();
    finished.catch(() => undefined);
    return { finished };
  };

  return {
    async setUp(request, plan) {
      const hostPath = pathOf(request, plan);
      // No container may write to a volume that the node agent writes to (CVE-2017-1002102).
      const volume = { kind: "files", hostPath, readOnly: true, relabel: true } as const;
      const last = shown.get(request.directories.podUid)?.get(plan.volumeName);
      if (last === undefined) return { volume, ...(await showFirst(request, plan)) };
      try {
        remember(request, await bringUpToDate(request, plan, last));
      } catch (error) {
        // Containers go on with the volume as it is when an object was deleted or the API server is away.
        if (isAbort(error) || !(await isShown(hostPath, last))) throw error;
        deps.onOutdated(request.pod, plan.volumeName, error);
      }
      return { volume, finished: Promise.resolve() };
    },
    forget: (podUid) => shown.delete(podUid),
  };
}

function pathOf({ directories }: VolumeRequest, { kind, volumeName }: ApiVolumePlan): string {
  return directories.of(PLUGIN_NAMES[kind], volumeName);
}

/** Returns whether nothing is in the directory. */
async function ensureDirectory(deps: ApiVolumesDeps, request: VolumeRequest, plan: ApiVolumePlan): Promise<boolean> {
  const { pod, directories, signal } = request;
  const { memory: allocatable } = deps.api.podFacts(pod).allocatable;
  const memory = isOnDisk(plan) ? undefined : { sizeBytes: computeMemorySize(pod, { allocatable }) };
  const group = pod.spec?.securityContext?.fsGroup;
  const { volumeName } = plan;
  const directory = { pluginName: PLUGIN_NAMES[plan.kind], volumeName, memory, group };
  const { path, isNew } = await deps.directoryMaker.ensure(directories, directory, signal);
  const mountPoints = computeNestedMountPoints(pod, plan.volumeName);
  for (const nested of mountPoints) {
    const mountPoint = `${path}/${nested}`;
    if ((await deps.files.stat(mountPoint)) === undefined) await deps.files.makeDirectory(mountPoint, DIRECTORY_MODE);
  }
  return isNew && mountPoints.length === 0;
}

function isOnDisk({ kind }: ApiVolumePlan): boolean {
  return kind === "configMap";
}

async function publish(
  deps: ApiVolumesDeps,
  request: VolumeRequest,
  plan: ApiVolumePlan,
  { payload, isEmpty }: { payload: Payload; isEmpty: boolean },
): Promise<ShownVersion> {
  throwIfAborted(request.signal);
  const group = request.pod.spec?.securityContext?.fsGroup;
  const directoryMode = group === undefined ? DIRECTORY_MODE : GROUP_DIRECTORY_MODE;
  const tree = { files: payload, directoryMode, group, isInMemory: !isOnDisk(plan) };
  const version = await (isEmpty ? publishFirstPayload : publishPayload)(deps, pathOf(request, plan), tree);
  return { digest: digestOf(payload), version };
}

async function fetchPayload(
  { api, files }: Pick<ApiVolumesDeps, "api" | "files">,
  request: VolumeRequest,
  plan: ApiVolumePlan,
): Promise<Payload> {
  const { pod, signal } = request;
  const { sources, defaultMode, volumeName } = plan;
  const shown = async (path: string) => await readShown(files, pathOf(request, plan), path);
  const numbered = sources.map((source, sourceIndex) => ({ source, volumeName, sourceIndex, shown }));
  // An API server that does not know a kind of source stores an empty one, which projects nothing, as upstream.
  const named = numbered.filter(({ source }) => Object.keys(source).length > 0);
  const fetched = await Promise.all(named.map(async (source) => await fetchSource(api, pod, source, signal)));
  const { allocatable } = api.podFacts(pod);
  return computePayload(fetched, { pod, allocatable, defaultMode, owner: computeFileOwner(pod) });
}

/** A source with its place in the volume. */
interface PlacedSource extends Omit<CertificateSource, "podUid"> {
  readonly source: VolumeProjection;
  /** The text of a file that the volume shows; undefined where it shows none. */
  shown(path: string): Promise<string | undefined>;
}

async function fetchSource(
  api: VolumeSources,
  pod: Pod,
  { source, shown, ...place }: PlacedSource,
  signal: AbortSignal,
): Promise<FetchedSource> {
  const { namespace, uid: podUid } = podReference(pod);
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
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
      const request = tokenRequest(pod, serviceAccountToken);
      const { token } = await api.token({ ...request, shown: async () => shown(serviceAccountToken.path) }, signal);
      return { kind: "serviceAccountToken", projection: serviceAccountToken, token };
    }
    if (clusterTrustBundle) {
      const anchors = await fetchTrustAnchors(api, clusterTrustBundle, signal);
      return { kind: "clusterTrustBundle", projection: clusterTrustBundle, anchors };
    }
    if (podCertificate) {
      return { kind: "podCertificate", projection: podCertificate, ...readCertificate(api, { podUid, ...place }) };
    }
    throw new VolumeSetUpError(
      "unsupported",
      `projected source ${Object.keys(source).join()} is not supported by this version of nodelet`,
    );
  } catch (error) {
    if (isAbort(error)) throw error;
    return { kind: "failed", error };
  }
}

/** Fetches trust anchors, with the words of pkg/kubelet/clustertrustbundle. Missing optional ones give an empty file. */
async function fetchTrustAnchors(
  api: VolumeSources,
  { name, signerName, labelSelector, optional }: ClusterTrustBundleProjection,
  signal: AbortSignal,
): Promise<string> {
  const selection: ProjectedTrustBundles =
    name === undefined ? { signerName: signerName ?? "", labelSelector } : { name };
  if (api.clusterTrustBundles === undefined) {
    throw new VolumeSetUpError("unsupported", "ClusterTrustBundle projection is not supported in static kubelet mode");
  }
  const found = api.clusterTrustBundles(selection, signal).catch((error: unknown) => {
    if (!isApiError(error, "NotFound") || optional === true) throw error;
    throw new VolumeSetUpError("missing", `while getting ClusterTrustBundle: ${error.message}`, { cause: error });
  });
  const bundles = (await orAbsent(found, optional)) ?? [];
  if (bundles.length === 0 && optional !== true) {
    throw new VolumeSetUpError(
      "missing",
      "combination of signerName and labelSelector matched zero ClusterTrustBundles",
    );
  }
  return computeTrustAnchors(bundles);
}

/** Throws where the pod has no certificate. It is no event while its signer has had no time to answer. */
function readCertificate(api: VolumeSources, source: CertificateSource): { keyPem: string; chainPem: string } {
  const answer = api.podCertificate?.(source);
  if (answer === undefined) throw new VolumeSetUpError("unsupported", "pod certificates need an API server");
  if (answer.kind === "issued") return { keyPem: answer.keyPem, chainPem: answer.chainPem };
  if (answer.kind === "refused" || !answer.isUsual) throw new VolumeSetUpError("missing", answer.message);
  const message = `MountVolume.SetUp failed for volume "${source.volumeName}" : ${answer.message}`;
  throw new VolumeOperationError(message, { isQuiet: true });
}

async function orAbsent<T>(found: Promise<T>, isOptional = false): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (isOptional && isApiError(error, "NotFound")) return undefined;
    throw error;
  }
}

/** A file that cannot be read is none. */
async function readShown(files: Files, directory: string, path: string): Promise<string | undefined> {
  try {
    const data = await files.read(`${directory}/${DATA_LINK}/${cleanPayloadPath(path)}`, MAX_TOKEN_BYTES);
    return data.toString();
  } catch {
    return undefined;
  }
}

function tokenRequest(pod: Pod, projection: ServiceAccountTokenProjection): Omit<VolumeTokenRequest, "shown"> {
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

/** A digest of the files. It is remembered in place of the content, which may be secret. */
function digestOf(payload: Payload): string {
  const hash = createHash("sha256");
  for (const [path, { data, mode, user }] of [...payload].sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${path}\0${mode}\0${user ?? ""}\0${data.length}\0`).update(data);
  }
  return hash.digest("base64");
}
