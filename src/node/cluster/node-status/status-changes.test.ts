import { expect, it } from "vitest";
import { createStatusChanges } from "./status-changes.ts";

it("tells all listeners of each change", () => {
  const changes = createStatusChanges();
  let heard = 0;
  changes.subscribe(() => void heard++);
  changes.subscribe(() => void heard++);
  changes.tell();
  changes.tell();
  expect(heard).toBe(4);
});
