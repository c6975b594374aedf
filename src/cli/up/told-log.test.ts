import { expect, it } from "vitest";
import { createLineLog } from "../line-log.ts";
import { alsoToJournal, alsoToTerminal } from "./told-log.ts";

const open = () => {
  const [file, told]: [string[], string[]] = [[], []];
  const now = () => 0;
  const own = createLineLog((line) => void file.push(line), now);
  const log = alsoToJournal(own, { write: (line) => void told.push(line), now });
  return { log, file, told };
};

it("tells a service's journal what goes wrong, with its priority and fields", () => {
  const { log, file, told } = open();
  const bound = log.with({ child: "node agent" });
  bound.error("ended", { code: 1 });
  bound.warn("slow");
  bound.info("ready");
  expect(told).toEqual([
    '<3>1970-01-01T00:00:00.000Z ERROR ended child="node agent" code=1\n',
    '<4>1970-01-01T00:00:00.000Z WARN  slow child="node agent"\n',
  ]);
  expect(file).toHaveLength(3);
});

it("tells a terminal what goes wrong, why, and what mends it", () => {
  const [file, told]: [string[], string[]] = [[], []];
  const own = createLineLog(
    (line) => void file.push(line),
    () => 0,
  );
  const log = alsoToTerminal(own, (line) => void told.push(line));
  log.error("pods reach nobody", { bridge: "nodelet0", error: "iptables is not installed" });
  log.with({ table: "raw" }).error("a firewall drops the packets of pods", { mend: "nft add rule" });
  log.error("odd", { error: 7 });
  log.warn("slow");
  expect(told).toEqual([
    "pods reach nobody: iptables is not installed",
    "a firewall drops the packets of pods: nft add rule",
    "odd",
  ]);
  expect(file).toHaveLength(4);
});
