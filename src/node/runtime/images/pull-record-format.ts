import { isRecord } from "../../../api/object.ts";
import type { SourceObject } from "./pull-credentials.ts";
import type { ImageAccess, PulledRecord, SecretAccess } from "./pull-record.ts";

/** A file's content; `isCurrent` is false for a version that is to be written anew. */
export type DecodedRecord<T> =
  | { readonly ok: true; readonly value: T; readonly isCurrent: boolean }
  | { readonly ok: false };

const API_VERSION = "kubelet.config.k8s.io/v1beta1";
const OLDER_VERSION = "kubelet.config.k8s.io/v1alpha1";

/** `ImagePullIntent`: an image, as a pod writes it, that is being pulled. */
export function encodeIntent(image: string): string {
  return `${JSON.stringify({ kind: "ImagePullIntent", apiVersion: API_VERSION, image })}\n`;
}

/** The image that is being pulled. */
export function decodeIntent(text: string): DecodedRecord<string> {
  const object = parseObject(text, "ImagePullIntent", ["image"]);
  const image = object?.["image"];
  if (object === undefined || typeof image !== "string") return { ok: false };
  return { ok: true, value: image, isCurrent: object["apiVersion"] === API_VERSION };
}

/** `ImagePulledRecord`, with its fields in the order of upstream's type. */
export function encodePulledRecord({ lastUpdatedTime, imageRef, access }: PulledRecord): string {
  const mapping = [...access].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, encodeAccess(one)]);
  const credentialMapping = mapping.length === 0 ? {} : { credentialMapping: Object.fromEntries(mapping) };
  const head = { kind: "ImagePulledRecord", apiVersion: API_VERSION, lastUpdatedTime: lastUpdatedTime || null };
  const record = { ...head, imageRef, ...credentialMapping };
  return `${JSON.stringify(record)}\n`;
}

function encodeAccess({ secrets, serviceAccounts, isNodeWide }: ImageAccess): object {
  const objectOf = ({ uid, namespace, name }: SourceObject) => ({ uid, namespace, name });
  return {
    ...(secrets.length > 0 && {
      kubernetesSecrets: secrets.map((one) => ({ ...objectOf(one), credentialHash: one.credentialHash })),
    }),
    ...(serviceAccounts.length > 0 && { kubernetesServiceAccounts: serviceAccounts.map(objectOf) }),
    ...(isNodeWide && { nodePodsAccessible: true }),
  };
}

/** Decodes strictly, as upstream. A record with an unknown field is refused, because that field might restrict access. */
export function decodePulledRecord(text: string): DecodedRecord<PulledRecord> {
  const object = parseObject(text, "ImagePulledRecord", ["lastUpdatedTime", "imageRef", "credentialMapping"]);
  const { lastUpdatedTime, imageRef, credentialMapping = {} } = object ?? {};
  if (object === undefined || typeof imageRef !== "string" || !isRecord(credentialMapping)) return { ok: false };
  if (lastUpdatedTime !== null && lastUpdatedTime !== undefined && typeof lastUpdatedTime !== "string") {
    return { ok: false };
  }
  const access = new Map<string, ImageAccess>();
  for (const [name, value] of Object.entries(credentialMapping)) {
    const decoded = decodeAccess(value);
    if (decoded === undefined) return { ok: false };
    access.set(name, decoded);
  }
  const isCurrent = object["apiVersion"] === API_VERSION;
  return { ok: true, value: { lastUpdatedTime: lastUpdatedTime ?? "", imageRef, access }, isCurrent };
}

function decodeAccess(value: unknown): ImageAccess | undefined {
  if (!hasOnly(value, ["kubernetesSecrets", "kubernetesServiceAccounts", "nodePodsAccessible"])) return undefined;
  const isNodeWide = value["nodePodsAccessible"] ?? false;
  const secrets = decodeList(value["kubernetesSecrets"], decodeSecret);
  const serviceAccounts = decodeList(value["kubernetesServiceAccounts"], decodeObject);
  if (typeof isNodeWide !== "boolean" || secrets === undefined || serviceAccounts === undefined) return undefined;
  return { secrets, serviceAccounts, isNodeWide };
}

function decodeSecret(value: unknown): SecretAccess | undefined {
  if (!hasOnly(value, ["uid", "namespace", "name", "credentialHash"])) return undefined;
  const { credentialHash, ...rest } = value;
  const object = decodeObject(rest);
  return object === undefined || typeof credentialHash !== "string" ? undefined : { ...object, credentialHash };
}

function decodeObject(value: unknown): SourceObject | undefined {
  if (!hasOnly(value, ["uid", "namespace", "name"])) return undefined;
  const { uid, namespace, name } = value;
  if (typeof uid !== "string" || typeof namespace !== "string" || typeof name !== "string") return undefined;
  return { uid, namespace, name };
}

function decodeList<T>(value: unknown, decode: (item: unknown) => T | undefined): T[] | undefined {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return undefined;
  const items = value.map(decode).filter((item) => item !== undefined);
  return items.length === value.length ? items : undefined;
}

function parseObject(text: string, kind: string, fields: readonly string[]): Record<string, unknown> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!hasOnly(value, ["kind", "apiVersion", ...fields]) || value["kind"] !== kind) return undefined;
  return value["apiVersion"] === API_VERSION || value["apiVersion"] === OLDER_VERSION ? value : undefined;
}

function hasOnly(value: unknown, fields: readonly string[]): value is Record<string, unknown> {
  return isRecord(value) && Object.keys(value).every((key) => fields.includes(key));
}
