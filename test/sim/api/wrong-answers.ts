import { isRecord } from "../../../src/api/object.ts";
import type { ApiRequest } from "../../../src/kube/http/caller.ts";
import type { Dice } from "../dice.ts";
import type { Faults } from "../faults.ts";
import type { Trace } from "../trace.ts";

/** How likely a wrong answer of each kind is, for each answer or event. */
export interface WrongAnswerRates {
  /** A list as it was before, or an empty one as after the loss of all data; or with a pod of another node. */
  list: number;
  /** Another object than the one that was asked for. */
  object: number;
  /** Events that change places, are repeated late, or are bookmarks of wrong versions. */
  event: number;
  /** Events that never come. */
  eventLost: number;
  /** Fields of another type than the API's, in anything. */
  field: number;
}

export const NO_WRONG_ANSWERS: WrongAnswerRates = { list: 0, object: 0, event: 0, eventLost: 0, field: 0 };

/** What an API server that is not right in the head says in place of what is so. */
export interface WrongAnswers {
  readonly dice: Dice;
  storm(rates: WrongAnswerRates): void;
  /** The body that comes in place of the right one. */
  answer(request: ApiRequest, body: Buffer): Buffer;
  /** The events that come in place of the right ones; each is a line. */
  events(request: ApiRequest, chunk: Buffer): Buffer;
  /** Events were lost since this was last asked: who watches has to list to know it. */
  takeLost(): boolean;
}

const KEPT = 6;

