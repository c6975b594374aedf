import { expect, it } from "vitest";
import { createHangGuard } from "../../../base/hang-guard.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { guardStorage } from "./guarded-storage.ts";

it("a look at a server that does not answer ends with an error, and others are looked at meanwhile", async () => {
  const host = createFakeHost();
  host.files.put("/srv/files/a", "");
  host.files.intercept(async ({ path }) => {
    if (path.startsWith("/mnt/hung")) await new Promise<never>(() => undefined);
  });
  const { files } = guardStorage(host, createHangGuard({ clock: host.clock, maxHung: 2 }));
  const hung = files.stat("/mnt/hung").catch((error: Error) => error.message);
  expect(await files.stat("/srv/files/a")).toMatchObject({ type: "file" });
  await host.clock.advance(30_000);
  expect(await hung).toBe("/mnt/hung has not answered within 30000 ms");
  await expect(files.stat("/mnt/hung")).rejects.toThrow("still waiting for /mnt/hung");
  expect(await files.stat("/srv/files/a")).toMatchObject({ type: "file" });
});

it("a part of a volume is not waited for either, and is known of until it has ended", async () => {
  const host = createFakeHost();
  host.files.put("/vol/part/file", "");
  host.files.put("/pods/.keep", "");
  let answer: (() => void) | undefined;
  const release = host.mounts.intercept(async ({ phase }) => {
    if (phase === "before") await new Promise<void>((resolve) => (answer = resolve));
  });
  const guard = createHangGuard({ clock: host.clock, maxHung: 2 });
  const { mounts } = guardStorage(host, guard);
  const shown = mounts.bindBeneath({ root: "/vol", path: "part", target: "/pods/0" }).catch((error: Error) => error);
  await host.clock.advance(29_999);
  expect(guard.overdue).toBe(0);
  await host.clock.advance(1);
  expect(await shown).toMatchObject({ code: "ETIMEDOUT" });
  expect(guard.overdue).toBe(1);
  release();
  await expect(mounts.bindBeneath({ root: "/other", path: "x", target: "/pods/1" })).rejects.toThrow("ENOENT");
  answer?.();
  await host.clock.settle();
  expect(guard.overdue).toBe(0);
});
