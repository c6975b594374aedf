import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { createUserNamespaces, type UserNamespacesOptions } from "./user-namespaces.ts";

const UNIT = 65_536;
const fileOf = (uid: string) => `/root/pods/${uid}/userns`;

function createRig(options: Partial<UserNamespacesOptions> = {}, { files } = createFakeHost()) {
  const start = () => createUserNamespaces({ files }, { rootDirectory: "/root", maxPods: 2, ...options });
  const namespaces = start();
  const firstOf = async (uid: string, of = namespaces) => (await of.mappingOf(uid)).uids[0]?.hostId;
  const makePod = async (uid: string) => await files.makeDirectory(`/root/pods/${uid}`, 0o750);
  const removePod = async (uid: string, of = namespaces) => {
    await files.remove(`/root/pods/${uid}`);
    await of.release(uid);
  };
  return { files, namespaces, start, firstOf, makePod, removePod };
}

const limitTo = (pods: number) => {
  const host = createFakeHost();
  host.files.put("/etc/passwd", "kubelet:x:998:998::/:/bin/false\n");
  for (const file of ["/etc/subuid", "/etc/subgid"]) host.files.put(file, `kubelet:${UNIT}:${pods * UNIT}\n`);
  return host;
};

const noted = (hostId: number, length = UNIT) => {
  const mappings = [{ hostId, containerId: 0, length }];
  return JSON.stringify({ uidMappings: mappings, gidMappings: mappings });
};

describe("createUserNamespaces", () => {
  it("gives each pod a range of its own, above the host's, and notes it in upstream's form", async () => {
    const { files, namespaces, makePod } = createRig();
    for (const uid of ["a", "b"]) await makePod(uid);
    const [a, again, b] = await Promise.all(["a", "a", "b"].map(namespaces.mappingOf));
    const range = (hostId: number) => [{ hostId, containerId: 0, length: UNIT }];
    expect(a).toEqual({ uids: range(UNIT), gids: range(UNIT) });
    expect(again).toEqual(a);
    expect(b).toEqual({ uids: range(2 * UNIT), gids: range(2 * UNIT) });
    expect(files.text(fileOf("b"))).toBe(noted(2 * UNIT));
  });

  it("is found again after a restart, and nobody else gets it", async () => {
    const { start, firstOf, makePod } = createRig();
    for (const uid of ["a", "b", "c"]) await makePod(uid);
    await firstOf("a");
    expect(await firstOf("b")).toBe(2 * UNIT);
    const next = start();
    expect(await firstOf("c", next)).toBe(3 * UNIT);
    expect(await firstOf("b", next)).toBe(2 * UNIT);
  });

  it("is another's when the pod is gone, but not at once", async () => {
    const { firstOf, makePod, removePod } = createRig({}, limitTo(2));
    for (const uid of ["a", "b", "c", "d"]) await makePod(uid);
    expect(await firstOf("a")).toBe(UNIT);
    await removePod("a");
    expect(await firstOf("b")).toBe(2 * UNIT);
    expect(await firstOf("c")).toBe(UNIT);
    await expect(firstOf("d")).rejects.toThrow("could not find an empty slot to allocate a user namespace");
    await removePod("b");
    expect(await firstOf("d")).toBe(2 * UNIT);
  });

  it("never maps the ID that means nobody", async () => {
    const { firstOf, makePod, files } = createRig({ idsPerPod: 2 ** 30, maxPods: 3 });
    for (const uid of ["a", "b", "c"]) await makePod(uid);
    expect(await firstOf("a")).toBe(2 ** 30);
    expect(await firstOf("b")).toBe(2 ** 31);
    await expect(firstOf("c")).rejects.toThrow("could not find an empty slot");
    expect(await files.stat(fileOf("c"))).toBeUndefined();
  });

  it("keeps out of ranges that were given under other settings", async () => {
    const host = createFakeHost();
    const { files, firstOf, makePod } = createRig({}, host);
    files.put(fileOf("old"), noted(UNIT, 3 * UNIT));
    files.put("/root/pods/plain/etc-hosts", "");
    files.put("/root/pods/stray", "");
    files.put(fileOf("unwritten"), "");
    await makePod("new");
    expect(await firstOf("new")).toBe(4 * UNIT);
    expect((await createRig({}, host).namespaces.mappingOf("old")).uids[0]?.length).toBe(3 * UNIT);
  });

  it.each([
    ["no JSON", "{"],
    ["another form", "{}"],
    ["two ranges", JSON.stringify({ uidMappings: [{}, {}], gidMappings: [{}] })],
    ["users and groups that differ", noted(UNIT).replace(`"hostId":${UNIT}`, `"hostId":${2 * UNIT}`)],
    ["the host's own IDs", noted(0)],
    ["a root that is nobody", noted(UNIT).replaceAll('"containerId":0', '"containerId":1')],
  ])("gives none while a note cannot be read (%s): then nobody knows which are free", async (_why, text) => {
    const { files, firstOf, makePod, removePod } = createRig();
    files.put(fileOf("broken"), text);
    await makePod("a");
    await expect(firstOf("a")).rejects.toThrow(`invalid user namespace mappings file: ${fileOf("broken")}`);
    await removePod("broken");
    expect(await firstOf("a")).toBe(UNIT);
  });

  it("gives none where the host's settings make no sense, until they do", async () => {
    const { files, firstOf, makePod } = createRig({ maxPods: 3 }, limitTo(2));
    await makePod("a");
    await expect(firstOf("a")).rejects.toThrow("kubelet user assigned IDs are not enough to support 3 pods");
    for (const file of ["/etc/subuid", "/etc/subgid"]) files.put(file, `kubelet:${UNIT}:${3 * UNIT}\n`);
    expect(await firstOf("a")).toBe(UNIT);
  });

  it("that could not be noted stays the pod's, and is noted by the next try", async () => {
    const { files, firstOf, makePod } = createRig();
    for (const uid of ["a", "b"]) await makePod(uid);
    let isFull = true;
    files.intercept(({ operation }) => {
      if (isFull && operation === "writeAtomically") throw new Error("no space left on device");
    });
    await expect(firstOf("a")).rejects.toThrow("no space left on device");
    isFull = false;
    expect(await firstOf("b")).toBe(2 * UNIT);
    expect(await firstOf("a")).toBe(UNIT);
    expect(files.text(fileOf("a"))).toBe(noted(UNIT));
  });

  it("no two pods that exist share an ID, whatever comes and goes", async () => {
    const step = fc.record({
      uid: fc.constantFrom("a", "b", "c", "d", "e"),
      act: fc.constantFrom("ask" as const, "remove" as const, "restart" as const),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { firstOf, makePod, removePod, start } = createRig({}, limitTo(3));
        let current = start();
        const held = new Map<string, number | undefined>();
        for (const { uid, act } of steps) {
          if (act === "restart") current = start();
          else if (act === "remove") {
            await removePod(uid, current);
            held.delete(uid);
          } else {
            await makePod(uid);
            const first = await firstOf(uid, current).catch(() => undefined);
            expect(first === undefined).toBe(!held.has(uid) && held.size >= 3);
            if (first === undefined) continue;
            expect(held.get(uid) ?? first).toBe(first);
            held.set(uid, first);
          }
          expect(new Set(held.values()).size).toBe(held.size);
        }
      }),
    );
  });
});