export function createWrongAnswers(deps: { dice: Dice; faults: Faults; trace: Trace }): WrongAnswers {
  const { dice, faults, trace } = deps;
  const lists = new Map<string, Buffer[]>();
  const objects = new Map<string, Buffer[]>();
  const lines = new Map<string, string[]>();
  let rates = NO_WRONG_ANSWERS;
  let hasLost = false;

  const roll = (rate: number) => rate > 0 && dice.chance(rate);
  const tell = (kind: string, path: string) => {
    faults.count(`api says wrongly: ${kind}`);
    trace.note(`fault: ${path}: ${kind}`);
  };
  const keep = <T>(kept: Map<string, T[]>, key: string, value: T): readonly T[] => {
    const before = kept.get(key) ?? [];
    kept.set(key, [...before, value].slice(-KEPT));
    return before;
  };

  const answerList = (path: string, body: Buffer): Buffer => {
    const [place = "", query = ""] = path.split("?");
    const asked = new URLSearchParams(query).get("resourceVersion") ?? "";
    const before = keep(lists, place, body);
    // What its store says has to be so, and a cache that has seen nothing yet may be of any age.
    if (!/^[1-9]/.test(asked) || !roll(rates.list)) return body;
    const list: unknown = JSON.parse(body.toString());
    if (!isRecord(list)) return body;
    const kind = dice.pick(["old", "empty", "foreign pod"] as const);
    const old = dice.pickAny(before.slice(0, -1));
    if (kind === "old" && old !== undefined) {
      tell("an old list", place);
      return old;
    }
    if (kind === "foreign pod") return addForeignPod(place, list) ?? body;
    tell("an empty list", place);
    return Buffer.from(JSON.stringify({ ...list, metadata: { resourceVersion: "1" }, items: [] }));
  };

  /** A field of the object, or of one beneath it, is something else, or null. */
  const misshape = (place: string, object: Readonly<Record<string, unknown>>): Record<string, unknown> => {
    const copy: Record<string, unknown> = structuredClone(object);
    let at: object = copy;
    const path: string[] = [];
    for (;;) {
      const name = dice.pickAny(Object.keys(at)) ?? "";
      path.push(name);
      const beneath: unknown = Reflect.get(at, name);
      if (typeof beneath === "object" && beneath !== null && Object.keys(beneath).length > 0 && dice.chance(0.7)) {
        at = beneath;
        continue;
      }
      Reflect.set(at, name, dice.pick([null, 5, "x", true, [], {}, [null], -0.5]));
      tell("a field is of another type", `${place} ${path.join(".")}`);
      return copy;
    }
  };

  const misshapeItem = (place: string, body: Buffer): Buffer => {
    const list: unknown = JSON.parse(body.toString());
    const items: readonly unknown[] = isRecord(list) && Array.isArray(list["items"]) ? list["items"] : [];
    const item = dice.pickAny(items);
    if (!isRecord(list) || !isRecord(item)) return body;
    const told = items.map((one) => (one === item ? misshape(place, item) : one));
    return Buffer.from(JSON.stringify({ ...list, items: told }));
  };

  const addForeignPod = (place: string, list: Readonly<Record<string, unknown>>): Buffer | undefined => {
    const items: readonly unknown[] = Array.isArray(list["items"]) ? list["items"] : [];
    const [pod] = items;
    if (!place.endsWith("/pods") || !isRecord(pod) || !isRecord(pod["metadata"]) || !isRecord(pod["spec"])) return;
    tell("a pod of another node", place);
    const metadata = { ...pod["metadata"], name: "stranger", uid: "00000000-0000-4000-8000-000000000000" };
    const stranger = { ...pod, metadata, spec: { ...pod["spec"], nodeName: "another" } };
    return Buffer.from(JSON.stringify({ ...list, items: [...items, stranger] }));
  };

  const answerObject = ({ method, path }: ApiRequest, body: Buffer): Buffer => {
    const [place = ""] = path.split("?");
    const object: unknown = JSON.parse(body.toString());
    if (!isRecord(object) || typeof object["kind"] !== "string" || !isRecord(object["metadata"])) return body;
    const { kind, metadata } = object;
    const before = keep(objects, kind, body);
    if (method === "DELETE" || method === "POST" || !roll(rates.object)) return body;
    const others = before.filter(
      (other) => nameOf(other) !== `${metadata["namespace"] ?? ""}/${metadata["name"] ?? ""}`,
    );
    const other = dice.pickAny(others);
    if (other === undefined) return body;
    tell(`${nameOf(other)} for another ${kind}`, place);
    return other;
  };

  const distort = (place: string, line: string): string[] => {
    if (roll(rates.eventLost) && !line.includes('"BOOKMARK"')) {
      tell("an event is lost", place);
      hasLost = true;
      return [];
    }
    const before = keep(lines, place, line);
    if (!roll(rates.event)) return [line];
    const old = dice.pickAny(before);
    switch (dice.pick(["late", "bookmark", "doubled"] as const)) {
      case "late":
        if (old === undefined) return [line];
        tell("an old event comes again", place);
        return [line, old];
      case "bookmark":
        tell("a bookmark of a wrong version", place);
        return [line, bookmarkLike(line, dice.pick(["1", "99999999", "not a version"]))];
      default:
        tell("an event comes twice", place);
        return [line, line];
    }
  };

  const misshapeLine = (place: string, line: string): string => {
    if (!roll(rates.field)) return line;
    const event: unknown = JSON.parse(line);
    const object = isRecord(event) ? event["object"] : undefined;
    if (!isRecord(event) || !isRecord(object)) return line;
    return JSON.stringify({ ...event, object: misshape(place, object) });
  };

  return {
    dice,
    storm(next) {
      rates = next;
    },
    answer(request, body) {
      const text = body.subarray(0, 200).toString();
      const isList = /"kind":"\w+List"/.test(text);
      const told = isList ? answerList(request.path, body) : answerObject(request, body);
      if (!roll(rates.field)) return told;
      const [place = ""] = request.path.split("?");
      if (isList) return misshapeItem(place, told);
      const object: unknown = JSON.parse(told.toString());
      return isRecord(object) ? Buffer.from(JSON.stringify(misshape(place, object))) : told;
    },
    events({ path }, chunk) {
      if (rates.event === 0 && rates.eventLost === 0 && rates.field === 0) return chunk;
      const [place = ""] = path.split("?");
      const given = chunk
        .toString()
        .split("\n")
        .filter((line) => line !== "");
      const told = given.flatMap((line) => distort(place, line)).map((line) => misshapeLine(place, line));
      if (told.length > 1 && roll(rates.event)) {
        tell("events change places", place);
        told.reverse();
      }
      return Buffer.from(told.map((line) => `${line}\n`).join(""));
    },
    takeLost() {
      const had = hasLost;
      hasLost = false;
      return had;
    },
  };
}

function nameOf(body: Buffer): string {
  const object: unknown = JSON.parse(body.toString());
  const metadata = isRecord(object) ? object["metadata"] : undefined;
  return isRecord(metadata) ? `${metadata["namespace"] ?? ""}/${metadata["name"] ?? ""}` : "";
}

function bookmarkLike(line: string, resourceVersion: string): string {
  const event: unknown = JSON.parse(line);
  const object = isRecord(event) && isRecord(event["object"]) ? event["object"] : {};
  const { kind, apiVersion } = object;
  return JSON.stringify({ type: "BOOKMARK", object: { kind, apiVersion, metadata: { resourceVersion } } });
}
