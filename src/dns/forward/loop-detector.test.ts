import { expect, it } from "vitest";
import { CodedError } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import { answerWith } from "../__fixtures__/messages.ts";
import { readQuery } from "../wire/read-query.ts";
import { createLoopDetector, type LoopDetector } from "./loop-detector.ts";

const SERVER = { address: "192.0.2.1", port: 53 };
const NEVER = new AbortController().signal;

/** A world in which the server answers, or sends everything back to us. */
function createRig() {
  const world = { sendsBack: false, isSilent: false };
  const errors: string[] = [];
  let numbers = 0;
  const detector: LoopDetector = createLoopDetector({
    call: async ({ message }) => {
      const received = readQuery(message, "udp");
      if (received.kind !== "query") throw new Error("a check asks a question that can be read");
      if (world.sendsBack) expect(detector.meets(received.query.name ?? "")).toBe(true);
      if (world.isSilent) throw new CodedError("timed-out", "no answer");
      return answerWith(message, { code: 3 });
    },
    randomNumber: () => ++numbers,
    log: { ...silentLog, error: (message) => void errors.push(message) },
  });
  return { world, detector, errors };
}

it("finds a server that asks us what we ask it, tells it once, and trusts it again when that is mended", async () => {
  const { world, detector, errors } = createRig();
  await detector.check(SERVER, NEVER);
  expect(detector.loops(SERVER)).toBe(false);
  world.sendsBack = true;
  await detector.check(SERVER, NEVER);
  await detector.check(SERVER, NEVER);
  expect(detector.loops(SERVER)).toBe(true);
  expect(errors).toHaveLength(1);
  world.sendsBack = false;
  await detector.check(SERVER, NEVER);
  expect(detector.loops(SERVER)).toBe(false);
});

it("takes silence for no loop, and meets no name that it has not asked", async () => {
  const { world, detector } = createRig();
  world.isSilent = true;
  await detector.check(SERVER, NEVER);
  expect(detector.loops(SERVER)).toBe(false);
  expect(detector.meets("1.2")).toBe(false);
  expect(detector.meets("www.example.com")).toBe(false);
});
