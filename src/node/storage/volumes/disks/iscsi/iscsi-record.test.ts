import { expect, it } from "vitest";
import { iscsiPlaceName, recordOfPlace } from "./iscsi-disk.ts";
import { formatIscsiRecord, type IscsiRecord, parseIscsiRecord } from "./iscsi-record.ts";

const RECORD: IscsiRecord = {
  volumeName: "pv-1",
  portals: ["10.0.0.1:3260", "10.0.0.2:3260"],
  iqn: "iqn.2026-11.com.example:disk-lun-7",
  lun: 12,
  baseInterface: "default",
  interface: "10.0.0.1:3260:pv-1",
  initiatorName: "iqn.2026-11.com.example:me",
};

it("is read as it was written", () => {
  expect(parseIscsiRecord(formatIscsiRecord(RECORD))).toEqual(RECORD);
});

it("is read as a Go kubelet writes it", () => {
  const text =
    '{"VolName":"pv-1","Portals":["10.0.0.1:3260","10.0.0.1:3260"],"Iqn":"iqn.2026-11.com.example:x","Lun":"0",' +
    '"InitIface":"default","Iface":"default","InitiatorName":"","MetricsProvider":null}\n';
  expect(parseIscsiRecord(text)).toEqual({
    volumeName: "pv-1",
    portals: ["10.0.0.1:3260"],
    iqn: "iqn.2026-11.com.example:x",
    lun: 0,
    baseInterface: "default",
    interface: "default",
    initiatorName: "",
  });
});

it.each([
  "",
  "{",
  "[]",
  "{}",
  '{"Iqn":"x","Iface":"y","Lun":"0","Portals":[]}',
  '{"Iqn":"x","Iface":"y","Lun":"a","Portals":["z"]}',
])("%s is none", (text) => {
  expect(parseIscsiRecord(text)).toBeUndefined();
});

it("is known by the name of its place, as far as that goes", () => {
  expect(recordOfPlace(iscsiPlaceName(RECORD))).toEqual({
    ...RECORD,
    volumeName: "",
    portals: ["10.0.0.1:3260"],
    baseInterface: RECORD.interface,
    initiatorName: "",
  });
  expect(recordOfPlace("iface-default/lost+found")).toBeUndefined();
});
