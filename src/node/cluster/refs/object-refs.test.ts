import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import type { Pod, PodSpec } from "../../../api/gen/types.ts";
import { AbortedError } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import { type Log, silentLog } from "../../../base/log.ts";
import { createSeededRandom } from "../../../base/random.ts";
import { createFakeClock, type FakeClock } from "../../../host/fake/fake-clock.ts";
import { createObjectServer, type ObjectServer } from "./__fixtures__/object-server.ts";
import { createObjectRefs, type ObjectRefs, type ObjectRefsOptions } from "./object-refs.ts";

const CONTENT = "aHVudGVyMg==";

/** Makes a pod of namespace `default` with an environment from one secret and a volume of another. */
const pod = (uid: string, { environment, mounted }: { environment?: string; mounted?: string }): Pod => {
  const spec: PodSpec = {
    containers: [{ name: "main", ...(environment && { envFrom: [{ secretRef: { name: environment } }] }) }],
    ...(mounted && { volumes: [{ name: "v", secret: { secretName: mounted } }] }),
  };
  return { metadata: { namespace: "default", name: `pod-${uid}`, uid }, spec };
};

let clock: FakeClock;
let server: ObjectServer;
let controller: AbortController;
let refs: ObjectRefs;
let running: Promise<void>;
let changes: string[];
let logged: string[];

const log: Log = {
  error: (message, fields) => void logged.push(`error ${message} ${JSON.stringify(fields)}`),
  warn: (message, fields) => void logged.push(`warn ${message} ${JSON.stringify(fields)}`),
  info: (message, fields) => void logged.push(`info ${message} ${JSON.stringify(fields)}`),
  debug: (message, fields) => void logged.push(`debug ${message} ${JSON.stringify(fields)}`),
  with: () => silentLog,
};

beforeEach(() => {
  clock = createFakeClock();
  server = createObjectServer();
  controller = new AbortController();
  changes = [];
  logged = [];
});

afterEach(async () => {
  controller.abort();
  await running;
  expect(clock.pendingTimers).toBe(0);
  expect(server.watched).toEqual([]);
  expect(logged.filter((line) => line.includes(CONTENT))).toEqual([]);
});

function create(strategy: ObjectRefsOptions["strategy"], options: Partial<ObjectRefsOptions> = {}) {
  refs = createObjectRefs(
    { client: server.client, clock, random: createSeededRandom(1), log },
    { strategy, ...options },
  );
  refs.subscribe(({ kind, namespace, name, podUids }) => {
    changes.push(`${kind} ${namespace}/${name}: ${podUids.join(" ")}`);
  });
}

async function start(strategy: ObjectRefsOptions["strategy"], options: Partial<ObjectRefsOptions> = {}) {
  create(strategy, options);
  running = refs.run(controller.signal);
  await clock.settle();
}

const putSecret = (name: string, fields: object = {}) =>
  server.put("secrets", { metadata: { namespace: "default", name }, data: { key: CONTENT }, ...fields });
/** Returns the revision of the secret, or the message of the rejection. */
const read = async (name: string, signal = controller.signal) =>
  refs.secret("default", name, signal).then(({ metadata }) => metadata?.resourceVersion, messageOf);
const register = async (...pods: Pod[]) => {
  for (const one of pods) refs.registerPod(one);
  await clock.settle();
};
const MINUTE = 60_000;

