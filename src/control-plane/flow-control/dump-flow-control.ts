import type { FlowSnapshot } from "./flow-control.ts";
import { type FlowEntry, lineOf } from "./flow-request.ts";

/** The clocks by which a request's times are told. */
interface DumpClock {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly monotonic: number;
}

/** A table of the priority levels, as upstream's `dump_priority_levels`. */
export function dumpPriorityLevels({ levels, waiting, counts }: FlowSnapshot): string {
  const head = [
    ...["PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests"],
    ...["DispatchedRequests", "RejectedRequests", "TimedoutRequests", "CancelledRequests"],
  ];
  const rows = levels.map(({ name }) => {
    const { waiting: waits, serving, dispatched, refused } = counts.ofLevel(name);
    const active = waiting.filter(([first]) => first?.flow.level.name === name).length;
    const rejected = refused["queue-full"] + refused["concurrency-limit"];
    const isIdle = waits + serving === 0;
    return [name, active, isIdle, false, waits, serving, dispatched, rejected, refused["time-out"], refused.cancelled];
  });
  return formatTable([head, ...rows.toSorted(([one = ""], [other = ""]) => (one < other ? -1 : 1))]);
}

/** A table of the lines in which requests wait, as upstream's `dump_queues`; upstream's have an idle one for each hand. */
export function dumpQueues({ waiting, served }: FlowSnapshot): string {
  const head = [
    ...["PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR"],
    ...["InitialSeatsSum", "MaxSeatsSum", "TotalWorkSum"],
  ];
  const rows = numberLines(waiting).map(({ index, entries: [first, ...rest] }) => {
    const own = [...served].filter((entry) => lineOf(entry) === lineOf(first));
    const seats = seatsOf([first, ...rest]);
    return [first.flow.level.name, index, rest.length + 1, own.length, seatsOf(own), "0", seats, seats, `${seats}ss`];
  });
  return formatTable([head, ...rows]);
}

/** A table of the requests that wait or are served, as upstream's `dump_requests`. */
export function dumpRequests(
  { waiting, served }: FlowSnapshot,
  { clock, details }: { clock: DumpClock; details: boolean },
): string {
  const head = [
    ...["PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher", "ArriveTime"],
    ...["InitialSeats", "FinalSeats", "AdditionalLatency", "StartTime"],
    ...(details ? ["UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"] : []),
  ];
  const row = (entry: FlowEntry, [line, place]: readonly [number, number]) => {
    const { flow, seats, arrivedAt, startedAt } = entry;
    const standing = [flow.level.name, flow.schema.name, line, place, flow.distinguisher];
    const work = [timeOf(arrivedAt, clock), seats, 0, "0s", timeOf(startedAt, clock)];
    return [...standing, ...work, ...(details ? detailsOf(entry) : [])];
  };
  const lines = numberLines(waiting);
  const pending = lines.flatMap(({ index, entries }) => entries.map((entry, place) => row(entry, [index, place])));
  const executing = [...served].map((entry) => {
    return row(entry, [lines.find(({ entries: [first] }) => lineOf(first) === lineOf(entry))?.index ?? -1, -1]);
  });
  return formatTable([head, ...pending, ...executing]);
}

interface NumberedLine {
  /** Its number among those of its level. */
  readonly index: number;
  readonly entries: readonly [FlowEntry, ...FlowEntry[]];
}

function numberLines(waiting: FlowSnapshot["waiting"]): NumberedLine[] {
  const counted = new Map<string, number>();
  return waiting.flatMap(([first, ...rest]) => {
    if (first === undefined) return [];
    const { name } = first.flow.level;
    const index = counted.get(name) ?? 0;
    counted.set(name, index + 1);
    return [{ index, entries: [first, ...rest] }];
  });
}

const seatsOf = (entries: readonly FlowEntry[]) => entries.reduce((sum, { seats }) => sum + seats, 0);

/** Go's zero time for one that has not come. */
function timeOf(at: number | undefined, { now, monotonic }: DumpClock): string {
  return at === undefined ? "0001-01-01T00:00:00Z" : new Date(now - (monotonic - at)).toISOString();
}

function detailsOf({ asked }: FlowEntry): readonly string[] {
  if ("path" in asked) return [asked.user.username, asked.verb, asked.path, "", "", "", "", ""];
  const { user, verb, namespace, name, group, version, resource, subresource } = asked;
  const apiVersion = group === "" ? version : `${group}/${version}`;
  return [user.username, verb, "", namespace, name, apiVersion, resource, subresource];
}

/** As Go's tabwriter aligns it: cells of at least eight characters, each with the comma that ends it. */
function formatTable(rows: ReadonlyArray<ReadonlyArray<string | number | boolean>>): string {
  const cells = rows.map((row) => row.map((cell, column) => (column < row.length - 1 ? `${cell},` : `${cell}`)));
  const widths = cells[0]?.map((_, column) => Math.max(8, ...cells.map((row) => (row[column] ?? "").length + 1))) ?? [];
  return cells
    .map((row) => `${row.map((cell, column) => alignCell(cell, widths, { row, column })).join("")}\n`)
    .join("");
}

function alignCell(
  cell: string,
  widths: readonly number[],
  { row, column }: { row: readonly string[]; column: number },
): string {
  return column < row.length - 1 ? cell.padEnd(widths[column] ?? 0) : cell;
}
