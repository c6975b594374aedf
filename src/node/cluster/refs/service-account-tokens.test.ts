import { beforeEach, describe, expect, it } from "vitest";
import { notFoundError } from "../../../api/api-error.ts";
import type { TokenRequest } from "../../../api/gen/types.ts";
import { AbortedError, untilAborted } from "../../../base/abort.ts";
import { formatTime } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { type Log, silentLog } from "../../../base/log.ts";
import { createFakeClock, type FakeClock } from "../../../host/fake/fake-clock.ts";
import { type ChildResource, type KubeClient, KubeUnreachableError } from "../../../kube/port.ts";
import {
  createServiceAccountTokens,
  type ServiceAccountTokenRequest,
  type ServiceAccountTokens,
} from "./service-account-tokens.ts";

const HOUR = 3_600_000;
const request = (fields: Partial<ServiceAccountTokenRequest> = {}): ServiceAccountTokenRequest => ({
  namespace: "default",
  serviceAccount: "builder",
  audiences: [],
  expirationSeconds: 3_600,
  pod: { name: "web", uid: "uid-web" },
  ...fields,
});

let clock: FakeClock;
let tokens: ServiceAccountTokens;
let asked: Array<{ path: string; child: ChildResource<unknown> }>;
let failure: Error | undefined;
/** The server's answer about token number n. Default: what was asked for. */
let answer: (issued: number, expirationSeconds: number) => TokenRequest;
let gate: Promise<void>;
let logged: string[];

const client: Pick<KubeClient, "createBeneath"> = {
  async createBeneath(parent, { namespace, name }, child) {
    asked.push({ path: `${parent.plural}/${namespace}/${name}/${child.subresource}`, child });
    const issued = asked.length;
    await untilAborted(gate, child.signal ?? new AbortController().signal);
    if (failure !== undefined) throw failure;
    return child.resource.read(answer(issued, secondsOf(child.body)));
  },
};
const secondsOf = (body: unknown) => {
  const { spec } = Object(body);
  return Number(spec.expirationSeconds);
};
const log: Log = { ...silentLog, warn: (message, fields) => void logged.push(`${message} ${JSON.stringify(fields)}`) };

beforeEach(() => {
  clock = createFakeClock();
  asked = [];
  logged = [];
  failure = undefined;
  gate = Promise.resolve();
  answer = (issued, expirationSeconds) => ({
    spec: { expirationSeconds },
    status: {
      token: `secret-token-${issued}`,
      expirationTimestamp: formatTime(clock.now() + expirationSeconds * 1_000),
    },
  });
  tokens = createServiceAccountTokens({ client, clock, random: { next: () => 0.5 }, log });
});

const signal = new AbortController().signal;
/** Returns the number of the token, or the message of the rejection. */
const get = async (fields: Partial<ServiceAccountTokenRequest> = {}) =>
  tokens.get(request(fields), signal).then(({ token }) => Number(token.replace("secret-token-", "")), messageOf);

