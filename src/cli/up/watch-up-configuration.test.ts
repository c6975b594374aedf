import { expect, it } from "vitest";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import type { UpConfiguration } from "./read-up-configuration.ts";
import type { UpValues } from "./up-configuration.ts";
import { watchUpConfiguration } from "./watch-up-configuration.ts";

/** A file that changes when the test says so. */
function createRig() {
  const clock = createFakeClock();
  const stop = new AbortController();
  const said: string[] = [];
  const state: { values: UpValues | Error; change: () => void; end: () => void } = {
    values: { apiPort: 1 },
    change: () => undefined,
    end: () => undefined,
  };
  const path = "/etc/nodelet/up.yaml";
  const watch = watchUpConfiguration(
    {
      clock,
      files: {
        async watch(_directory, onChange) {
          state.change = onChange;
          onChange();
          await new Promise<void>((resolve) => {
            state.end = resolve;
          });
        },
      },
      async read(): Promise<UpConfiguration> {
        if (state.values instanceof Error) throw state.values;
        return { path, values: state.values };
      },
      say: (line) => said.push(line),
    },
    { path, values: { apiPort: 1 } },
    stop.signal,
  );
  const change = async (values: UpValues | Error) => {
    state.values = values;
    state.change();
    await clock.advance(1_000);
  };
  return { clock, watch, change, said, stop, end: () => state.end() };
}

it("says each state of the file once, and what it needs", async () => {
  const { change, said, clock } = createRig();
  await clock.advance(1_000);
  expect(said).toEqual([]);
  await change({ apiPort: 2 });
  await change({ apiPort: 2 });
  expect(said).toEqual([
    expect.stringMatching(/up\.yaml has changed: apiPort: 2 instead of 1\. It counts from the next/),
  ]);
  await change(new Error("apiPort: must be a number"));
  expect(said.at(-1)).toMatch(/no start would succeed with it: apiPort: must be a number\. The node runs on/);
  await change({ apiPort: 1 });
  expect(said.at(-1)).toBe("/etc/nodelet/up.yaml says what it said when the node was started");
  expect(said).toHaveLength(3);
});

it("answers a signal, also when nothing has changed", async () => {
  const { watch, said, clock } = createRig();
  await clock.advance(1_000);
  watch.look();
  await clock.settle();
  expect(said).toEqual(["/etc/nodelet/up.yaml says what it said when the node was started"]);
});

it("says that it sees nothing any more when the directory is gone", async () => {
  const { said, end, clock } = createRig();
  await clock.advance(1_000);
  end();
  await clock.settle();
  expect(said).toEqual([expect.stringContaining("/etc/nodelet is gone")]);
});
