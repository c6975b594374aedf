import { describe, expect, it } from "vitest";
import type { Container, LifecycleHandler, Pod } from "../../../api/gen/types.ts";
import {
  CONTAINER_PRESTOP_HANDLER_ANNOTATION,
  POD_TERMINATION_GRACE_PERIOD_ANNOTATION,
} from "../../../api/well-known.ts";
import {
  createFakeNode,
  type MadeContainer,
  NEVER,
  POLITE,
  SLOW,
  STUBBORN,
} from "../reading/__fixtures__/fake-node.ts";
import { stopPod } from "./stop-pod.ts";

interface Shape {
  main?: Array<Partial<Container>>;
  sidecars?: Array<Partial<Container>>;
  graceSeconds?: number;
}

function makePod({ main = [{ name: "main" }], sidecars = [], graceSeconds = 30 }: Shape = {}): Pod {
  return {
    metadata: { uid: "uid-1", name: "web", namespace: "default" },
    spec: {
      terminationGracePeriodSeconds: graceSeconds,
      containers: main.map((container) => ({ name: "main", ...container })),
      initContainers: sidecars.map((container) => ({ name: "side", restartPolicy: "Always", ...container })),
    },
  };
}

const preStop = (handler: LifecycleHandler): Partial<Container> => ({ name: "main", lifecycle: { preStop: handler } });
const exec = (...command: string[]) => preStop({ exec: { command } });

/** Stops a pod that runs these commands; returns what was asked of the runtime, and when it was over. */
async function stop(
  pod: Pod,
  commands: Record<string, readonly string[] | MadeContainer>,
  options: { gracePeriodSeconds?: number; orphan?: boolean; rig?: ReturnType<typeof createFakeNode> } = {},
) {
  const rig = options.rig ?? createFakeNode();
  const containers = Object.entries(commands).map(([name, made]) => [
    name,
    "command" in made ? made : { command: made },
  ]);
  await rig.makePod(pod, Object.fromEntries(containers));
  await rig.clock.settle();
  const status = await rig.read(pod);
  const begun = rig.clock.monotonic();
  let took: number | undefined;
  const unprobed: string[] = [];
  const endProbes = (id: string) => {
    const name = status.containers.find((container) => container.id === id)?.name;
    unprobed.push(`${(rig.clock.monotonic() - begun) / 1000}s ${name}`);
  };
  const deps = { runtime: rig.cri.runtime, host: rig.host, timeline: rig.timeline, metrics: undefined, endProbes };
  const { gracePeriodSeconds, orphan = false } = options;
  const stopped = stopPod(deps, orphan ? undefined : pod, status, { gracePeriodSeconds, signal: NEVER })
    .then(() => undefined)
    .catch((error: unknown) => error)
    .finally(() => {
      took = (rig.clock.monotonic() - begun) / 1000;
    });
  await rig.clock.settle();
  for (let step = 0; step < 1_000 && took === undefined; step++)
    await rig.clock.advance(rig.clock.untilNextTimer() ?? 0);
  return { ...rig, error: await stopped, took, unprobed };
}

describe("the grace period", () => {
  it.each([
    ["is the pod's", makePod({ graceSeconds: 20 }), undefined, 20],
    ["is what is asked for", makePod({ graceSeconds: 20 }), 5, 5],
    ["is at least two seconds", makePod({ graceSeconds: 0 }), undefined, 2],
    ["is at least two seconds also when less is asked for", makePod(), 1, 2],
  ])("%s", async (_name, pod, gracePeriodSeconds, expected) => {
    const options = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
    const { calls, took, error, cri } = await stop(pod, { main: STUBBORN }, options);
    expect(error).toBeUndefined();
    expect(calls).toEqual([`0s stop main ${expected}`, `${expected}s stopPodSandbox`]);
    expect(took).toBe(expected);
    expect(cri.containers()).toMatchObject([{ state: "exited", exitCode: 137 }]);
    expect(cri.sandboxes()).toMatchObject([{ state: "notready" }]);
  });

  it("is no longer than a runtime can count", async () => {
    const { calls, error } = await stop(makePod({ graceSeconds: 2 ** 63 }), { main: POLITE });
    expect({ error, stop: calls[0] }).toEqual({ error: undefined, stop: "0s stop main 9223372036" });
  });

  it("ends a container's probes when the container has ended, and once more with its address", async () => {
    const { unprobed } = await stop(makePod({ graceSeconds: 20 }), { main: STUBBORN });
    expect(unprobed).toEqual(["20s main", "20s main"]);
  });

  it("is not waited for by who ends sooner", async () => {
    const { took, events } = await stop(makePod(), { main: POLITE });
    expect(took).toBe(0);
    expect(events()).toEqual(["Killing: Stopping container main"]);
  });

  it("of an orphan's container is what was written on it, and no more than is granted", async () => {
    const annotations = (seconds: number) => ({ [POD_TERMINATION_GRACE_PERIOD_ANNOTATION]: `${seconds}` });
    const commands = {
      short: { command: STUBBORN, annotations: annotations(5) },
      long: { command: STUBBORN, annotations: annotations(600) },
      bare: STUBBORN,
    };
    const { calls } = await stop(makePod(), commands, { orphan: true, gracePeriodSeconds: 30 });
    expect(calls.slice(0, 3).toSorted()).toEqual(["0s stop bare 30", "0s stop long 30", "0s stop short 5"]);
  });
});