describe("service account tokens", () => {
  it("are bound to the pod and for the audiences that are asked for", async () => {
    const { token, expiresAt } = await tokens.get(request({ audiences: ["vault"] }), signal);
    expect({ token, expiresAt }).toEqual({ token: "secret-token-1", expiresAt: clock.now() + HOUR });
    expect(asked[0]?.path).toBe("serviceaccounts/default/builder/token");
    expect(asked[0]?.child.body).toEqual({
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {
        audiences: ["vault"],
        expirationSeconds: 3_600,
        boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "web", uid: "uid-web" },
      },
    });
  });

  it("are kept for who asks for the very same", async () => {
    expect([await get(), await get()]).toEqual([1, 1]);
  });

  it.each<[string, Partial<ServiceAccountTokenRequest>]>([
    ["namespace", { namespace: "other" }],
    ["service account", { serviceAccount: "other" }],
    ["audience", { audiences: ["other"] }],
    ["life", { expirationSeconds: 7_200 }],
    ["pod", { pod: { name: "web", uid: "other" } }],
  ])("are others for another %s", async (_what, fields) => {
    expect([await get(), await get(fields), await get()]).toEqual([1, 2, 1]);
  });

  it("do not mix up audiences that read alike when joined", async () => {
    expect([await get({ audiences: ["a", "b"] }), await get({ audiences: ["a,b"] })]).toEqual([1, 2]);
  });

  it.each<[string, number, number]>([
    ["80 % of an hour", 3_600, 0.8 * HOUR],
    ["80 % of ten minutes", 600, 0.8 * 600_000],
    ["a day of a year", 365 * 24 * 3_600, 24 * HOUR],
  ])("are asked for anew after %s, a little earlier by chance", async (_what, expirationSeconds, expected) => {
    const dueAfter = expected - 5_000;
    expect((await tokens.get(request({ expirationSeconds }), signal)).refreshAfterMs).toBe(dueAfter);
    await clock.advance(dueAfter - 1);
    expect(await get({ expirationSeconds })).toBe(1);
    await clock.advance(1);
    expect(await get({ expirationSeconds })).toBe(2);
    expect(await get({ expirationSeconds })).toBe(2);
  });

  it("live as long as the server says", async () => {
    answer = (issued) => ({
      spec: { expirationSeconds: 600 },
      status: { token: `secret-token-${issued}`, expirationTimestamp: formatTime(clock.now() + 600_000) },
    });
    expect((await tokens.get(request(), signal)).refreshAfterMs).toBe(475_000);
  });

  it.each<[string, number]>([
    ["went back behind when they were given", -60_000],
    ["jumped past when they are due", 0.8 * HOUR],
  ])("are asked for anew when the wall clock %s", async (_what, jump) => {
    await get();
    await clock.advance(10_000);
    clock.jumpWallClock(jump);
    expect(await get()).toBe(2);
  });

  it("are due by their age although the wall clock goes back all the time", async () => {
    await get();
    await clock.advance(0.8 * HOUR);
    clock.jumpWallClock(-0.8 * HOUR + 1_000);
    expect(await get()).toBe(2);
  });

  it("are not asked for all the time where the server's clock is ahead", async () => {
    answer = (issued, expirationSeconds) => ({
      spec: { expirationSeconds },
      status: { token: `secret-token-${issued}`, expirationTimestamp: formatTime(clock.now() + 2 * HOUR) },
    });
    expect([await get(), await get()]).toEqual([1, 1]);
  });

  it.each([
    ["have no life", { expirationSeconds: 0 }, HOUR],
    ["have a life below zero", { expirationSeconds: -1_000_000 }, HOUR],
    ["live for a second", { expirationSeconds: 1 }, 1_000],
    ["have ended", { expirationSeconds: 3_600 }, -HOUR],
  ])("that %s are asked for, and told to the pod, every ten seconds at most", async (_name, spec, endsInMs) => {
    answer = (issued) => ({
      spec,
      status: { token: `secret-token-${issued}`, expirationTimestamp: formatTime(clock.now() + endsInMs) },
    });
    const running = new AbortController();
    const run = tokens.run(running.signal);
    const told: string[] = [];
    // The pod that is told asks soon, as a sync of it does.
    tokens.subscribe((podUid) => {
      told.push(podUid);
      clock.setTimer(1, () => void tokens.get(request(), running.signal));
    });
    await tokens.get(request(), running.signal);
    for (let second = 0; second < 60; second++) await clock.advance(1_000);
    expect(asked.length).toBeLessThanOrEqual(7);
    expect(told.length).toBeLessThanOrEqual(7);
    running.abort();
    await run;
  });

  it("are asked for once by those who ask together", async () => {
    expect(await Promise.all([get(), get(), get()])).toEqual([1, 1, 1]);
    expect(asked).toHaveLength(1);
  });

  it("are not waited for by one who is told to end", async () => {
    gate = new Promise(() => undefined);
    const impatient = new AbortController();
    const answered = tokens.get(request(), impatient.signal);
    impatient.abort();
    await expect(answered).rejects.toThrow(AbortedError);
    expect(asked[0]?.child.signal?.aborted).toBe(true);
  });
});

