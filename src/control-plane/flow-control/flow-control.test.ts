import { describe, expect, it } from "vitest";
import type { FlowSchemaSpec, LimitedPriorityLevelConfiguration } from "../../api/gen/types.ts";
import { SECOND } from "../../base/clock.ts";
import { createMetrics } from "../../base/metrics.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createFakeResources } from "../control-loop/__fixtures__/fake-resources.ts";
import type { AccessAttributes } from "../ports/request.ts";
import { dumpPriorityLevels, dumpQueues, dumpRequests } from "./dump-flow-control.ts";
import { type Admitted, createFlowControl } from "./flow-control.ts";
import { FLOW_SCHEMAS, PRIORITY_LEVELS } from "./flow-objects.ts";

const apiVersion = "flowcontrol.apiserver.k8s.io/v1";
const OK = { status: 200, body: "" };
const QUEUES = { type: "Queue", queuing: { queues: 4, handSize: 2, queueLengthLimit: 1 } };
/** 600 seats over 599 shares of the other level: it has two. */
const TWO_SEATS: LimitedPriorityLevelConfiguration = {
  nominalConcurrencyShares: 1,
  borrowingLimitPercent: 0,
  limitResponse: QUEUES,
};

/** Users of the group `limited` are told apart in the level `l`; those of `system:masters` are not limited. */
async function start(limited: LimitedPriorityLevelConfiguration = TWO_SEATS) {
  const clock = createFakeClock();
  const { reader, writer, feed, create } = createFakeResources(() => clock.now());
  const level = (name: string, spec: object) => {
    const object = { apiVersion, kind: "PriorityLevelConfiguration", metadata: { name, uid: `uid of ${name}` }, spec };
    const isThere = reader.get({ resource: PRIORITY_LEVELS, namespace: "", name }) !== undefined;
    return isThere ? writer.update(PRIORITY_LEVELS, object) : create(PRIORITY_LEVELS, object);
  };
  const schema = (name: string, group: string, spec: Partial<FlowSchemaSpec> & { level: string }) => {
    const { level: levelName, ...fields } = spec;
    const rule = { verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] };
    const rules = [{ subjects: [{ kind: "Group", group: { name: group } }], resourceRules: [rule] }];
    const metadata = { name, uid: `uid of ${name}` };
    const whole = { priorityLevelConfiguration: { name: levelName }, rules, ...fields };
    return create(FLOW_SCHEMAS, { apiVersion, kind: "FlowSchema", metadata, spec: whole });
  };
  await level("exempt", { type: "Exempt", exempt: { nominalConcurrencyShares: 0 } });
  await level("other", { type: "Limited", limited: { nominalConcurrencyShares: 400, limitResponse: QUEUES } });
  await level("l", { type: "Limited", limited });
  await schema("admins", "system:masters", { level: "exempt", matchingPrecedence: 1 });
  await schema("by-user", "limited", {
    level: "l",
    matchingPrecedence: 5,
    distinguisherMethod: { type: "ByUser" },
  });
  const metrics = createMetrics();
  const control = createFlowControl({ feed, clock, metrics });
  const ask = (username: string, { group = "limited", seats = 1, signal = new AbortController().signal } = {}) => {
    const asked = listOf(username, group);
    const flow = control.classify(asked);
    if (flow === undefined) throw new Error("no schema takes the request");
    return follow(async () => await control.enter({ flow, asked, seats, isLong: seats > 1, signal }));
  };
  return { ...{ clock, control, ask, metrics, schema, level }, settle: async () => await clock.settle() };
}

const listOf = (username: string, group: string): AccessAttributes => ({
  ...{ user: { username, groups: [group] }, verb: "list", group: "", version: "v1", resource: "pods" },
  ...{ subresource: "", namespace: "", name: "" },
});

/** A request, and what has become of it. */
function follow(enter: () => Promise<Admitted>) {
  const request = {
    state: "waits",
    /** Answers it; the answer lasts until what is returned is called. */
    answer: (): (() => void) | undefined => undefined,
    end: () => request.answer()?.(),
  };
  enter().then(
    (admitted) => {
      request.state = "served";
      request.answer = () => admitted.leaveAfter(OK).onOver;
    },
    (error: Error) => {
      request.state = error.name === "AbortError" ? "left" : error.message;
    },
  );
  return request;
}

