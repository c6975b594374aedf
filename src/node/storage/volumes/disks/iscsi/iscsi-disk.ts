import { diskVolumeName, ISCSI_PLUGIN } from "../../../../../api/disk-volumes.ts";
import type {
  ISCSIPersistentVolumeSource,
  ISCSIVolumeSource,
  LocalObjectReference,
  SecretReference,
} from "../../../../../api/gen/types.ts";
import { podReference } from "../../../../../api/pods.ts";
import { assert } from "../../../../../base/assert.ts";
import type { VolumeRequest, VolumeSource } from "../../volume-plugin.ts";
import { diskUseOf, type NamedDisk, refuseUnfitNames } from "../named-disk.ts";
import type { IscsiRecord } from "./iscsi-record.ts";

/** A disk of an iSCSI target. */
export interface IscsiDisk extends NamedDisk {
  readonly record: IscsiRecord;
  readonly chap: IscsiChap;
}

/** How the node proves who it is. */
interface IscsiChap {
  readonly discovery: boolean;
  readonly session: boolean;
  readonly secret: { readonly namespace: string; readonly name: string } | undefined;
}

const PORT = 3260;

/** Whether the volume is a disk of an iSCSI target. */
export function isIscsiSource(source: VolumeSource): boolean {
  return iscsiOf(source) !== undefined;
}

/**
 * Reads what the volume says of its disk (pkg/volume/iscsi/iscsi.go). A volume with an initiator's name gets an interface of
 * its own, which is a copy of the one that it names.
 */
export function planIscsiDisk(request: VolumeRequest): IscsiDisk {
  const iscsi = iscsiOf(request.source);
  assert(iscsi !== undefined, "only iSCSI volumes come here");
  const { iqn, iscsiInterface, initiatorName = "" } = iscsi;
  const use = diskUseOf(request, iscsi);
  const portals = [iscsi.targetPortal, ...(iscsi.portals ?? [])].map(withPort);
  const [first = ""] = portals;
  const baseInterface = iscsiInterface || "default";
  const ownInterface = `${first}:${use.specName}`;
  const record: IscsiRecord = {
    volumeName: use.specName,
    portals,
    iqn,
    lun: iscsi.lun,
    baseInterface,
    interface: initiatorName === "" ? baseInterface : ownInterface,
    initiatorName,
  };
  refuseUnfitNames([use.specName, ...placeNamesOf(record)]);
  return {
    ...use,
    uniqueName: diskVolumeName({ iscsi }) ?? "",
    placeName: iscsiPlaceName(record),
    record,
    chap: {
      discovery: iscsi.chapAuthDiscovery === true,
      session: iscsi.chapAuthSession === true,
      secret: secretOf(iscsi.secretRef, podReference(request.pod).namespace),
    },
  };
}

/** The disk's place beneath those of the plugin. */
export function iscsiPlaceName(record: IscsiRecord): string {
  return placeNamesOf(record).join("/");
}

function placeNamesOf({ interface: name, portals: [first = ""], iqn, lun }: IscsiRecord): readonly [string, string] {
  return [`iface-${name}`, `${first}-${iqn}-lun-${lun}`];
}

/**
 * What a place tells by its name alone, where its record is lost; undefined for a name that is no place of a disk. The
 * other portals and the initiator are not known then.
 */
export function recordOfPlace(placeName: string): IscsiRecord | undefined {
  const [, name, portal, iqn, lun] = /^iface-([^/]+)\/(.*?)-((?:iqn|eui|naa)\..*)-lun-(\d+)$/.exec(placeName) ?? [];
  if (name === undefined || portal === undefined || iqn === undefined || lun === undefined) return undefined;
  return {
    volumeName: "",
    portals: [portal],
    iqn,
    lun: Number(lun),
    baseInterface: name,
    interface: name,
    initiatorName: "",
  };
}

/** The names of the disk in the node's status: a volume may have left the usual port away. */
export function uniqueNamesOfPlace(placeName: string): readonly string[] {
  const record = recordOfPlace(placeName);
  if (record === undefined) return [];
  const { portals, iqn, lun } = record;
  const [portal = ""] = portals;
  const short = portal.replace(new RegExp(`:${PORT}$`), "");
  return [...new Set([portal, short])].map((targetPortal) => `${ISCSI_PLUGIN}/${targetPortal}:${iqn}:${lun}`);
}

function iscsiOf(source: VolumeSource): ISCSIVolumeSource | ISCSIPersistentVolumeSource | undefined {
  return source.kind === "pod" ? source.volume.iscsi : source.persistentVolume.spec?.iscsi;
}

/** An IPv6 address needs its port, as upstream. */
function withPort(portal: string): string {
  return portal.includes(":") ? portal : `${portal}:${PORT}`;
}

function secretOf(reference: LocalObjectReference | SecretReference | undefined, podNamespace: string) {
  if (!reference?.name) return undefined;
  const own = "namespace" in reference ? reference.namespace : undefined;
  return { namespace: own || podNamespace, name: reference.name };
}
