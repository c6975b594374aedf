import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import type { Shortage } from "../../journal/port.ts";
import type { StoreEvent } from "../ports/object-store.ts";
import { refuseOnFullDisk } from "./full-disk.ts";
import { encodeVersion } from "./stored-version.ts";

const KIB = 1024;

function version(revision: number, kib: number, isTerminating = false) {
  const metadata = { name: "a", ...(isTerminating && { deletionTimestamp: "2026-01-01T00:00:00Z" }) };
  const object: KubeObject = { apiVersion: "v1", kind: "Pod", metadata, padding: "x".repeat(kib * KIB) };
  return encodeVersion("core/pods/default/a", revision, object);
}

function change(type: StoreEvent["type"], kib: number, { from = kib, isTerminating = false } = {}): StoreEvent {
  const previous = type === "ADDED" ? undefined : version(1, from);
  return { type, key: "core/pods/default/a", revision: 2, stored: version(2, kib, isTerminating), previous };
}

describe("refuseOnFullDisk", () => {
  const CASES: ReadonlyArray<[what: string, event: StoreEvent, writtenWith: ReadonlyArray<Shortage["fits"]>]> = [
    ["a create", change("ADDED", 0), []],
    ["the create of an object that ends at once", change("ADDED", 0, { isTerminating: true }), []],
    ["a deletion", change("DELETED", 0), ["small-updates", "deletions"]],
    ["a deletion of a large object", change("DELETED", 500), ["small-updates", "deletions"]],
    [
      "an update that begins a deletion",
      change("MODIFIED", 100, { isTerminating: true }),
      ["small-updates", "deletions"],
    ],
    ["an update of the same size", change("MODIFIED", 3), ["small-updates"]],
    ["an update that shrinks", change("MODIFIED", 1, { from: 100 }), ["small-updates"]],
    ["a status that grows a little", change("MODIFIED", 9, { from: 3 }), ["small-updates"]],
    ["an update that grows much", change("MODIFIED", 20, { from: 3 }), []],
    ["an update of a large object", change("MODIFIED", 100), []],
  ];

  it.each(CASES)("writes %s only where there is room for it", (_what, event, writtenWith) => {
    for (const fits of ["small-updates", "deletions"] as const) {
      const attempt = () => refuseOnFullDisk({ fits, message: "make room in /data" }, event);
      if (writtenWith.includes(fits)) expect(attempt).not.toThrow();
      else expect(attempt).toThrow(expect.objectContaining({ code: 500, message: "make room in /data" }));
    }
    expect(() => refuseOnFullDisk(undefined, event)).not.toThrow();
  });
});
