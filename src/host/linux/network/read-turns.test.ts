import { describe, expect, it } from "vitest";
import { createReadTurns, type PacedReader } from "./read-turns.ts";

describe("the turns of readers", () => {
  const setUp = () => {
    let ms = 0;
    const deferred: Array<() => void> = [];
    const said: string[] = [];
    const turns = createReadTurns({ now: () => ms, defer: (callback) => deferred.push(callback) });
    const reader = (name: string): PacedReader => ({
      pause: () => said.push(`${name} waits`),
      resume: () => said.push(`${name} reads`),
    });
    return {
      turns,
      said,
      reader,
      pass: (more: number) => {
        ms += more;
      },
      serveOthers: () => {
        for (const callback of deferred.splice(0)) callback();
      },
    };
  };

  it("let a reader read on that takes no longer than a turn", () => {
    const { turns, said, reader, pass, serveOthers } = setUp();
    const one = reader("one");
    for (let turn = 0; turn < 10; turn++) {
      turns.haveRead(one);
      pass(4);
      turns.haveRead(one);
      serveOthers();
    }
    expect(said).toEqual([]);
  });

  it("are over for each reader that goes beyond the time of all, and come one by one", () => {
    const { turns, said, reader, pass, serveOthers } = setUp();
    const [one, two, three] = [reader("one"), reader("two"), reader("three")];
    turns.haveRead(one);
    pass(5);
    for (const each of [two, one, three, two]) turns.haveRead(each);
    expect(said.splice(0)).toEqual(["two waits", "one waits", "three waits", "two waits"]);
    serveOthers();
    expect(said.splice(0)).toEqual(["two reads"]);
    pass(5);
    turns.haveRead(two);
    serveOthers();
    expect(said.splice(0)).toEqual(["two waits", "one reads"]);
    serveOthers();
    serveOthers();
    serveOthers();
    expect(said.splice(0)).toEqual(["three reads", "two reads"]);
  });
});
