import { ApiError } from "../../api/api-error.ts";
import { PROTOBUF_TYPE } from "../../api/protobuf/magic.ts";

/** The form in which an answer is wanted. */
export interface AcceptedForm {
  readonly encoding: "json" | "yaml" | "protobuf";
  /** Instead of the objects themselves. */
  readonly as: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList" | undefined;
  /** The version of the Table or PartialObjectMetadata: `v1` or `v1beta1`. */
  readonly version: "v1" | "v1beta1";
}

/** The forms to choose from. */
interface Offer {
  /** The objects have a form in protobuf: custom resources do not, but their metadata does. */
  readonly protobuf: boolean;
  /** Default false: the answer is a watch, which YAML cannot carry. */
  readonly stream?: boolean;
  /** Default true; false for what is answered and not stored, which has no rows to print. */
  readonly table?: boolean;
}

/** The form of a request that names none: JSON. */
export const PLAIN_FORM: AcceptedForm = { encoding: "json", as: undefined, version: "v1" };

type Encoding = AcceptedForm["encoding"];

/** In the order in which they are preferred for clients without a preference. */
const MEDIA_TYPES: ReadonlyMap<string, Encoding> = new Map([
  ["application/json", "json"],
  ["application/yaml", "yaml"],
  [PROTOBUF_TYPE, "protobuf"],
]);
const STREAM_TYPES = ["application/json;stream=watch", `${PROTOBUF_TYPE};stream=watch`];

/**
 * The best form of an Accept header that can be given, chosen as upstream's negotiation/negotiate.go does. Throws
 * NotAcceptable when there is none.
 */
export function acceptedForm(accept: string, offer: Offer): AcceptedForm {
  if (accept === "") return PLAIN_FORM;
  const ranges = parseAccept(accept);
  const form = bestForm(ranges, offer);
  if (form === undefined) throw notAcceptable(ranges);
  if (offer.stream && form.encoding === "yaml") throw onlyAccepted(STREAM_TYPES);
  return form;
}

/** The form of an answer that is never a table, such as a Status: JSON where no accepted form can be given. */
export function acceptedPlainForm(accept: string): AcceptedForm {
  const plain = parseAccept(accept).filter(({ parameters }) => !isTransformed(parameters));
  return bestForm(plain, { protobuf: true }) ?? PLAIN_FORM;
}

function bestForm(ranges: readonly MediaRange[], offer: Offer): AcceptedForm | undefined {
  for (const { type, parameters } of ranges) {
    for (const encoding of encodingsOf(type)) {
      const form = formOf(encoding, parameters, offer);
      if (form) return form;
    }
  }
  return undefined;
}

interface MediaRange {
  readonly type: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Clients name a few forms. What comes after so many is not looked at: sorting them takes time by the square of their number. */
const MAX_RANGES = 64;

/** The most wanted first: a range goes before those of a lower quality and those that leave more of the type open. */
function parseAccept(accept: string): MediaRange[] {
  const sorted: MediaRange[] = [];
  for (const entry of accept.split(",", MAX_RANGES)) {
    const range = parseRange(entry);
    if (range === undefined) continue;
    let place = sorted.length;
    while (place > 0 && precedes(range, sorted[place - 1])) place--;
    sorted.splice(place, 0, range);
  }
  return sorted;
}

function precedes(range: MediaRange, other: MediaRange | undefined): boolean {
  if (other === undefined) return false;
  return range.quality > other.quality || wildcardsOf(range) < wildcardsOf(other);
}

const wildcardsOf = ({ type }: MediaRange): number => type.split("/").filter((part) => part === "*").length;

function parseRange(entry: string): MediaRange | undefined {
  const [name = "", ...rest] = entry.split(";").map((part) => part.trim());
  const type = name === "*" ? "*/*" : name;
  if (!/^[^/]+\/[^/]+$/.test(type)) return undefined;
  const pairs = rest.flatMap((parameter): Array<[string, string]> => {
    const [key = "", value = "", ...more] = parameter.split("=").map((side) => side.trim());
    return value === "" || more.length > 0 ? [] : [[key, value]];
  });
  const parameters = new Map(pairs);
  const quality = Number(parameters.get("q") ?? 1);
  return { type, parameters, quality: Number.isNaN(quality) ? 0 : quality };
}

function encodingsOf(type: string): readonly Encoding[] {
  if (type === "*/*" || type === "application/*") return [...MEDIA_TYPES.values()];
  const encoding = MEDIA_TYPES.get(type);
  return encoding === undefined ? [] : [encoding];
}

const isTransformed = (parameters: MediaRange["parameters"]): boolean =>
  parameters.has("as") || parameters.has("g") || parameters.has("v");

/** Undefined when the parameters ask for a form that this encoding does not have. */
function formOf(encoding: Encoding, parameters: MediaRange["parameters"], offer: Offer): AcceptedForm | undefined {
  const stream = parameters.get("stream");
  if (parameters.has("sv") || (stream !== undefined && (stream !== "watch" || encoding === "yaml"))) return undefined;
  if (!isTransformed(parameters)) {
    return encoding === "protobuf" && !offer.protobuf ? undefined : { ...PLAIN_FORM, encoding };
  }
  const [as, group, version] = ["as", "g", "v"].map((name) => parameters.get(name));
  if (group !== "meta.k8s.io" || (version !== "v1" && version !== "v1beta1")) return undefined;
  switch (as) {
    case "Table":
      return encoding === "protobuf" || offer.table === false ? undefined : { encoding, as, version };
    case "PartialObjectMetadata":
    case "PartialObjectMetadataList":
      return { encoding, as, version };
    default:
      return undefined;
  }
}

/** Upstream has two refusals: the route has none of the types, or the kind has none of them in the wanted form. */
function notAcceptable(ranges: readonly MediaRange[]): ApiError {
  const given = [...MEDIA_TYPES.keys()];
  if (ranges.some(({ type }) => encodingsOf(type).length > 0)) return onlyAccepted(given);
  return new ApiError("NotAcceptable", `406: Not Acceptable\n\nAvailable representations: ${given.join(", ")}`);
}

function onlyAccepted(types: readonly string[]): ApiError {
  return new ApiError("NotAcceptable", `only the following media types are accepted: ${types.join(", ")}`);
}
