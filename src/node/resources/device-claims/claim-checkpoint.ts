import { isRecord } from "../../../api/object.ts";
import { crc32OfText } from "../../../base/crc32.ts";
import { tryParseJson } from "../../../base/parse-json.ts";
import type { ClaimDevice } from "../../../dra/port.ts";
import type { ClaimInfo } from "./claim-account.ts";

/** A claim as the disk keeps it. */
type KeptClaim = Omit<ClaimInfo, "isPrepared">;

/**
 * The text of the checkpoint as a Go kubelet writes and reads it (pkg/kubelet/cm/dra/state): the data are JSON in a string,
 * with a checksum of that string.
 */
export function encodeClaimCheckpoint(claims: readonly KeptClaim[]): string {
  const data = JSON.stringify({
    kind: "DRACheckpoint",
    apiVersion: "checkpoint.dra.kubelet.k8s.io/v1",
    ClaimInfoStateList: claims.map(({ uid, name, namespace, podUids, drivers }) => ({
      ClaimUID: uid,
      ClaimName: name,
      Namespace: namespace,
      PodUIDs: Object.fromEntries([...podUids].sort().map((podUid) => [podUid, {}])),
      DriverState: Object.fromEntries([...drivers].map(([driver, devices]) => [driver, writeDriver(devices)])),
    })),
  });
  return JSON.stringify({ Data: data, Checksum: crc32OfText(data) });
}

/** Reads a checkpoint. Throws a TypeError for one that is none, is torn, or is not of this version. */
export function decodeClaimCheckpoint(text: string): KeptClaim[] {
  const file = tryParseJson(text);
  const data = isRecord(file) ? file["Data"] : undefined;
  if (!isRecord(file) || typeof data !== "string") throw new TypeError("it is no checkpoint");
  if (file["Checksum"] !== crc32OfText(data)) throw new TypeError("its checksum is wrong");
  const content = tryParseJson(data);
  const list = isRecord(content) ? (content["ClaimInfoStateList"] ?? []) : undefined;
  if (!Array.isArray(list)) throw new TypeError("it has no list of claims");
  return list.map(readClaim);
}

function writeDriver(devices: readonly ClaimDevice[]) {
  const written = devices.map(({ poolName, deviceName, shareId = null, requestNames, cdiDeviceIds }) => ({
    PoolName: poolName,
    DeviceName: deviceName,
    ShareID: shareId,
    RequestNames: goList(requestNames),
    CDIDeviceIDs: goList(cdiDeviceIds),
  }));
  return { Devices: goList(written) };
}

/** Go writes a list that was never filled as null. */
function goList<T>(items: readonly T[]): readonly T[] | null {
  return items.length === 0 ? null : items;
}

function readClaim(value: unknown): KeptClaim {
  const claim = requireRecord(value);
  const drivers = Object.entries(requireRecord(claim["DriverState"])).map(([driver, state]) => {
    const devices = requireRecord(state)["Devices"] ?? [];
    return [driver, requireList(devices).map(readDevice)] as const;
  });
  return {
    uid: requireText(claim["ClaimUID"]),
    name: requireText(claim["ClaimName"]),
    namespace: requireText(claim["Namespace"]),
    podUids: new Set(Object.keys(requireRecord(claim["PodUIDs"]))),
    drivers: new Map(drivers),
  };
}

function readDevice(value: unknown): ClaimDevice {
  const device = requireRecord(value);
  const shareId = device["ShareID"] ?? undefined;
  return {
    poolName: requireText(device["PoolName"]),
    deviceName: requireText(device["DeviceName"]),
    shareId: shareId === undefined ? undefined : requireText(shareId),
    requestNames: requireList(device["RequestNames"] ?? []).map(requireText),
    cdiDeviceIds: requireList(device["CDIDeviceIDs"] ?? []).map(requireText),
  };
}

/** Go writes a map or a list without elements as null. */
function requireRecord(value: unknown): Record<string, unknown> {
  if (value === null || value === undefined) return {};
  if (!isRecord(value)) throw new TypeError("an object is expected where there is none");
  return value;
}

function requireList(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new TypeError("a list is expected where there is none");
  return value;
}

function requireText(value: unknown): string {
  if (typeof value !== "string") throw new TypeError("a text is expected where there is none");
  return value;
}
