import { expect, it } from "vitest";
import { createPressureNotice } from "./pressure-notice.ts";

const NONE = { memory: false, disk: false, pid: false };

it("tells what the node is short of, and of each change once", () => {
  const notice = createPressureNotice();
  let changes = 0;
  notice.subscribe(() => changes++);
  expect(notice.pressure()).toEqual(NONE);
  for (const disk of [false, true, true, false]) notice.set({ ...NONE, disk });
  expect(changes).toBe(2);
  notice.set({ ...NONE, pid: true });
  expect([changes, notice.pressure()]).toEqual([3, { ...NONE, pid: true }]);
});
