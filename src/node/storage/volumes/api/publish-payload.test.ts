import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { createFakeHost, type FakeHost } from "../../../../host/fake/create-fake-host.ts";
import type { FileAccess } from "../../../../host/fake/fake-files.ts";
import type { NewTree } from "../../../../host/port.ts";
import { listTree } from "./__fixtures__/list-tree.ts";
import { publishFirstPayload, publishPayload } from "./publish-payload.ts";

const VOLUME = "/volume";
type Content = Readonly<Record<string, string>>;

let host: FakeHost;
beforeEach(async () => {
  host = await createRig();
});

async function createRig(): Promise<FakeHost> {
  const fresh = createFakeHost();
  await fresh.files.makeDirectory(VOLUME, 0o777);
  return fresh;
}

function treeOf(content: Content): NewTree {
  const files = new Map(
    Object.entries(content).map(([path, text]) => [path, { data: Buffer.from(text), mode: 0o644 }]),
  );
  return { files, directoryMode: 0o755 };
}
const publish = async (content: Content, to = host) => await publishPayload(to, VOLUME, treeOf(content));
const tree = async (of = host) => await listTree(of.files, VOLUME);

const V1: Content = { token: "one", "ca.crt": "ca one", gone: "old", "sub/kept": "s1", "sub/gone": "old" };
const V2: Content = { token: "two", "ca.crt": "ca two", fresh: "new", "sub/kept": "s2", "sub/fresh": "new" };
const V2_TREE = [
  "0755 0:0 ..VERSION/",
  '0644 0:0 ..VERSION/ca.crt = "ca two"',
  '0644 0:0 ..VERSION/fresh = "new"',
  "0755 0:0 ..VERSION/sub/",
  '0644 0:0 ..VERSION/sub/fresh = "new"',
  '0644 0:0 ..VERSION/sub/kept = "s2"',
  '0644 0:0 ..VERSION/token = "two"',
  "link ..data -> ..VERSION",
  "link ca.crt -> ..data/ca.crt",
  "link fresh -> ..data/fresh",
  "link sub -> ..data/sub",
  "link token -> ..data/token",
];

/** What a container reads through a path, without passing a hook. */
function readThrough(of: FakeHost, prefix: string, paths: Iterable<string>): Map<string, string> {
  const found = new Map<string, string>();
  for (const path of paths) {
    const text = of.files.text(`${VOLUME}/${prefix}${path}`);
    if (text !== undefined) found.set(path, text);
  }
  return found;
}

/** A whole version behind `..data`, and nothing of another at the top. */
function expectWhole(of: FakeHost, versions: readonly Content[]): void {
  const paths = new Set(versions.flatMap((version) => Object.keys(version)));
  const shown = readThrough(of, "..data/", paths);
  const wanted = versions.map((version) => new Map(Object.entries(version)));
  expect(wanted).toContainEqual(shown);
  for (const [path, text] of readThrough(of, "", paths)) expect(`${path}: ${text}`).toBe(`${path}: ${shown.get(path)}`);
}

/** Fails every access from the `nth` phase on; says whether it came to that. */
function crashAt(of: FakeHost, nth: number, look: (access: FileAccess) => void = () => undefined) {
  let phases = 0;
  let hasCrashed = false;
  const repair = of.files.intercept((access) => {
    look(access);
    if (phases++ < nth) return;
    hasCrashed = true;
    throw new Error("crash");
  });
  return { repair, hasCrashed: () => hasCrashed };
}

describe("publishing", () => {
  it("shows the files behind links, in a version of their own", async () => {
    await publish(V2);
    expect(await tree()).toEqual(V2_TREE);
    expect(await host.files.readLink(`${VOLUME}/..data`)).toMatch(/^\.\.\d{4}(_\d\d){5}\.\d{3}$/);
  });

  it("shows the same in a directory that is known to be empty, with one call", async () => {
    const calls: string[] = [];
    host.files.intercept(({ operation, phase }) => {
      if (phase === "before") calls.push(operation);
    });
    const version = await publishFirstPayload(host, VOLUME, treeOf(V2));
    expect(new Set(calls)).toEqual(new Set(["createTree"]));
    expect(await tree()).toEqual(V2_TREE);
    expect(await publish(V2)).toBe(version);
  });

  it("what an interrupted first attempt leaves is repaired by the next", async () => {
    for (let nth = 0; ; nth++) {
      const fresh = await createRig();
      const { repair, hasCrashed } = crashAt(fresh, nth);
      await publishFirstPayload(fresh, VOLUME, treeOf(V1)).catch(() => undefined);
      repair();
      await publish(V2, fresh);
      expect(await tree(fresh)).toEqual(V2_TREE);
      if (!hasCrashed()) break;
    }
  });

  it("an update leaves nothing of the version before", async () => {
    const first = await publish(V1);
    expect(await publish(V2)).not.toBe(first);
    expect(await tree()).toEqual(V2_TREE);
  });

  it("nothing is an empty version", async () => {
    await publish(V1);
    await publish({});
    expect(await tree()).toEqual(["0755 0:0 ..VERSION/", "link ..data -> ..VERSION"]);
  });

  it("writes nothing when the files are there already", async () => {
    const version = await publish(V2);
    const writes: string[] = [];
    host.files.intercept(({ operation }) => {
      if (!["list", "readLink", "read", "stat"].includes(operation)) writes.push(operation);
    });
    expect(await publish(V2)).toBe(version);
    expect(writes).toEqual([]);
  });

  it.each([
    ["content", { ...V2, token: "2wo" }],
    ["length", { ...V2, token: "longer" }],
    ["one file more", { ...V2, more: "" }],
    ["one file less", { token: "two" }],
    ["another name", { ...V2, fresh: undefined, renamed: "new" }],
  ])("a difference in %s is a new version", async (_what, changed) => {
    const version = await publish(V2);
    const content = Object.fromEntries(Object.entries(changed).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])));
    expect(await publish(content)).not.toBe(version);
    expectWhole(host, [content]);
  });

  it("a full disk leaves the version that is shown, and no part of the next", async () => {
    await publish(V1);
    const before = await tree();
    host.files.intercept(({ operation, path }) => {
      if (operation === "createTree" && path.endsWith("/token")) throw new Error("ENOSPC");
    });
    await expect(publish(V2)).rejects.toThrow("ENOSPC");
    expect(await tree()).toEqual(before);
  });

  it("leaves the directory that another volume is mounted on", async () => {
    await host.files.makeDirectory(`${VOLUME}/sub/mounted`, 0o755);
    await publish(V2);
    await publish(V1);
    expect(await host.files.stat(`${VOLUME}/sub/mounted`)).toMatchObject({ type: "directory" });
    expect(host.files.text(`${VOLUME}/..data/sub/kept`)).toBe("s1");
  });
});

