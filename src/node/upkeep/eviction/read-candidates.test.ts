import { beforeEach, describe, expect, it } from "vitest";
import { createFakeClock, type FakeClock } from "../../../host/fake/fake-clock.ts";
import { initialState, nextState, type PodState, type Subject } from "../../pods/workers/pod-state.ts";
import { candidateOf, type Sort } from "./__fixtures__/candidates.ts";
import type { PodConsumption } from "./pod-consumption.ts";
import { type CandidateReader, createCandidateReader } from "./read-candidates.ts";

const { signal } = new AbortController();

let clock: FakeClock;
let states: Map<string, PodState>;
let running: Set<string>;
let asked: string[];
/** The answers of the statistics, in order. The last answer is repeated. */
let answers: Array<readonly PodConsumption[]>;
let reader: CandidateReader;

beforeEach(() => {
  clock = createFakeClock();
  states = new Map();
  running = new Set();
  asked = [];
  answers = [[]];
  const answer = async (what: string) => {
    asked.push(what);
    const pods = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
    return await Promise.resolve({ pods });
  };
  reader = createCandidateReader({
    clock,
    workers: { states: () => states },
    stats: { summary: async () => await answer("summary"), cpuAndMemory: async () => await answer("kernel") },
    runsContainers: (uid) => running.has(uid),
  });
});

const add = (name: string, kill?: { deleted?: boolean; evicted?: boolean }) => {
  const subject = { kind: "pod", pod: candidateOf(name).pod } as const;
  const begun = initialState({ type: "create", subject }, name);
  states.set(name, kill === undefined ? begun : nextState(begun, { type: "kill", subject, kill }).state);
};
const usageOf = (name: string, sort: Sort): PodConsumption => {
  const { usage } = candidateOf(name, sort);
  return usage ?? { podRef: { uid: name }, containers: [] };
};
const namesOf = (found: Awaited<ReturnType<CandidateReader["read"]>>) => found.map(({ pod }) => pod.metadata?.name);

describe("who may be evicted", () => {
  it("is who runs, and who ends with more time than an eviction gives; nobody twice", async () => {
    add("runs");
    add("is deleted", { deleted: true });
    add("was evicted", { evicted: true });
    expect(namesOf(await reader.read("memory", signal))).toEqual(["runs", "is deleted"]);
  });

  it("uses nothing before it has started, and is not measured where it has and nobody could", async () => {
    add("starts");
    add("unmeasured");
    running.add("unmeasured");
    const found = await reader.read("memory", signal);
    expect(found.map(({ usage }) => usage?.memory?.workingSetBytes)).toEqual([0, undefined]);
  });

  it("memory is asked of the kernel alone, everything else of the whole statistics", async () => {
    await reader.read("memory", signal);
    await reader.read("pids", signal);
    await reader.read("inodes", signal);
    expect(asked).toEqual(["kernel", "summary", "summary"]);
  });

  it("uses nothing of its own before it has started, and not what another pod uses", async () => {
    add("starts");
    add("measured");
    running.add("measured");
    answers = [[usageOf("measured", { memory: 7 })]];
    const found = await reader.read("memory", signal);
    expect(found.map(({ usage }) => usage)).toEqual([
      { podRef: { uid: "starts" }, memory: { workingSetBytes: 0 }, containers: [] },
      usageOf("measured", { memory: 7 }),
    ]);
  });

  it("is no pod that only the runtime knows, and none that has ended", async () => {
    const reference = { uid: "orphan", name: "orphan", namespace: "ns" };
    const subject: Subject = { kind: "orphan", pod: { ...reference, sandboxes: [], containers: [] } };
    states.set("orphan", initialState({ type: "kill", subject, kill: {} }, "orphan_ns"));
    add("ended", { deleted: true });
    const ending = states.get("ended");
    if (ending?.phase !== "terminating") throw new Error("the pod is not ending");
    states.set("ended", { ...ending, phase: "terminated" });
    expect(await reader.read("memory", signal)).toEqual([]);
  });

  it("a disk that is being measured is waited for", async () => {
    add("writer");
    const whole = usageOf("writer", { layer: 1, logs: 2, volume: 3 });
    answers = [[usageOf("writer", { layer: 1, logs: 2 })], [usageOf("writer", { layer: 1, volume: 3 })], [whole]];
    const reading = reader.read("ephemeral-storage", signal);
    await clock.advance(1_000);
    expect((await reading)[0]?.usage).toEqual(whole);
    expect(asked).toHaveLength(3);
  });

  it.each(["ephemeral-storage", "inodes"] as const)("no other is waited for: %s", async (resource) => {
    for (const name of ["unmeasured", "without containers"]) {
      add(name);
      running.add(name);
    }
    add("in memory");
    Object.assign(states.get("in memory")?.subject.pod ?? {}, {
      spec: { volumes: [{ name: "v", emptyDir: { medium: "Memory" } }] },
    });
    answers = [
      [{ podRef: { uid: "without containers" }, containers: [] }, usageOf("in memory", { layer: 1, logs: 2 })],
      [],
    ];
    expect(await reader.read(resource, signal)).toHaveLength(3);
    expect(asked).toEqual(["summary"]);
  });

  it.each(["memory", "pids"] as const)("and for %s no disk is", async (resource) => {
    add("writer");
    answers = [[usageOf("writer", { layer: 1, logs: 2 })], []];
    expect(await reader.read(resource, signal)).toHaveLength(1);
    expect(asked).toHaveLength(1);
  });

  it("but for five seconds only", async () => {
    add("writer");
    answers = [[usageOf("writer", { layer: 1, logs: 2 })]];
    let isOver = false;
    const reading = reader.read("ephemeral-storage", signal).finally(() => {
      isOver = true;
    });
    await clock.advance(4_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(namesOf(await reading)).toEqual(["writer"]);
  });

  it("is nobody where the statistics fail, or do not come to an end", async () => {
    const never = async () => await new Promise<{ pods: readonly PodConsumption[] }>(() => undefined);
    const workers = { states: () => states };
    const stats = { summary: never, cpuAndMemory: never };
    const hung = createCandidateReader({ clock, workers, stats, runsContainers: () => false }).read("pids", signal);
    const outcome = expect(hung).rejects.toThrow("measuring the pods took longer than 10000 ms");
    await clock.advance(10_000);
    await outcome;
  });
});
