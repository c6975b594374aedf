import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createSendQueue, type SendQueue } from "./send-queue.ts";

describe("a queue of senders", () => {
  let queue: SendQueue;
  let nowMs: number;
  const sent: string[] = [];

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setImmediate", "setTimeout"] });
    nowMs = 1_000;
    vi.spyOn(performance, "now").mockImplementation(() => nowMs);
    sent.length = 0;
    queue = createSendQueue();
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  /** Adds a sender that takes `takesMs` to send and then calls `after`. */
  const add = (name: string, takesMs = 0, after: () => void = () => undefined) => {
    queue.add({
      send() {
        sent.push(name);
        nowMs += takesMs;
        after();
      },
    });
  };
  /** One turn of the event loop. */
  const turn = () => vi.advanceTimersToNextTimer();

  it("gives everyone a turn, and not before the current work is done", () => {
    for (const name of ["a", "b", "c"]) add(name);
    expect(sent).toEqual([]);
    turn();
    expect(sent).toEqual(["a", "b", "c"]);
  });

  it("lets who has more wait for everybody else", () => {
    add("a", 0, () => add("a again"));
    add("b");
    turn();
    expect(sent).toEqual(["a", "b"]);
    turn();
    expect(sent).toEqual(["a", "b", "a again"]);
  });

  it("makes a long round in slices, so that others run in between", () => {
    const names = Array.from({ length: 100 }, (_, index) => `${index}`);
    for (const name of names) add(name, 0.25);
    turn();
    const first = sent.length;
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(20);
    for (let turns = 0; turns < 20; turns++) turn();
    expect(sent).toEqual(names);
  });

  it.each([
    { takesMs: 3, restsMs: 0 },
    { takesMs: 6, restsMs: 6 },
    { takesMs: 100, restsMs: 8 },
  ])("rests $restsMs ms after a round of $takesMs ms", ({ takesMs, restsMs }) => {
    add("first", takesMs, () => add("next"));
    turn();
    if (restsMs > 0) vi.advanceTimersByTime(restsMs - 1);
    expect(sent).toEqual(["first"]);
    vi.advanceTimersByTime(1);
    expect(sent).toEqual(["first", "next"]);
  });

  it("joins the same chunks once, and others anew", () => {
    const [a, b, c] = [Buffer.from("a"), Buffer.from("b"), Buffer.from("c")];
    const first = queue.join([a, b]);
    expect(first.toString()).toBe("ab");
    expect(queue.join([a, b])).toBe(first);
    expect(queue.join([a, b, c]).toString()).toBe("abc");
    expect(queue.join([b, a]).toString()).toBe("ba");
    expect(queue.join([c])).toBe(c);
  });

  it("joins them to one chunk of HTTP/1.1 once for all, too", () => {
    const chunks = [Buffer.from("0123456789abcdef"), Buffer.from("ä")];
    const framed = queue.join(chunks, "chunked");
    expect(framed.toString()).toBe("12\r\n0123456789abcdefä\r\n");
    expect(queue.join([...chunks], "chunked")).toBe(framed);
    expect(queue.join(chunks).toString()).toBe("0123456789abcdefä");
    expect(queue.join(chunks.slice(1), "chunked").toString()).toBe("2\r\nä\r\n");
  });
});
