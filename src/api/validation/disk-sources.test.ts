import { describe, expect, it } from "vitest";
import { formatFieldError } from "../field-error.ts";
import type { Volume } from "../gen/types.ts";
import { validateDiskSource } from "./disk-sources.ts";

const DISK = { targetPortal: "10.0.0.1:3260", iqn: "iqn.2026-11.com.example:disk", lun: 0 };
const problemsOf = (source: Partial<Volume>) => validateDiskSource("v", { name: "v", ...source }).map(formatFieldError);

describe("a disk that a pod names", () => {
  it.each<Partial<Volume>>([
    { iscsi: DISK },
    { iscsi: { ...DISK, iqn: "eui.0123456789abcdef", lun: 255, initiatorName: DISK.iqn } },
    { iscsi: { ...DISK, iqn: `naa.${"0".repeat(32)}`, chapAuthDiscovery: true, secretRef: { name: "chap" } } },
    { fc: { targetWWNs: ["50060e801049cfd1"], lun: 0 } },
    { fc: { wwids: ["3600508b400105e21"] } },
  ])("%j is fine", (source) => {
    expect(problemsOf(source)).toEqual([]);
  });

  it.each<[Partial<Volume>, string]>([
    [{ iscsi: { ...DISK, targetPortal: "" } }, "v.iscsi.targetPortal: Required value"],
    [{ iscsi: { ...DISK, iqn: "" } }, "v.iscsi.iqn: Required value"],
    [
      { iscsi: { ...DISK, iqn: "disk" } },
      'v.iscsi.iqn: Invalid value: "disk": must be valid format starting with iqn, eui, or naa',
    ],
    [{ iscsi: { ...DISK, iqn: "iqn.2026" } }, 'v.iscsi.iqn: Invalid value: "iqn.2026": must be valid format'],
    [{ iscsi: { ...DISK, iqn: "eui.1" } }, 'v.iscsi.iqn: Invalid value: "eui.1": must be valid format'],
    [{ iscsi: { ...DISK, iqn: "naa.1" } }, 'v.iscsi.iqn: Invalid value: "naa.1": must be valid format'],
    [{ iscsi: { ...DISK, lun: 256 } }, "v.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive"],
    [{ iscsi: { ...DISK, chapAuthSession: true } }, "v.iscsi.secretRef: Required value"],
    [
      { iscsi: { ...DISK, initiatorName: "me" } },
      'v.iscsi.initiatorname: Invalid value: "me": must be valid format starting with iqn, eui, or naa',
    ],
    [
      { iscsi: { ...DISK, targetPortal: "x".repeat(64), initiatorName: "iqn.2026-11.com.example:me" } },
      'v.name: Invalid value: "v": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.',
    ],
    [{ fc: {} }, "v.fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both"],
    [
      { fc: { targetWWNs: ["a"], wwids: ["b"], lun: 0 } },
      'v.fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be specified simultaneously',
    ],
    [{ fc: { targetWWNs: ["a"] } }, "v.fc.lun: Required value: lun is required if targetWWNs is specified"],
    [{ fc: { targetWWNs: ["a"], lun: -1 } }, "v.fc.lun: Invalid value: -1: must be between 0 and 255, inclusive"],
  ])("%j", (source, problem) => {
    expect(problemsOf(source)).toEqual([problem]);
  });
});
