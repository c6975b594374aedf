import { beforeEach, describe, expect, it } from "vitest";
import { type KubeObject, typed } from "../../api/object.ts";
import { silentLog } from "../../base/log.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createMemoryJournal } from "../../journal/memory-journal.ts";
import { LOOPBACK_USER } from "../ports/user.ts";
import { createObjectStore } from "../store/create-object-store.ts";
import { createBuiltInKinds } from "./built-in-kinds.ts";
import { createObject } from "./create.ts";
import { createKindTable } from "./kind-table.ts";
import { parseStored } from "./object-view.ts";
import type { RegistryDeps } from "./registry-deps.ts";
import { deleteObject } from "./remove.ts";
import { updateObject } from "./update.ts";

/** The range has two addresses for services, `10.96.0.1` and `10.96.0.2`. */
const kinds = createKindTable(createBuiltInKinds({ serviceCidr: "10.96.0.0/30", random: () => 0 }));
const kind = kinds.find("", "v1", "services");
if (kind === undefined) throw new Error("there are no services");
const context = {
  user: LOOPBACK_USER,
  dryRun: false,
  fieldManager: "test",
  fieldValidation: "Ignore",
  warn() {},
} as const;
const service = (name: string, spec: object = {}): KubeObject => {
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } };
};

describe("the cluster IP of a service", () => {
  let deps: RegistryDeps;
  let uids: number;

  beforeEach(async () => {
    const clock = createFakeClock();
    uids = 0;
    deps = {
      store: await createObjectStore({ journal: createMemoryJournal(), clock, log: silentLog }),
      kinds,
      admission: [],
      now: clock.now,
      newUid: () => `uid-${++uids}`,
      randomSuffix: () => "abcde",
      record: () => ({ play: async (attempt) => await attempt() }),
    };
  });

  const create = async (name: string, { spec = {}, dryRun = false } = {}) => {
    const body = service(name, spec);
    const stored = await createObject(deps, { kind, namespace: "a", body, context: { ...context, dryRun } });
    return typed("Service", parseStored(stored)).spec?.clusterIP;
  };

  it("is one that no other service has", async () => {
    expect([await create("one"), await create("two")]).toEqual(["10.96.0.1", "10.96.0.2"]);
    await expect(create("three")).rejects.toThrow("range is full");
    await expect(create("four", { spec: { clusterIP: "10.96.0.2" } })).rejects.toThrow("already allocated");
  });

  it("is not taken by a dry run", async () => {
    expect(await create("one", { dryRun: true })).toBe("10.96.0.1");
    expect(await create("two")).toBe("10.96.0.1");
  });

  it("is free again when the service is refused or deleted", async () => {
    await create("one");
    await expect(create("one")).rejects.toThrow("already exists");
    expect(await create("two")).toBe("10.96.0.2");
    await deleteObject(deps, { kind, namespace: "a", name: "one", context, options: {} });
    expect(await create("three")).toBe("10.96.0.1");
  });

  it("stays with every update of the service, of its status too", async () => {
    await create("one");
    const change = (current: KubeObject | undefined) => current && { ...current, metadata: { ...current.metadata } };
    const subresource = kind.subresources.find(({ name }) => name === "status");
    for (const part of [undefined, subresource]) {
      const place = { kind, namespace: "a", name: "one", context, subresource: part };
      const { stored } = await updateObject(deps, { ...place, change });
      expect(typed("Service", parseStored(stored)).spec?.clusterIP).toBe("10.96.0.1");
    }
  });
});
