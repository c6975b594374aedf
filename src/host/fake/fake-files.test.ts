import { beforeEach, describe, expect, it } from "vitest";
import { sleep } from "../../base/abort.ts";
import { createFakeHost, type FakeHost } from "./create-fake-host.ts";
import type { FileAccess } from "./fake-files.ts";

let host: FakeHost;
beforeEach(() => {
  host = createFakeHost();
});

describe("faults of fake files", () => {
  it("shows a hook every access, before and after its effect", async () => {
    const seen: FileAccess[] = [];
    const remove = host.files.intercept((access) => void seen.push(access));
    await host.files.makeDirectory("/a", 0o755);
    remove();
    await host.files.list("/a");
    expect(seen).toEqual([
      { operation: "makeDirectory", path: "/a", phase: "before" },
      { operation: "makeDirectory", path: "/a", phase: "after" },
    ]);
  });

  it.each([
    ["before", undefined],
    ["after", "new"],
  ])("fails an access %s its effect", async (phase, content) => {
    host.files.intercept((access) => {
      if (access.phase === phase) throw new Error("crash");
    });
    await expect(host.files.writeAtomically("/state", "new", 0o644)).rejects.toThrow("crash");
    expect(host.files.text("/state")).toBe(content);
  });

  it("delays an access on the fake clock", async () => {
    host.files.intercept(async () => sleep(host.clock, 10));
    let isDone = false;
    const done = host.files.stat("/").then(() => {
      isDone = true;
    });
    await host.clock.advance(19);
    expect(isDone).toBe(false);
    await host.clock.advance(1);
    await done;
  });

  it("loses a notification", async () => {
    let calls = 0;
    const controller = new AbortController();
    const watching = host.files.watch("/", () => void calls++, controller.signal);
    await host.clock.settle();
    const remove = host.files.intercept(({ operation }) => {
      if (operation === "notify") throw new Error("lost");
    });
    host.files.put("/a", "");
    await host.clock.settle();
    expect(calls).toBe(1);
    remove();
    host.files.put("/b", "");
    await host.clock.settle();
    expect(calls).toBe(2);
    controller.abort();
    await watching;
  });
});
