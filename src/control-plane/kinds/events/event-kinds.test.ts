import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { KubeObject } from "../../../api/object.ts";
import { fromCoreEvent, toCoreEvent } from "./event-conversion.ts";
import { coreEventKind, newEventKind } from "./event-kinds.ts";

const show = (errors: Parameters<typeof formatFieldError>[0][] | undefined) => (errors ?? []).map(formatFieldError);
const POD = { kind: "Pod", namespace: "default", name: "a" };

const core = (fields: Record<string, unknown>, namespace = "default"): KubeObject => {
  return { apiVersion: "v1", kind: "Event", metadata: { name: "a.1", namespace }, involvedObject: POD, ...fields };
};
const modern = (fields: Record<string, unknown>, metadata: KubeObject["metadata"] = {}): KubeObject => {
  const given = { name: "a.1", namespace: "default", ...metadata };
  return { apiVersion: "events.k8s.io/v1", kind: "Event", metadata: given, regarding: POD, ...fields };
};

const REPORT = {
  eventTime: "2026-01-01T00:00:00.000000Z",
  reportingInstance: "n",
  action: "Pulling",
  reason: "Pull",
  type: "Normal",
};

describe("a core event", () => {
  it.each<[string, KubeObject, string[]]>([
    ["lies where its object does", core({}), []],
    [
      "does not lie elsewhere",
      core({}, "other"),
      ['involvedObject.namespace: Invalid value: "default": does not match event.namespace'],
    ],
    ["of a node lies in default", core({ involvedObject: { kind: "Node", name: "n" } }), []],
    [
      "of a node lies nowhere else",
      core({ involvedObject: { kind: "Node", name: "n" } }, "other"),
      ['involvedObject.namespace: Invalid value: "": does not match event.namespace'],
    ],
    [
      "with a time says who reports it",
      core({ eventTime: REPORT.eventTime, reason: "x", reportingComponent: "a.b/c" }),
      ["reportingInstance: Required value", "action: Required value"],
    ],
    [
      "with a time is short",
      core({ ...REPORT, reportingComponent: "c", message: "x".repeat(1025) }),
      ['message: Invalid value: "": can have at most 1024 characters'],
    ],
  ])("%s", (_name, object, errors) => {
    expect(show(coreEventKind.strategy.validate?.(object))).toEqual(errors);
  });

  it("may have a name that is no subdomain, but fits into a path", () => {
    expect(coreEventKind.strategy.checkName?.("My_Pod.123")).toEqual([]);
    expect(coreEventKind.strategy.checkName?.("a/b")).toEqual(["may not contain '/'"]);
    expect(coreEventKind.strategy.checkName?.("..")).toEqual(["may not be '..'"]);
  });

  it("is selected by what it is about and whoever says it", () => {
    const { fields = {} } = coreEventKind.strategy;
    const event = core({ reportingComponent: "kubelet", type: "Warning", reason: "x" });
    expect(fields["involvedObject.name"]?.(event)).toBe("a");
    expect(fields["source"]?.(event)).toBe("kubelet");
    expect(fields["source"]?.(core({ source: { component: "old" }, reportingComponent: "kubelet" }))).toBe("old");
    expect(fields["involvedObject.uid"]?.(event)).toBe("");
  });
});

describe("an event of events.k8s.io", () => {
  it("is a core event by other names", () => {
    const series = { count: 2, lastObservedTime: REPORT.eventTime };
    const event = modern({
      ...REPORT,
      series,
      note: "n",
      reportingController: "c",
      deprecatedCount: 3,
      deprecatedSource: { component: "s" },
    });
    expect(toCoreEvent(event)).toEqual(
      core({ ...REPORT, series, message: "n", reportingComponent: "c", count: 3, source: { component: "s" } }),
    );
  });

  it("without a time has null, which Go clients read as none", () => {
    expect(fromCoreEvent(core({}))["eventTime"]).toBeNull();
    expect(toCoreEvent(modern({ eventTime: "" }))).not.toHaveProperty("eventTime");
  });

  it("survives the way there and back", () => {
    const text = fc.string();
    const fields = fc.record(
      {
        action: text,
        count: fc.integer({ min: 1 }),
        eventTime: fc.constant(REPORT.eventTime),
        firstTimestamp: text,
        lastTimestamp: text,
        message: text,
        reason: text,
        related: fc.constant(POD),
        reportingComponent: text,
        reportingInstance: text,
        source: fc.constant({ host: "h" }),
        type: text,
      },
      { requiredKeys: ["eventTime"] },
    );
    fc.assert(
      fc.property(fields, (generated) => {
        expect(toCoreEvent(fromCoreEvent(core(generated)))).toEqual(core(generated));
      }),
    );
  });

  it.each<[string, KubeObject, string[]]>([
    ["is strict and fine", modern({ ...REPORT, reportingController: "c" }), []],
    ["has a time", modern({ type: "Normal", eventTime: "" }), ["eventTime: Required value"]],
    [
      "is normal or a warning",
      modern({ ...REPORT, reportingController: "c", type: "Odd" }),
      ['type: Invalid value: "": has invalid value: Odd'],
    ],
    [
      "has nothing of old when it is new",
      modern({ ...REPORT, reportingController: "c", deprecatedCount: 1, deprecatedSource: { host: "h" } }),
      ['count: Invalid value: "": needs to be unset', 'source: Invalid value: "": needs to be unset'],
    ],
    [
      "may have something of old when it is there",
      modern({ ...REPORT, reportingController: "c", deprecatedCount: 1 }, { resourceVersion: "1" }),
      [],
    ],
    [
      "has a series of two at least",
      modern({ ...REPORT, reportingController: "c", series: { count: 1, lastObservedTime: "" } }),
      ['series.count: Invalid value: "": should be at least 2', "series.lastObservedTime: Required value"],
    ],
  ])("%s", (_name, object, errors) => {
    expect(show(newEventKind.strategy.validate?.(object))).toEqual(errors);
  });

  it("goes on by its series alone", () => {
    const event = modern({ ...REPORT, reportingController: "c", note: "n" });
    const series = { count: 2, lastObservedTime: REPORT.eventTime };
    const { validateUpdate } = newEventKind.strategy;
    expect(show(validateUpdate?.({ ...event, series }, event))).toEqual([]);
    expect(show(validateUpdate?.({ ...event, note: "other", reportingController: "d" }, event))).toEqual([
      'message: Invalid value: "other": field is immutable',
      'reportingController: Invalid value: "d": field is immutable',
    ]);
  });

  it("is stored among the core events", () => {
    expect(newEventKind.storedAs).toMatchObject({ group: "", plural: "events" });
  });
});
