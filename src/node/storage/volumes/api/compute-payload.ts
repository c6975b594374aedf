import { readContainerResource, readMetadataField } from "../../../../api/downward-fields.ts";
import type {
  ClusterTrustBundleProjection,
  ConfigMap,
  ConfigMapProjection,
  DownwardAPIProjection,
  DownwardAPIVolumeFile,
  KeyToPath,
  Pod,
  PodCertificateProjection,
  Secret,
  SecretProjection,
  ServiceAccountTokenProjection,
} from "../../../../api/gen/types.ts";
import type { ResourceList } from "../../../../api/resources.ts";
import { messageOf } from "../../../../base/errors.ts";
import type { NewFile } from "../../../../host/port.ts";
import { VolumeSetUpError } from "../volume-error.ts";
import type { FileOwner } from "./file-owner.ts";
import { cleanPayloadPath, refuseConflicts } from "./payload-path.ts";

/** The files of a volume by their clean paths. */
export type Payload = ReadonlyMap<string, NewFile>;

/** A source of a volume with the object that it names. An optional object that does not exist is undefined. */
export type FetchedSource =
  | { kind: "secret"; projection: SecretProjection; secret: Secret | undefined }
  | { kind: "configMap"; projection: ConfigMapProjection; configMap: ConfigMap | undefined }
  | { kind: "downwardAPI"; projection: DownwardAPIProjection }
  | { kind: "serviceAccountToken"; projection: ServiceAccountTokenProjection; token: string }
  /** `anchors` is PEM text. */
  | { kind: "clusterTrustBundle"; projection: ClusterTrustBundleProjection; anchors: string }
  | { kind: "podCertificate"; projection: PodCertificateProjection; keyPem: string; chainPem: string }
  /** The source could not be fetched. */
  | { kind: "failed"; error: unknown };

export interface PayloadContext {
  pod: Pod;
  allocatable: ResourceList;
  /** The mode of files that do not name one themselves. */
  defaultMode: number;
  owner: FileOwner;
}

/**
 * The files of a volume have no more together: one value may be at thousands of paths, and a secret's files are in the
 * machine's memory.
 */
const MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;

/** Lets the group read what the owner may read, as upstream does for read-only volumes (pkg/volume/volume_linux.go). */
const GROUP_READABLE = 0o440;

/**
 * Computes the files of a volume. Where two sources have the same path, the later one wins. Throws one error for all that is
 * wrong with the sources, and one for files that are too large together.
 */
export function computePayload(sources: readonly FetchedSource[], context: PayloadContext): Payload {
  const payload = new Map<string, NewFile>();
  const errors: unknown[] = [];
  let bytes = 0;
  for (const source of sources) {
    try {
      for (const [path, file] of filesOf(source, context)) {
        bytes += file.data.length;
        payload.set(cleanPayloadPath(path), file);
      }
    } catch (error) {
      errors.push(error);
    }
    if (bytes > MAX_PAYLOAD_BYTES) {
      throw new VolumeSetUpError("invalid", `the files of the volume have more than ${MAX_PAYLOAD_BYTES} bytes`);
    }
  }
  throwAggregate(errors);
  refuseConflicts(new Set(payload.keys()));
  if (context.owner.group === undefined) return payload;
  return new Map([...payload].map(([path, file]) => [path, { ...file, mode: file.mode | GROUP_READABLE }]));
}

function filesOf(source: FetchedSource, context: PayloadContext): Array<[path: string, file: NewFile]> {
  switch (source.kind) {
    case "secret":
      return keyedFiles(source.projection, {
        content: secretContent(source.secret),
        defaultMode: context.defaultMode,
        missing: "references non-existent secret key",
      });
    case "configMap":
      return keyedFiles(source.projection, {
        content: configMapContent(source.configMap),
        defaultMode: context.defaultMode,
        missing: "configmap references non-existent config key",
      });
    case "downwardAPI":
      return downwardFiles(source.projection.items ?? [], context);
    case "serviceAccountToken":
      return [[source.projection.path, ownedFile(source.token, context)]];
    case "clusterTrustBundle":
      return [[source.projection.path, ownedFile(source.anchors, context)]];
    case "podCertificate":
      return certificateFiles(source, context);
    case "failed":
      throw source.error;
  }
}