describe("strategy Watch", () => {
  it("watches one object, when the first pod names it and until no pod does", async () => {
    await start("Watch");
    await register(pod("1", { environment: "a" }), pod("2", { mounted: "a" }));
    expect(server.calls).toEqual(["list secrets default metadata.name=a"]);
    expect(server.watched).toEqual(["secrets default metadata.name=a"]);
    refs.unregisterPod("1");
    await clock.settle();
    expect(server.watched).toHaveLength(1);
    refs.unregisterPod("2");
    await clock.settle();
    expect(server.watched).toEqual([]);
  });

  it("watches nothing for a pod that names too many, and is refused for it", async () => {
    await start("Watch");
    const sources = Array.from({ length: 1_001 }, (_, index) => ({ secretRef: { name: `s${index}` } }));
    const metadata = { namespace: "default", name: "greedy", uid: "greedy" };
    refs.registerPod({ metadata, spec: { containers: [{ name: "main", envFrom: sources }] } });
    await clock.settle();
    expect(server.watched).toEqual([]);
    refs.registerPod({ metadata, spec: { containers: [{ name: "main", envFrom: sources.slice(0, 2) }] } });
    await clock.settle();
    expect(server.watched).toHaveLength(2);
    refs.unregisterPod("greedy");
  });

  it("follows a pod whose references change", async () => {
    await start("Watch");
    await register(pod("1", { environment: "a", mounted: "b" }));
    await register(pod("1", { environment: "c", mounted: "b" }));
    expect(server.watched).toEqual(["secrets default metadata.name=b", "secrets default metadata.name=c"]);
    expect(server.calls).toHaveLength(3);
  });

  it("reads config maps too", async () => {
    server.put("configmaps", { metadata: { namespace: "default", name: "c" }, data: { key: "value" } });
    await start("Watch");
    await register({
      metadata: { namespace: "default", name: "p", uid: "1" },
      spec: { containers: [], volumes: [{ name: "v", configMap: { name: "c" } }] },
    });
    expect((await refs.configMap("default", "c", controller.signal)).data).toEqual({ key: "value" });
    server.put("configmaps", { metadata: { namespace: "default", name: "c" }, data: {} });
    expect(changes).toEqual(["ConfigMap default/c: 1"]);
  });

  it("answers from its copy, asking nobody", async () => {
    putSecret("a");
    await start("Watch");
    await register(pod("1", { environment: "a" }));
    expect([await read("a"), await read("a")]).toEqual(["1", "1"]);
    putSecret("a");
    expect(await read("a")).toBe("2");
    expect(server.calls).toHaveLength(1);
  });

  it("answers as soon as the first list is in", async () => {
    putSecret("a");
    server.hold();
    await start("Watch");
    await register(pod("1", { environment: "a" }));
    const answer = read("a");
    await clock.advance(999);
    server.release();
    expect(await answer).toBe("1");
  });

  it.each<[string, string, () => void, number?]>([
    ["says nothing", "failed to sync secret cache: timed out waiting for the condition", () => server.hold(), 10],
    ["is away", "failed to sync secret cache: connect ECONNREFUSED", () => server.goAway()],
    [
      "forbids it",
      'failed to sync secret cache: secrets "a" is forbidden',
      () => {
        server.failure = new ApiError("Forbidden", 'secrets "a" is forbidden');
      },
    ],
    [
      "answers with a broken text",
      "failed to sync secret cache: the answer is not valid JSON",
      () => {
        server.failure = new SyntaxError(`Unexpected token in "${CONTENT}"`);
      },
    ],
  ])("rejects in time when the server %s", async (_what, message, happen, seconds = 1) => {
    happen();
    await start("Watch");
    await register(pod("1", { environment: "a" }));
    let answer: string | undefined;
    const reading = read("a").then((text) => {
      answer = text;
    });
    await clock.advance(seconds * 1_000 - 1);
    expect(answer).toBeUndefined();
    await clock.advance(1);
    expect(answer).toBe(message);
    await reading;
  });

  it("tells a pod that was rejected when the object is there", async () => {
    putSecret("a");
    server.goAway();
    await start("Watch");
    await register(pod("1", { environment: "a" }));
    void read("a");
    await clock.advance(5_000);
    server.failure = undefined;
    await clock.advance(MINUTE);
    expect(changes).toEqual(["Secret default/a: 1"]);
  });

  it("rejects what does not exist in the watch's words, and tells when it does", async () => {
    await start("Watch");
    await register(pod("1", { environment: "a" }));
    await expect(refs.secret("default", "a", controller.signal)).rejects.toMatchObject({
      reason: "NotFound",
      message: 'secret "a" not found',
    });
    putSecret("a");
    expect(changes).toEqual(["Secret default/a: 1"]);
    server.remove("secrets", "default", "a");
    expect(await read("a")).toBe('secret "a" not found');
  });

  it("rejects what no registered pod names", async () => {
    await start("Watch");
    await expect(refs.secret("default", "a", controller.signal)).rejects.toMatchObject({
      code: "not-registered",
      message: 'object "default"/"a" not registered',
    });
  });

  it("tells nothing that nobody was told otherwise", async () => {
    putSecret("a");
    await start("Watch");
    await register(pod("1", { environment: "a" }));
    putSecret("a");
    await read("a");
    expect(changes).toEqual([]);
    putSecret("a");
    await register(pod("2", { environment: "a" }));
    putSecret("a");
    expect(changes).toEqual(["Secret default/a: 1", "Secret default/a: 1 2"]);
  });

  it("tells no more to who has left", async () => {
    putSecret("a");
    await start("Watch");
    const heard: string[] = [];
    const leave = refs.subscribe(({ name }) => void heard.push(name));
    await register(pod("1", { environment: "a" }));
    await read("a");
    putSecret("a");
    leave();
    putSecret("a");
    expect(heard).toEqual(["a"]);
  });

  it("gives its copy while the server is away, and catches up", async () => {
    putSecret("a");
    await start("Watch");
    await register(pod("1", { mounted: "a" }));
    await read("a");
    server.goAway();
    putSecret("a");
    await clock.advance(600 * MINUTE);
    expect(await read("a")).toBe("1");
    server.failure = undefined;
    await clock.advance(MINUTE);
    expect(changes).toEqual(["Secret default/a: 1"]);
    expect(await read("a")).toBe("2");
    expect(logged.filter((line) => !line.startsWith("debug"))).toEqual([]);
  });

  it("watches an immutable object no more once it was read, and reads it anew for a pod that comes later", async () => {
    putSecret("a", { immutable: true });
    await start("Watch");
    await register(pod("1", { mounted: "a" }));
    expect(server.watched).toHaveLength(1);
    expect(await read("a")).toBe("1");
    await clock.settle();
    expect(server.watched).toEqual([]);
    server.remove("secrets", "default", "a");
    putSecret("a", { immutable: true });
    await register(pod("1", { mounted: "a" }));
    expect(await read("a")).toBe("1");
    await register(pod("2", { mounted: "a" }));
    expect(await read("a")).toBe("3");
    expect(changes).toEqual(["Secret default/a: 1 2"]);
  });

  it("watches no more what only an environment named, five minutes after it was asked for", async () => {
    putSecret("a");
    putSecret("b");
    await start("Watch");
    await register(pod("1", { environment: "a", mounted: "b" }));
    await clock.advance(4 * MINUTE);
    await read("a");
    await clock.advance(5 * MINUTE);
    expect(server.watched).toHaveLength(2);
    await clock.advance(MINUTE);
    expect(server.watched).toEqual(["secrets default metadata.name=b"]);
    putSecret("a");
    expect(await read("a")).toBe("3");
    expect(server.watched).toHaveLength(2);
  });

  it("does not take for idle what it has not got yet", async () => {
    server.hold();
    await start("Watch");
    await register(pod("1", { environment: "a" }));
    await clock.advance(30 * MINUTE);
    server.release();
    await clock.settle();
    expect(server.calls).toHaveLength(1);
    expect(await read("a")).toBe('secret "a" not found');
  });

  it("knows pods that were registered before it ran", async () => {
    putSecret("a");
    create("Watch");
    refs.registerPod(pod("1", { environment: "a" }));
    const early = read("a");
    running = refs.run(controller.signal);
    expect(await early).toBe("1");
  });

  it("rejects who is told to end while waiting", async () => {
    server.hold();
    await start("Watch");
    await register(pod("1", { environment: "a" }));
    const impatient = new AbortController();
    const answer = refs.secret("default", "a", impatient.signal);
    impatient.abort();
    await expect(answer).rejects.toThrow(AbortedError);
    server.release();
  });

  it("goes down with a listener that throws, and leaves no watch behind", async () => {
    putSecret("a");
    await start("Watch");
    refs.subscribe(() => {
      throw new TypeError("a bug");
    });
    await register(pod("1", { environment: "a" }));
    await read("a");
    const outcome = expect(running).rejects.toThrow("a bug");
    expect(() => putSecret("a")).toThrow("a bug");
    server.goAway();
    await outcome;
    running = Promise.resolve();
  });
});

