import type { Overload } from "../overload.ts";
import type { CelType } from "../types.ts";
import { copying, matchingSizes, reading, type SizeRange, sum, times } from "./sizes.ts";

/** An argument of a call, as far as its size is known. */
export interface CallArgument {
  readonly size: SizeRange;
  readonly type: CelType;
  /** The size of the items of a list. */
  readonly itemSize: SizeRange;
}

/** The most that a call costs, its arguments apart, and the size of its result, where it is known by the function. */
interface CallEstimate {
  readonly cost: number;
  readonly size?: SizeRange;
}

type Estimator = (target: CallArgument, args: readonly CallArgument[]) => CallEstimate | undefined;

const NOMINAL: CallEstimate = { cost: 1 };
const AUTHORIZATION_CHECK: CallEstimate = { cost: 350_000 };
/** The bytes of two addresses that are compared, each of 16 at most. */
const ADDRESS_COMPARISON = reading(32);

const read: Estimator = ({ size }) => ({ cost: reading(size.max), size });
/** The second text is parsed where it is none of the library's values yet. */
const parsed = (other: CallArgument | undefined) => (other?.type.kind === "string" ? reading(other.size.max) : 0);

/** The functions whose cost depends on their target (`k8s.io/apiserver/pkg/cel/library/cost.go`, cel-go's `checker/cost.go`). */
const MEMBERS: Readonly<Record<string, Estimator>> = {
  check: () => AUTHORIZATION_CHECK,
  isSorted: compareItems,
  sum: compareItems,
  max: compareItems,
  min: compareItems,
  indexOf: compareItems,
  lastIndexOf: compareItems,
  lowerAscii: read,
  upperAscii: read,
  substring: read,
  trim: read,
  replace: estimateReplace,
  split: ({ size }) => ({ cost: copying(size.max), size: { min: 0, max: size.max } }),
  join: estimateJoin,
  find: findIn,
  findAll: findIn,
  containsIP: (_cidr, [other]) => ({ cost: ADDRESS_COMPARISON + parsed(other) }),
  containsCIDR: (_cidr, [other]) => ({ cost: ADDRESS_COMPARISON + reading(16) + 1 + parsed(other) }),
  startsWith: (_text, [part]) => part && { cost: reading(part.size.max) },
  endsWith: (_text, [part]) => part && { cost: reading(part.size.max) },
  contains: ({ size }, [part]) => part && { cost: times(reading(size.max), reading(part.size.max)) },
  matches: ({ size }, [pattern]) => pattern && { cost: matchingSizes(size.max, pattern.size.max) },
  // The size of the result is that of upstream's newest versions, which older ones do not know.
  format: ({ size }, [values]) => ({ cost: reading(size.max), ...(values && { size: sum(size, values.size) }) }),
  distinct: keepSize,
  flatten: keepSize,
  reverse: keepSize,
  slice: keepSize,
  sort: keepSize,
};

/** The functions without a target, by name. */
const PLAIN: Readonly<Record<string, (args: readonly CallArgument[], overload: Overload) => CallEstimate | undefined>> =
  {
    url: readFirst,
    cidr: readFirst,
    ip: readFirst,
    isCIDR: readFirst,
    isIP: readFirst,
    "ip.isCanonical": ([text]) => text && { cost: copying(text.size.max) },
    matches: ([text, pattern]) => text && pattern && { cost: matchingSizes(text.size.max, pattern.size.max) },
    "strings.quote": ([text]) => text && { cost: reading(text.size.max), size: quoted(text.size) },
    "sets.contains": (args) => compareSets(args, 1),
    "sets.intersects": (args) => compareSets(args, 1),
    "sets.equivalent": (args) => compareSets(args, 2),
    bytes: ([text], { args }) =>
      isOf(args, "string") && text
        ? { cost: reading(text.size.max), size: { ...text.size, max: text.size.max * 4 } }
        : undefined,
    string: ([bytes], { args }) =>
      isOf(args, "bytes") && bytes
        ? { cost: reading(bytes.size.max), size: { min: Math.floor(bytes.size.min / 4), max: bytes.size.max } }
        : undefined,
    "@in": ([, list], { args }) => (args[1]?.kind === "list" && list ? { cost: list.size.max } : undefined),
    "_+_": concatenate,
    "_==_": ([left, right]) => (isFixedSize(left, right) ? NOMINAL : compare([left, right])),
    "_!=_": compare,
    "_<_": compareTexts,
    "_<=_": compareTexts,
    "_>_": compareTexts,
    "_>=_": compareTexts,
  };

