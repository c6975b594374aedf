import { expect, it } from "vitest";
import { createErrorWatch } from "./error-watch.ts";

it("tells each change of the errors, and no look without one", () => {
  let errors: string[] = [];
  let changes = 0;
  const look = createErrorWatch(
    () => errors,
    () => void changes++,
  );
  const lookAt = (...next: string[]) => {
    errors = next;
    look();
    return changes;
  };
  expect([lookAt(), lookAt("a"), lookAt("a"), lookAt("a", "b"), lookAt(), lookAt()]).toEqual([0, 1, 1, 2, 3, 3]);
});