const statesOf = (requests: ReadonlyArray<{ state: string }>) => requests.map(({ state }) => state);
const TOO_MANY = "Too many requests, please try again later.";

describe("classification", () => {
  it("takes the schema of lowest precedence, and of those the first by name", async () => {
    const { control, schema } = await start();
    const nameOf = () => control.classify(listOf("a", "limited"))?.schema.name;
    expect(nameOf()).toBe("by-user");
    await schema("by-all", "limited", { level: "other", matchingPrecedence: 5 });
    expect(nameOf()).toBe("by-all");
    await schema("first", "limited", { level: "other", matchingPrecedence: 4 });
    expect(nameOf()).toBe("first");
  });

  it("passes over a schema whose level is not there", async () => {
    const { control, schema, level } = await start();
    await schema("first", "limited", { level: "later", matchingPrecedence: 1 });
    const flowOf = () => control.classify(listOf("a", "limited"));
    expect(flowOf()).toMatchObject({ schema: { uid: "uid of by-user" }, level: { uid: "uid of l" } });
    await level("later", { type: "Limited", limited: TWO_SEATS });
    expect(flowOf()).toMatchObject({ schema: { name: "first" }, level: { name: "later" }, distinguisher: "" });
  });
});

describe("a limited level", () => {
  it("serves as many as it has seats for, lets as many wait as its queues take, and refuses others", async () => {
    const { ask, settle } = await start();
    const requests = Array.from({ length: 5 }, () => ask("a"));
    await settle();
    expect(statesOf(requests)).toEqual(["served", "served", "waits", "waits", TOO_MANY]);
    requests[0]?.end();
    await settle();
    expect(statesOf(requests)).toEqual(["served", "served", "served", "waits", TOO_MANY]);
  });

  it("refuses at once where it has no queues", async () => {
    const { ask, settle } = await start({ ...TWO_SEATS, limitResponse: { type: "Reject" } });
    const requests = Array.from({ length: 3 }, () => ask("a"));
    await settle();
    expect(statesOf(requests)).toEqual(["served", "served", TOO_MANY]);
  });

  it("without shares serves nobody", async () => {
    const { ask, settle } = await start({ ...TWO_SEATS, nominalConcurrencyShares: 0 });
    const request = ask("a");
    await settle();
    expect(request.state).toBe("waits");
  });

  it("serves its flows in turns", async () => {
    const { ask, settle } = await start();
    const [first, second] = [ask("noisy"), ask("noisy")];
    const noisy = [ask("noisy"), ask("noisy")];
    const quiet = ask("quiet");
    await settle();
    first.end();
    second.end();
    await settle();
    expect(statesOf([...noisy, quiet])).toEqual(["served", "waits", "served"]);
  });

  it("lets nobody wait for ever, nor for a client that has gone", async () => {
    const { ask, settle, clock } = await start();
    const client = new AbortController();
    const held = [ask("a"), ask("a")];
    const waiting = [ask("a"), ask("b", { signal: client.signal })];
    await settle();
    client.abort();
    await clock.advance(15 * SECOND);
    expect(statesOf([...held, ...waiting])).toEqual(["served", "served", TOO_MANY, "left"]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("serves those who wait once it has seats", async () => {
    const { ask, settle, level } = await start({ ...TWO_SEATS, nominalConcurrencyShares: 0 });
    const request = ask("a");
    await settle();
    expect(request.state).toBe("waits");
    await level("l", { type: "Limited", limited: TWO_SEATS });
    await settle();
    expect(request.state).toBe("served");
  });
});

describe("long answers", () => {
  const WIDE: LimitedPriorityLevelConfiguration = { nominalConcurrencyShares: 200, limitResponse: QUEUES };

  it("are served a few at a time, in turns of their flows, and keep no small request waiting", async () => {
    const { ask, settle } = await start(WIDE);
    const noisy = Array.from({ length: 6 }, () => ask("noisy", { seats: 10 }));
    const quiet = ask("quiet", { seats: 10 });
    const small = ask("noisy");
    await settle();
    expect(statesOf([...noisy, quiet])).toEqual([
      ...Array.from({ length: 4 }, () => "served"),
      ..."waits ".repeat(3).trim().split(" "),
    ]);
    expect(small.state).toBe("served");
    noisy[0]?.end();
    noisy[1]?.end();
    await settle();
    expect(statesOf([...noisy.slice(4), quiet])).toEqual(["served", "waits", "served"]);
  });

  it("of a client that takes them slowly keep others waiting for a fifth of a second", async () => {
    const { ask, clock } = await start(WIDE);
    const requests = Array.from({ length: 5 }, () => ask("a", { seats: 10 }));
    await clock.settle();
    const ends = requests.slice(0, 4).map(({ answer }) => answer());
    await clock.advance(199);
    expect(requests[4]?.state).toBe("waits");
    await clock.advance(1);
    expect(requests[4]?.state).toBe("served");
    // Their seats are not given twice.
    for (const end of ends) end?.();
    const others = Array.from({ length: 5 }, () => ask("a", { seats: 10 }));
    await clock.settle();
    expect(statesOf(others)).toEqual(["served", "served", "served", "waits", "waits"]);
  });

  it("of an exempt level never wait", async () => {
    const { ask, settle } = await start();
    const requests = Array.from({ length: 20 }, () => ask("admin", { group: "system:masters", seats: 10 }));
    await settle();
    expect(new Set(statesOf(requests))).toEqual(new Set(["served"]));
  });
});

describe("whoever looks", () => {
  it("sees levels, lines and requests in upstream's tables", async () => {
    const { ask, settle, control, clock } = await start();
    const requests = [...Array.from({ length: 5 }, () => ask("a")), ask("b")];
    await settle();
    requests[0]?.end();
    await settle();
    const snapshot = control.snapshot();
    expect(dumpPriorityLevels(snapshot)).toBe(
      [
        "PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, ExecutingRequests, DispatchedRequests, RejectedRequests, TimedoutRequests, CancelledRequests",
        "exempt,            0,            true,   false,       0,               0,                 0,                  0,                0,                0",
        "l,                 2,            false,  false,       2,               2,                 3,                  1,                0,                0",
        "other,             0,            true,   false,       0,               0,                 0,                  0,                0,                0",
        "",
      ].join("\n"),
    );
    expect(dumpQueues(snapshot)).toBe(
      [
        "PriorityLevelName, Index,  PendingRequests, ExecutingRequests, SeatsInUse, NextDispatchR, InitialSeatsSum, MaxSeatsSum, TotalWorkSum",
        "l,                 0,      1,               0,                 0,          0,             1,               1,           1ss",
        "l,                 1,      1,               2,                 2,          0,             1,               1,           1ss",
        "",
      ].join("\n"),
    );
    const requestsTable = dumpRequests(snapshot, {
      clock: { now: clock.now(), monotonic: clock.monotonic() },
      details: true,
    });
    expect(requestsTable.split("\n").map((row) => row.split(/, */))).toEqual([
      expect.arrayContaining(["PriorityLevelName", "FlowDistingsher", "SubResource"]),
      [
        ..."l by-user 0 0 b".split(" "),
        "2026-01-01T00:00:00.000Z",
        "1",
        "0",
        "0s",
        "0001-01-01T00:00:00Z",
        "b",
        "list",
        "",
        "",
        "",
        "v1",
        "pods",
        "",
      ],
      expect.arrayContaining(["l", "by-user", "1", "0", "a"]),
      expect.arrayContaining(["l", "by-user", "1", "-1", "a"]),
      expect.arrayContaining(["l", "by-user", "1", "-1", "a"]),
      [""],
    ]);
  });

  it("reads upstream's series", async () => {
    const { ask, settle, metrics } = await start();
    const requests = Array.from({ length: 5 }, () => ask("a"));
    await settle();
    requests[0]?.end();
    await settle();
    const flow = 'priority_level="l",flow_schema="by-user"';
    const text = await metrics.render();
    for (const line of [
      `apiserver_flowcontrol_dispatched_requests_total{${flow}} 3`,
      `apiserver_flowcontrol_rejected_requests_total{${flow},reason="queue-full"} 1`,
      `apiserver_flowcontrol_current_inqueue_requests{${flow}} 1`,
      `apiserver_flowcontrol_current_executing_seats{${flow}} 2`,
      `apiserver_flowcontrol_request_wait_duration_seconds_count{${flow},execute="true"} 3`,
      `apiserver_flowcontrol_request_execution_seconds_count{${flow},type="regular"} 1`,
      `apiserver_flowcontrol_nominal_limit_seats{priority_level="l"} 2`,
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    expect(await metrics.render()).toContain(`apiserver_flowcontrol_dispatched_requests_total{${flow}} 3\n`);
  });
});
