import { expect, it } from "vitest";
import { createLineLog } from "../line-log.ts";
import { alsoToJournal } from "./journal-log.ts";

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