describe("a crash", () => {
  it.each([
    ["before there was a version", undefined],
    ["while another version is shown", V1],
  ])("%s, at any step, is healed by the next attempt, and nobody sees a mixture", async (_when, before) => {
    let steps = 0;
    for (let hasCrashed = true; hasCrashed; steps++) {
      const rig = await createRig();
      if (before) await publish(before, rig);
      const versions = [before ?? {}, V2];
      const kept = Object.keys(V2).filter((path) => before !== undefined && path in before);
      const crash = crashAt(rig, steps, () => {
        expectWhole(rig, versions);
        expect([...readThrough(rig, "", kept).keys()]).toEqual(kept);
      });
      const outcome = await publish(V2, rig).catch((error: Error) => error.message);
      crash.repair();
      hasCrashed = crash.hasCrashed();
      expect(outcome === "crash").toBe(hasCrashed);
      expectWhole(rig, versions);
      await publish(V2, rig);
      expect(await tree(rig)).toEqual(V2_TREE);
    }
    // It came by every step: fewer would say that the loop ended early.
    expect(steps).toBeGreaterThan(20);
  });

  it("after crash, whatever was to be shown: only what is wanted last is left", async () => {
    const content = fc.dictionary(fc.constantFrom("a", "b", "c/d", "c/e", "f/g/h"), fc.constantFrom("1", "2", ""));
    const attempts = fc.array(fc.record({ content, crashAfter: fc.nat(60) }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(attempts, content, async (list, last) => {
        const rig = await createRig();
        for (const attempt of list) {
          const crash = crashAt(rig, attempt.crashAfter);
          await publish(attempt.content, rig).catch(() => undefined);
          crash.repair();
        }
        await publish(last, rig);
        const clean = await createRig();
        await publish(last, clean);
        expect(await tree(rig)).toEqual(await tree(clean));
      }),
      { numRuns: 200 },
    );
  });
});

// A container once could write here and make the node agent delete what it liked on the host.
describe("CVE-2017-1002102: a link that somebody planted", () => {
  beforeEach(async () => {
    host.files.put("/host/x/precious", "kept");
    host.files.put("/host/x/token", "host's own");
  });

  it.each([
    ["..data", "/host/x"],
    ["..data", "../host/x"],
    ["..data", "."],
    ["..2020_01_01_00_00_00.000", "/host/x"],
    ["token", "/host/x/token"],
    ["sub", "/host/x"],
    ["gone", "/host/x/precious"],
  ])("%s -> %s is neither followed by an update nor by its cleaning", async (name, target) => {
    for (const before of [{}, V1]) {
      await publish(before);
      await host.files.remove(`${VOLUME}/${name}`);
      await host.files.link(target, `${VOLUME}/${name}`);
      await publish(V2);
      expect(host.files.text("/host/x/precious")).toBe("kept");
      expect(host.files.text("/host/x/token")).toBe("host's own");
      expect((await host.files.list("/host/x")).map((entry) => entry.name)).toEqual(["precious", "token"]);
      expectWhole(host, [V2]);
    }
  });

  it("..data that leads to a version that is a link itself does not count as one", async () => {
    host.files.put("/host/version/token", "two");
    await host.files.link("/host/version", `${VOLUME}/..2020_01_01_00_00_00.000`);
    await host.files.link("..2020_01_01_00_00_00.000", `${VOLUME}/..data`);
    await publish({ token: "two" });
    expect(host.files.text("/host/version/token")).toBe("two");
    expect(await tree()).toEqual([
      "0755 0:0 ..VERSION/",
      '0644 0:0 ..VERSION/token = "two"',
      "link ..data -> ..VERSION",
      "link token -> ..data/token",
    ]);
  });

  it("within the version that is shown makes it no version", async () => {
    const version = await publish({ token: "host's own" });
    host.files.delete(`${VOLUME}/${version}/token`);
    await host.files.link("/host/x/token", `${VOLUME}/${version}/token`);
    expect(await publish({ token: "host's own" })).not.toBe(version);
  });

  it("anything else in the place of a name of ours gives way", async () => {
    host.files.put(`${VOLUME}/..data/file`, "a directory");
    host.files.put(`${VOLUME}/token`, "a file");
    host.files.putSpecial(`${VOLUME}/ca.crt`, "other");
    await publish(V2);
    expect(await tree()).toEqual(V2_TREE);
  });
});
