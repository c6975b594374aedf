import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { GroupChange } from "../../src/host/group-permissions.ts";
import type { Files } from "../../src/host/port.ts";
import { createFakeHostHarness, createRealHostHarness, type HostHarness } from "./host-harness.ts";

let harness: HostHarness;
let files: Files;
const path = (name: string) => `${harness.directory}/${name}`;

describe.each([
  ["fake", createFakeHostHarness],
  ["node", async () => await createRealHostHarness()],
])("changing groups: %s", (_name, createHarness) => {
  beforeEach(async () => {
    harness = await createHarness();
    files = harness.host.files;
  });
  afterEach(async () => harness.close());

  describeChangingGroups();
});

function describeChangingGroups() {
  const GROUP = 2_000;
  const change = async (options: Partial<GroupChange> = {}, name = "tree") =>
    await files.changeGroup(path(name), { group: GROUP, readOnly: false, onlyIfRootDiffers: false, ...options });
  const statusOf = async (name: string) => {
    const status = await files.stat(path(name));
    return status && [status.group, `0${status.mode.toString(8)}`];
  };

  beforeEach(async () => {
    await files.makeDirectory(path("tree/deep/er"), 0o700);
    await files.makeDirectory(path("outside"), 0o700);
    await files.writeAtomically(path("outside/file"), "", 0o600);
    for (const name of ["tree/file", "tree/deep/file", "tree/deep/er/file"]) {
      await files.writeAtomically(path(name), "", 0o600);
    }
    await files.writeAtomically(path("tree/script"), "", 0o4755);
    await harness.makeFifo(path("tree/fifo"));
    await harness.makeSymlink(path("outside/file"), path("tree/to-file"));
    await harness.makeSymlink(path("outside"), path("tree/to-directory"));
    await harness.makeSymlink("nowhere", path("tree/dangling"));
  });

  it.each([
    [false, ["0660", "04775", "02770", "02775"]],
    [true, ["0640", "04755", "02750", "02755"]],
  ])("gives a tree to a group that may read it (read-only: %s)", async (readOnly, modes) => {
    await change({ readOnly });
    const [file, script, directory, outer] = modes;
    for (const name of ["tree/file", "tree/deep/file", "tree/deep/er/file"]) {
      expect(await statusOf(name)).toEqual([GROUP, file]);
    }
    expect(await statusOf("tree/script")).toEqual([GROUP, script]);
    expect(await statusOf("tree/deep/er")).toEqual([GROUP, directory]);
    expect(await statusOf("tree")).toEqual([GROUP, outer]);
    expect((await files.stat(path("tree/fifo")))?.group).toBe(GROUP);
  });

  it("changes nothing that links lead to, and refuses one as the root", async () => {
    await change();
    expect(await statusOf("outside")).toEqual([0, "0700"]);
    expect(await statusOf("outside/file")).toEqual([0, "0600"]);
    await expect(change({}, "tree/to-directory")).rejects.toMatchObject({ code: "ELOOP" });
    expect(await statusOf("outside")).toEqual([0, "0700"]);
  });

  it("takes nothing away, and changes nothing the second time", async () => {
    await change();
    const before = await files.stat(path("tree/deep/file"));
    await change({ readOnly: true });
    expect(await statusOf("tree/deep/file")).toEqual([GROUP, "0660"]);
    expect(await files.stat(path("tree/deep/file"))).toEqual(before);
  });

  it("looks at the root alone where it is told to", async () => {
    await change();
    await files.writeAtomically(path("tree/new"), "", 0o600);
    await change({ onlyIfRootDiffers: true });
    expect((await files.stat(path("tree/new")))?.mode).toBe(0o600);
    await files.setGroup(path("tree"), GROUP, 0o770);
    await change({ onlyIfRootDiffers: true });
    expect(await statusOf("tree/new")).toEqual([GROUP, "0660"]);
    await change({ onlyIfRootDiffers: true, group: GROUP + 1 });
    expect((await files.stat(path("tree/new")))?.group).toBe(GROUP + 1);
  });

  it("leaves alone what is mounted in the tree", async (context) => {
    await files.makeDirectory(path("tree/volume"), 0o700);
    if (!(await harness.mount(path("tree/volume")))) return context.skip("may not mount");
    await files.writeAtomically(path("tree/volume/precious"), "", 0o600);
    await change();
    expect(await statusOf("tree/volume/precious")).toEqual([0, "0600"]);
    expect((await files.stat(path("tree/volume")))?.group).toBe(0);
    expect(await statusOf("tree/file")).toEqual([GROUP, "0660"]);
  });

  it("takes a file for a root, and says what is missing", async () => {
    await change({}, "tree/file");
    expect(await statusOf("tree/file")).toEqual([GROUP, "0660"]);
    await expect(change({}, "absent")).rejects.toMatchObject({
      code: "ENOENT",
      message: expect.stringContaining(path("absent")),
    });
  });

  it("does nothing when its signal has fired", async () => {
    const options = { group: GROUP, readOnly: false, onlyIfRootDiffers: false };
    const stopped = files.changeGroup(path("tree"), options, AbortSignal.abort());
    await expect(stopped).rejects.toMatchObject({ name: "AbortError" });
    expect(await statusOf("tree/file")).toEqual([0, "0600"]);
  });
}
