import { describe, expect, it } from "vitest";
import { createLimiter } from "./limiter.ts";

/** Tasks that note when they begin, and that end on request. */
function createTasks(limit: number) {
  const limiter = createLimiter(limit);
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const run = async (name: string, signal?: AbortSignal) =>
    await limiter.run(async () => {
      begun.push(name);
      return await new Promise<string>((resolve, reject) => {
        ends.set(name, (error) => (error === undefined ? resolve(name) : reject(error)));
      });
    }, signal);
  const turn = async () => await new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string, error?: Error) => {
    await turn();
    ends.get(name)?.(error);
    await turn();
  };
  return { limiter, begun, run, end };
}

describe("a limiter", () => {
  it("lets so many run at once, the others in the order of their arrival", async () => {
    const { limiter, begun, run, end } = createTasks(2);
    const all = ["a", "b", "c", "d"].map(async (name) => await run(name));
    expect(limiter).toMatchObject({ active: 2, waiting: 2 });
    await end("b");
    expect(begun).toEqual(["a", "b", "c"]);
    await end("a");
    expect(begun).toEqual(["a", "b", "c", "d"]);
    await end("c");
    await end("d");
    expect(await Promise.all(all)).toEqual(["a", "b", "c", "d"]);
    expect(limiter).toMatchObject({ active: 0, waiting: 0 });
  });

  it("gives the place of one that fails to the next", async () => {
    const { begun, run, end } = createTasks(1);
    const failed = run("a").catch((error: Error) => error.message);
    const next = run("b");
    await end("a", new Error("no"));
    expect(await failed).toBe("no");
    expect(begun).toEqual(["a", "b"]);
    await end("b");
    await next;
  });

  it("lets one leave the line, and does not begin it then", async () => {
    const { limiter, begun, run, end } = createTasks(1);
    const controller = new AbortController();
    const first = run("a");
    const left = run("b", controller.signal).catch((error: Error) => error.name);
    const last = run("c");
    controller.abort();
    expect(await left).toBe("AbortError");
    expect(limiter.waiting).toBe(1);
    await end("a");
    expect(begun).toEqual(["a", "c"]);
    await end("c");
    await Promise.all([first, last]);
  });

  it("does not let in who comes with a signal that has fired", async () => {
    const { limiter, begun, run } = createTasks(1);
    await expect(run("a", AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
    expect(begun).toEqual([]);
    expect(limiter.active).toBe(0);
  });
});
