import type { CostBudget } from "../budget.ts";
import { type CelValue, failure, isFailure, itemsOfList, kindOf, type ListValue } from "../values.ts";
import { formatDouble } from "./conversions.ts";
import { durationText, formatTimestamp } from "./time-text.ts";

const VERB = /%(?:\.(\d+))?([%sdfebxXo])?/g;

/** `'%d of %s'.format([1, 'x'])`. */
export function formatText(text: string, list: ListValue, budget: CostBudget): CelValue {
  const items = itemsOfList(list);
  let used = 0;
  let problem: CelValue | undefined;
  const built = text.replaceAll(VERB, (_whole, precision, verb) => {
    if (verb === "%") return "%";
    if (verb === undefined) {
      problem ??= failure("could not parse formatting clause: unrecognized formatting clause");
      return "";
    }
    const item = items[used++];
    if (item === undefined) problem ??= failure(`index ${used - 1} out of range`);
    const shown = item === undefined ? "" : formatItem(item, verb, { digits: Number(precision ?? 6), budget });
    if (typeof shown === "string") return shown;
    problem ??= shown;
    return "";
  });
  budget.work(built.length / 20);
  return problem ?? built;
}

interface ItemOptions {
  readonly digits: number;
  readonly budget: CostBudget;
}

function formatItem(item: CelValue, verb: string, { digits, budget }: ItemOptions): string | CelValue {
  if (verb === "s") return showText(item, budget);
  const whole = wholeOf(item);
  if (verb === "d" && whole !== undefined) return String(whole);
  const number = typeof item === "number" ? item : Number(whole ?? Number.NaN);
  if ((verb === "f" || verb === "e") && (whole !== undefined || typeof item === "number")) {
    if (!Number.isFinite(number)) return formatDouble(number).replace("+Inf", "Infinity").replace("-Inf", "-Infinity");
    const places = Math.min(digits, 100);
    return verb === "f" ? number.toFixed(places) : number.toExponential(places).replace(/e([+-])(\d)$/, "e$10$2");
  }
  const radix = RADIXES[verb];
  if (radix !== undefined && whole !== undefined) return cased(whole.toString(radix), verb);
  if (verb === "b" && typeof item === "boolean") return item ? "1" : "0";
  if (verb === "x" || verb === "X") {
    if (typeof item === "string") return cased(Buffer.from(item).toString("hex"), verb);
    if (typeof item === "object" && item?.kind === "bytes") return cased(Buffer.from(item.bytes).toString("hex"), verb);
  }
  return failure(`error during formatting: no formatting function for verb %${verb} and type ${kindOf(item)}`);
}

const RADIXES: Readonly<Record<string, number>> = { b: 2, o: 8, x: 16, X: 16 };
const cased = (text: string, verb: string) => (verb === "X" ? text.toUpperCase() : text);

function wholeOf(item: CelValue): bigint | undefined {
  if (typeof item === "bigint") return item;
  return typeof item === "object" && item?.kind === "uint" ? item.value : undefined;
}

/** A value as `%s` shows it; maps are sorted by their keys. */
function showText(item: CelValue, budget: CostBudget): string | CelValue {
  budget.work(1);
  if (typeof item === "number") return formatDouble(item).replace("+Inf", "Infinity").replace("-Inf", "-Infinity");
  if (typeof item !== "object" || item === null) return String(item);
  switch (item.kind) {
    case "uint":
      return String(item.value);
    case "bytes":
      return Buffer.from(item.bytes).toString();
    case "timestamp":
      return formatTimestamp(item.nanos);
    case "duration":
      return durationText(item.nanos);
    case "type":
      return item.name;
    case "list":
      return showAll(itemsOfList(item), "[", "]", budget);
    case "map": {
      const entries = item.keys().map((key) => {
        const name = showText(key, budget);
        const value = showText(item.find(key) ?? null, budget);
        if (typeof name !== "string") return name;
        return typeof value === "string" ? `${name}: ${value}` : value;
      });
      return joinShown(
        entries.toSorted((a, b) => (String(a) < String(b) ? -1 : 1)),
        "{",
        "}",
        budget,
      );
    }
    default:
      return failure(
        "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
      );
  }
}

function showAll(items: readonly CelValue[], open: string, close: string, budget: CostBudget): string | CelValue {
  return joinShown(
    items.map((item) => showText(item, budget)),
    open,
    close,
    budget,
  );
}

function joinShown(
  shown: ReadonlyArray<string | CelValue>,
  open: string,
  close: string,
  budget: CostBudget,
): string | CelValue {
  const problem = shown.find((each) => isFailure(each));
  if (problem !== undefined) return problem;
  budget.work(shown.reduce<number>((sum, each) => sum + String(each).length / 20, 0));
  return `${open}${shown.join(", ")}${close}`;
}