describe("strategy Cache", () => {
  it("asks once a minute", async () => {
    putSecret("a");
    await start("Cache");
    await register(pod("1", { environment: "a" }));
    for (let second = 0; second < 120; second += 10) {
      await read("a");
      await clock.advance(10_000);
    }
    expect(server.calls).toEqual(["get secrets default/a", "get secrets default/a@1"]);
  });

  it("asks as often as the node's annotation says", async () => {
    await start("Cache", { ttlMs: () => 5_000 });
    putSecret("a");
    await register(pod("1", { environment: "a" }));
    await read("a");
    await clock.advance(5_000);
    await read("a");
    expect(server.calls).toHaveLength(2);
  });

  it("asks for the newest when another pod has come, and never again for the same", async () => {
    putSecret("a");
    await start("Cache");
    await register(pod("1", { environment: "a" }));
    await read("a");
    putSecret("a");
    await register(pod("1", { environment: "a" }));
    expect(await read("a")).toBe("1");
    await register(pod("2", { environment: "a" }));
    expect(await read("a")).toBe("2");
    expect(server.calls).toEqual(["get secrets default/a", "get secrets default/a"]);
    expect(changes).toEqual(["Secret default/a: 1 2"]);
  });

  it("shares one request among those who ask together", async () => {
    putSecret("a");
    server.hold();
    await start("Cache");
    await register(pod("1", { environment: "a" }));
    const answers = Promise.all([read("a"), read("a"), read("a")]);
    await clock.settle();
    server.release();
    expect(await answers).toEqual(["1", "1", "1"]);
    expect(server.calls).toHaveLength(1);
  });

  it("does not give a new pod the answer to a question from before it", async () => {
    putSecret("a");
    await start("Cache", { ttlMs: () => 5_000 });
    await register(pod("1", { environment: "a" }));
    await read("a");
    await clock.advance(5_000);
    server.hold();
    const early = read("a");
    await clock.settle();
    putSecret("a");
    await register(pod("2", { environment: "a" }));
    const late = read("a");
    await clock.settle();
    server.release();
    expect(await early).toBe("1");
    expect(await late).toBe("2");
    expect(await read("a")).toBe("2");
    expect(server.calls).toHaveLength(3);
  });

  it("gives a new pod what is read because of it, also where another pod has asked for that first", async () => {
    putSecret("a");
    await start("Cache");
    await register(pod("1", { environment: "a" }));
    await read("a");
    putSecret("a");
    await register(pod("2", { environment: "a" }));
    server.hold();
    const first = read("a");
    await clock.settle();
    const second = read("a");
    await clock.settle();
    server.release();
    expect([await first, await second]).toEqual(["2", "2"]);
    expect(server.calls).toHaveLength(2);
  });

  it("gives what it has while the server is away, then asks for the newest", async () => {
    putSecret("a");
    await start("Cache");
    await register(pod("1", { environment: "a" }));
    await read("a");
    server.goAway();
    await clock.advance(60 * MINUTE);
    expect(await read("a")).toBe("1");
    server.failure = undefined;
    putSecret("a");
    expect(await read("a")).toBe("2");
    expect(server.calls.at(-1)).toBe("get secrets default/a");
  });

  it("rejects as the server does when it has nothing", async () => {
    await start("Cache");
    await register(pod("1", { environment: "a" }));
    expect(await read("a")).toBe('secrets "a" not found');
    server.goAway();
    expect(await read("a")).toBe("connect ECONNREFUSED");
  });

  it("believes that an object is gone, and tells", async () => {
    putSecret("a");
    await start("Cache");
    await register(pod("1", { environment: "a" }), pod("2", { environment: "a" }));
    await read("a");
    server.remove("secrets", "default", "a");
    await clock.advance(MINUTE);
    expect(await read("a")).toBe('secrets "a" not found');
    expect(changes).toEqual(["Secret default/a: 1 2"]);
  });

  it("forgets what no pod names any more", async () => {
    putSecret("a");
    await start("Cache");
    await register(pod("1", { environment: "a" }));
    await read("a");
    refs.unregisterPod("1");
    expect(await read("a")).toBe('object "default"/"a" not registered');
  });
});

describe("strategy Get", () => {
  it("asks each time, whoever asks", async () => {
    putSecret("a");
    await start("Get");
    await register(pod("1", { environment: "a" }));
    refs.unregisterPod("1");
    expect([await read("a"), await read("a"), await read("b")]).toEqual(["1", "1", 'secrets "b" not found']);
    expect(server.calls).toHaveLength(3);
  });
});
