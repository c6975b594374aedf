import { closeSync, fstatSync, openSync } from "node:fs";
import { expect, it } from "vitest";
import { isJournal } from "./journal-stream.ts";

it("knows what systemd has given it to write to from what it has not", () => {
  const descriptor = openSync("/dev/null", "w");
  try {
    const { dev, ino } = fstatSync(descriptor);
    const judged = [{ JOURNAL_STREAM: `${dev}:${ino}` }, { JOURNAL_STREAM: `${dev}:${ino + 1}` }, {}].map(
      (environment) => isJournal(descriptor, environment),
    );
    expect(judged).toEqual([true, false, false]);
  } finally {
    closeSync(descriptor);
  }
});
