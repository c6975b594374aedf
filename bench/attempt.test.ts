import { describe, expect, it } from "vitest";
import { attempt } from "./attempt.ts";

const fail = async () => await Promise.reject(new Error("no such pod\nwith a log"));
const toolsOf = (onFailure?: (message: string) => void, signal = new AbortController().signal) => ({
  signal,
  progress: () => undefined,
  ...(onFailure && { onFailure }),
});

describe("attempt", () => {
  it("gives what the case gives", async () => {
    expect(await attempt("single", toolsOf(), async () => 1)).toBe(1);
  });

  it("lets the first failure end a run that wants to know of none", async () => {
    await expect(attempt("single", toolsOf(), fail)).rejects.toThrow("no such pod");
  });

  it("tells of the failure of a case, by its name, and goes on", async () => {
    const failures: string[] = [];
    expect(
      await attempt(
        "single",
        toolsOf((message) => failures.push(message)),
        fail,
      ),
    ).toBeUndefined();
    expect(failures).toEqual(["single: no such pod\nwith a log"]);
  });

  it("ends a case that takes too long, and no other", async () => {
    const failures: string[] = [];
    const tools = toolsOf((message) => failures.push(message));
    const waitForEver = async ({ signal }: { signal: AbortSignal }) =>
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    expect(await attempt("single", tools, waitForEver, 1)).toBeUndefined();
    expect(failures).toEqual(["single: it took longer than 0 minutes"]);
    expect(tools.signal.aborted).toBe(false);
  });

  it("takes Ctrl-C for no failure of the case", async () => {
    const interrupted = new AbortController();
    interrupted.abort();
    const failures: string[] = [];
    const tools = toolsOf((message) => failures.push(message), interrupted.signal);
    await expect(attempt("single", tools, fail)).rejects.toThrow("abort");
    expect(failures).toEqual([]);
  });
});