describe("a token that the pod is shown when the node agent starts", () => {
  const issuedAt = () => Math.floor(clock.now() / 1_000);
  const claims = (life = 3_600) => ({
    ...{ aud: ["https://kubernetes.default.svc"], iat: issuedAt(), exp: issuedAt() + life },
    "kubernetes.io": {
      namespace: "default",
      pod: { name: "web", uid: "uid-web" },
      serviceaccount: { name: "builder", uid: "uid-builder" },
    },
  });
  const write = (body: object) => `header.${Buffer.from(JSON.stringify(body)).toString("base64url")}.signature`;
  const shown = (token: string | undefined) => ({ shown: async () => Promise.resolve(token) });
  const getShown = async (token: string, fields: Partial<ServiceAccountTokenRequest> = {}) => {
    const given = await tokens.get(request({ ...shown(token), ...fields }), signal);
    return given.token === token ? "kept" : given.token;
  };

  it("is kept until it is due, counted from when it was given", async () => {
    const token = write(claims());
    await clock.advance(0.5 * HOUR);
    expect(await getShown(token)).toBe("kept");
    await clock.advance(0.3 * HOUR - 5_001);
    expect(await getShown(token)).toBe("kept");
    expect(asked).toEqual([]);
    await clock.advance(1_000);
    expect(await getShown(token)).toBe("secret-token-1");
  });

  it("is told to the pod when the next is due", async () => {
    const due: string[] = [];
    const controller = new AbortController();
    tokens.subscribe((podUid) => void due.push(podUid));
    const running = tokens.run(controller.signal);
    const token = write(claims());
    await clock.advance(0.5 * HOUR);
    await getShown(token);
    await clock.advance(0.3 * HOUR);
    expect(due).toEqual(["uid-web"]);
    controller.abort();
    await running;
  });

  it("ends when its server says that clients should have the next one", async () => {
    const long = claims(365 * 24 * 3_600);
    const token = write({ ...long, "kubernetes.io": { ...long["kubernetes.io"], warnafter: issuedAt() + 3_607 } });
    expect(await getShown(token)).toBe("kept");
    await clock.advance(0.8 * HOUR + 6_000);
    expect(await getShown(token)).toBe("secret-token-1");
  });

  it("is looked for once", async () => {
    const token = write(claims());
    expect(await getShown(token)).toBe("kept");
    expect(await getShown("something else")).toBe(token);
  });

  it.each<[string, () => string, Partial<ServiceAccountTokenRequest>]>([
    ["is due", () => write({ ...claims(), iat: issuedAt() - 3_000, exp: issuedAt() + 600 }), {}],
    ["has ended", () => write({ ...claims(), iat: issuedAt() - 7_200, exp: issuedAt() - 3_600 }), {}],
    ["is of the future", () => write({ ...claims(), iat: issuedAt() + 60 }), {}],
    ["tells no time", () => write({ ...claims(), iat: undefined }), {}],
    ["is another pod's", () => write(claims()), { pod: { name: "web", uid: "another" } }],
    ["is another account's", () => write(claims()), { serviceAccount: "another" }],
    ["is of an earlier account of that name", () => write(claims()), { serviceAccountUid: "another" }],
    ["is of another namespace", () => write(claims()), { namespace: "another" }],
    ["is for another audience", () => write(claims()), { audiences: ["vault"] }],
    ["is no token", () => "../../etc/passwd", {}],
    ["holds no object", () => write([1]), {}],
    ["is empty", () => "", {}],
  ])("is not kept where it %s", async (_what, token, fields) => {
    expect(await getShown(token(), fields)).toBe("secret-token-1");
  });

  it("is kept for the audience that is asked for, however it is written", async () => {
    expect(await getShown(write({ ...claims(), aud: "vault" }), { audiences: ["vault"] })).toBe("kept");
  });

  it("is done without where it cannot be read", async () => {
    const failing = async () => Promise.reject(new Error("EIO"));
    expect(await get({ shown: failing })).toBe(1);
  });
});

