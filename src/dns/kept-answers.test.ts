import { describe, expect, it } from "vitest";
import { createKeptAnswers } from "./kept-answers.ts";

const question = (id: number, text = "web") => Buffer.concat([Buffer.from([id >> 8, id & 0xff]), Buffer.from(text)]);
const answer = { message: Buffer.from([0, 1, 7, 7]), type: "A", zone: "cluster.local." };

function setUp() {
  const zone = { revision: 1, serial: 1 };
  const names = {
    get revision() {
      return zone.revision;
    },
    hasNamespace: () => false,
    find: () => undefined,
    namesOf: () => [],
  };
  const answers = createKeptAnswers({ names, serial: () => zone.serial });
  answers.keep(question(1), "udp", answer);
  return { answers, zone };
}

describe("kept answers", () => {
  it("have the ID of who asks, and leave the kept one as it is", () => {
    const { answers } = setUp();
    expect(answers.recall(question(0x0203), "udp")).toEqual({ ...answer, message: Buffer.from([2, 3, 7, 7]) });
    expect(answers.recall(question(1), "udp")).toEqual(answer);
  });

  it("are those of the same bytes over the same transport", () => {
    const { answers } = setUp();
    expect(answers.recall(question(1), "tcp")).toBeUndefined();
    expect(answers.recall(question(1, "wEb"), "udp")).toBeUndefined();
    expect(answers.recall(Buffer.from([1]), "udp")).toBeUndefined();
  });

  it.each(["revision", "serial"] as const)("are forgotten with a new %s of the zone", (field) => {
    const { answers, zone } = setUp();
    zone[field]++;
    expect(answers.recall(question(1), "udp")).toBeUndefined();
  });

  it("take a bounded room, however many questions there are", () => {
    const { answers } = setUp();
    for (let index = 0; index < 20_000; index++) answers.keep(question(1, `name-${index}`), "udp", answer);
    expect(answers.recall(question(1), "udp")).toBeUndefined();
    expect(answers.recall(question(1, "name-19999"), "udp")).toBeDefined();
  });
});
