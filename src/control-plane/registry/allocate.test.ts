import { beforeEach, describe, expect, it, vi } from "vitest";
import { type KubeObject, typed } from "../../api/object.ts";
import { IP_ADDRESSES, SERVICE_RANGES } from "../../api/service-addresses.ts";
import { silentLog } from "../../base/log.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createMemoryJournal } from "../../journal/memory-journal.ts";
import { LOOPBACK_USER } from "../ports/user.ts";
import { createObjectStore } from "../store/create-object-store.ts";
import { createBuiltInKinds } from "./built-in-kinds.ts";
import { createObject } from "./create.ts";
import { createKindTable } from "./kind-table.ts";
import { parseStored } from "./object-view.ts";
import { createReader } from "./reader.ts";
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
    const range = kinds.stored(SERVICE_RANGES);
    if (range === undefined) throw new Error("there are no ranges");
    const body = {
      apiVersion: "networking.k8s.io/v1",
      kind: "ServiceCIDR",
      metadata: { name: "kubernetes" },
      spec: { cidrs: ["10.96.0.0/30"] },
    };
    await createObject(deps, { kind: range, namespace: "", body, context });
  });

  const addresses = () =>
    createReader(deps.store, kinds)
      .list(IP_ADDRESSES)
      .map(({ metadata }) => metadata.name);
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
    expect(addresses()).toEqual([]);
    expect(await create("two")).toBe("10.96.0.1");
  });

  it("is free again when the service is refused or deleted", async () => {
    await create("one");
    await expect(create("one")).rejects.toThrow("already exists");
    expect(await create("two")).toBe("10.96.0.2");
    await deleteObject(deps, { kind, namespace: "a", name: "one", context, options: {} });
    expect(await create("three")).toBe("10.96.0.1");
  });

  it("has an object of its own, in the same write of the store as the service", async () => {
    const write = vi.spyOn(deps.store, "write");
    await create("one");
    expect(write.mock.calls.map(([writes]) => writes.length)).toEqual([2]);
    expect(addresses()).toEqual(["10.96.0.1"]);
    const [object] = createReader(deps.store, kinds).list(IP_ADDRESSES);
    expect(object).toMatchObject({
      metadata: {
        uid: expect.stringContaining("uid-"),
        labels: {
          "ipaddress.kubernetes.io/ip-family": "IPv4",
          "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
        },
      },
      spec: { parentRef: { resource: "services", namespace: "a", name: "one" } },
    });
    await deleteObject(deps, { kind, namespace: "a", name: "one", context, options: {} });
    expect(write.mock.calls.map(([writes]) => writes.length)).toEqual([2, 2]);
    expect(addresses()).toEqual([]);
  });

  it("is not one that somebody else has", async () => {
    const body = {
      ...{ apiVersion: "networking.k8s.io/v1", kind: "IPAddress", metadata: { name: "10.96.0.1" } },
      spec: { parentRef: { group: "gateway.networking.k8s.io", resource: "gateways", name: "theirs" } },
    };
    const ofOthers = kinds.stored(IP_ADDRESSES);
    if (ofOthers === undefined) throw new Error("there are no addresses");
    await createObject(deps, { kind: ofOthers, namespace: "", body, context });
    expect(await create("one")).toBe("10.96.0.2");
    await expect(create("two", { spec: { clusterIP: "10.96.0.1" } })).rejects.toThrow("already allocated");
  });

  it("is given up by a service that becomes a name only", async () => {
    await create("one");
    const change = (current: KubeObject | undefined) =>
      current && { ...current, spec: { type: "ExternalName", externalName: "a.example" } };
    await updateObject(deps, { kind, namespace: "a", name: "one", context, change });
    expect(addresses()).toEqual([]);
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
