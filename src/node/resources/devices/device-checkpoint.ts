import { isRecord } from "../../../api/object.ts";
import { decodeDeviceResponse, encodeDeviceResponse } from "../../../device-plugin/messages.ts";
import { computeGoChecksum, type GoTyped, goBytes, goList, goMap, goStruct, goText } from "../checkpoints/go-dump.ts";
import type { DeviceAssignment } from "./device-assignments.ts";

/** What is kept of devices on the disk. */
export interface DeviceCheckpoint {
  readonly assignments: readonly DeviceAssignment[];
  /** The healthy devices of each resource. Only the names of the resources matter after a restart. */
  readonly registered: Readonly<Record<string, readonly string[]>>;
}

interface RawEntry {
  readonly PodUID: string;
  readonly ContainerName: string;
  readonly ResourceName: string;
  /** Undefined is Go's nil, which a file shows as null. */
  readonly DeviceIDs: Readonly<Record<string, readonly string[] | undefined>> | undefined;
  /** Base64. */
  readonly AllocResp: string | undefined;
}

interface RawData {
  readonly PodDeviceEntries: readonly RawEntry[] | undefined;
  readonly RegisteredDevices: Readonly<Record<string, readonly string[] | undefined>> | undefined;
}

/** Writes upstream's format with its checksum (pkg/kubelet/cm/devicemanager/checkpoint), which a Go kubelet takes over. */
export function encodeDeviceCheckpoint({ assignments, registered }: DeviceCheckpoint): string {
  const entries = assignments.map(({ podUid, container, resource, devices }) => ({
    PodUID: podUid,
    ContainerName: container,
    ResourceName: resource,
    DeviceIDs: Object.fromEntries([...devices.idsByNumaNode].map(([node, ids]) => [String(node), ids])),
    AllocResp: Buffer.from(encodeDeviceResponse(devices.response)).toString("base64"),
  }));
  const data = { PodDeviceEntries: entries.length > 0 ? entries : undefined, RegisteredDevices: registered };
  const shown = { ...data, PodDeviceEntries: data.PodDeviceEntries ?? null };
  return JSON.stringify({ Data: shown, Checksum: computeGoChecksum(describeData(data)) });
}

/** Throws an error that says what is wrong with the text: its form, or its checksum. */
export function decodeDeviceCheckpoint(text: string): DeviceCheckpoint {
  const file: unknown = JSON.parse(text);
  if (!isRecord(file)) throw new TypeError("not an object");
  const data = readData(file["Data"]);
  const actual = computeGoChecksum(describeData(data));
  if (actual !== file["Checksum"]) {
    throw new TypeError(`checkpoint is corrupted: its checksum is ${String(file["Checksum"])}, not ${actual}`);
  }
  const registered = Object.entries(data.RegisteredDevices ?? {}).map(([name, ids]) => [name, ids ?? []] as const);
  return { assignments: (data.PodDeviceEntries ?? []).map(readAssignment), registered: Object.fromEntries(registered) };
}

function readAssignment({ PodUID, ContainerName, ResourceName, DeviceIDs, AllocResp }: RawEntry): DeviceAssignment {
  const byNode = Object.entries(DeviceIDs ?? {}).map(([node, ids]) => [Number(node), ids ?? []] as const);
  const response = decodeDeviceResponse(Buffer.from(AllocResp ?? "", "base64"));
  const devices = { idsByNumaNode: new Map(byNode), response };
  return { podUid: PodUID, container: ContainerName, resource: ResourceName, devices };
}

/** The data as Go's type, which the checksum is computed of. */
function describeData({ PodDeviceEntries, RegisteredDevices }: RawData): GoTyped {
  const registered = goMap(RegisteredDevices, (ids) => goList(ids, goText));
  return {
    type: "checkpoint.checkpointData",
    value: goStruct([
      ["PodDeviceEntries", "[]checkpoint.PodDevicesEntry", goList(PodDeviceEntries, describeEntry)],
      ["RegisteredDevices", "map[string][]string", registered],
    ]),
  };
}

function describeEntry(entry: RawEntry) {
  const { DeviceIDs: byNode, AllocResp: response } = entry;
  const nodes = Object.entries(byNode ?? {}).sort(([a], [b]) => Number(a) - Number(b));
  const entries = nodes.map(([node, ids]) => [node, goList(ids, goText)] as const);
  const bytes = response === undefined ? undefined : Buffer.from(response, "base64");
  return goStruct([
    ["PodUID", "string", goText(entry.PodUID)],
    ["ContainerName", "string", goText(entry.ContainerName)],
    ["ResourceName", "string", goText(entry.ResourceName)],
    ["DeviceIDs", "checkpoint.DevicesPerNUMA", byNode === undefined ? { kind: "nil" } : { kind: "map", entries }],
    ["AllocResp", "[]uint8", goBytes(bytes)],
  ]);
}

function readData(value: unknown): RawData {
  if (!isRecord(value)) throw new TypeError("Data is no object");
  const { PodDeviceEntries: entries, RegisteredDevices: registered } = value;
  if (entries !== null && entries !== undefined && !Array.isArray(entries)) {
    throw new TypeError("Data.PodDeviceEntries is no list");
  }
  return {
    PodDeviceEntries: entries?.map(readEntry),
    RegisteredDevices: readLists(registered, "Data.RegisteredDevices"),
  };
}

function readEntry(value: unknown, index: number): RawEntry {
  const path = `Data.PodDeviceEntries[${index}]`;
  if (!isRecord(value)) throw new TypeError(`${path} is no object`);
  const text = (name: string) => {
    const found = value[name];
    if (typeof found !== "string") throw new TypeError(`${path}.${name} is no text`);
    return found;
  };
  return {
    PodUID: text("PodUID"),
    ContainerName: text("ContainerName"),
    ResourceName: text("ResourceName"),
    DeviceIDs: readLists(value["DeviceIDs"], `${path}.DeviceIDs`),
    AllocResp: value["AllocResp"] === null ? undefined : text("AllocResp"),
  };
}

function readLists(value: unknown, path: string): Record<string, string[] | undefined> | undefined {
  if (value === null || value === undefined) return undefined;
  if (!isRecord(value)) throw new TypeError(`${path} is no object`);
  const lists = Object.entries(value).map(([key, list]) => {
    if (list === null) return [key, undefined] as const;
    if (!Array.isArray(list)) throw new TypeError(`${path}[${key}] is no list`);
    return [key, list.map(String)] as const;
  });
  return Object.fromEntries(lists);
}