describe("service account tokens while the server is away", () => {
  const unreachable = () => new KubeUnreachableError("unreachable", "connect ECONNREFUSED");

  it("are given for as long as they are valid", async () => {
    await get();
    failure = unreachable();
    await clock.advance(0.9 * HOUR);
    expect(await get()).toBe(1);
    expect(logged).toHaveLength(1);
    expect(logged[0]).not.toContain("secret-token");
    await clock.advance(0.1 * HOUR);
    expect(await get()).toBe(
      'token "builder"/"default"/[]/3600/{"name":"web","uid":"uid-web"} expired and refresh failed: connect ECONNREFUSED',
    );
  });

  it("are not asked for again within ten seconds, and then without long waits", async () => {
    await get();
    failure = unreachable();
    await clock.advance(0.9 * HOUR);
    expect([await get(), await get()]).toEqual([1, 1]);
    expect(asked).toHaveLength(2);
    expect(asked[1]?.child.timeoutMs).toBe(3_000);
    failure = undefined;
    await clock.advance(10_000);
    expect(await get()).toBe(3);
  });

  it.each<[string, () => void, string]>([
    ["it is away", () => (failure = unreachable()), "failed to fetch token: connect ECONNREFUSED"],
    [
      "it knows no such account",
      () => (failure = notFoundError({ group: "", resource: "serviceaccounts" }, "builder")),
      'failed to fetch token: serviceaccounts "builder" not found',
    ],
    [
      "its answer is broken",
      () => (failure = new SyntaxError('Unexpected end in "secret-token')),
      "failed to fetch token: the answer is not valid JSON",
    ],
    [
      "its answer holds none",
      () => {
        answer = () => ({ status: {} });
      },
      "failed to fetch token: the answer holds no token",
    ],
  ])("are missed where there was none and %s", async (_what, happen, message) => {
    happen();
    expect(await get()).toBe(message);
    expect(await get()).toBe(message);
    expect(asked).toHaveLength(2);
  });
});

describe("service account tokens of a pod that is gone", () => {
  it("are forgotten, and those of others are not", async () => {
    await get();
    await get({ pod: { name: "other", uid: "uid-other" } });
    tokens.forgetPod("uid-web");
    expect(await get({ pod: { name: "other", uid: "uid-other" } })).toBe(2);
    expect(await get()).toBe(3);
  });

  it("are not kept when they come late", async () => {
    const late = get();
    tokens.forgetPod("uid-web");
    expect(await late).toBe(1);
    expect(await get()).toBe(2);
  });
});

describe("the number of tokens", () => {
  it("is bounded: the one that was asked for first goes", async () => {
    const podOf = (index: number) => ({ pod: { name: "p", uid: `uid-${index}` } });
    for (let index = 0; index <= 4_096; index++) await get(podOf(index));
    expect(await get(podOf(1))).toBe(2);
    expect(await get(podOf(0))).toBe(4_098);
  });
});

describe("the time for the next token", () => {
  let due: string[];
  let stop: () => Promise<void>;

  beforeEach(() => {
    due = [];
    const controller = new AbortController();
    tokens.subscribe((podUid) => void due.push(podUid));
    const running = tokens.run(controller.signal);
    stop = async () => {
      controller.abort();
      await running;
      expect(clock.pendingTimers).toBe(0);
    };
  });

  it("is told to the pod by itself, once, whatever else wakes it", async () => {
    await get();
    await clock.advance(0.8 * HOUR - 5_001);
    expect(due).toEqual([]);
    await clock.advance(1);
    expect(due).toEqual(["uid-web"]);
    expect(await get()).toBe(2);
    await clock.advance(0.8 * HOUR - 5_000);
    expect(due).toEqual(["uid-web", "uid-web"]);
    await stop();
  });

  it("is told again every minute while the server gives none", async () => {
    await get();
    await clock.advance(0.8 * HOUR);
    failure = new KubeUnreachableError("unreachable", "connect ECONNREFUSED");
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await get()).toBe(1);
      due = [];
      await clock.advance(60_000);
      expect(due).toEqual(["uid-web"]);
    }
    await stop();
  });

  it("does not come for a pod that is gone", async () => {
    await get();
    tokens.forgetPod("uid-web");
    await clock.advance(HOUR);
    expect(due).toEqual([]);
    await stop();
  });
});
