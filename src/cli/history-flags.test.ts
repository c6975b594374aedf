import { Command } from "commander";
import { expect, it } from "vitest";
import { addHistoryFlags, type HistoryFlags, readHistoryFlags } from "./history-flags.ts";

function read(...args: string[]) {
  const command = new Command().exitOverride().configureOutput({ writeErr() {} });
  addHistoryFlags(command);
  command.parse(args, { from: "user" });
  return readHistoryFlags(command.opts<HistoryFlags>());
}

it.each<[string[], ReturnType<typeof readHistoryFlags>]>([
  [[], { maxBytes: 16_777_216, maxAgeMs: 604_800_000 }],
  [["--history-size=0"], undefined],
  [["--history-size=1048576", "--history-age=1h30m"], { maxBytes: 1_048_576, maxAgeMs: 5_400_000 }],
])("%j bounds the history of the control plane", (args, bounds) => {
  expect(read(...args)).toEqual(bounds);
});

it.each([
  ["--history-size=1000", /at least 1048576, or 0/],
  ["--history-size=many", /number of bytes/],
  ["--history-age=week", /a duration such as 168h/],
])("%s is refused with the mend", (argument, message) => {
  expect(() => read(argument)).toThrow(message);
});