describe("a preStop hook", () => {
  it("runs first, and its seconds are taken from the grace period", async () => {
    const { calls, error } = await stop(makePod({ main: [exec("sleep", "4.6")], graceSeconds: 10 }), {
      main: STUBBORN,
    });
    expect(error).toBeUndefined();
    expect(calls).toEqual(["0s execSync", "4.6s stop main 6", "10.6s stopPodSandbox"]);
  });

  it("that takes all the time there is leaves the container two seconds, and an event", async () => {
    const pod = makePod({ main: [exec("sleep", "60")], graceSeconds: 10 });
    const { calls, events } = await stop(pod, { main: STUBBORN });
    expect(calls).toEqual(["0s execSync", "10s stop main 2", "12s stopPodSandbox"]);
    expect(events()).toEqual([
      "Killing: Stopping container main",
      expect.stringContaining("FailedPreStopHook: PreStopHook failed: "),
    ]);
  });

  it("that takes longer than there is time runs on until its container ends", async () => {
    const pod = makePod({ main: [exec("sleep", "11")], graceSeconds: 10 });
    const { calls, events } = await stop(pod, { main: STUBBORN });
    expect(calls).toEqual(["0s execSync", "10s stop main 2", "12s stopPodSandbox"]);
    expect(events()).toEqual(["Killing: Stopping container main"]);
  });

  it("may be a sleep", async () => {
    const pod = makePod({ main: [preStop({ sleep: { seconds: 7 } })] });
    const { calls } = await stop(pod, { main: POLITE });
    expect(calls[0]).toBe("7s stop main 23");
  });

  it("may be an HTTP request, to the pod's own address where it names none", async () => {
    const rig = createFakeNode();
    const pod = makePod({
      main: [
        { ...preStop({ httpGet: { port: "http", path: "bye" } }), ports: [{ name: "http", containerPort: 8080 }] },
      ],
    });
    const { host, calls, events } = await stop(pod, { main: POLITE }, { rig });
    expect(host.http.requests.map(({ url }) => url)).toEqual(["http://10.88.0.2:8080/bye"]);
    expect(calls[0]).toBe("0s stop main 30");
    expect(events()[1]).toContain("FailedPreStopHook: PreStopHook failed: connect ECONNREFUSED");
  });

  it("of an orphan is the one that was written on its container", async () => {
    const annotations = {
      [CONTAINER_PRESTOP_HANDLER_ANNOTATION]: JSON.stringify({ exec: { command: ["sleep", "3"] } }),
    };
    const { calls } = await stop(makePod(), { main: { command: STUBBORN, annotations } }, { orphan: true });
    expect(calls.slice(0, 2)).toEqual(["0s execSync", "3s stop main 27"]);
  });
});

describe("sidecars", () => {
  const sidecars = [{ name: "first" }, { name: "second" }];

  it("stop after the main containers, the last started first", async () => {
    const { calls, took } = await stop(makePod({ sidecars }), { first: SLOW, second: SLOW, main: SLOW });
    expect(calls).toEqual(["0s stop main 30", "3s stop second 27", "6s stop first 24", "9s stopPodSandbox"]);
    expect(took).toBe(9);
  });

  it("wait for the main containers no longer than the grace period, and get two seconds then", async () => {
    const pod = makePod({ sidecars, graceSeconds: 10 });
    const { calls } = await stop(pod, { first: STUBBORN, second: STUBBORN, main: STUBBORN });
    expect(calls).toEqual(["0s stop main 10", "10s stop first 2", "10s stop second 2", "12s stopPodSandbox"]);
  });

  it("run their preStop hooks at once, without waiting for their turn", async () => {
    const side = { ...exec("sleep", "1"), name: "side" };
    const { calls } = await stop(makePod({ sidecars: [side] }), { side: POLITE, main: SLOW });
    expect(calls).toEqual(["0s stop main 30", "0s execSync", "3s stop side 27", "3s stopPodSandbox"].toSorted());
  });

  it("do not wait for a main container that does not run", async () => {
    const { calls } = await stop(makePod({ sidecars }), { first: POLITE, main: ["true"] });
    expect(calls).toEqual(["0s stop first 30", "0s stopPodSandbox"]);
  });
});

describe("when the runtime fails", () => {
  it("a call is made again for as long as the container has, the rest is stopped too, and all failures are told", async () => {
    const rig = createFakeNode();
    rig.failing.set("stopContainer", "unavailable");
    const pod = makePod({ main: [{ name: "a" }, { name: "b" }], graceSeconds: 3 });
    const { calls, error } = await stop(pod, { a: STUBBORN, b: STUBBORN }, { rig });
    expect(calls.filter((call) => call.includes(" stop a"))).toEqual([
      "0s stop a 3",
      "1s stop a 2",
      "2s stop a 1",
      "3s stop a 1",
    ]);
    expect(calls.at(-1)).toBe("3s stopPodSandbox");
    expect(error).toMatchObject({ message: expect.stringMatching(/^stopping the pod: .*; /) });
  });

  it("what is gone counts as stopped", async () => {
    const rig = createFakeNode();
    for (const rpc of ["stopContainer", "stopPodSandbox"]) rig.failing.set(rpc, "not-found");
    expect((await stop(makePod(), { main: STUBBORN }, { rig })).error).toBeUndefined();
  });

  it("stops at once when nobody wants it any more", async () => {
    const rig = createFakeNode();
    const pod = makePod();
    await rig.makePod(pod, { main: { command: STUBBORN } });
    const controller = new AbortController();
    const deps = {
      runtime: rig.cri.runtime,
      host: rig.host,
      timeline: rig.timeline,
      metrics: undefined,
      endProbes: undefined,
    };
    const options = { gracePeriodSeconds: undefined, signal: controller.signal };
    const stopped = stopPod(deps, pod, await rig.read(pod), options).catch((error: Error) => error.name);
    await rig.clock.advance(1_000);
    controller.abort();
    expect(await stopped).toBe("AbortError");
    expect(rig.calls).toEqual(["0s stop main 30"]);
  });
});