/** The most that a call of this overload costs. A function that is none of the above costs 1. */
export function estimateCall(overload: Overload, args: readonly CallArgument[]): CallEstimate {
  const [target, ...rest] = args;
  if (!overload.member) return PLAIN[overload.name]?.(args, overload) ?? NOMINAL;
  return (target && MEMBERS[overload.name]?.(target, rest)) ?? NOMINAL;
}

const isOf = ([first]: readonly CelType[], kind: CelType["kind"]) => first?.kind === kind;
const isText = (types: readonly CelType[]) => isOf(types, "string") || isOf(types, "bytes");
const quoted = ({ min, max }: SizeRange): SizeRange => ({ min: min + 2, max: max * 2 + 2 });

function readFirst([text]: readonly CallArgument[]): CallEstimate | undefined {
  return text && { cost: reading(text.size.max) };
}

function keepSize({ size }: CallArgument): CallEstimate {
  return { cost: 1, size };
}

function compareItems({ size, type, itemSize }: CallArgument): CallEstimate {
  if (type.kind !== "list") return { cost: reading(size.max) };
  const isTexts = type.element.kind === "string" || type.element.kind === "bytes";
  return { cost: times(size.max, 1 + (isTexts ? reading(itemSize.max) : 0)) };
}

function findIn({ size }: CallArgument, [pattern]: readonly CallArgument[]): CallEstimate | undefined {
  return pattern && { cost: matchingSizes(size.max, pattern.size.max), size: { min: 0, max: size.max } };
}

function estimateReplace({ size }: CallArgument, [removed, added]: readonly CallArgument[]): CallEstimate | undefined {
  if (!removed || !added) return undefined;
  const longest = replacedSize(size.max, {
    isEmpty: removed.size.min === 0,
    isKept: added.size.max <= removed.size.min,
    removed: removed.size.min,
    added: added.size.max,
  });
  const shortest = replacedSize(size.min, {
    isEmpty: removed.size.max === 0,
    isKept: removed.size.max <= added.size.min,
    removed: removed.size.max,
    added: added.size.min,
  });
  return { cost: copying(size.max), size: { min: shortest, max: longest } };
}

interface Replacement {
  /** What is removed may be empty: the replacement then stands around each character. */
  readonly isEmpty: boolean;
  /** The replacement does not move the bound that is looked for. */
  readonly isKept: boolean;
  readonly removed: number;
  readonly added: number;
}

function replacedSize(size: number, { isEmpty, isKept, removed, added }: Replacement): number {
  if (isEmpty) return times(size + 1, added) + size;
  return isKept ? size : times(Math.ceil(size / removed), added);
}

function estimateJoin({ size, itemSize }: CallArgument, [separator]: readonly CallArgument[]): CallEstimate {
  const between = (count: number, width: number) => times(Math.max(0, count - 1), width);
  const joined: SizeRange = {
    min: times(size.min, itemSize.min) + between(size.min, separator?.size.min ?? 0),
    max: times(size.max, itemSize.max) + between(size.max, separator?.size.max ?? 0),
  };
  return { cost: reading(joined.max), size: joined };
}

function compareSets([first, second]: readonly CallArgument[], factor: number): CallEstimate | undefined {
  return first && second && { cost: times(first.size.max, second.size.max) * factor + 1 };
}

function concatenate([left, right]: readonly CallArgument[], { args }: Overload): CallEstimate | undefined {
  if (!left || !right) return undefined;
  const size = sum(left.size, right.size);
  if (isOf(args, "list")) return { cost: 1, size };
  return isText(args) ? { cost: reading(size.max), size } : undefined;
}

/** Types of Kubernetes' libraries whose values are compared in one step, with `==` alone. */
const FIXED_SIZE = /^(?:net\.(?:IP|CIDR)|kubernetes\.(?:Quantity|Semver|authorization\.\w+))$/;

function isFixedSize(left: CallArgument | undefined, right: CallArgument | undefined): boolean {
  if (left?.type.kind !== "opaque" || right?.type.kind !== "opaque") return false;
  return left.type.name === right.type.name && FIXED_SIZE.test(left.type.name);
}

/** Values are compared only as far as the shorter one reaches. */
function compare([left, right]: ReadonlyArray<CallArgument | undefined>): CallEstimate | undefined {
  return left && right && { cost: reading(Math.min(left.size.max, right.size.max)) };
}

function compareTexts(args: readonly CallArgument[], { args: types }: Overload): CallEstimate | undefined {
  return isText(types) ? compare(args) : undefined;
}