/**
 * The values by key. A value is decoded when it is first asked for, because `items` may name one key of many, and not
 * again, because they may name it thousands of times.
 */
type Content = ReadonlyMap<string, () => Buffer>;

function decodedOnce(
  data: Readonly<Record<string, string>>,
  encoding: "base64" | "utf8",
): Array<readonly [key: string, read: () => Buffer]> {
  return Object.entries(data).map(([key, text]) => {
    let decoded: Buffer | undefined;
    return [key, () => (decoded ??= Buffer.from(text, encoding))] as const;
  });
}

function secretContent(secret: Secret | undefined): Content {
  return new Map(decodedOnce(secret?.data ?? {}, "base64"));
}

function configMapContent(configMap: ConfigMap | undefined): Content {
  const { data = {}, binaryData = {} } = configMap ?? {};
  return new Map([...decodedOnce(binaryData, "base64"), ...decodedOnce(data, "utf8")]);
}

function keyedFiles(
  { items = [], optional = false }: { items?: KeyToPath[]; optional?: boolean },
  { content, defaultMode, missing }: { content: Content; defaultMode: number; missing: string },
): Array<[string, NewFile]> {
  if (items.length === 0) return [...content].map(([key, read]) => [key, { data: read(), mode: defaultMode }]);
  return items.flatMap(({ key, path, mode = defaultMode }): Array<[string, NewFile]> => {
    const read = content.get(key);
    if (read !== undefined) return [[path, { data: read(), mode }]];
    if (optional) return [];
    throw new VolumeSetUpError("missing", `${missing}: ${key}`);
  });
}

function downwardFiles(items: readonly DownwardAPIVolumeFile[], context: PayloadContext): Array<[string, NewFile]> {
  const errors: unknown[] = [];
  const known = new Map<string, Buffer>();
  const read = (item: DownwardAPIVolumeFile): Buffer => {
    const wanted = JSON.stringify([item.fieldRef, item.resourceFieldRef]);
    const data = known.get(wanted) ?? Buffer.from(downwardText(item, context));
    known.set(wanted, data);
    return data;
  };
  const files = items.map((item): [string, NewFile] => {
    let data = EMPTY_FILE;
    try {
      data = read(item);
    } catch (error) {
      errors.push(error);
    }
    return [item.path, { data, mode: item.mode ?? context.defaultMode }];
  });
  throwAggregate(errors);
  return files;
}

const EMPTY_FILE: Buffer = Buffer.alloc(0);

function downwardText({ fieldRef, resourceFieldRef }: DownwardAPIVolumeFile, context: PayloadContext): string {
  if (fieldRef) return readMetadataField(context.pod, fieldRef.fieldPath);
  return resourceFieldRef ? readContainerResource(context.pod, resourceFieldRef, context.allocatable) : "";
}

/** The key, the certificates, and both in one file that is read at once: the key first, as upstream. */
function certificateFiles(
  { projection, keyPem, chainPem }: Extract<FetchedSource, { kind: "podCertificate" }>,
  context: PayloadContext,
): Array<[string, NewFile]> {
  const { credentialBundlePath, keyPath, certificateChainPath } = projection;
  const contents = [
    [credentialBundlePath, keyPem + chainPem],
    [keyPath, keyPem],
    [certificateChainPath, chainPem],
  ] as const;
  return contents.flatMap(([path, content]) => (path ? [[path, ownedFile(content, context)]] : []));
}

/**
 * A token, or a file of trust anchors. Where one user runs the whole pod, or the pod has an fsGroup, nobody else may
 * read it; upstream treats trust anchors alike (pkg/volume/projected).
 */
function ownedFile(content: string, { owner, defaultMode }: PayloadContext): NewFile {
  const isOwned = owner.user !== undefined || owner.group !== undefined;
  return { data: Buffer.from(content), mode: isOwned ? 0o600 : defaultMode, user: owner.user };
}

/** Throws the first error where all say the same, else one with the list of messages, in the form of upstream's aggregates. */
function throwAggregate(errors: readonly unknown[]): void {
  const [first] = errors;
  const messages = [...new Set(errors.map(messageOf))];
  if (messages.length > 1) throw new VolumeSetUpError("failed", `[${messages.join(", ")}]`, { cause: first });
  if (messages.length === 1) throw first;
}
